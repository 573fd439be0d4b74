//! New instructions, put before one that is there, with its source location.

use super::place::Place;
use super::sys;
use super::value::{Attribute, Value};

impl<'c> Value<'c> {
    /// Puts a copy of this call of inline assembly before it, with another template, and the pointer argument
    /// `n` cast to an address space. Flags of the call are kept.
    pub fn build_asm_copy_before(self, text: &str, n: u32, space: u32) -> Option<Value<'c>> {
        let asm = self.callee()?;
        let mut arguments: Vec<_> = (0..self.argument_count())
            .map(|i| self.operand(i).map(|v| v.raw))
            .collect::<Option<_>>()?;
        let constraints = asm.asm_constraints();
        let api = self.api();
        // SAFETY: all handles belong to one living context (the invariant of `Value`); the builder is disposed of in the end.
        let call = unsafe {
            let builder = (api.LLVMCreateBuilderInContext)(self.context.raw);
            (api.LLVMPositionBuilderBefore)(builder, self.raw);
            if space != 0 {
                let pointer = (api.LLVMPointerTypeInContext)(self.context.raw, space);
                let argument = &mut arguments[n as usize];
                *argument = (api.LLVMBuildAddrSpaceCast)(builder, *argument, pointer, c"".as_ptr());
            }
            let mut types: Vec<_> = arguments.iter().map(|&a| (api.LLVMTypeOf)(a)).collect();
            let ty = (api.LLVMFunctionType)(self.ty(), types.as_mut_ptr(), types.len() as u32, 0);
            let asm = (api.LLVMGetInlineAsm)(
                ty,
                text.as_ptr().cast(),
                text.len(),
                constraints.as_ptr().cast(),
                constraints.len(),
                (api.LLVMGetInlineAsmHasSideEffects)(asm.raw),
                0,
                0,
                0,
            );
            let call = (api.LLVMBuildCall2)(
                builder,
                ty,
                asm,
                arguments.as_mut_ptr(),
                arguments.len() as u32,
                c"".as_ptr(),
            );
            (api.LLVMInstructionSetDebugLoc)(call, (api.LLVMInstructionGetDebugLoc)(self.raw));
            let at = Attribute::Function.index();
            let count = (api.LLVMGetCallSiteAttributeCount)(self.raw, at) as usize;
            let mut flags = vec![std::ptr::null_mut(); count];
            (api.LLVMGetCallSiteAttributes)(self.raw, at, flags.as_mut_ptr());
            for flag in flags {
                (api.LLVMAddCallSiteAttribute)(call, at, flag);
            }
            (api.LLVMDisposeBuilder)(builder);
            call
        };
        self.wrap(call)
    }

    /// Puts a phi of the type of `like`, without values, before this one.
    pub fn build_phi_before(self, like: Value<'c>) -> Value<'c> {
        self.build_before(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariant of `Value`), and the builder is in an instruction's block.
            unsafe { (api.LLVMBuildPhi)(builder, like.ty(), c"".as_ptr()) }
        })
    }

    /// Puts a copy of an instruction, with the operands of the original, before this one.
    pub fn build_copy_before(self, original: Value<'c>) -> Value<'c> {
        self.build_before(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariant of `Value`), and the builder is in an instruction's block; the
            // copy is in no block yet.
            unsafe {
                let copy = (api.LLVMInstructionClone)(original.raw);
                (api.LLVMInsertIntoBuilder)(builder, copy);
                copy
            }
        })
    }

    /// Puts the address so many bytes behind `pointer` before this instruction.
    pub fn build_offset_before(self, pointer: Value<'c>, bytes: u64) -> Value<'c> {
        let byte = Place::before(self).byte_type();
        self.build_address_before(byte, pointer, Value::integer(bytes, self))
    }

    /// Puts the address of element `index` behind `pointer` before this instruction.
    pub fn build_address_before(
        self,
        element: sys::TypeRef,
        pointer: Value<'c>,
        index: Value<'c>,
    ) -> Value<'c> {
        let mut index = index.raw;
        self.build_before(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariant of `Value`), and the builder is in an instruction's block; there is
            // one index.
            unsafe {
                (api.LLVMBuildGEP2)(builder, element, pointer.raw, &mut index, 1, c"".as_ptr())
            }
        })
    }

    /// Puts a stack slot for a value of a type before this instruction.
    pub fn build_slot_before(self, ty: sys::TypeRef, alignment: u32) -> Value<'c> {
        let slot = self.build_before(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariant of `Value`), and the builder is in an instruction's block.
            unsafe { (api.LLVMBuildAlloca)(builder, ty, c"".as_ptr()) }
        });
        slot.set_alignment(alignment);
        slot
    }

    /// Puts a load before this instruction.
    pub fn build_load_before(
        self,
        ty: sys::TypeRef,
        pointer: Value<'c>,
        alignment: u32,
    ) -> Value<'c> {
        let load = self.build_before(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariant of `Value`), and the builder is in an instruction's block.
            unsafe { (api.LLVMBuildLoad2)(builder, ty, pointer.raw, c"".as_ptr()) }
        });
        load.set_alignment(alignment);
        load
    }

    /// Puts a store before this instruction.
    pub fn build_store_before(
        self,
        value: Value<'c>,
        pointer: Value<'c>,
        alignment: u32,
    ) -> Value<'c> {
        let store = self.build_before(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariant of `Value`), and the builder is in an instruction's block.
            unsafe { (api.LLVMBuildStore)(builder, value.raw, pointer.raw) }
        });
        store.set_alignment(alignment);
        store
    }

    /// Puts `-operand` before this instruction.
    pub fn build_negation_before(self, operand: Value<'c>) -> Value<'c> {
        self.build_before(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariant of `Value`), and the builder is in an instruction's block.
            unsafe { (api.LLVMBuildNeg)(builder, operand.raw, c"".as_ptr()) }
        })
    }

    /// Puts inline assembly (with side effects) before this instruction, with its source location.
    pub fn build_asm_before(
        self,
        text: &str,
        constraints: &str,
        result: sys::TypeRef,
        arguments: &[Value<'c>],
    ) -> Value<'c> {
        self.build_any_asm_before(text, constraints, result, arguments, true)
    }

    /// The same of assembly that may only compute its result.
    pub(super) fn build_any_asm_before(
        self,
        text: &str,
        constraints: &str,
        result: sys::TypeRef,
        arguments: &[Value<'c>],
        has_side_effects: bool,
    ) -> Value<'c> {
        let mut types: Vec<_> = arguments.iter().map(|a| a.ty()).collect();
        let mut values: Vec<_> = arguments.iter().map(|a| a.raw).collect();
        self.build_before(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariant of `Value`), and the builder is in an instruction's block; both texts
            // are read during the call, and the lists have as many places as is said.
            unsafe {
                let ty = (api.LLVMFunctionType)(result, types.as_mut_ptr(), types.len() as u32, 0);
                let asm = (api.LLVMGetInlineAsm)(
                    ty,
                    text.as_ptr().cast(),
                    text.len(),
                    constraints.as_ptr().cast(),
                    constraints.len(),
                    has_side_effects.into(),
                    0,
                    0,
                    0,
                );
                (api.LLVMBuildCall2)(
                    builder,
                    ty,
                    asm,
                    values.as_mut_ptr(),
                    values.len() as u32,
                    c"".as_ptr(),
                )
            }
        })
    }

    /// Puts a call of `function` before this call, with its source location.
    pub fn build_call_before(self, function: Value<'c>, arguments: &[Value<'c>]) -> Value<'c> {
        let api = self.api();
        let mut values: Vec<_> = arguments.iter().map(|a| a.raw).collect();
        // SAFETY: all handles belong to one living context (the invariant of `Value`); the builder is disposed of in the end.
        let raw = unsafe {
            let builder = (api.LLVMCreateBuilderInContext)(self.context.raw);
            (api.LLVMPositionBuilderBefore)(builder, self.raw);
            let ty = (api.LLVMGlobalGetValueType)(function.raw);
            let call = (api.LLVMBuildCall2)(
                builder,
                ty,
                function.raw,
                values.as_mut_ptr(),
                values.len() as u32,
                c"".as_ptr(),
            );
            (api.LLVMInstructionSetDebugLoc)(call, (api.LLVMInstructionGetDebugLoc)(self.raw));
            (api.LLVMDisposeBuilder)(builder);
            call
        };
        Value {
            raw,
            context: self.context,
        }
    }

    /// Puts a conversion of the floating-point number `number` before this instruction; `number` itself, if it has that type.
    pub fn build_float_cast_before(self, number: Value<'c>, ty: sys::TypeRef) -> Value<'c> {
        self.build_before(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariant of `Value`), and the builder is in an instruction's block.
            unsafe { (api.LLVMBuildFPCast)(builder, number.raw, ty, c"".as_ptr()) }
        })
    }

    /// Puts a read of an element of the vector `vector` before this instruction.
    pub fn build_element_before(self, vector: Value<'c>, n: u32) -> Value<'c> {
        let number = Value::integer(n.into(), self);
        self.build_before(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariant of `Value`), and the builder is in an instruction's block.
            unsafe { (api.LLVMBuildExtractElement)(builder, vector.raw, number.raw, c"".as_ptr()) }
        })
    }

    /// Puts a copy of the vector `vector` with another element `n` before this instruction.
    pub fn build_insertion_before(
        self,
        vector: Value<'c>,
        element: Value<'c>,
        n: u32,
    ) -> Value<'c> {
        let number = Value::integer(n.into(), self);
        self.build_before(|api, builder| {
            // SAFETY: all handles belong to one living context (the invariant of `Value`), and the builder is in an instruction's block.
            unsafe {
                (api.LLVMBuildInsertElement)(
                    builder,
                    vector.raw,
                    element.raw,
                    number.raw,
                    c"".as_ptr(),
                )
            }
        })
    }

    /// Has `build` make one value with a builder that stands before this instruction, and gives what is made its source location.
    pub(super) fn build_before(
        self,
        build: impl FnOnce(&sys::Api, sys::BuilderRef) -> sys::ValueRef,
    ) -> Value<'c> {
        let api = self.api();
        // SAFETY: the instruction and the context are living (the invariant of `Value`); the builder is disposed of in the end.
        let raw = unsafe {
            let builder = (api.LLVMCreateBuilderInContext)(self.context.raw);
            (api.LLVMPositionBuilderBefore)(builder, self.raw);
            let raw = build(api, builder);
            (api.LLVMDisposeBuilder)(builder);
            raw
        };
        Value {
            raw,
            context: self.context,
        }
    }
}
