//! Predicates of comparisons in the C API, of unsigned numbers where nothing else is said.
#![allow(missing_docs)]

pub const EQUAL: i32 = 32;
pub const NOT_EQUAL: i32 = 33;
pub const GREATER: i32 = 34;
pub const GREATER_OR_EQUAL: i32 = 35;
pub const LESS: i32 = 36;
pub const LESS_OR_EQUAL: i32 = 37;
pub const SIGNED_GREATER: i32 = 38;
pub const SIGNED_GREATER_OR_EQUAL: i32 = 39;
pub const SIGNED_LESS: i32 = 40;
pub const SIGNED_LESS_OR_EQUAL: i32 = 41;

/// The predicate of the operands the other way round.
pub fn swapped(predicate: i32) -> i32 {
    match predicate {
        LESS => GREATER,
        LESS_OR_EQUAL => GREATER_OR_EQUAL,
        GREATER => LESS,
        GREATER_OR_EQUAL => LESS_OR_EQUAL,
        SIGNED_LESS => SIGNED_GREATER,
        SIGNED_LESS_OR_EQUAL => SIGNED_GREATER_OR_EQUAL,
        SIGNED_GREATER => SIGNED_LESS,
        SIGNED_GREATER_OR_EQUAL => SIGNED_LESS_OR_EQUAL,
        same => same,
    }
}

/// The predicate that holds where this one does not.
pub fn inverted(predicate: i32) -> i32 {
    match predicate {
        EQUAL => NOT_EQUAL,
        NOT_EQUAL => EQUAL,
        LESS => GREATER_OR_EQUAL,
        LESS_OR_EQUAL => GREATER,
        GREATER => LESS_OR_EQUAL,
        GREATER_OR_EQUAL => LESS,
        SIGNED_LESS => SIGNED_GREATER_OR_EQUAL,
        SIGNED_LESS_OR_EQUAL => SIGNED_GREATER,
        SIGNED_GREATER => SIGNED_LESS_OR_EQUAL,
        _ => SIGNED_LESS,
    }
}
