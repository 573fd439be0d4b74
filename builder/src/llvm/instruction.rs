//! Instructions: operands, calls, source locations, atomics, floating-point flags.

use super::location::Location;
use super::opcode;
use super::sys::TypeRef;
use super::value::{Attribute, Ordering, RmwOperation, Value, ValueKind};
use crate::source_location::SourceLocation;

/// The number of the kind of type that pointers are.
const POINTER: i32 = 12;

impl<'c> Value<'c> {
    /// The opcode (see [`opcode`]).
    pub fn opcode(self) -> i32 {
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
        unsafe { (self.api().LLVMGetInstructionOpcode)(self.raw) }
    }

    /// The function around an instruction.
    pub fn function(self) -> Option<Value<'c>> {
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
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
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
        unsafe { (self.api().LLVMInstructionEraseFromParent)(self.raw) }
    }

    /// Lets another value of the same type be used in the place of an instruction's, and removes the instruction.
    pub fn replace_by(self, other: Value<'c>) {
        self.replace_uses_with(other);
        self.erase();
    }

    /// The operand with this number, `None` if the value has no operand of it.
    pub fn operand(self, n: u32) -> Option<Value<'c>> {
        if n >= self.operand_count() {
            return None;
        }
        // SAFETY: `raw` is live (the invariant of `Value`), and has more than `n` operands.
        self.wrap(unsafe { (self.api().LLVMGetOperand)(self.raw, n) })
    }

    /// What an extension with zeros or the sign extends; `None` of every other value.
    pub fn extended(self) -> Option<Value<'c>> {
        let is_extension =
            self.is_instruction() && matches!(self.opcode(), opcode::ZEXT | opcode::SEXT);
        is_extension.then(|| self.operand(0)).flatten()
    }

    /// Whether an instruction ends its block.
    pub fn is_terminator(self) -> bool {
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
        !unsafe { (self.api().LLVMIsATerminatorInst)(self.raw) }.is_null()
    }

    /// Whether an instruction is a call.
    pub fn is_call(self) -> bool {
        self.opcode() == opcode::CALL
    }

    /// The predicate of a comparison of integers or pointers: see [`predicate`](super::predicate).
    pub fn predicate(self) -> i32 {
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
        unsafe { (self.api().LLVMGetICmpPredicate)(self.raw) }
    }

    /// Whether an operation that could wrap around, of unsigned numbers, never does.
    pub fn never_wraps(self) -> bool {
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
        unsafe { (self.api().LLVMGetNUW)(self.raw) != 0 }
    }

    /// The same of signed numbers.
    pub fn never_wraps_signed(self) -> bool {
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
        unsafe { (self.api().LLVMGetNSW)(self.raw) != 0 }
    }

    /// Whether the address of a part is never outside the object that it is a part of.
    pub fn is_inbounds(self) -> bool {
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
        unsafe { (self.api().LLVMIsInBounds)(self.raw) != 0 }
    }

    /// Whether an `or` is of numbers that have no bit in common, so that it is their sum.
    pub fn is_disjoint(self) -> bool {
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
        unsafe { (self.api().LLVMGetIsDisjoint)(self.raw) != 0 }
    }

    /// The inline assembly that it calls, if it is such a call.
    pub fn called_assembly(self) -> Option<Value<'c>> {
        let callee = self.is_call().then(|| self.callee())?;
        callee.filter(|callee| callee.kind() == ValueKind::InlineAsm)
    }

    /// Whether what is extended by zeroes is known to be without a highest bit.
    pub fn is_of_non_negative(self) -> bool {
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
        unsafe { (self.api().LLVMGetNNeg)(self.raw) != 0 }
    }

    /// Says that an addition, subtraction or multiplication never wraps around, of unsigned numbers.
    pub fn set_never_wraps(self) {
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
        unsafe { (self.api().LLVMSetNUW)(self.raw, 1) }
    }

    /// The same of signed numbers.
    pub fn set_never_wraps_signed(self) {
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
        unsafe { (self.api().LLVMSetNSW)(self.raw, 1) }
    }

    /// Whether a shift to the right never loses a bit.
    pub fn is_exact(self) -> bool {
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
        unsafe { (self.api().LLVMGetExact)(self.raw) != 0 }
    }

    /// The type of what an `alloca` makes place for.
    pub fn allocated_type(self) -> TypeRef {
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
        unsafe { (self.api().LLVMGetAllocatedType)(self.raw) }
    }

    /// The type that the first index of a `getelementptr` steps by.
    pub fn element_type(self) -> TypeRef {
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
        unsafe { (self.api().LLVMGetGEPSourceElementType)(self.raw) }
    }

    /// What is noted of the loop that a branch leads back to: the names of LLVM's `llvm.loop` properties.
    pub fn loop_properties(self) -> Vec<String> {
        let api = self.api();
        let kind = self.context.metadata_kind("llvm.loop");
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
        let node = unsafe { (api.LLVMGetMetadata)(self.raw, kind) };
        let properties = self.wrap(node).map(Value::metadata_operands);
        let names = properties.into_iter().flatten().filter_map(|property| {
            // The first operand stands for the loop itself.
            let is_itself = property.raw == node;
            let name = (!is_itself).then(|| property.metadata_operands())?;
            name.first()?.metadata_string()
        });
        names.collect()
    }

    /// Notes one property, without a value, of the loop that a branch leads back to, in place of what is noted.
    pub fn set_loop_property(self, name: &str) {
        let (api, context) = (self.api(), self.context.raw);
        let kind = self.context.metadata_kind("llvm.loop");
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for; all metadata are of its
        // context, and each list has as many places as is said. The temporary node is replaced, which frees it.
        unsafe {
            let mut name = (api.LLVMMDStringInContext2)(context, name.as_ptr().cast(), name.len());
            let property = (api.LLVMMDNodeInContext2)(context, &mut name, 1);
            // The first operand is the node itself, by which loops are told apart.
            let itself = (api.LLVMTemporaryMDNode)(context, std::ptr::null_mut(), 0);
            let node = (api.LLVMMDNodeInContext2)(context, [itself, property].as_mut_ptr(), 2);
            (api.LLVMMetadataReplaceAllUsesWith)(itself, node);
            (api.LLVMSetMetadata)(self.raw, kind, (api.LLVMMetadataAsValue)(context, node));
        }
    }

    /// The operands of a metadata node; none of other metadata.
    fn metadata_operands(self) -> Vec<Value<'c>> {
        let api = self.api();
        // SAFETY: `raw` is live (the invariant of `Value`), and a piece of metadata as a value, for which the method is; the list has as many places as
        // there are operands.
        unsafe {
            if (api.LLVMIsAMDNode)(self.raw).is_null() {
                return Vec::new();
            }
            let count = (api.LLVMGetMDNodeNumOperands)(self.raw) as usize;
            let mut operands = vec![std::ptr::null_mut(); count];
            (api.LLVMGetMDNodeOperands)(self.raw, operands.as_mut_ptr());
            let operands = operands.into_iter();
            operands.filter_map(|operand| self.wrap(operand)).collect()
        }
    }

    /// The text of a piece of metadata that is one.
    fn metadata_string(self) -> Option<String> {
        let mut length = 0;
        // SAFETY: `raw` is live (the invariant of `Value`), and a piece of metadata as a value, for which the method is; the text has `length` bytes.
        unsafe {
            let text = (self.api().LLVMGetMDString)(self.raw, &mut length);
            let text = (!text.is_null())
                .then(|| std::slice::from_raw_parts(text.cast::<u8>(), length as usize))?;
            Some(String::from_utf8_lossy(text).into_owned())
        }
    }

    /// Takes metadata off an instruction.
    pub fn drop_metadata(self, kind: &str) {
        let kind = self.context.metadata_kind(kind);
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
        unsafe { (self.api().LLVMSetMetadata)(self.raw, kind, std::ptr::null_mut()) };
    }

    /// Replaces the operand with this number.
    pub fn set_operand(self, n: u32, value: Value<'_>) {
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction with such an operand, for which the method is.
        unsafe { (self.api().LLVMSetOperand)(self.raw, n, value.raw) };
    }

    /// What a call calls.
    pub fn callee(self) -> Option<Value<'c>> {
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
        self.wrap(unsafe { (self.api().LLVMGetCalledValue)(self.raw) })
    }

    /// How many arguments a call has.
    pub fn argument_count(self) -> u32 {
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
        unsafe { (self.api().LLVMGetNumArgOperands)(self.raw) }
    }

    /// Whether an inline-assembly value may do more than compute its result.
    pub fn has_side_effects(self) -> bool {
        // SAFETY: `raw` is live (the invariant of `Value`), and inline assembly, for which the method is.
        unsafe { (self.api().LLVMGetInlineAsmHasSideEffects)(self.raw) != 0 }
    }

    /// The template of an inline-assembly value.
    pub fn asm_text(self) -> String {
        let mut len = 0;
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
        unsafe {
            let start = (self.api().LLVMGetInlineAsmAsmString)(self.raw, &mut len);
            String::from_utf8_lossy(std::slice::from_raw_parts(start.cast(), len)).into_owned()
        }
    }

    /// The operand constraints of an inline-assembly value, separated by commas.
    pub fn asm_constraints(self) -> String {
        let mut len = 0;
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
        unsafe {
            let start = (self.api().LLVMGetInlineAsmConstraintString)(self.raw, &mut len);
            String::from_utf8_lossy(std::slice::from_raw_parts(start.cast(), len)).into_owned()
        }
    }

    /// The opcode of a constant expression, `None` for other values.
    pub fn constant_opcode(self) -> Option<i32> {
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
        unsafe {
            (!(self.api().LLVMIsAConstantExpr)(self.raw).is_null())
                .then(|| (self.api().LLVMGetConstOpcode)(self.raw))
        }
    }

    /// How many operands an instruction or constant expression has; other values have none.
    pub fn operand_count(self) -> u32 {
        let api = self.api();
        // SAFETY: `raw` is live (the invariant of `Value`); only values that have operands are asked for their number.
        unsafe {
            let has_operands =
                !(api.LLVMIsAUser)(self.raw).is_null() || !(api.LLVMIsAMDNode)(self.raw).is_null();
            match has_operands {
                true => (api.LLVMGetNumOperands)(self.raw) as u32,
                false => 0,
            }
        }
    }

    /// The function whose parameter this is, `None` for other values.
    pub fn parameter_of(self) -> Option<Value<'c>> {
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
        unsafe {
            if (self.api().LLVMIsAArgument)(self.raw).is_null() {
                return None;
            }
            self.wrap((self.api().LLVMGetParamParent)(self.raw))
        }
    }

    /// The function whose parameter this is, and the parameter's number; `None` for other values.
    pub fn as_parameter(self) -> Option<(Value<'c>, u32)> {
        let function = self.parameter_of()?;
        let mut numbers = 0..function.parameter_count();
        let number = numbers.find(|n| function.parameter(*n) == Some(self))?;
        Some((function, number))
    }

    /// Adds a flag attribute to a call.
    pub fn add_call_flag(self, name: &str) {
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
        unsafe {
            let attribute = (self.api().LLVMCreateEnumAttribute)(
                self.context.raw,
                self.attribute_kind(name),
                0,
            );
            (self.api().LLVMAddCallSiteAttribute)(self.raw, Attribute::Function.index(), attribute);
        }
    }

    /// Says that the result of a call, of 32 bits, is from `low` on and below `high`.
    pub fn add_result_range(self, low: u64, high: u64) {
        // SAFETY: `raw` is live (the invariant of `Value`), and a call, for which the method is; both bounds have one word, which is read during
        // the call.
        unsafe {
            let attribute = (self.api().LLVMCreateConstantRangeAttribute)(
                self.context.raw,
                self.attribute_kind("range"),
                32,
                &low,
                &high,
            );
            (self.api().LLVMAddCallSiteAttribute)(self.raw, Attribute::Result.index(), attribute);
        }
    }

    /// Whether a call has a flag attribute.
    pub fn has_call_flag(self, name: &str) -> bool {
        let (index, kind) = (Attribute::Function.index(), self.attribute_kind(name));
        // SAFETY: `raw` is live (the invariant of `Value`), and a call, for which the method is.
        !unsafe { (self.api().LLVMGetCallSiteEnumAttribute)(self.raw, index, kind) }.is_null()
    }

    /// Takes a flag attribute off the call.
    pub fn remove_call_flag(self, name: &str) {
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
        unsafe {
            (self.api().LLVMRemoveCallSiteEnumAttribute)(
                self.raw,
                Attribute::Function.index(),
                self.attribute_kind(name),
            )
        }
    }

    /// Where in the source an instruction or function is, where known.
    pub fn location(self) -> Option<SourceLocation> {
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
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
            let column = (self.api().LLVMGetDebugLocColumn)(self.raw);
            Some(SourceLocation { file, line, column })
        }
    }

    /// The source location of an instruction, with its way of inlining.
    pub fn debug_location(self) -> Option<Location<'c>> {
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
        let raw = unsafe { (self.api().LLVMInstructionGetDebugLoc)(self.raw) };
        Location::new(raw, self.context)
    }

    /// Sets the source location of an instruction.
    pub fn set_debug_location(self, location: Location<'c>) {
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
        unsafe { (self.api().LLVMInstructionSetDebugLoc)(self.raw, location.raw()) }
    }

    /// Whether a load or a store is volatile.
    pub fn is_volatile(self) -> bool {
        // SAFETY: `raw` is live (the invariant of `Value`), and a load or a store, for which the method is.
        unsafe { (self.api().LLVMGetVolatile)(self.raw) != 0 }
    }

    /// Whether a load, a store or another access is atomic.
    pub fn is_atomic(self) -> bool {
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
        unsafe { (self.api().LLVMIsAtomic)(self.raw) != 0 }
    }

    /// The order of an atomic instruction.
    pub fn ordering(self) -> Ordering {
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
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
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
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

    /// Whether a value is a pointer.
    pub fn is_pointer(self) -> bool {
        // SAFETY: `raw` is live (the invariant of `Value`), and so is its type.
        unsafe { (self.api().LLVMGetTypeKind)(self.ty()) == POINTER }
    }

    /// The width of an integer or pointer value.
    pub fn integer_bits(self) -> Option<u32> {
        const INTEGER: i32 = 8;
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
        match unsafe { (self.api().LLVMGetTypeKind)(self.ty()) } {
            // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
            INTEGER => Some(unsafe { (self.api().LLVMGetIntTypeWidth)(self.ty()) }),
            POINTER => Some(64),
            _ => None,
        }
    }

    /// The width of a floating-point value.
    pub fn float_bits(self) -> Option<u32> {
        self.float_bits_of(self.ty())
    }

    /// How many floating-point numbers a vector holds, and their width; `None` for other values.
    pub fn float_vector(self) -> Option<(u32, u32)> {
        const VECTOR: i32 = 13;
        let (api, ty) = (self.api(), self.ty());
        // SAFETY: `raw` is live (the invariant of `Value`); the type is asked for length and element only if it is a vector's.
        let (length, element) = unsafe {
            if (api.LLVMGetTypeKind)(ty) != VECTOR {
                return None;
            }
            ((api.LLVMGetVectorSize)(ty), (api.LLVMGetElementType)(ty))
        };
        Some((length, self.float_bits_of(element)?))
    }

    fn float_bits_of(self, ty: TypeRef) -> Option<u32> {
        // SAFETY: `ty` is a type of this value's living context.
        match unsafe { (self.api().LLVMGetTypeKind)(ty) } {
            1 => Some(16),
            2 => Some(32),
            3 => Some(64),
            _ => None,
        }
    }

    /// The alignment that a call promises for a pointer argument; 1 if it says nothing.
    pub fn call_parameter_alignment(self, n: u32) -> u64 {
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
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

    /// Whether the instruction can carry fast-math flags.
    pub fn takes_fast_math(self) -> bool {
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
        unsafe { (self.api().LLVMCanValueUseFastMathFlags)(self.raw) != 0 }
    }

    /// Adds fast-math flags (bits of the C API).
    pub fn add_fast_math(self, flags: u32) {
        // SAFETY: `raw` is live (the invariant of `Value`), and an instruction of the sort that the method is for.
        unsafe {
            let old = (self.api().LLVMGetFastMathFlags)(self.raw);
            (self.api().LLVMSetFastMathFlags)(self.raw, old | flags);
        }
    }
}
