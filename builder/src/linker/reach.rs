//! What code reaches: the functions that refer to a function or a global, be it themselves or through functions that they call.

use std::collections::HashSet;

use crate::llvm::{Module, Value, ValueKind};

/// The functions of a module that call through pointers, and those that are called so.
pub(super) struct IndirectCalls<'c> {
    callers: Vec<Value<'c>>,
    /// Functions whose address is used otherwise than by calling it.
    callees: Vec<Value<'c>>,
}

impl<'c> IndirectCalls<'c> {
    pub(super) fn of(module: &Module<'c>) -> IndirectCalls<'c> {
        let defined = || {
            let functions = module.functions().into_iter();
            functions.filter(|function| !function.is_declaration())
        };
        IndirectCalls {
            callers: defined()
                .filter(|function| function.instructions().into_iter().any(is_indirect_call))
                .collect(),
            callees: defined()
                .filter(|function| address_is_taken(*function))
                .collect(),
        }
    }

    /// The functions that call through pointers.
    pub(super) fn callers(&self) -> &[Value<'c>] {
        &self.callers
    }

    /// The functions whose address is used otherwise than by calling it.
    pub(super) fn callees(&self) -> &[Value<'c>] {
        &self.callees
    }

    /// The functions that use `target`, directly or through others: by naming it, by calling one that does, or by a call through a pointer
    /// where one that does has its address taken.
    pub(super) fn reaching(&self, target: Value<'c>) -> HashSet<Value<'c>> {
        let mut found = HashSet::new();
        let mut queue = vec![target];
        let mut through_pointers = false;
        while let Some(value) = queue.pop() {
            let mut users = functions_naming(value);
            if !through_pointers && self.callees.contains(&value) {
                through_pointers = true;
                users.extend(&self.callers);
            }
            queue.extend(users.into_iter().filter(|user| found.insert(*user)));
        }
        found
    }
}

/// Whether an instruction is a call of something that is no function and no assembly.
pub(super) fn is_indirect_call(instruction: Value<'_>) -> bool {
    instruction.is_call()
        && instruction.callee().is_some_and(|callee| {
            !matches!(callee.kind(), ValueKind::Function | ValueKind::InlineAsm)
        })
}

/// Whether a function is used otherwise than by being called.
fn address_is_taken(function: Value<'_>) -> bool {
    function.users().into_iter().any(|user| {
        let is_call = user.kind() == ValueKind::Instruction && user.is_call();
        !is_call
            || user.callee() != Some(function)
            || (0..user.argument_count()).any(|n| user.operand(n) == Some(function))
    })
}

/// The functions in whose instructions `value` stands, by itself or in constants and initial values.
fn functions_naming(value: Value<'_>) -> HashSet<Value<'_>> {
    let mut functions = HashSet::new();
    let mut seen = HashSet::new();
    let mut queue = value.users();
    while let Some(user) = queue.pop() {
        if !seen.insert(user) {
            continue;
        }
        match user.kind() {
            ValueKind::Instruction => functions.extend(user.function()),
            _ => queue.extend(user.users()),
        }
    }
    functions
}
