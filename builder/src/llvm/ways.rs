//! The ways that lead to a block: blocks put in between.

use super::sys::BasicBlockRef;
use super::value::Value;

impl<'c> Value<'c> {
    /// Puts a block of its own into each way that leads to the block of this instruction, if that begins with it. Gives the jumps that the
    /// new blocks consist of; none, if other instructions come first, or if no way leads there.
    pub fn split_ways(self) -> Vec<Value<'c>> {
        let api = self.api();
        let Some(function) = self.function() else {
            return Vec::new();
        };
        // SAFETY: `self` is an instruction of a function (the method's sort of value); all handles belong to one living context (the invariant
        // of `Value`), and the builder is disposed of in the end.
        unsafe {
            let block = (api.LLVMGetInstructionParent)(self.raw);
            if (api.LLVMGetFirstInstruction)(block) != self.raw {
                return Vec::new();
            }
            let mut jumps = Vec::new();
            for leaving in function.instructions() {
                if (api.LLVMIsATerminatorInst)(leaving.raw).is_null() {
                    continue;
                }
                let mut between: BasicBlockRef = std::ptr::null_mut();
                for n in 0..(api.LLVMGetNumSuccessors)(leaving.raw) {
                    if (api.LLVMGetSuccessor)(leaving.raw, n) != block {
                        continue;
                    }
                    if between.is_null() {
                        between = (api.LLVMAppendBasicBlockInContext)(
                            self.context.raw,
                            function.raw,
                            c"".as_ptr(),
                        );
                        let builder = (api.LLVMCreateBuilderInContext)(self.context.raw);
                        (api.LLVMPositionBuilderAtEnd)(builder, between);
                        let jump = (api.LLVMBuildBr)(builder, block);
                        (api.LLVMDisposeBuilder)(builder);
                        let location = (api.LLVMInstructionGetDebugLoc)(self.raw);
                        (api.LLVMInstructionSetDebugLoc)(jump, location);
                        jumps.extend(self.wrap(jump));
                    }
                    (api.LLVMSetSuccessor)(leaving.raw, n, between);
                }
            }
            jumps
        }
    }
}
