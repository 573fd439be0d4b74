//! Values of LLVM IR: globals, functions, instructions, constants, and the attributes on them.

use std::ffi::CStr;

use super::Context;
use super::sys::{self, BasicBlockRef};

/// Instruction opcodes of the C API that the linker looks at.
pub mod opcode {
    #![allow(missing_docs)]
    pub const CALL: i32 = 45;
    pub const GET_ELEMENT_POINTER: i32 = 29;
    pub const BIT_CAST: i32 = 41;
    pub const PHI: i32 = 44;
    pub const SELECT: i32 = 46;
    pub const ADDRESS_SPACE_CAST: i32 = 60;
    pub const ATOMIC_RMW: i32 = 57;
    pub const FADD: i32 = 9;
    pub const FSUB: i32 = 11;
    pub const FMUL: i32 = 13;
    pub const FDIV: i32 = 16;
    pub const FNEG: i32 = 66;
}

/// Fast-math flags of the C API.
pub mod fast_math {
    #![allow(missing_docs)]
    pub const RECIPROCAL: u32 = 1 << 4;
    pub const CONTRACT: u32 = 1 << 5;
    pub const APPROXIMATE: u32 = 1 << 6;
}

/// Memory order of an atomic instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Ordering {
    Monotonic,
    Acquire,
    Release,
    AcquireRelease,
    SequentiallyConsistent,
}

/// What an atomic read-modify-write does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum RmwOperation {
    Exchange,
    Add,
    Sub,
    And,
    Or,
    Xor,
    Max,
    Min,
    UnsignedMax,
    UnsignedMin,
    FloatAdd,
    Other,
}

/// What a value is, as far as the linker cares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueKind {
    /// A function, declared or defined.
    Function,
    /// A global variable.
    Global,
    /// A block of inline assembly.
    InlineAsm,
    /// An instruction.
    Instruction,
    /// Anything else.
    Other,
}

/// Where an attribute sits.
#[derive(Clone, Copy)]
pub enum Attribute {
    /// On the function or the call as a whole.
    Function,
    /// On the parameter with this number.
    Parameter(u32),
}

impl Attribute {
    fn index(self) -> u32 {
        match self {
            Attribute::Function => u32::MAX,
            Attribute::Parameter(n) => n + 1,
        }
    }
}

/// A value of LLVM IR.
#[derive(Clone, Copy)]
pub struct Value<'c> {
    pub(crate) raw: sys::ValueRef,
    pub(crate) context: &'c Context,
}

impl PartialEq for Value<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}
impl Eq for Value<'_> {}
impl std::hash::Hash for Value<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.raw.hash(state);
    }
}

/// All instructions of a function, collected so that they may be changed while walking.
pub type Instructions<'c> = Vec<Value<'c>>;

