//! Values of LLVM IR: what all have in common, globals, and constants.

use std::ffi::CStr;

use super::context::Context;
use super::{opcode, sys};

/// Calling conventions of the C API.
pub mod calling_convention {
    /// A PTX kernel: `.entry`.
    pub const PTX_KERNEL: u32 = 71;
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
    /// On what the function or the call returns.
    Result,
    /// On the parameter with this number.
    Parameter(u32),
}

impl Attribute {
    pub(super) fn index(self) -> u32 {
        match self {
            Attribute::Function => u32::MAX,
            Attribute::Result => 0,
            Attribute::Parameter(n) => n + 1,
        }
    }
}

/// A value of LLVM IR.
///
/// # Invariant
/// `raw` is a value of `context`, which lives as long as the borrow, and was not erased: only this layer makes values, and the
/// linker's passes collect values before they change a module. Each method says which sort of value it is for; the passes ask for the
/// [kind](Value::kind) or the opcode first.
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

impl<'c> Value<'c> {
    pub(super) fn api(self) -> &'static sys::Api {
        self.context.api
    }

    /// The value behind a handle of `context`, `None` for a null one.
    pub(super) fn from_raw(context: &'c Context, raw: sys::ValueRef) -> Option<Value<'c>> {
        (!raw.is_null()).then_some(Value { raw, context })
    }

    pub(super) fn wrap(self, raw: sys::ValueRef) -> Option<Value<'c>> {
        Value::from_raw(self.context, raw)
    }

    /// What it is.
    pub fn kind(self) -> ValueKind {
        let api = self.api();
        let is = |test: unsafe extern "C" fn(sys::ValueRef) -> sys::ValueRef| {
            // SAFETY: `raw` is live (the invariant of `Value`), and of the sort that the method is for.
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

    /// Whether it is an instruction.
    pub fn is_instruction(self) -> bool {
        self.kind() == ValueKind::Instruction
    }

    /// Its name; empty for most local values.
    pub fn name(self) -> String {
        let mut len = 0;
        // SAFETY: `raw` is live (the invariant of `Value`), and of the sort that the method is for.
        unsafe {
            let start = (self.api().LLVMGetValueName2)(self.raw, &mut len);
            String::from_utf8_lossy(std::slice::from_raw_parts(start.cast(), len)).into_owned()
        }
    }

    /// Renames it.
    pub fn set_name(self, name: &str) {
        // SAFETY: `raw` is live (the invariant of `Value`), and of the sort that the method is for.
        unsafe { (self.api().LLVMSetValueName2)(self.raw, name.as_ptr().cast(), name.len()) }
    }

    /// Its type.
    pub fn ty(self) -> sys::TypeRef {
        // SAFETY: `raw` is live (the invariant of `Value`), and of the sort that the method is for.
        unsafe { (self.api().LLVMTypeOf)(self.raw) }
    }

    /// A global's or function's own type (that of what it points to).
    pub fn value_type(self) -> sys::TypeRef {
        // SAFETY: `raw` is live (the invariant of `Value`), and of the sort that the method is for.
        unsafe { (self.api().LLVMGlobalGetValueType)(self.raw) }
    }

    /// The address space of a pointer value.
    pub fn address_space(self) -> u32 {
        // SAFETY: `raw` is live (the invariant of `Value`), and of the sort that the method is for.
        unsafe { (self.api().LLVMGetPointerAddressSpace)(self.ty()) }
    }

    /// True for a function or global without body or initialiser.
    pub fn is_declaration(self) -> bool {
        // SAFETY: `raw` is live (the invariant of `Value`), and of the sort that the method is for.
        unsafe { (self.api().LLVMIsDeclaration)(self.raw) != 0 }
    }

    /// Makes it private to the module, so that it goes away when unused.
    pub fn internalise(self) {
        const INTERNAL: i32 = 8;
        const DEFAULT: i32 = 0;
        // SAFETY: `raw` is live (the invariant of `Value`), and of the sort that the method is for.
        unsafe {
            (self.api().LLVMSetVisibility)(self.raw, DEFAULT);
            (self.api().LLVMSetLinkage)(self.raw, INTERNAL);
        }
    }

    /// Whether it is private to the module.
    pub fn is_internal(self) -> bool {
        const INTERNAL: i32 = 8;
        // SAFETY: `raw` is live (the invariant of `Value`), and of the sort that the method is for.
        unsafe { (self.api().LLVMGetLinkage)(self.raw) == INTERNAL }
    }

    /// Makes it visible outside of the module.
    pub fn externalise(self) {
        const EXTERNAL: i32 = 0;
        const DEFAULT: i32 = 0;
        // SAFETY: `raw` is live (the invariant of `Value`), and of the sort that the method is for.
        unsafe {
            (self.api().LLVMSetVisibility)(self.raw, DEFAULT);
            (self.api().LLVMSetLinkage)(self.raw, EXTERNAL);
        }
    }

    /// The section it was put into, if any.
    pub fn section(self) -> Option<String> {
        // SAFETY: `raw` is live (the invariant of `Value`), and of the sort that the method is for.
        let section = unsafe { (self.api().LLVMGetSection)(self.raw) };
        (!section.is_null())
            .then(|| {
                // SAFETY: `raw` is live (the invariant of `Value`), and of the sort that the method is for.
                unsafe { CStr::from_ptr(section) }
                    .to_string_lossy()
                    .into_owned()
            })
            .filter(|s| !s.is_empty())
    }

    /// Its alignment in bytes.
    pub fn alignment(self) -> u32 {
        // SAFETY: `raw` is live (the invariant of `Value`), and of the sort that the method is for.
        unsafe { (self.api().LLVMGetAlignment)(self.raw) }
    }

    /// Sets its alignment in bytes.
    pub fn set_alignment(self, align: u32) {
        // SAFETY: `raw` is live (the invariant of `Value`), and of the sort that the method is for.
        unsafe { (self.api().LLVMSetAlignment)(self.raw, align) }
    }

    /// A global's initial value.
    pub fn initialiser(self) -> Option<Value<'c>> {
        // SAFETY: `raw` is live (the invariant of `Value`), and of the sort that the method is for.
        self.wrap(unsafe { (self.api().LLVMGetInitializer)(self.raw) })
    }

    /// Sets a global's initial value.
    pub fn set_initialiser(self, value: Value<'c>) {
        // SAFETY: `raw` is live (the invariant of `Value`), and of the sort that the method is for.
        unsafe { (self.api().LLVMSetInitializer)(self.raw, value.raw) }
    }

    /// Says that the host may write the global before a kernel starts, so its initial value is no promise.
    pub fn set_externally_initialised(self) {
        // SAFETY: `raw` is live (the invariant of `Value`), and of the sort that the method is for.
        unsafe { (self.api().LLVMSetExternallyInitialized)(self.raw, 1) }
    }

    /// Whether nothing writes the global.
    pub fn is_constant_global(self) -> bool {
        // SAFETY: `raw` is live (the invariant of `Value`), and a global variable, for which the method is.
        unsafe { (self.api().LLVMIsGlobalConstant)(self.raw) != 0 }
    }

    /// Sets whether nothing writes the global.
    pub fn set_constant_global(self, constant: bool) {
        // SAFETY: `raw` is live (the invariant of `Value`), and of the sort that the method is for.
        unsafe { (self.api().LLVMSetGlobalConstant)(self.raw, constant.into()) }
    }

    /// Removes a global variable without uses.
    pub fn delete_global(self) {
        // SAFETY: `raw` is live (the invariant of `Value`), and of the sort that the method is for.
        unsafe { (self.api().LLVMDeleteGlobal)(self.raw) }
    }

    /// Takes away a global's or function's metadata of the kind `name`, if it has any.
    pub fn remove_metadata(self, name: &str) {
        let api = self.api();
        let kind = self.context.metadata_kind(name);
        // SAFETY: `raw` is live (the invariant of `Value`), and of the sort that the method is for.
        unsafe { (api.LLVMGlobalEraseMetadata)(self.raw, kind) }
    }

    /// Replaces every use of this value by `other`, which has the same type.
    pub fn replace_uses_with(self, other: Value<'c>) {
        // SAFETY: `raw` is live (the invariant of `Value`), and of the sort that the method is for.
        unsafe { (self.api().LLVMReplaceAllUsesWith)(self.raw, other.raw) }
    }

    /// This constant pointer, cast to the generic address space.
    pub fn cast_to_generic(self) -> Value<'c> {
        // SAFETY: `raw` is live (the invariant of `Value`), and of the sort that the method is for.
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
        // SAFETY: `raw` is live (the invariant of `Value`), and of the sort that the method is for.
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
        // SAFETY: `raw` is live (the invariant of `Value`), and of the sort that the method is for.
        unsafe { (self.api().LLVMGetFirstUse)(self.raw).is_null() }
    }

    /// The undefined value of type `ty`, in the context of `like`.
    pub fn undefined(ty: sys::TypeRef, like: Value<'c>) -> Value<'c> {
        Value {
            // SAFETY: `raw` is live (the invariant of `Value`), and of the sort that the method is for.
            raw: unsafe { (like.api().LLVMGetUndef)(ty) },
            context: like.context,
        }
    }

    /// Whether it is the constant of zero bits of its type; of floating-point numbers, not that of a negative sign.
    pub fn is_zero(self) -> bool {
        // SAFETY: `raw` is live (the invariant of `Value`), and of the sort that the method is for.
        unsafe { (self.api().LLVMIsNull)(self.raw) != 0 }
    }

    /// The value of a constant integer.
    pub fn as_integer(self) -> Option<u64> {
        // SAFETY: `raw` is live (the invariant of `Value`), and of the sort that the method is for.
        unsafe {
            if (self.api().LLVMIsAConstantInt)(self.raw).is_null() {
                return None;
            }
            Some((self.api().LLVMConstIntGetZExtValue)(self.raw))
        }
    }

    /// The value of a constant floating-point number of at most 64 bits.
    pub fn as_float(self) -> Option<f64> {
        let mut is_rounded = 0;
        // SAFETY: `raw` is live (the invariant of `Value`), and a constant floating-point number, for which the second function is.
        let number = unsafe {
            if (self.api().LLVMIsAConstantFP)(self.raw).is_null() {
                return None;
            }
            (self.api().LLVMConstRealGetDouble)(self.raw, &mut is_rounded)
        };
        (is_rounded == 0).then_some(number)
    }

    /// A constant of the floating-point type of `like`.
    pub fn float_like(number: f64, like: Value<'c>) -> Value<'c> {
        Value {
            // SAFETY: `like` is live (the invariant of `Value`), and of a floating-point type, for which the function is.
            raw: unsafe { (like.api().LLVMConstReal)(like.ty(), number) },
            context: like.context,
        }
    }

    /// The number in a constant pointer that was made from one.
    pub fn as_integer_address(self) -> Option<u64> {
        if self.constant_opcode() != Some(opcode::INT_TO_PTR) {
            return None;
        }
        self.operand(0)?.as_integer()
    }

    /// A 64-bit constant, in the context of `like`.
    pub fn integer(number: u64, like: Value<'c>) -> Value<'c> {
        let api = like.api();
        // SAFETY: `raw` is live (the invariant of `Value`), and of the sort that the method is for.
        let raw = unsafe {
            (api.LLVMConstInt)((api.LLVMInt64TypeInContext)(like.context.raw), number, 0)
        };
        Value {
            raw,
            context: like.context,
        }
    }

    /// A constant of the integer type of `like`.
    pub fn integer_like(number: u64, like: Value<'c>) -> Value<'c> {
        Value {
            // SAFETY: `like` is live (the invariant of `Value`), and of an integer type, for which the function is.
            raw: unsafe { (like.api().LLVMConstInt)(like.ty(), number, 0) },
            context: like.context,
        }
    }

    /// The bytes of a constant `[N x i8]`.
    pub fn as_bytes(self) -> Option<Vec<u8>> {
        let mut len = 0;
        // SAFETY: `raw` is live (the invariant of `Value`), and of the sort that the method is for.
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
        // SAFETY: `raw` is live (the invariant of `Value`), and of the sort that the method is for.
        self.wrap(unsafe { (self.api().LLVMGetAggregateElement)(self.raw, n) })
    }
}
