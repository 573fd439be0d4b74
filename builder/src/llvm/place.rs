//! New arithmetic and choices, put before an instruction that is there, with its source location.

use super::opcode;
use super::sys;
use super::value::Value;

/// The place before an instruction.
///
/// # Invariant
/// The instruction stands in a block as long as something is put before it.
#[derive(Clone, Copy)]
pub struct Place<'c> {
    anchor: Value<'c>,
}

impl<'c> Place<'c> {
    /// The place before this instruction.
    pub fn before(anchor: Value<'c>) -> Place<'c> {
        Place { anchor }
    }

    /// A constant of this width.
    pub fn constant(self, bits: u32, number: u64) -> Value<'c> {
        let api = self.anchor.api();
        // SAFETY: the context is living (the invariant of `Value`), and the width one of integers.
        let raw = unsafe { (api.LLVMConstInt)(self.integer_type(bits), number, 0) };
        Value {
            raw,
            context: self.anchor.context,
        }
    }

    /// `left OPERATION right`; the operation is an opcode of integers.
    pub fn binary(self, operation: i32, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        self.anchor.build_before(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariant of `Value`), and the builder is in an instruction's block.
            unsafe { (api.LLVMBuildBinOp)(builder, operation, left.raw, right.raw, c"".as_ptr()) }
        })
    }

    /// A comparison of integers or pointers.
    pub fn comparison(self, predicate: i32, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        self.anchor.build_before(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariant of `Value`), and the builder is in an instruction's block.
            unsafe { (api.LLVMBuildICmp)(builder, predicate, left.raw, right.raw, c"".as_ptr()) }
        })
    }

    /// `yes` where the condition holds, else `no`.
    pub fn select(self, condition: Value<'c>, yes: Value<'c>, no: Value<'c>) -> Value<'c> {
        self.anchor.build_before(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariant of `Value`), and the builder is in an instruction's block.
            unsafe { (api.LLVMBuildSelect)(builder, condition.raw, yes.raw, no.raw, c"".as_ptr()) }
        })
    }

    /// Some value, always the same one, where `value` would be poison.
    pub fn freeze(self, value: Value<'c>) -> Value<'c> {
        self.anchor.build_before(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariant of `Value`), and the builder is in an instruction's block.
            unsafe { (api.LLVMBuildFreeze)(builder, value.raw, c"".as_ptr()) }
        })
    }

    /// The unsigned integer `value` in this width: extended, truncated, or as it is.
    pub fn resized(self, value: Value<'c>, bits: u32) -> Value<'c> {
        let operation = match value.integer_bits() {
            Some(from) if from == bits => return value,
            Some(from) if from < bits => opcode::ZEXT,
            _ => match value.extended() {
                Some(short) if short.integer_bits() == Some(bits) => return short,
                _ => opcode::TRUNC,
            },
        };
        let ty = self.integer_type(bits);
        self.anchor.build_before(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariant of `Value`), and the builder is in an instruction's block.
            unsafe { (api.LLVMBuildCast)(builder, operation, value.raw, ty, c"".as_ptr()) }
        })
    }

    /// The signed integer `value`, extended to this width.
    pub fn sign_extended(self, value: Value<'c>, bits: u32) -> Value<'c> {
        let ty = self.integer_type(bits);
        self.anchor.build_before(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariant of `Value`), and the builder is in an instruction's block.
            unsafe { (api.LLVMBuildCast)(builder, opcode::SEXT, value.raw, ty, c"".as_ptr()) }
        })
    }

    /// The unsigned integer `value` as a floating-point number of type `ty`.
    pub fn float(self, value: Value<'c>, ty: sys::TypeRef) -> Value<'c> {
        self.anchor.build_before(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariant of `Value`), and the builder is in an instruction's block.
            unsafe { (api.LLVMBuildCast)(builder, opcode::UI_TO_FP, value.raw, ty, c"".as_ptr()) }
        })
    }

    /// The number whose bits are those of `value`, which has as many.
    pub fn same_bits(self, value: Value<'c>, ty: sys::TypeRef) -> Value<'c> {
        self.anchor.build_before(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariant of `Value`), and the builder is in an instruction's block.
            unsafe { (api.LLVMBuildCast)(builder, opcode::BIT_CAST, value.raw, ty, c"".as_ptr()) }
        })
    }

    /// The signed integer `value` as a floating-point number of type `ty`.
    pub fn signed_float(self, value: Value<'c>, ty: sys::TypeRef) -> Value<'c> {
        self.anchor.build_before(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariant of `Value`), and the builder is in an instruction's block.
            unsafe { (api.LLVMBuildCast)(builder, opcode::SI_TO_FP, value.raw, ty, c"".as_ptr()) }
        })
    }

    /// Inline assembly that only computes a value of type `ty`.
    pub fn pure_assembly(
        self,
        text: &str,
        constraints: &str,
        ty: sys::TypeRef,
        arguments: &[Value<'c>],
    ) -> Value<'c> {
        self.anchor
            .build_any_asm_before(text, constraints, ty, arguments, false)
    }

    /// The type of a byte.
    pub fn byte_type(self) -> sys::TypeRef {
        self.integer_type(8)
    }

    /// The type that an instruction loads or stores so many bytes by: an integer, or four words.
    pub fn access_type(self, bytes: u64) -> sys::TypeRef {
        let api = self.anchor.api();
        match bytes {
            // SAFETY: the type is one of the living context (the invariant of `Value`).
            16 => unsafe { (api.LLVMVectorType)(self.integer_type(32), 4) },
            _ => self.integer_type(8 * bytes as u32),
        }
    }

    /// A type's number zero, or zeros.
    pub fn zero(self, ty: sys::TypeRef) -> Value<'c> {
        Value {
            // SAFETY: `ty` is a type of the living context (the invariant of `Value`).
            raw: unsafe { (self.anchor.api().LLVMConstNull)(ty) },
            context: self.anchor.context,
        }
    }

    /// The type of integers of so many bits.
    pub fn integer_type(self, bits: u32) -> sys::TypeRef {
        let api = self.anchor.api();
        // SAFETY: the context is living (the invariant of `Value`).
        unsafe { (api.LLVMIntTypeInContext)(self.anchor.context.raw, bits) }
    }
}
