//! Functions: parameters, instructions, attributes.

use super::differences::Subnormals;
use super::scope::Scope;
use super::sys::{self, BasicBlockRef};
use super::value::{Attribute, Instructions, Value, ValueKind};

impl<'c> Value<'c> {
    /// True for an intrinsic of LLVM's.
    pub fn is_intrinsic(self) -> bool {
        // SAFETY: `raw` is live (the invariant of `Value`), and a function, for which the method is.
        unsafe { (self.api().LLVMGetIntrinsicID)(self.raw) != 0 }
    }

    /// The calling convention's number.
    pub fn calling_convention(self) -> u32 {
        // SAFETY: `raw` is live (the invariant of `Value`), and a function, for which the method is.
        unsafe { (self.api().LLVMGetFunctionCallConv)(self.raw) }
    }

    /// The calls of the function, wherever they are.
    pub fn calls(self) -> impl Iterator<Item = Value<'c>> {
        let users = self.users().into_iter();
        users.filter(move |user| {
            user.kind() == ValueKind::Instruction && user.is_call() && user.callee() == Some(self)
        })
    }

    /// How many parameters the function has.
    pub fn parameter_count(self) -> u32 {
        // SAFETY: `raw` is live (the invariant of `Value`), and a function, for which the method is.
        unsafe { (self.api().LLVMCountParams)(self.raw) }
    }

    /// The parameter with this number.
    pub fn parameter(self, n: u32) -> Option<Value<'c>> {
        if n >= self.parameter_count() {
            return None;
        }
        // SAFETY: `raw` is live (the invariant of `Value`), and a function, for which the method is.
        self.wrap(unsafe { (self.api().LLVMGetParam)(self.raw, n) })
    }

    /// The function's debug information.
    pub fn subprogram(self) -> Option<Scope<'c>> {
        // SAFETY: `raw` is live (the invariant of `Value`), and a function, for which the method is.
        let raw = unsafe { (self.api().LLVMGetSubprogram)(self.raw) };
        Scope::new(raw, self.context)
    }

    /// All instructions of a function.
    pub fn instructions(self) -> Instructions<'c> {
        let mut all = Vec::new();
        // SAFETY: `raw` is live (the invariant of `Value`), and a function, for which the method is.
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
        // SAFETY: `raw` is live (the invariant of `Value`), and a function, for which the method is.
        unsafe {
            let attribute = (self.api().LLVMCreateEnumAttribute)(
                self.context.raw,
                self.attribute_kind(name),
                number,
            );
            (self.api().LLVMAddAttributeAtIndex)(self.raw, at.index(), attribute);
        }
    }

    /// Says that a 64-bit parameter is from `low` on and below `high`.
    pub fn add_range(self, at: Attribute, low: u64, high: u64) {
        // SAFETY: `raw` is live (the invariant of `Value`), and a function, for which the method is; both bounds have one word, which is read during
        // the call.
        unsafe {
            let attribute = (self.api().LLVMCreateConstantRangeAttribute)(
                self.context.raw,
                self.attribute_kind("range"),
                64,
                &low,
                &high,
            );
            (self.api().LLVMAddAttributeAtIndex)(self.raw, at.index(), attribute);
        }
    }

    /// Adds an attribute with a type, such as `byval`.
    pub fn add_type(self, at: Attribute, name: &str, ty: sys::TypeRef) {
        // SAFETY: `raw` is live (the invariant of `Value`), and a function, for which the method is.
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
        // SAFETY: `raw` is live (the invariant of `Value`), and a function, for which the method is.
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

    /// Says that the function's `f32` arithmetic takes subnormal operands for zero and gives zero for subnormal results, of the
    /// same sign.
    pub fn flush_subnormals(self) {
        const IEEE: i32 = 0;
        const PRESERVE_SIGN: i32 = 1;
        let api = self.api();
        let create = match api.differences.subnormals {
            Subnormals::Text => {
                let flush = "preserve-sign,preserve-sign";
                return self.add_text(Attribute::Function, "denormal-fp-math-f32", flush);
            }
            Subnormals::Environment => api.LLVMCreateDenormalFPEnvAttribute,
        };
        let create = create.expect("`library::load` refuses a library without it");
        // SAFETY: `raw` is live (the invariant of `Value`), and a function, for which the method is; the attribute belongs to its
        // context.
        unsafe {
            let attribute = create(self.context.raw, IEEE, IEEE, PRESERVE_SIGN, PRESERVE_SIGN);
            let at = Attribute::Function.index();
            (api.LLVMAddAttributeAtIndex)(self.raw, at, attribute);
        }
    }

    /// Removes a flag attribute.
    pub fn remove_flag(self, at: Attribute, name: &str) {
        // SAFETY: `raw` is live (the invariant of `Value`), and a function, for which the method is.
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
        // SAFETY: `raw` is live (the invariant of `Value`), and a function, for which the method is.
        unsafe {
            (self.api().LLVMRemoveStringAttributeAtIndex)(
                self.raw,
                at.index(),
                name.as_ptr().cast(),
                name.len() as u32,
            )
        }
    }

    /// The value of a free-form attribute, if it is there.
    pub fn text_attribute(self, at: Attribute, name: &str) -> Option<String> {
        let api = self.api();
        // SAFETY: `raw` is live (the invariant of `Value`), and a function, for which the method is; the attribute's value lives as long as
        // the context, has the length that LLVM says, and is copied.
        unsafe {
            let attribute = (api.LLVMGetStringAttributeAtIndex)(
                self.raw,
                at.index(),
                name.as_ptr().cast(),
                name.len() as u32,
            );
            if attribute.is_null() {
                return None;
            }
            let mut length = 0;
            let start = (api.LLVMGetStringAttributeValue)(attribute, &mut length);
            let bytes = std::slice::from_raw_parts(start.cast(), length as usize);
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
    }

    /// Whether a flag attribute is there.
    pub fn has_flag(self, at: Attribute, name: &str) -> bool {
        // SAFETY: `raw` is live (the invariant of `Value`), and a function, for which the method is.
        unsafe {
            !(self.api().LLVMGetEnumAttributeAtIndex)(
                self.raw,
                at.index(),
                self.attribute_kind(name),
            )
            .is_null()
        }
    }

    /// The number of an attribute that has one, if it is there.
    pub fn number(self, at: Attribute, name: &str) -> Option<u64> {
        // SAFETY: `raw` is live (the invariant of `Value`), and a function, for which the method is; the attribute is asked for its value where there
        // is one.
        unsafe {
            let kind = self.attribute_kind(name);
            let found = (self.api().LLVMGetEnumAttributeAtIndex)(self.raw, at.index(), kind);
            (!found.is_null()).then(|| (self.api().LLVMGetEnumAttributeValue)(found))
        }
    }

    /// Whether calls of a function only compute from their arguments.
    pub fn accesses_no_memory(self) -> bool {
        self.number(Attribute::Function, "memory") == Some(0)
    }

    pub(super) fn attribute_kind(self, name: &str) -> u32 {
        // SAFETY: `raw` is live (the invariant of `Value`), and a function, for which the method is.
        let kind = unsafe {
            (self.api().LLVMGetEnumAttributeKindForName)(name.as_ptr().cast(), name.len())
        };
        assert_ne!(kind, 0, "LLVM knows no attribute `{name}`");
        kind
    }
}