// SAFETY of the `unsafe` blocks below: every handle belongs to a living context and module (values are
// created only by this layer), and each function is called on a value of the kind that it is defined for,
// which the methods' names and the linker's opcode checks ensure.
#[allow(clippy::undocumented_unsafe_blocks)]
impl<'c> Value<'c> {
    fn api(self) -> &'static sys::Api {
        self.context.api
    }

    fn wrap(self, raw: sys::ValueRef) -> Option<Value<'c>> {
        self.context.value(raw)
    }

    /// What it is.
    pub fn kind(self) -> ValueKind {
        let api = self.api();
        let is = |test: unsafe extern "C" fn(sys::ValueRef) -> sys::ValueRef| {
            !unsafe { test(self.raw) }.is_null()
        };
        if is(api.LLVMIsAInstruction) {
            ValueKind::Instruction
        } else if is(api.LLVMIsAFunction) {
            ValueKind::Function
        } else if is(api.LLVMIsAGlobalVariable) {
            ValueKind::Global
        } else if is(api.LLVMIsAInlineAsm) {
            ValueKind::InlineAsm
        } else {
            ValueKind::Other
        }
    }

    /// Its name; empty for most local values.
    pub fn name(self) -> String {
        let mut len = 0;
        unsafe {
            let start = (self.api().LLVMGetValueName2)(self.raw, &mut len);
            String::from_utf8_lossy(std::slice::from_raw_parts(start.cast(), len)).into_owned()
        }
    }

    /// Renames it.
    pub fn set_name(self, name: &str) {
        unsafe { (self.api().LLVMSetValueName2)(self.raw, name.as_ptr().cast(), name.len()) }
    }

    /// Its type.
    pub fn ty(self) -> sys::TypeRef {
        unsafe { (self.api().LLVMTypeOf)(self.raw) }
    }

    /// A global's or function's own type (that of what it points to).
    pub fn value_type(self) -> sys::TypeRef {
        unsafe { (self.api().LLVMGlobalGetValueType)(self.raw) }
    }

    /// The address space of a pointer value.
    pub fn address_space(self) -> u32 {
        unsafe { (self.api().LLVMGetPointerAddressSpace)(self.ty()) }
    }

    // --- Globals and functions.

    /// True for a function or global without body or initialiser.
    pub fn is_declaration(self) -> bool {
        unsafe { (self.api().LLVMIsDeclaration)(self.raw) != 0 }
    }

    /// Makes it private to the module, so that it goes away when unused.
    pub fn internalise(self) {
        const INTERNAL: i32 = 8;
        const DEFAULT: i32 = 0;
        unsafe {
            (self.api().LLVMSetVisibility)(self.raw, DEFAULT);
            (self.api().LLVMSetLinkage)(self.raw, INTERNAL);
        }
    }

    /// Makes it visible outside of the module.
    pub fn externalise(self) {
        const EXTERNAL: i32 = 0;
        const DEFAULT: i32 = 0;
        unsafe {
            (self.api().LLVMSetVisibility)(self.raw, DEFAULT);
            (self.api().LLVMSetLinkage)(self.raw, EXTERNAL);
        }
    }

    /// The section it was put into, if any.
    pub fn section(self) -> Option<String> {
        let section = unsafe { (self.api().LLVMGetSection)(self.raw) };
        (!section.is_null())
            .then(|| {
                unsafe { CStr::from_ptr(section) }
                    .to_string_lossy()
                    .into_owned()
            })
            .filter(|s| !s.is_empty())
    }

    /// Its alignment in bytes.
    pub fn alignment(self) -> u32 {
        unsafe { (self.api().LLVMGetAlignment)(self.raw) }
    }

    /// Sets its alignment in bytes.
    pub fn set_alignment(self, align: u32) {
        unsafe { (self.api().LLVMSetAlignment)(self.raw, align) }
    }

    /// A global's initial value.
    pub fn initialiser(self) -> Option<Value<'c>> {
        self.wrap(unsafe { (self.api().LLVMGetInitializer)(self.raw) })
    }

    /// Sets a global's initial value.
    pub fn set_initialiser(self, value: Value<'c>) {
        unsafe { (self.api().LLVMSetInitializer)(self.raw, value.raw) }
    }

    /// Says that the host may write the global before a kernel starts, so its initial value is no promise.
    pub fn set_externally_initialised(self) {
        unsafe { (self.api().LLVMSetExternallyInitialized)(self.raw, 1) }
    }

    /// Sets whether nothing writes the global.
    pub fn set_constant_global(self, constant: bool) {
        unsafe { (self.api().LLVMSetGlobalConstant)(self.raw, constant.into()) }
    }

    /// Removes a global variable without uses.
    pub fn delete_global(self) {
        unsafe { (self.api().LLVMDeleteGlobal)(self.raw) }
    }

    /// Replaces every use of this value by `other`, which has the same type.
    pub fn replace_uses_with(self, other: Value<'c>) {
        unsafe { (self.api().LLVMReplaceAllUsesWith)(self.raw, other.raw) }
    }

    /// This constant pointer, cast to the generic address space.
    pub fn cast_to_generic(self) -> Value<'c> {
        let raw = unsafe {
            let generic = (self.api().LLVMPointerTypeInContext)(self.context.raw, 0);
            (self.api().LLVMConstAddrSpaceCast)(self.raw, generic)
        };
        Value {
            raw,
            context: self.context,
        }
    }

    /// All users of this value (instructions and constants).
    pub fn users(self) -> Vec<Value<'c>> {
        let mut users = Vec::new();
        unsafe {
            let mut at = (self.api().LLVMGetFirstUse)(self.raw);
            while !at.is_null() {
                users.extend(self.wrap((self.api().LLVMGetUser)(at)));
                at = (self.api().LLVMGetNextUse)(at);
            }
        }
        users
    }

    /// True when nothing uses it.
    pub fn is_unused(self) -> bool {
        unsafe { (self.api().LLVMGetFirstUse)(self.raw).is_null() }
    }

    // --- Functions.

    /// True for an intrinsic of LLVM's.
    pub fn is_intrinsic(self) -> bool {
        unsafe { (self.api().LLVMGetIntrinsicID)(self.raw) != 0 }
    }

    /// The calling convention's number.
    pub fn calling_convention(self) -> u32 {
        unsafe { (self.api().LLVMGetFunctionCallConv)(self.raw) }
    }

    /// How many parameters the function has.
    pub fn parameter_count(self) -> u32 {
        unsafe { (self.api().LLVMCountParams)(self.raw) }
    }

    /// The parameter with this number.
    pub fn parameter(self, n: u32) -> Option<Value<'c>> {
        if n >= self.parameter_count() {
            return None;
        }
        self.wrap(unsafe { (self.api().LLVMGetParam)(self.raw, n) })
    }

    /// All instructions of a function.
    pub fn instructions(self) -> Instructions<'c> {
        let mut all = Vec::new();
        unsafe {
            let mut block: BasicBlockRef = (self.api().LLVMGetFirstBasicBlock)(self.raw);
            while !block.is_null() {
                let mut at = (self.api().LLVMGetFirstInstruction)(block);
                while let Some(value) = self.wrap(at) {
                    all.push(value);
                    at = (self.api().LLVMGetNextInstruction)(at);
                }
                block = (self.api().LLVMGetNextBasicBlock)(block);
            }
        }
        all
    }

    /// Adds a flag attribute such as `convergent`.
    pub fn add_flag(self, at: Attribute, name: &str) {
        self.add_number(at, name, 0);
    }

    /// Adds an attribute with a number, such as `align`.
    pub fn add_number(self, at: Attribute, name: &str, number: u64) {
        unsafe {
            let attribute = (self.api().LLVMCreateEnumAttribute)(
                self.context.raw,
                self.attribute_kind(name),
                number,
            );
            (self.api().LLVMAddAttributeAtIndex)(self.raw, at.index(), attribute);
        }
    }

    /// Adds an attribute with a type, such as `byval`.
    pub fn add_type(self, at: Attribute, name: &str, ty: sys::TypeRef) {
        unsafe {
            let attribute = (self.api().LLVMCreateTypeAttribute)(
                self.context.raw,
                self.attribute_kind(name),
                ty,
            );
            (self.api().LLVMAddAttributeAtIndex)(self.raw, at.index(), attribute);
        }
    }

    /// Adds a free-form attribute.
    pub fn add_text(self, at: Attribute, name: &str, text: &str) {
        unsafe {
            let attribute = (self.api().LLVMCreateStringAttribute)(
                self.context.raw,
                name.as_ptr().cast(),
                name.len() as u32,
                text.as_ptr().cast(),
                text.len() as u32,
            );
            (self.api().LLVMAddAttributeAtIndex)(self.raw, at.index(), attribute);
        }
    }

    /// Removes a flag attribute.
    pub fn remove_flag(self, at: Attribute, name: &str) {
        unsafe {
            (self.api().LLVMRemoveEnumAttributeAtIndex)(
                self.raw,
                at.index(),
                self.attribute_kind(name),
            )
        }
    }

    /// Removes a free-form attribute.
    pub fn remove_text(self, at: Attribute, name: &str) {
        unsafe {
            (self.api().LLVMRemoveStringAttributeAtIndex)(
                self.raw,
                at.index(),
                name.as_ptr().cast(),
                name.len() as u32,
            )
        }
    }

    /// Whether a flag attribute is there.
    pub fn has_flag(self, at: Attribute, name: &str) -> bool {
        unsafe {
            !(self.api().LLVMGetEnumAttributeAtIndex)(
                self.raw,
                at.index(),
                self.attribute_kind(name),
            )
            .is_null()
        }
    }

    fn attribute_kind(self, name: &str) -> u32 {
        let kind = unsafe {
            (self.api().LLVMGetEnumAttributeKindForName)(name.as_ptr().cast(), name.len())
        };
        assert_ne!(kind, 0, "LLVM knows no attribute `{name}`");
        kind
    }

    // --- Instructions.

    /// The opcode (see [`opcode`]).
    pub fn opcode(self) -> i32 {
        unsafe { (self.api().LLVMGetInstructionOpcode)(self.raw) }
    }

    /// The function around an instruction.
    pub fn function(self) -> Option<Value<'c>> {
        unsafe {
            let block = (self.api().LLVMGetInstructionParent)(self.raw);
            if block.is_null() {
                return None;
            }
            self.wrap((self.api().LLVMGetBasicBlockParent)(block))
        }
    }

    /// Removes an instruction whose value is not used.
    pub fn erase(self) {
        unsafe { (self.api().LLVMInstructionEraseFromParent)(self.raw) }
    }

    /// The operand with this number.
    pub fn operand(self, n: u32) -> Option<Value<'c>> {
        self.wrap(unsafe { (self.api().LLVMGetOperand)(self.raw, n) })
    }

    /// Whether an instruction is a call.
    pub fn is_call(self) -> bool {
        self.opcode() == opcode::CALL
    }

    /// What a call calls.
    pub fn callee(self) -> Option<Value<'c>> {
        self.wrap(unsafe { (self.api().LLVMGetCalledValue)(self.raw) })
    }

    /// How many arguments a call has.
    pub fn argument_count(self) -> u32 {
        unsafe { (self.api().LLVMGetNumArgOperands)(self.raw) }
    }

    /// The template of an inline-assembly value.
    pub fn asm_text(self) -> String {
        let mut len = 0;
        unsafe {
            let start = (self.api().LLVMGetInlineAsmAsmString)(self.raw, &mut len);
            String::from_utf8_lossy(std::slice::from_raw_parts(start.cast(), len)).into_owned()
        }
    }

    /// The operand constraints of an inline-assembly value, separated by commas.
    pub fn asm_constraints(self) -> String {
        let mut len = 0;
        unsafe {
            let start = (self.api().LLVMGetInlineAsmConstraintString)(self.raw, &mut len);
            String::from_utf8_lossy(std::slice::from_raw_parts(start.cast(), len)).into_owned()
        }
    }

    /// The opcode of a constant expression, `None` for other values.
    pub fn constant_opcode(self) -> Option<i32> {
        unsafe {
            (!(self.api().LLVMIsAConstantExpr)(self.raw).is_null())
                .then(|| (self.api().LLVMGetConstOpcode)(self.raw))
        }
    }

    /// How many operands an instruction or constant expression has.
    pub fn operand_count(self) -> u32 {
        unsafe { (self.api().LLVMGetNumOperands)(self.raw) as u32 }
    }

    /// The function whose parameter this is, `None` for other values.
    pub fn parameter_of(self) -> Option<Value<'c>> {
        unsafe {
            if (self.api().LLVMIsAArgument)(self.raw).is_null() {
                return None;
            }
            self.wrap((self.api().LLVMGetParamParent)(self.raw))
        }
    }

    /// Puts a copy of this call of inline assembly before it, with another template, and the pointer argument
    /// `n` cast to an address space. Flags of the call are kept.
    pub fn build_asm_copy_before(self, text: &str, n: u32, space: u32) -> Option<Value<'c>> {
        let asm = self.callee()?;
        let mut arguments: Vec<_> = (0..self.argument_count())
            .map(|i| self.operand(i).map(|v| v.raw))
            .collect::<Option<_>>()?;
        let constraints = asm.asm_constraints();
        let api = self.api();
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

    /// Adds a flag attribute to a call.
    pub fn add_call_flag(self, name: &str) {
        unsafe {
            let attribute = (self.api().LLVMCreateEnumAttribute)(
                self.context.raw,
                self.attribute_kind(name),
                0,
            );
            (self.api().LLVMAddCallSiteAttribute)(self.raw, Attribute::Function.index(), attribute);
        }
    }

    /// Removes a flag attribute from a call.
    pub fn remove_call_flag(self, name: &str) {
        unsafe {
            (self.api().LLVMRemoveCallSiteEnumAttribute)(
                self.raw,
                Attribute::Function.index(),
                self.attribute_kind(name),
            )
        }
    }

    /// Source file and line of an instruction or function, where known.
    pub fn location(self) -> Option<(String, u32)> {
        unsafe {
            let line = (self.api().LLVMGetDebugLocLine)(self.raw);
            let mut len = 0;
            let file = (self.api().LLVMGetDebugLocFilename)(self.raw, &mut len);
            if file.is_null() || line == 0 {
                return None;
            }
            let file =
                String::from_utf8_lossy(std::slice::from_raw_parts(file.cast(), len as usize))
                    .into_owned();
            Some((file, line))
        }
    }

    /// The source location of an instruction, with its way of inlining.
    pub fn debug_location(self) -> Option<super::Location<'c>> {
        let raw = unsafe { (self.api().LLVMInstructionGetDebugLoc)(self.raw) };
        super::Location::new(raw, self.context)
    }

    /// Sets the source location of an instruction.
    pub fn set_debug_location(self, location: super::Location<'c>) {
        unsafe { (self.api().LLVMInstructionSetDebugLoc)(self.raw, location.raw()) }
    }

    // --- Atomics.

    /// The order of an atomic instruction.
    pub fn ordering(self) -> Ordering {
        match unsafe { (self.api().LLVMGetOrdering)(self.raw) } {
            4 => Ordering::Acquire,
            5 => Ordering::Release,
            6 => Ordering::AcquireRelease,
            7 => Ordering::SequentiallyConsistent,
            _ => Ordering::Monotonic,
        }
    }

    /// What an atomic read-modify-write does.
    pub fn rmw_operation(self) -> RmwOperation {
        match unsafe { (self.api().LLVMGetAtomicRMWBinOp)(self.raw) } {
            0 => RmwOperation::Exchange,
            1 => RmwOperation::Add,
            2 => RmwOperation::Sub,
            3 => RmwOperation::And,
            5 => RmwOperation::Or,
            6 => RmwOperation::Xor,
            7 => RmwOperation::Max,
            8 => RmwOperation::Min,
            9 => RmwOperation::UnsignedMax,
            10 => RmwOperation::UnsignedMin,
            11 => RmwOperation::FloatAdd,
            _ => RmwOperation::Other,
        }
    }

    /// The width of an integer or pointer value.
    pub fn integer_bits(self) -> Option<u32> {
        const INTEGER: i32 = 8;
        const POINTER: i32 = 12;
        match unsafe { (self.api().LLVMGetTypeKind)(self.ty()) } {
            INTEGER => Some(unsafe { (self.api().LLVMGetIntTypeWidth)(self.ty()) }),
            POINTER => Some(64),
            _ => None,
        }
    }

    /// The width of a floating-point value.
    pub fn float_bits(self) -> Option<u32> {
        match unsafe { (self.api().LLVMGetTypeKind)(self.ty()) } {
            1 => Some(16),
            2 => Some(32),
            3 => Some(64),
            _ => None,
        }
    }

    /// The alignment that a call promises for a pointer argument; 1 if it says nothing.
    pub fn call_parameter_alignment(self, n: u32) -> u64 {
        unsafe {
            let attribute = (self.api().LLVMGetCallSiteEnumAttribute)(
                self.raw,
                Attribute::Parameter(n).index(),
                self.attribute_kind("align"),
            );
            if attribute.is_null() {
                1
            } else {
                (self.api().LLVMGetEnumAttributeValue)(attribute)
            }
        }
    }

    /// Puts a load of four words from operand 1 and a store of them to operand 0 before this call, aligned to 16.
    pub fn build_vector_copy_before(self) {
        let api = self.api();
        unsafe {
            let (to, from) = (
                (api.LLVMGetOperand)(self.raw, 0),
                (api.LLVMGetOperand)(self.raw, 1),
            );
            let words = (api.LLVMVectorType)((api.LLVMInt32TypeInContext)(self.context.raw), 4);
            let location = (api.LLVMInstructionGetDebugLoc)(self.raw);
            let builder = (api.LLVMCreateBuilderInContext)(self.context.raw);
            (api.LLVMPositionBuilderBefore)(builder, self.raw);
            let load = (api.LLVMBuildLoad2)(builder, words, from, c"".as_ptr());
            let store = (api.LLVMBuildStore)(builder, load, to);
            (api.LLVMDisposeBuilder)(builder);
            for access in [load, store] {
                (api.LLVMSetAlignment)(access, 16);
                (api.LLVMInstructionSetDebugLoc)(access, location);
            }
        }
    }

    /// Puts `-operand` before this instruction.
    pub fn build_negation_before(self, operand: Value<'c>) -> Value<'c> {
        let raw = unsafe {
            let builder = (self.api().LLVMCreateBuilderInContext)(self.context.raw);
            (self.api().LLVMPositionBuilderBefore)(builder, self.raw);
            let raw = (self.api().LLVMBuildNeg)(builder, operand.raw, c"".as_ptr());
            (self.api().LLVMDisposeBuilder)(builder);
            raw
        };
        Value {
            raw,
            context: self.context,
        }
    }

    /// Puts inline assembly (with side effects) before this instruction, with its source location.
    pub fn build_asm_before(
        self,
        text: &str,
        constraints: &str,
        result: sys::TypeRef,
        arguments: &[Value<'c>],
    ) -> Value<'c> {
        let mut types: Vec<_> = arguments.iter().map(|a| a.ty()).collect();
        let mut values: Vec<_> = arguments.iter().map(|a| a.raw).collect();
        let raw = unsafe {
            let ty =
                (self.api().LLVMFunctionType)(result, types.as_mut_ptr(), types.len() as u32, 0);
            let asm = (self.api().LLVMGetInlineAsm)(
                ty,
                text.as_ptr().cast(),
                text.len(),
                constraints.as_ptr().cast(),
                constraints.len(),
                1,
                0,
                0,
                0,
            );
            let builder = (self.api().LLVMCreateBuilderInContext)(self.context.raw);
            (self.api().LLVMPositionBuilderBefore)(builder, self.raw);
            let call = (self.api().LLVMBuildCall2)(
                builder,
                ty,
                asm,
                values.as_mut_ptr(),
                values.len() as u32,
                c"".as_ptr(),
            );
            (self.api().LLVMInstructionSetDebugLoc)(
                call,
                (self.api().LLVMInstructionGetDebugLoc)(self.raw),
            );
            (self.api().LLVMDisposeBuilder)(builder);
            call
        };
        Value {
            raw,
            context: self.context,
        }
    }

    // --- Floating point.

    /// Whether the instruction can carry fast-math flags.
    pub fn takes_fast_math(self) -> bool {
        unsafe { (self.api().LLVMCanValueUseFastMathFlags)(self.raw) != 0 }
    }

    /// Adds fast-math flags (bits of the C API).
    pub fn add_fast_math(self, flags: u32) {
        unsafe {
            let old = (self.api().LLVMGetFastMathFlags)(self.raw);
            (self.api().LLVMSetFastMathFlags)(self.raw, old | flags);
        }
    }

    // --- Constants.

    /// The undefined value of type `ty`, in the context of `like`.
    pub fn undefined(ty: sys::TypeRef, like: Value<'c>) -> Value<'c> {
        Value {
            raw: unsafe { (like.api().LLVMGetUndef)(ty) },
            context: like.context,
        }
    }

    /// The value of a constant integer.
    pub fn as_integer(self) -> Option<u64> {
        unsafe {
            if (self.api().LLVMIsAConstantInt)(self.raw).is_null() {
                return None;
            }
            Some((self.api().LLVMConstIntGetZExtValue)(self.raw))
        }
    }

    /// The number in a constant pointer that was made from one.
    pub fn as_integer_address(self) -> Option<u64> {
        const INT_TO_POINTER: i32 = 40;
        if self.constant_opcode() != Some(INT_TO_POINTER) {
            return None;
        }
        self.operand(0)?.as_integer()
    }

    /// A 64-bit constant, in the context of `like`.
    pub fn integer(number: u64, like: Value<'c>) -> Value<'c> {
        let api = like.api();
        let raw = unsafe {
            (api.LLVMConstInt)((api.LLVMInt64TypeInContext)(like.context.raw), number, 0)
        };
        Value {
            raw,
            context: like.context,
        }
    }

    /// Puts a call of `function` before this call, with its source location.
    pub fn build_call_before(self, function: Value<'c>, arguments: &[Value<'c>]) -> Value<'c> {
        let api = self.api();
        let mut values: Vec<_> = arguments.iter().map(|a| a.raw).collect();
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

    /// The bytes of a constant `[N x i8]`.
    pub fn as_bytes(self) -> Option<Vec<u8>> {
        let mut len = 0;
        unsafe {
            if (self.api().LLVMIsConstantString)(self.raw) == 0 {
                return None;
            }
            let start = (self.api().LLVMGetAsString)(self.raw, &mut len);
            Some(std::slice::from_raw_parts(start.cast::<u8>(), len).to_vec())
        }
    }

    /// A member of a constant aggregate.
    pub fn element(self, n: u32) -> Option<Value<'c>> {
        self.wrap(unsafe { (self.api().LLVMGetAggregateElement)(self.raw, n) })
    }
}
