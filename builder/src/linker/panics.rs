//! Replaces the commonest panics of `core` by the device library's, which need no `core::fmt`.
//!
//! Formatting works through function pointers: a kernel from which it may be called gets a stack, and as many
//! registers as the hungriest function of it. The device library defines cheap functions of the same signatures
//! (`warpsmith_device::panic::cheap`); a crate without that library keeps those of `core`.

use crate::llvm::{Attribute, Module, Value, ValueKind};

/// The function in `core`, and the symbol that replaces it.
const REPLACED: &[(&str, &str)] = &[
    ("core::panicking::panic_bounds_check", BOUNDS_CHECK),
    ("core::slice::index::slice_index_fail", SLICE_INDEX),
    ("core::option::expect_failed", LITERAL),
    ("core::panicking::panic", LITERAL),
];

/// The device library's panic of an index: `fn(index, len, &Location) -> !`.
pub(super) const BOUNDS_CHECK: &str = "__warpsmith_panic_bounds_check";

/// The device library's panic of a range: `fn(start, end, len, &Location) -> !`.
pub(super) const SLICE_INDEX: &str = "__warpsmith_slice_index_fail";

/// The device library's panic with a literal message: `fn(&str, &Location) -> !`.
pub(super) const LITERAL: &str = "__warpsmith_expect_failed";

/// The device library's panic at a place.
pub(super) const PANIC_AT: &str = "__warpsmith_panic_at";

/// What `Result::unwrap` and `Result::expect` call.
pub(super) const UNWRAP_FAILED: &str = "core::result::unwrap_failed";

/// The symbols that replace others.
pub(super) fn replacements() -> impl Iterator<Item = &'static str> {
    REPLACED.iter().map(|(_, symbol)| *symbol)
}

/// Redirects all calls of these functions.
pub(super) fn replace(module: &Module<'_>) {
    let mut wanted = Vec::new();
    for (name, symbol) in REPLACED {
        if let Some(replacement) = module.function(symbol).filter(|f| !f.is_declaration()) {
            wanted.push((*name, replacement));
        }
    }
    if wanted.is_empty() {
        return;
    }
    for function in module.functions() {
        // Only `core`'s cold functions are candidates; demangling every symbol would take longer.
        if !function.has_flag(Attribute::Function, "cold") && !function.is_declaration() {
            continue;
        }
        let path = crate::names::demangle(&function.name());
        for (name, replacement) in &wanted {
            if path == *name && function.parameter_count() == replacement.parameter_count() {
                function.replace_uses_with(*replacement);
            }
        }
    }
}

/// A function of more instructions does more than to panic.
const MOST_OF_WRAPPER: usize = 32;

/// The same of one that formats two values, which are not formatted where panics become panics at places.
const MOST_OF_FORMATTING_WRAPPER: usize = 64;

/// Lets functions be inlined that do nothing but panic, such as `core::option::unwrap_failed`: what they say and where is then known in the
/// call.
pub(super) fn inline_wrappers(module: &Module<'_>) {
    let of_core = panic_fmt(module).into_iter();
    let replacing = REPLACED
        .iter()
        .filter_map(|(_, symbol)| module.function(symbol));
    let panics: Vec<Value<'_>> = of_core.chain(replacing).collect();
    let most = match module.function(PANIC_AT) {
        Some(_) => MOST_OF_FORMATTING_WRAPPER,
        None => MOST_OF_WRAPPER,
    };
    for function in module.functions() {
        let is_wrapper = !function.is_declaration()
            && function.has_flag(Attribute::Function, "noreturn")
            && !panics.contains(&function)
            && is_short_way_to(function, &panics, most)
            // It is known as a whole, together with the type of the error.
            && crate::names::demangle(&function.name()) != UNWRAP_FAILED;
        if !is_wrapper {
            continue;
        }
        for flag in ["cold", "noinline", "optnone"] {
            function.remove_flag(Attribute::Function, flag);
        }
        function.add_flag(Attribute::Function, "alwaysinline");
        for call in function.calls() {
            call.remove_call_flag("noinline");
        }
    }
}

/// Whether a function calls one of these in its only block, which has at most so many instructions.
fn is_short_way_to(function: Value<'_>, panics: &[Value<'_>], most: usize) -> bool {
    let blocks = function.blocks();
    let [block] = blocks[..] else {
        return false;
    };
    let instructions = block.instructions();
    let mut callees = instructions
        .iter()
        .filter(|i| i.is_call())
        .map(|call| call.callee());
    instructions.len() <= most
        && callees.any(|callee| callee.is_some_and(|callee| panics.contains(&callee)))
}

/// Cold code is not worth unrolled loops.
pub(super) fn shrink(module: &Module<'_>) {
    for function in module.functions() {
        if function.has_flag(Attribute::Function, "cold") && !function.is_declaration() {
            function.add_flag(Attribute::Function, "optsize");
            function.add_flag(Attribute::Function, "minsize");
        }
    }
}

/// The functions in which [`redirect_literals`] may find something to redirect, and the function that they need then.
pub(super) fn needs(module: &Module<'_>) -> impl Iterator<Item = (String, String)> {
    let panic_fmt = module.function(LITERAL).and_then(|_| panic_fmt(module));
    let calls = panic_fmt.map(Value::users).unwrap_or_default();
    calls
        .into_iter()
        .filter(|user| user.kind() == ValueKind::Instruction)
        .filter_map(|call| Some((call.function()?.name(), LITERAL.to_owned())))
}

/// `core`'s function for every panic with a message.
pub(super) fn panic_fmt<'c>(module: &Module<'c>) -> Option<Value<'c>> {
    let is_panic_fmt = |f: &Value<'_>| {
        let symbol = f.name();
        // Demangling every symbol would take longer.
        symbol.contains("panic_fmt")
            && crate::names::demangle(&symbol) == "core::panicking::panic_fmt"
    };
    module.functions().into_iter().find(is_panic_fmt)
}

/// Redirects `panic!("literal")`, which is `panic_fmt` with arguments that hold the text itself.
///
/// `fmt::Arguments` is two words: of a literal, the text's address, and its length times two plus one. After
/// the first inlining both stand in the call.
pub(super) fn redirect_literals(module: &Module<'_>) {
    let Some((literal, panic_fmt)) = module.function(LITERAL).zip(panic_fmt(module)) else {
        return;
    };
    if panic_fmt.parameter_count() != 3 || literal.parameter_count() != 3 {
        return;
    }
    for call in panic_fmt.calls() {
        let (Some(text), Some(tagged), Some(location)) =
            (call.operand(0), call.operand(1), call.operand(2))
        else {
            continue;
        };
        if let Some(tagged) = tagged.as_integer_address()
            && tagged & 1 == 1
        {
            let length = Value::integer(tagged >> 1, call);
            call.build_call_before(literal, &[text, length, location]);
            call.erase();
        }
    }
}

/// The text of a constant, of which so many bytes are it.
pub(super) fn text(start: Value<'_>, length: Value<'_>) -> Option<String> {
    let length = usize::try_from(length.as_integer()?).ok()?;
    if length == 0 {
        return Some(String::new());
    }
    String::from_utf8(bytes(start)?.get(..length)?.to_vec()).ok()
}

/// The bytes of a constant.
pub(super) fn bytes(constant: Value<'_>) -> Option<Vec<u8>> {
    if constant.kind() != ValueKind::Global || !constant.is_constant_global() {
        return None;
    }
    let value = constant.initialiser()?;
    value.as_bytes().or_else(|| value.element(0)?.as_bytes())
}
