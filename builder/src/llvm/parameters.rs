//! Functions and calls with more parameters than they had: LLVM's types are fixed, so each is made anew and takes over the rest.

use std::ptr;

use super::context::cstring;
use super::module::Module;
use super::sys;
use super::value::Value;

/// Where the C interface has the attributes of a function as a whole, of its result (0) and of its parameters (1 and up).
const FUNCTION: u32 = u32::MAX;
const RESULT: u32 = 0;

impl<'c> Value<'c> {
    /// A function like this one with `more` 64-bit numbers behind its parameters, which takes over the body, the name, and all uses. This one
    /// is left without a body, to be deleted when no call names its type any more. The calls are still those of the old type: see
    /// [`with_more_arguments`](Self::with_more_arguments).
    pub fn with_more_parameters(self, module: &Module<'c>, more: u32) -> Value<'c> {
        let api = self.api();
        let count = self.parameter_count();
        let name = self.name();
        self.set_name("");
        let name = cstring(&name);
        // SAFETY: `self` is a function of `module` (the invariant of `Value`), whose blocks, attributes and debug information go to a new
        // function of the same module; the arrays are as long as the counts that LLVM was asked for.
        let new = unsafe {
            let ty = longer(api, self.context.raw, self.value_type(), more);
            let new = (api.LLVMAddFunction)(module.raw, name.as_ptr(), ty);
            (api.LLVMSetLinkage)(new, (api.LLVMGetLinkage)(self.raw));
            (api.LLVMSetVisibility)(new, (api.LLVMGetVisibility)(self.raw));
            (api.LLVMSetFunctionCallConv)(new, self.calling_convention());
            (api.LLVMSetAlignment)(new, (api.LLVMGetAlignment)(self.raw));
            for index in [FUNCTION].into_iter().chain(RESULT..=count) {
                let length = (api.LLVMGetAttributeCountAtIndex)(self.raw, index) as usize;
                let mut attributes = vec![ptr::null_mut(); length];
                (api.LLVMGetAttributesAtIndex)(self.raw, index, attributes.as_mut_ptr());
                for attribute in attributes {
                    (api.LLVMAddAttributeAtIndex)(new, index, attribute);
                }
            }
            let subprogram = (api.LLVMGetSubprogram)(self.raw);
            if !subprogram.is_null() {
                (api.LLVMSetSubprogram)(new, subprogram);
            }
            loop {
                let block = (api.LLVMGetFirstBasicBlock)(self.raw);
                if block.is_null() {
                    break;
                }
                (api.LLVMRemoveBasicBlockFromParent)(block);
                (api.LLVMAppendExistingBasicBlock)(new, block);
            }
            for number in 0..count {
                let (old, new) = (
                    (api.LLVMGetParam)(self.raw, number),
                    (api.LLVMGetParam)(new, number),
                );
                (api.LLVMReplaceAllUsesWith)(old, new);
            }
            (api.LLVMReplaceAllUsesWith)(self.raw, new);
            new
        };
        Value {
            raw: new,
            context: self.context,
        }
    }

    /// Removes a function that nothing uses.
    pub fn delete_function(self) {
        // SAFETY: `raw` is live (the invariant of `Value`), and a function, for which the method is.
        unsafe { (self.api().LLVMDeleteFunction)(self.raw) }
    }

    /// Replaces this call by one of the same function with these 64-bit numbers behind its arguments.
    pub fn with_more_arguments(self, more: &[Value<'c>]) {
        let api = self.api();
        let count = self.argument_count();
        // SAFETY: `self` is a call (the method's sort of value); all handles belong to one living context, and the builder is disposed of in
        // the end. The arrays are as long as the counts that LLVM was asked for.
        unsafe {
            let old = (api.LLVMGetCalledFunctionType)(self.raw);
            let ty = longer(api, self.context.raw, old, more.len() as u32);
            let mut arguments: Vec<_> = (0..count)
                .map(|n| (api.LLVMGetOperand)(self.raw, n))
                .chain(more.iter().map(|value| value.raw))
                .collect();
            let builder = (api.LLVMCreateBuilderInContext)(self.context.raw);
            (api.LLVMPositionBuilderBefore)(builder, self.raw);
            let call = (api.LLVMBuildCall2)(
                builder,
                ty,
                (api.LLVMGetCalledValue)(self.raw),
                arguments.as_mut_ptr(),
                arguments.len() as u32,
                c"".as_ptr(),
            );
            (api.LLVMDisposeBuilder)(builder);
            (api.LLVMSetInstructionCallConv)(call, (api.LLVMGetInstructionCallConv)(self.raw));
            (api.LLVMSetTailCallKind)(call, (api.LLVMGetTailCallKind)(self.raw));
            (api.LLVMInstructionSetDebugLoc)(call, (api.LLVMInstructionGetDebugLoc)(self.raw));
            for index in [FUNCTION].into_iter().chain(RESULT..=count) {
                let length = (api.LLVMGetCallSiteAttributeCount)(self.raw, index) as usize;
                let mut attributes = vec![ptr::null_mut(); length];
                (api.LLVMGetCallSiteAttributes)(self.raw, index, attributes.as_mut_ptr());
                for attribute in attributes {
                    (api.LLVMAddCallSiteAttribute)(call, index, attribute);
                }
            }
            (api.LLVMReplaceAllUsesWith)(self.raw, call);
            (api.LLVMInstructionEraseFromParent)(self.raw);
        }
    }
}

/// The function type with `more` 64-bit numbers behind its parameters.
///
/// # Safety
///
/// `ty` is a function type of `context`, which lives.
unsafe fn longer(
    api: &sys::Api,
    context: sys::ContextRef,
    ty: sys::TypeRef,
    more: u32,
) -> sys::TypeRef {
    // SAFETY: `ty` is a function type of a living context (this function's condition), and the array has room for its parameters.
    unsafe {
        let number = (api.LLVMInt64TypeInContext)(context);
        let count = (api.LLVMCountParamTypes)(ty) as usize;
        let mut types = vec![number; count + more as usize];
        (api.LLVMGetParamTypes)(ty, types.as_mut_ptr());
        (api.LLVMFunctionType)(
            (api.LLVMGetReturnType)(ty),
            types.as_mut_ptr(),
            types.len() as u32,
            0,
        )
    }
}
