//! Basic blocks: what is in them, where they lead, and new ones.

use super::context::Context;
use super::opcode;
use super::sys::{self, BasicBlockRef};
use super::value::Value;

/// A basic block of a function.
///
/// # Invariant
/// `raw` is a block of a function of `context`, which lives as long as the borrow: blocks are not removed while a pass has them.
#[derive(Clone, Copy)]
pub struct Block<'c> {
    raw: BasicBlockRef,
    context: &'c Context,
}

impl PartialEq for Block<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}
impl Eq for Block<'_> {}
impl std::hash::Hash for Block<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.raw.hash(state);
    }
}

impl<'c> Value<'c> {
    /// The blocks of a function; none of a declaration.
    pub fn blocks(self) -> Vec<Block<'c>> {
        let mut blocks = Vec::new();
        // SAFETY: `raw` is live (the invariant of `Value`), and a function, for which the method is.
        unsafe {
            let mut raw = (self.api().LLVMGetFirstBasicBlock)(self.raw);
            while !raw.is_null() {
                blocks.push(Block {
                    raw,
                    context: self.context,
                });
                raw = (self.api().LLVMGetNextBasicBlock)(raw);
            }
        }
        blocks
    }

    /// The block of an instruction.
    pub fn block(self) -> Block<'c> {
        Block {
            // SAFETY: `raw` is live (the invariant of `Value`), and an instruction in a block, for which the method is.
            raw: unsafe { (self.api().LLVMGetInstructionParent)(self.raw) },
            context: self.context,
        }
    }

    /// Puts a block behind the last one of a function.
    pub fn append_block(self) -> Block<'c> {
        Block {
            // SAFETY: `raw` is live (the invariant of `Value`), and a function, for which the method is.
            raw: unsafe {
                (self.api().LLVMAppendBasicBlockInContext)(self.context.raw, self.raw, c"".as_ptr())
            },
            context: self.context,
        }
    }

    /// What a phi has for each block that leads to it.
    pub fn incoming(self) -> Vec<(Value<'c>, Block<'c>)> {
        // SAFETY: `raw` is live (the invariant of `Value`), and a phi, for which the method is; the numbers are below the count.
        unsafe {
            let count = (self.api().LLVMCountIncoming)(self.raw);
            (0..count)
                .filter_map(|n| {
                    let value = self.wrap((self.api().LLVMGetIncomingValue)(self.raw, n))?;
                    let raw = (self.api().LLVMGetIncomingBlock)(self.raw, n);
                    let context = self.context;
                    Some((value, Block { raw, context }))
                })
                .collect()
        }
    }

    /// What a phi has for this block.
    pub fn incoming_from(self, block: Block<'c>) -> Option<Value<'c>> {
        let incoming = self.incoming().into_iter();
        let mut values = incoming.filter_map(|(value, from)| (from == block).then_some(value));
        values.next()
    }

    /// Gives a phi a value for a block more.
    pub fn add_incoming(self, value: Value<'c>, block: Block<'c>) {
        let (mut value, mut block) = (value.raw, block.raw);
        // SAFETY: `raw` is live (the invariant of `Value`), and a phi, for which the method is; both lists have one element.
        unsafe { (self.api().LLVMAddIncoming)(self.raw, &mut value, &mut block, 1) };
    }

    /// Where a terminator leads, as often as it does; nowhere, if it is another instruction.
    pub fn successors(self) -> Vec<Block<'c>> {
        if !self.is_terminator() {
            return Vec::new();
        }
        let context = self.context;
        // SAFETY: `raw` is live (the invariant of `Value`), and a terminator, for which the method is; the numbers are below the count.
        unsafe {
            let count = (self.api().LLVMGetNumSuccessors)(self.raw);
            (0..count)
                .map(|n| Block {
                    raw: (self.api().LLVMGetSuccessor)(self.raw, n),
                    context,
                })
                .collect()
        }
    }

    /// The numbers and blocks of a switch's cases, without its default, which is the first of its [successors](Self::successors).
    pub fn cases(self) -> Vec<(Value<'c>, Block<'c>)> {
        let cases = (1..).zip(self.successors().into_iter().skip(1));
        let cases = cases.filter_map(|(n, to)| {
            // SAFETY: `raw` is live (the invariant of `Value`), and a switch, for which the method is; `n` is the number of a successor behind the default.
            let number = unsafe { (self.api().LLVMGetSwitchCaseValue)(self.raw, n) };
            Some((self.wrap(number)?, to))
        });
        cases.collect()
    }

    /// Lets a terminator lead to another block.
    pub fn set_successor(self, n: u32, block: Block<'c>) {
        // SAFETY: `raw` is live (the invariant of `Value`), and a terminator with such a successor, for which the method is.
        unsafe { (self.api().LLVMSetSuccessor)(self.raw, n, block.raw) };
    }
}

