//! A module with a single instruction of another one, to see whether it can be translated by itself.

use super::context::cstring;
use super::module::Module;
use super::opcode;
use super::sys;
use super::value::{Value, ValueKind};

impl<'c> Module<'c> {
    /// A module with a copy of `instruction` in a function whose parameters are its operands. Constants stay where they are, but for
    /// those that belong to a module. `None` for what only makes sense among other instructions.
    pub fn with_copy_of(instruction: Value<'c>) -> Option<Module<'c>> {
        let api = instruction.api();
        // SAFETY: `instruction` is one of a living context (the invariant of `Value`).
        let is_terminator = !unsafe { (api.LLVMIsATerminatorInst)(instruction.raw) }.is_null();
        if is_terminator || matches!(instruction.opcode(), opcode::PHI | opcode::ALLOCA) {
            return None;
        }
        let module = Module::new(instruction.context, "probe");
        // Which operands become parameters; the last one of a call is what it calls.
        let count = instruction.operand_count();
        let callee = instruction.is_call().then(|| count - 1);
        let mut types = Vec::new();
        let mut operands = Vec::new();
        for n in 0..count {
            let operand = instruction.operand(n)?;
            match operand.kind() {
                ValueKind::Function if callee == Some(n) => {
                    operands.push(Operand::Callee(operand));
                }
                ValueKind::InlineAsm => {}
                _ if operand.is_plain_constant() => {}
                // A scope of aliasing, say: no function has a parameter of such a type.
                _ if !operand.can_be_parameter() => return None,
                _ => {
                    operands.push(Operand::Parameter(n));
                    types.push(operand.ty());
                }
            }
        }
        // The value is stored, so that it is of use.
        let (has_value, pointer) = (instruction.has_value(), instruction.pointer_type());
        if has_value {
            types.push(pointer);
        }
        // SAFETY: all handles belong to one living context (the invariant of `Value`), new instructions go into the block that is
        // made here, and the clone gets operands of the types that it had; the builder is disposed of in the end.
        unsafe {
            let void = (api.LLVMVoidTypeInContext)(instruction.context.raw);
            let ty = (api.LLVMFunctionType)(void, types.as_mut_ptr(), types.len() as u32, 0);
            let function = (api.LLVMAddFunction)(module.raw, c"probe".as_ptr(), ty);
            let block = (api.LLVMAppendBasicBlockInContext)(
                instruction.context.raw,
                function,
                c"".as_ptr(),
            );
            let builder = (api.LLVMCreateBuilderInContext)(instruction.context.raw);
            (api.LLVMPositionBuilderAtEnd)(builder, block);
            let copy = (api.LLVMInstructionClone)(instruction.raw);
            (api.LLVMInstructionSetDebugLoc)(copy, std::ptr::null_mut());
            let mut parameter = 0;
            for operand in operands {
                match operand {
                    Operand::Parameter(n) => {
                        let value = (api.LLVMGetParam)(function, parameter);
                        (api.LLVMSetOperand)(copy, n, value);
                        parameter += 1;
                    }
                    Operand::Callee(callee) => {
                        let name = cstring(&callee.name());
                        let ty = (api.LLVMGlobalGetValueType)(callee.raw);
                        let declared = (api.LLVMAddFunction)(module.raw, name.as_ptr(), ty);
                        (api.LLVMSetOperand)(copy, count - 1, declared);
                    }
                }
            }
            (api.LLVMInsertIntoBuilder)(builder, copy);
            if has_value {
                let to = (api.LLVMGetParam)(function, parameter);
                (api.LLVMBuildStore)(builder, copy, to);
            }
            (api.LLVMBuildRetVoid)(builder);
            (api.LLVMDisposeBuilder)(builder);
        }
        Some(module)
    }
}

/// What is done to an operand of the copy.
enum Operand<'c> {
    Parameter(u32),
    Callee(Value<'c>),
}

impl<'c> Value<'c> {
    /// Whether it is a constant that belongs to no module.
    fn is_plain_constant(self) -> bool {
        let api = self.api();
        // SAFETY: `raw` is live (the invariant of `Value`).
        let is_constant = !unsafe { (api.LLVMIsAConstant)(self.raw) }.is_null();
        is_constant
            && !matches!(self.kind(), ValueKind::Function | ValueKind::Global)
            && (0..self.operand_count())
                .filter_map(|n| self.operand(n))
                .all(Value::is_plain_constant)
    }

    /// Whether an instruction has a value.
    fn has_value(self) -> bool {
        const VOID: i32 = 0;
        // SAFETY: `raw` is live (the invariant of `Value`).
        unsafe { (self.api().LLVMGetTypeKind)(self.ty()) != VOID }
    }

    /// Whether a function may have a parameter of its type.
    fn can_be_parameter(self) -> bool {
        const LABEL: i32 = 7;
        const METADATA: i32 = 14;
        const TOKEN: i32 = 16;
        // SAFETY: `raw` is live (the invariant of `Value`).
        let kind = unsafe { (self.api().LLVMGetTypeKind)(self.ty()) };
        !matches!(kind, LABEL | METADATA | TOKEN)
    }

    fn pointer_type(self) -> sys::TypeRef {
        // SAFETY: the context is living (the invariant of `Value`).
        unsafe { (self.api().LLVMPointerTypeInContext)(self.context.raw, 0) }
    }

    /// LLVM's text of it, without the numbers of metadata.
    pub fn text(self) -> String {
        // SAFETY: `raw` is live (the invariant of `Value`); the string is the caller's, and `take_message` disposes of it.
        let text = self
            .context
            .take_message(unsafe { (self.api().LLVMPrintValueToString)(self.raw) });
        let end = text.find(", !").unwrap_or(text.len());
        text[..end].trim().to_owned()
    }
}