impl<'c> Value<'c> {
    /// Moves an instruction from where it is to before another one, whose source location it gets.
    pub fn move_before(self, other: Value<'c>) {
        other.build_before(|api, builder| {
            // SAFETY: both instructions stand in blocks (the invariant of `Value`), and this one is put before the other as soon as it is taken out.
            unsafe {
                (api.LLVMInstructionRemoveFromParent)(self.raw);
                (api.LLVMInsertIntoBuilder)(builder, self.raw);
            }
            self.raw
        });
    }
}

impl<'c> Block<'c> {
    fn api(self) -> &'static sys::Api {
        self.context.api
    }

    /// Its instructions.
    pub fn instructions(self) -> Vec<Value<'c>> {
        let mut all = Vec::new();
        // SAFETY: `raw` is live (the invariant of `Block`).
        unsafe {
            let mut raw = (self.api().LLVMGetFirstInstruction)(self.raw);
            while let Some(value) = Value::from_raw(self.context, raw) {
                all.push(value);
                raw = (self.api().LLVMGetNextInstruction)(raw);
            }
        }
        all
    }

    /// Its phis, which stand first.
    pub fn phis(self) -> Vec<Value<'c>> {
        let mut all = self.instructions();
        let count = all.iter().take_while(|i| i.opcode() == opcode::PHI).count();
        all.truncate(count);
        all
    }

    /// The instruction that ends it; `None` while there is none.
    pub fn terminator(self) -> Option<Value<'c>> {
        // SAFETY: `raw` is live (the invariant of `Block`).
        Value::from_raw(self.context, unsafe {
            (self.api().LLVMGetBasicBlockTerminator)(self.raw)
        })
    }

    /// Whether no thread goes on behind it: it ends in `unreachable`, as behind a panic.
    pub fn is_dead_end(self) -> bool {
        let end = self.terminator();
        end.is_some_and(|end| end.opcode() == opcode::UNREACHABLE)
    }

    /// Where it leads, as often as it does.
    pub fn successors(self) -> Vec<Block<'c>> {
        self.terminator().map(Value::successors).unwrap_or_default()
    }

    /// Moves the instructions before `first`, one of its own, to a new block, which leads nowhere yet; what led to this block leads to the
    /// new one.
    pub fn split_before(self, first: Value<'c>, function: Value<'c>) -> Block<'c> {
        let api = self.api();
        // SAFETY: `raw` is live (the invariant of `Block`); a block that is put before it is one of the same function.
        let raw = unsafe {
            (api.LLVMInsertBasicBlockInContext)(self.context.raw, self.raw, c"".as_ptr())
        };
        let context = self.context;
        let head = Block { raw, context };
        let moved = self.instructions().into_iter();
        for instruction in moved.take_while(|instruction| *instruction != first) {
            head.push_moved(instruction);
        }
        let ends = function.blocks().into_iter().filter_map(Block::terminator);
        for end in ends {
            for (n, to) in (0..).zip(end.successors()) {
                if to == self {
                    end.set_successor(n, head);
                }
            }
        }
        head
    }

    /// Moves an instruction from where it is to its end.
    pub fn push_moved(self, instruction: Value<'c>) {
        self.build(|api, builder| {
            // SAFETY: the instruction stands in a block (the invariant of `Value`), and is put into this one as soon as it is taken out.
            unsafe {
                (api.LLVMInstructionRemoveFromParent)(instruction.raw);
                (api.LLVMInsertIntoBuilder)(builder, instruction.raw);
            }
            instruction.raw
        });
    }

    /// Puts a copy of an instruction at its end, with the operands of the original.
    pub fn push_copy(self, original: Value<'c>) -> Value<'c> {
        self.build(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariants of `Value` and `Block`); the copy is in no block yet.
            unsafe {
                let copy = (api.LLVMInstructionClone)(original.raw);
                (api.LLVMInsertIntoBuilder)(builder, copy);
                copy
            }
        })
    }

    /// Puts a phi of the type of `like`, without values, at its end.
    pub fn push_phi(self, like: Value<'c>) -> Value<'c> {
        self.build(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariants of `Value` and `Block`).
            unsafe { (api.LLVMBuildPhi)(builder, like.ty(), c"".as_ptr()) }
        })
    }

    /// Puts a call of a function at its end.
    pub fn push_call(self, function: Value<'c>, arguments: &[Value<'c>]) -> Value<'c> {
        let mut values: Vec<_> = arguments.iter().map(|argument| argument.raw).collect();
        self.build(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariants of `Value` and `Block`); the list has as many values as is said.
            unsafe {
                let ty = (api.LLVMGlobalGetValueType)(function.raw);
                let (values, count) = (values.as_mut_ptr(), values.len() as u32);
                (api.LLVMBuildCall2)(builder, ty, function.raw, values, count, c"".as_ptr())
            }
        })
    }

    /// Ends it where no thread comes.
    pub fn push_unreachable(self) -> Value<'c> {
        self.build(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariants of `Value` and `Block`).
            unsafe { (api.LLVMBuildUnreachable)(builder) }
        })
    }

    /// Ends it by a jump.
    pub fn push_jump(self, to: Block<'c>) -> Value<'c> {
        self.build(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariants of `Value` and `Block`).
            unsafe { (api.LLVMBuildBr)(builder, to.raw) }
        })
    }

    /// Ends it by a jump to one of two blocks.
    pub fn push_branch(self, condition: Value<'c>, yes: Block<'c>, no: Block<'c>) -> Value<'c> {
        self.build(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariants of `Value` and `Block`).
            unsafe { (api.LLVMBuildCondBr)(builder, condition.raw, yes.raw, no.raw) }
        })
    }

    /// Ends it by a jump to the block of the case whose number `value` is, or to `default`.
    pub fn push_switch(
        self,
        value: Value<'c>,
        default: Block<'c>,
        cases: &[(Value<'c>, Block<'c>)],
    ) -> Value<'c> {
        self.build(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariants of `Value` and `Block`), and the numbers are constants of the type of
            // `value`, each there once (the method's sort of cases).
            unsafe {
                let count = cases.len() as u32;
                let switch = (api.LLVMBuildSwitch)(builder, value.raw, default.raw, count);
                for (number, to) in cases {
                    (api.LLVMAddCase)(switch, number.raw, to.raw);
                }
                switch
            }
        })
    }

    /// Lets the phis of the blocks in `before`, to which it led until its end was replaced, have a value for each edge that leads there now; an
    /// edge is a block and one of its successors.
    pub fn replace_edges(self, mut before: Vec<Block<'c>>, now: &[(Block<'c>, Block<'c>)]) {
        while let Some(to) = before.pop() {
            before.retain(|other| *other != to);
            let edges = now.iter().filter(|(_, target)| *target == to);
            let from: Vec<_> = edges.map(|(from, _)| *from).collect();
            to.replace_incoming(self, &from);
        }
    }

    /// Lets its phis have what they have for `old` for each of these blocks in its place, as often as it is among them: a phi has a value for
    /// each way that leads to it.
    pub fn replace_incoming(self, old: Block<'c>, new: &[Block<'c>]) {
        for phi in self.phis() {
            let (from_old, others): (Vec<_>, Vec<_>) = phi
                .incoming()
                .into_iter()
                .partition(|(_, from)| *from == old);
            let Some((value, _)) = from_old.first() else {
                continue;
            };
            if others.is_empty() && new.is_empty() {
                // Nothing leads there any more.
                phi.replace_by(Value::undefined(phi.ty(), phi));
                continue;
            }
            let changed = phi.build_phi_before(phi);
            for (value, from) in others {
                changed.add_incoming(value, from);
            }
            new.iter()
                .for_each(|from| changed.add_incoming(*value, *from));
            phi.replace_by(changed);
        }
    }

    /// Whether no thread comes to it: `unreachable` is all that it does.
    pub fn is_unreachable(self) -> bool {
        let mut instructions = self.instructions().into_iter();
        let first = instructions.find(|i| i.opcode() != opcode::PHI);
        first.is_some_and(|first| first.opcode() == opcode::UNREACHABLE)
    }

    /// Puts `left OPERATION right` at its end; the operation is an opcode of integers.
    pub fn push_binary(self, operation: i32, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        self.build(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariants of `Value` and `Block`).
            unsafe { (api.LLVMBuildBinOp)(builder, operation, left.raw, right.raw, c"".as_ptr()) }
        })
    }

    /// Puts `yes` where the condition holds, else `no`, at its end.
    pub fn push_select(self, condition: Value<'c>, yes: Value<'c>, no: Value<'c>) -> Value<'c> {
        self.build(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariants of `Value` and `Block`).
            unsafe { (api.LLVMBuildSelect)(builder, condition.raw, yes.raw, no.raw, c"".as_ptr()) }
        })
    }

    /// Puts the unsigned number `value` in the type of `like` at its end; `value` itself, if it has that type.
    pub fn push_extended(self, value: Value<'c>, like: Value<'c>) -> Value<'c> {
        if value.ty() == like.ty() {
            return value;
        }
        self.build(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariants of `Value` and `Block`).
            unsafe {
                (api.LLVMBuildCast)(builder, opcode::ZEXT, value.raw, like.ty(), c"".as_ptr())
            }
        })
    }

    /// Puts the address of a pointer, as a number of the type of `like`, at its end.
    pub fn push_address(self, pointer: Value<'c>, like: Value<'c>) -> Value<'c> {
        self.build(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariants of `Value` and `Block`).
            unsafe { (api.LLVMBuildPtrToInt)(builder, pointer.raw, like.ty(), c"".as_ptr()) }
        })
    }

    /// Puts the comparison of integers or pointers at its end.
    pub fn push_comparison(self, predicate: i32, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        self.build(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariants of `Value` and `Block`).
            unsafe { (api.LLVMBuildICmp)(builder, predicate, left.raw, right.raw, c"".as_ptr()) }
        })
    }

    /// Puts `freeze value` at its end: some value, always the same one, where it would be poison.
    pub fn push_freeze(self, value: Value<'c>) -> Value<'c> {
        self.build(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariants of `Value` and `Block`).
            unsafe { (api.LLVMBuildFreeze)(builder, value.raw, c"".as_ptr()) }
        })
    }

    fn build(self, make: impl FnOnce(&sys::Api, sys::BuilderRef) -> sys::ValueRef) -> Value<'c> {
        // SAFETY: all handles belong to one living context (the invariant of `Block`); the builder is disposed of in the end.
        let raw = unsafe {
            let builder = (self.api().LLVMCreateBuilderInContext)(self.context.raw);
            (self.api().LLVMPositionBuilderAtEnd)(builder, self.raw);
            let made = make(self.api(), builder);
            (self.api().LLVMDisposeBuilder)(builder);
            made
        };
        Value {
            raw,
            context: self.context,
        }
    }
}
