//! The functions of LLVM's C API that the PTX linker uses, bound at run time.
//!
//! rustc ships LLVM as a shared library beside its driver, with the C API and the NVPTX target in it.
//! Nothing links against it: [`Api::load`] opens it with `dlopen` and looks up each function in the list
//! below. Only this file knows the C signatures; everything else goes through the wrappers in [`super`].
#![allow(non_snake_case)]

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::path::Path;

use super::differences::{self, Differences};

/// Opaque handles of the C API. Each is its own type, so that they cannot be mixed up.
macro_rules! handles {
    ($($name:ident = $target:ident;)*) => {$(
        #[repr(C)]
        pub struct $target { _opaque: [u8; 0] }
        pub type $name = *mut $target;
    )*};
}

handles! {
    ContextRef = OpaqueContext;
    ModuleRef = OpaqueModule;
    ValueRef = OpaqueValue;
    TypeRef = OpaqueType;
    BasicBlockRef = OpaqueBasicBlock;
    BuilderRef = OpaqueBuilder;
    AttributeRef = OpaqueAttribute;
    MemoryBufferRef = OpaqueMemoryBuffer;
    TargetRef = OpaqueTarget;
    TargetMachineRef = OpaqueTargetMachine;
    TargetDataRef = OpaqueTargetData;
    PassOptionsRef = OpaquePassOptions;
    ErrorRef = OpaqueError;
    DiagnosticInfoRef = OpaqueDiagnosticInfo;
    MetadataRef = OpaqueMetadata;
    UseRef = OpaqueUse;
    DebugBuilderRef = OpaqueDebugBuilder;
}

pub type Bool = c_int;
pub type DiagnosticHandler = extern "C" fn(DiagnosticInfoRef, *mut c_void);
pub type FatalErrorHandler = extern "C" fn(*const c_char);

/// Declares the table of function pointers and its loader from two lists of signatures: of functions that every version
/// has, and of those that some have.
macro_rules! api {
    (
        every version { $(fn $name:ident($($arg:ty),* $(,)?) $(-> $ret:ty)?;)* }
        some versions { $(fn $new:ident($($new_arg:ty),* $(,)?) $(-> $new_ret:ty)?;)* }
    ) => {
        /// One loaded copy of LLVM's C API. It stays loaded for the life of the process.
        pub struct Api {
            $(pub $name: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)*
            $(pub $new: Option<unsafe extern "C" fn($($new_arg),*) $(-> $new_ret)?>,)*
            /// How this version of LLVM differs from others.
            pub differences: &'static Differences,
        }

        impl Api {
            /// Opens `library` and looks up every function of the lists.
            pub fn load(library: &Path) -> Result<Api, libloading::Error> {
                // SAFETY: rustc's own LLVM library; its initialisers only register LLVM's options and targets.
                let library = unsafe { libloading::Library::new(library)? };
                let mut api = Api {
                    // SAFETY: the signatures above are those of LLVM's C headers. LLVM changes none: what a new version does
                    // in another way has a new name, and `differences` says which name a version has.
                    $($name: unsafe {
                        *library.get::<unsafe extern "C" fn($($arg),*) $(-> $ret)?>(
                            concat!(stringify!($name), "\0").as_bytes(),
                        )?
                    },)*
                    // SAFETY: the signatures are those of the C headers of the versions that have the functions.
                    $($new: unsafe {
                        library.get::<unsafe extern "C" fn($($new_arg),*) $(-> $new_ret)?>(
                            concat!(stringify!($new), "\0").as_bytes(),
                        ).ok().map(|function| *function)
                    },)*
                    differences: differences::of(u32::MAX),
                };
                let (mut major, mut minor, mut patch) = (0, 0, 0);
                // SAFETY: three places for numbers.
                unsafe { (api.LLVMGetVersion)(&raw mut major, &raw mut minor, &raw mut patch) };
                api.differences = differences::of(major);
                // LLVM cannot be unloaded: it keeps global state and exit handlers.
                std::mem::forget(library);
                Ok(api)
            }
        }
    };
}

api! { every version {
    // Context, diagnostics, errors.
    fn LLVMGetVersion(*mut c_uint, *mut c_uint, *mut c_uint);
    fn LLVMContextCreate() -> ContextRef;
    fn LLVMContextDispose(ContextRef);
    fn LLVMContextSetDiagnosticHandler(ContextRef, DiagnosticHandler, *mut c_void);
    fn LLVMGetDiagInfoDescription(DiagnosticInfoRef) -> *mut c_char;
    fn LLVMGetDiagInfoSeverity(DiagnosticInfoRef) -> c_int;
    fn LLVMDisposeMessage(*mut c_char);
    fn LLVMGetErrorMessage(ErrorRef) -> *mut c_char;
    fn LLVMDisposeErrorMessage(*mut c_char);
    fn LLVMInstallFatalErrorHandler(FatalErrorHandler);
    fn LLVMParseCommandLineOptions(c_int, *const *const c_char, *const c_char);

    // Bitcode, text, linking.
    fn LLVMCreateMemoryBufferWithMemoryRangeCopy(*const c_char, usize, *const c_char) -> MemoryBufferRef;
    fn LLVMDisposeMemoryBuffer(MemoryBufferRef);
    fn LLVMGetBufferStart(MemoryBufferRef) -> *const c_char;
    fn LLVMGetBufferSize(MemoryBufferRef) -> usize;
    fn LLVMParseBitcodeInContext2(ContextRef, MemoryBufferRef, *mut ModuleRef) -> Bool;
    fn LLVMParseIRInContext(ContextRef, MemoryBufferRef, *mut ModuleRef, *mut *mut c_char) -> Bool;
    fn LLVMWriteBitcodeToMemoryBuffer(ModuleRef) -> MemoryBufferRef;
    fn LLVMLinkModules2(ModuleRef, ModuleRef) -> Bool;
    fn LLVMModuleCreateWithNameInContext(*const c_char, ContextRef) -> ModuleRef;
    fn LLVMDisposeModule(ModuleRef);
    fn LLVMPrintModuleToString(ModuleRef) -> *mut c_char;
    fn LLVMVerifyModule(ModuleRef, c_int, *mut *mut c_char) -> Bool;
    fn LLVMStripModuleDebugInfo(ModuleRef) -> Bool;
    fn LLVMSetTarget(ModuleRef, *const c_char);

    // Target machine, passes, emission.
    fn LLVMInitializeNVPTXTargetInfo();
    fn LLVMInitializeNVPTXTarget();
    fn LLVMInitializeNVPTXTargetMC();
    fn LLVMInitializeNVPTXAsmPrinter();
    fn LLVMGetTargetFromTriple(*const c_char, *mut TargetRef, *mut *mut c_char) -> Bool;
    fn LLVMCreateTargetMachine(TargetRef, *const c_char, *const c_char, *const c_char, c_int, c_int, c_int) -> TargetMachineRef;
    fn LLVMDisposeTargetMachine(TargetMachineRef);
    fn LLVMCreateTargetDataLayout(TargetMachineRef) -> TargetDataRef;
    fn LLVMSetModuleDataLayout(ModuleRef, TargetDataRef);
    fn LLVMDisposeTargetData(TargetDataRef);
    fn LLVMGetModuleDataLayout(ModuleRef) -> TargetDataRef;
    fn LLVMABISizeOfType(TargetDataRef, TypeRef) -> u64;
    fn LLVMStoreSizeOfType(TargetDataRef, TypeRef) -> u64;
    fn LLVMCreatePassBuilderOptions() -> PassOptionsRef;
    fn LLVMDisposePassBuilderOptions(PassOptionsRef);
    fn LLVMRunPasses(ModuleRef, *const c_char, TargetMachineRef, PassOptionsRef) -> ErrorRef;
    fn LLVMRunPassesOnFunction(ValueRef, *const c_char, TargetMachineRef, PassOptionsRef) -> ErrorRef;
    fn LLVMTargetMachineEmitToMemoryBuffer(TargetMachineRef, ModuleRef, c_int, *mut *mut c_char, *mut MemoryBufferRef) -> Bool;

    // Walking a module.
    fn LLVMGetFirstFunction(ModuleRef) -> ValueRef;
    fn LLVMGetNextFunction(ValueRef) -> ValueRef;
    fn LLVMGetNamedFunction(ModuleRef, *const c_char) -> ValueRef;
    fn LLVMGetFirstGlobal(ModuleRef) -> ValueRef;
    fn LLVMGetNextGlobal(ValueRef) -> ValueRef;
    fn LLVMGetNamedGlobal(ModuleRef, *const c_char) -> ValueRef;
    fn LLVMGetFirstBasicBlock(ValueRef) -> BasicBlockRef;
    fn LLVMGetNextBasicBlock(BasicBlockRef) -> BasicBlockRef;
    fn LLVMGetFirstInstruction(BasicBlockRef) -> ValueRef;
    fn LLVMGetNextInstruction(ValueRef) -> ValueRef;
    fn LLVMGetInstructionOpcode(ValueRef) -> c_int;
    fn LLVMInstructionClone(ValueRef) -> ValueRef;
    fn LLVMIsATerminatorInst(ValueRef) -> ValueRef;
    fn LLVMGetNumSuccessors(ValueRef) -> c_uint;
    fn LLVMGetSuccessor(ValueRef, c_uint) -> BasicBlockRef;
    fn LLVMSetSuccessor(ValueRef, c_uint, BasicBlockRef);
    fn LLVMGetInstructionParent(ValueRef) -> BasicBlockRef;
    fn LLVMGetBasicBlockTerminator(BasicBlockRef) -> ValueRef;
    fn LLVMCountIncoming(ValueRef) -> c_uint;
    fn LLVMGetIncomingValue(ValueRef, c_uint) -> ValueRef;
    fn LLVMGetIncomingBlock(ValueRef, c_uint) -> BasicBlockRef;
    fn LLVMAddIncoming(ValueRef, *mut ValueRef, *mut BasicBlockRef, c_uint);
    fn LLVMGetSwitchCaseValue(ValueRef, c_uint) -> ValueRef;
    fn LLVMGetICmpPredicate(ValueRef) -> c_int;
    fn LLVMGetNUW(ValueRef) -> Bool;
    fn LLVMIsInBounds(ValueRef) -> Bool;
    fn LLVMGetNSW(ValueRef) -> Bool;
    fn LLVMGetIsDisjoint(ValueRef) -> Bool;
    fn LLVMGetNNeg(ValueRef) -> Bool;
    fn LLVMSetNUW(ValueRef, Bool);
    fn LLVMSetNSW(ValueRef, Bool);
    fn LLVMGetExact(ValueRef) -> Bool;
    fn LLVMGetGEPSourceElementType(ValueRef) -> TypeRef;
    fn LLVMGetAllocatedType(ValueRef) -> TypeRef;
    fn LLVMGetMetadata(ValueRef, c_uint) -> ValueRef;
    fn LLVMIsAMDNode(ValueRef) -> ValueRef;
    fn LLVMIsAUser(ValueRef) -> ValueRef;
    fn LLVMSetMetadata(ValueRef, c_uint, ValueRef);
    fn LLVMGetBasicBlockParent(BasicBlockRef) -> ValueRef;
    fn LLVMInstructionRemoveFromParent(ValueRef);
    fn LLVMInstructionEraseFromParent(ValueRef);
    fn LLVMGetFirstUse(ValueRef) -> UseRef;
    fn LLVMGetNextUse(UseRef) -> UseRef;
    fn LLVMGetUser(UseRef) -> ValueRef;
    fn LLVMReplaceAllUsesWith(ValueRef, ValueRef);
    fn LLVMGetOperand(ValueRef, c_uint) -> ValueRef;
    fn LLVMGetNumOperands(ValueRef) -> c_int;
    fn LLVMSetOperand(ValueRef, c_uint, ValueRef);

    // Values.
    fn LLVMGetValueName2(ValueRef, *mut usize) -> *const c_char;
    fn LLVMSetValueName2(ValueRef, *const c_char, usize);
    fn LLVMTypeOf(ValueRef) -> TypeRef;
    fn LLVMPrintValueToString(ValueRef) -> *mut c_char;
    fn LLVMIsDeclaration(ValueRef) -> Bool;
    fn LLVMSetLinkage(ValueRef, c_int);
    fn LLVMSetVisibility(ValueRef, c_int);
    fn LLVMGetSection(ValueRef) -> *const c_char;
    fn LLVMGetAlignment(ValueRef) -> c_uint;
    fn LLVMSetAlignment(ValueRef, c_uint);
    fn LLVMIsAConstantInt(ValueRef) -> ValueRef;
    fn LLVMIsAConstantExpr(ValueRef) -> ValueRef;
    fn LLVMGetConstOpcode(ValueRef) -> c_int;
    fn LLVMIsAConstant(ValueRef) -> ValueRef;
    fn LLVMIsAArgument(ValueRef) -> ValueRef;
    fn LLVMGetParamParent(ValueRef) -> ValueRef;
    fn LLVMIsAInstruction(ValueRef) -> ValueRef;
    fn LLVMIsAFunction(ValueRef) -> ValueRef;
    fn LLVMIsAGlobalVariable(ValueRef) -> ValueRef;
    fn LLVMIsAInlineAsm(ValueRef) -> ValueRef;
    fn LLVMConstIntGetZExtValue(ValueRef) -> u64;
    fn LLVMConstNull(TypeRef) -> ValueRef;
    fn LLVMConstInt(TypeRef, u64, Bool) -> ValueRef;
    fn LLVMIsAConstantFP(ValueRef) -> ValueRef;
    fn LLVMConstRealGetDouble(ValueRef, *mut Bool) -> f64;
    fn LLVMConstReal(TypeRef, f64) -> ValueRef;
    fn LLVMIsNull(ValueRef) -> Bool;
    fn LLVMGetUndef(TypeRef) -> ValueRef;
    fn LLVMGetAggregateElement(ValueRef, c_uint) -> ValueRef;
    fn LLVMIsConstantString(ValueRef) -> Bool;
    fn LLVMGetAsString(ValueRef, *mut usize) -> *const c_char;
    fn LLVMConstAddrSpaceCast(ValueRef, TypeRef) -> ValueRef;

    // Functions, parameters, calls.
    fn LLVMAddFunction(ModuleRef, *const c_char, TypeRef) -> ValueRef;
    fn LLVMAppendBasicBlockInContext(ContextRef, ValueRef, *const c_char) -> BasicBlockRef;
    fn LLVMGlobalGetValueType(ValueRef) -> TypeRef;
    fn LLVMGetIntrinsicID(ValueRef) -> c_uint;
    fn LLVMGetFunctionCallConv(ValueRef) -> c_uint;
    fn LLVMCountParams(ValueRef) -> c_uint;
    fn LLVMGetParam(ValueRef, c_uint) -> ValueRef;
    fn LLVMGetCalledValue(ValueRef) -> ValueRef;
    fn LLVMGetCalledFunctionType(ValueRef) -> TypeRef;
    fn LLVMGetInstructionCallConv(ValueRef) -> c_uint;
    fn LLVMSetInstructionCallConv(ValueRef, c_uint);
    fn LLVMGetTailCallKind(ValueRef) -> c_int;
    fn LLVMSetTailCallKind(ValueRef, c_int);
    fn LLVMGetNumArgOperands(ValueRef) -> c_uint;
    fn LLVMGetInlineAsmAsmString(ValueRef, *mut usize) -> *const c_char;
    fn LLVMGetInlineAsmConstraintString(ValueRef, *mut usize) -> *const c_char;
    fn LLVMGetInlineAsmHasSideEffects(ValueRef) -> Bool;

    // Attributes.
    fn LLVMGetEnumAttributeKindForName(*const c_char, usize) -> c_uint;
    fn LLVMCreateEnumAttribute(ContextRef, c_uint, u64) -> AttributeRef;
    fn LLVMCreateTypeAttribute(ContextRef, c_uint, TypeRef) -> AttributeRef;
    fn LLVMCreateConstantRangeAttribute(ContextRef, c_uint, c_uint, *const u64, *const u64) -> AttributeRef;
    fn LLVMCreateStringAttribute(ContextRef, *const c_char, c_uint, *const c_char, c_uint) -> AttributeRef;
    fn LLVMAddAttributeAtIndex(ValueRef, c_uint, AttributeRef);
    fn LLVMGetAttributeCountAtIndex(ValueRef, c_uint) -> c_uint;
    fn LLVMGetAttributesAtIndex(ValueRef, c_uint, *mut AttributeRef);
    fn LLVMGetStringAttributeAtIndex(ValueRef, c_uint, *const c_char, c_uint) -> AttributeRef;
    fn LLVMGetStringAttributeValue(AttributeRef, *mut c_uint) -> *const c_char;
    fn LLVMRemoveEnumAttributeAtIndex(ValueRef, c_uint, c_uint);
    fn LLVMRemoveStringAttributeAtIndex(ValueRef, c_uint, *const c_char, c_uint);
    fn LLVMGetEnumAttributeAtIndex(ValueRef, c_uint, c_uint) -> AttributeRef;
    fn LLVMAddCallSiteAttribute(ValueRef, c_uint, AttributeRef);
    fn LLVMGetCallSiteAttributeCount(ValueRef, c_uint) -> c_uint;
    fn LLVMGetCallSiteAttributes(ValueRef, c_uint, *mut AttributeRef);
    fn LLVMGetEnumAttributeValue(AttributeRef) -> u64;
    fn LLVMGetCallSiteEnumAttribute(ValueRef, c_uint, c_uint) -> AttributeRef;
    fn LLVMRemoveCallSiteEnumAttribute(ValueRef, c_uint, c_uint);

    // Globals.
    fn LLVMGetInitializer(ValueRef) -> ValueRef;
    fn LLVMSetInitializer(ValueRef, ValueRef);
    fn LLVMAddGlobalInAddressSpace(ModuleRef, TypeRef, *const c_char, c_uint) -> ValueRef;
    fn LLVMDeleteGlobal(ValueRef);
    fn LLVMSetExternallyInitialized(ValueRef, Bool);
    fn LLVMIsGlobalConstant(ValueRef) -> Bool;
    fn LLVMSetGlobalConstant(ValueRef, Bool);
    fn LLVMGetPointerAddressSpace(TypeRef) -> c_uint;

    // Functions.
    fn LLVMDeleteFunction(ValueRef);
    fn LLVMSetFunctionCallConv(ValueRef, c_uint);
    fn LLVMGetLinkage(ValueRef) -> c_int;
    fn LLVMGetVisibility(ValueRef) -> c_int;
    fn LLVMSetSubprogram(ValueRef, MetadataRef);
    fn LLVMInsertBasicBlockInContext(ContextRef, BasicBlockRef, *const c_char) -> BasicBlockRef;
    fn LLVMRemoveBasicBlockFromParent(BasicBlockRef);
    fn LLVMAppendExistingBasicBlock(ValueRef, BasicBlockRef);

    // Types.
    fn LLVMVoidTypeInContext(ContextRef) -> TypeRef;
    fn LLVMInt8TypeInContext(ContextRef) -> TypeRef;
    fn LLVMIntTypeInContext(ContextRef, c_uint) -> TypeRef;
    fn LLVMInt64TypeInContext(ContextRef) -> TypeRef;
    fn LLVMVectorType(TypeRef, c_uint) -> TypeRef;
    fn LLVMArrayType2(TypeRef, u64) -> TypeRef;
    fn LLVMPointerTypeInContext(ContextRef, c_uint) -> TypeRef;
    fn LLVMFunctionType(TypeRef, *mut TypeRef, c_uint, Bool) -> TypeRef;
    fn LLVMGetElementType(TypeRef) -> TypeRef;
    fn LLVMGetVectorSize(TypeRef) -> c_uint;
    fn LLVMGetReturnType(TypeRef) -> TypeRef;
    fn LLVMCountParamTypes(TypeRef) -> c_uint;
    fn LLVMGetParamTypes(TypeRef, *mut TypeRef);
    fn LLVMGetTypeKind(TypeRef) -> c_int;
    fn LLVMGetIntTypeWidth(TypeRef) -> c_uint;

    // Building and changing instructions.
    fn LLVMCreateBuilderInContext(ContextRef) -> BuilderRef;
    fn LLVMDisposeBuilder(BuilderRef);
    fn LLVMPositionBuilderAtEnd(BuilderRef, BasicBlockRef);
    fn LLVMInsertIntoBuilder(BuilderRef, ValueRef);
    fn LLVMBuildRetVoid(BuilderRef) -> ValueRef;
    fn LLVMBuildBr(BuilderRef, BasicBlockRef) -> ValueRef;
    fn LLVMPositionBuilderBefore(BuilderRef, ValueRef);
    fn LLVMBuildCall2(BuilderRef, TypeRef, ValueRef, *mut ValueRef, c_uint, *const c_char) -> ValueRef;
    fn LLVMBuildAlloca(BuilderRef, TypeRef, *const c_char) -> ValueRef;
    fn LLVMBuildLoad2(BuilderRef, TypeRef, ValueRef, *const c_char) -> ValueRef;
    fn LLVMBuildStore(BuilderRef, ValueRef, ValueRef) -> ValueRef;
    fn LLVMBuildCondBr(BuilderRef, ValueRef, BasicBlockRef, BasicBlockRef) -> ValueRef;
    fn LLVMBuildSwitch(BuilderRef, ValueRef, BasicBlockRef, c_uint) -> ValueRef;
    fn LLVMAddCase(ValueRef, ValueRef, BasicBlockRef);
    fn LLVMBuildPhi(BuilderRef, TypeRef, *const c_char) -> ValueRef;
    fn LLVMBuildBinOp(BuilderRef, c_int, ValueRef, ValueRef, *const c_char) -> ValueRef;
    fn LLVMBuildICmp(BuilderRef, c_int, ValueRef, ValueRef, *const c_char) -> ValueRef;
    fn LLVMBuildSelect(BuilderRef, ValueRef, ValueRef, ValueRef, *const c_char) -> ValueRef;
    fn LLVMBuildCast(BuilderRef, c_int, ValueRef, TypeRef, *const c_char) -> ValueRef;
    fn LLVMBuildUnreachable(BuilderRef) -> ValueRef;
    fn LLVMBuildPtrToInt(BuilderRef, ValueRef, TypeRef, *const c_char) -> ValueRef;
    fn LLVMBuildFreeze(BuilderRef, ValueRef, *const c_char) -> ValueRef;
    fn LLVMBuildNeg(BuilderRef, ValueRef, *const c_char) -> ValueRef;
    fn LLVMBuildFPCast(BuilderRef, ValueRef, TypeRef, *const c_char) -> ValueRef;
    fn LLVMBuildExtractElement(BuilderRef, ValueRef, ValueRef, *const c_char) -> ValueRef;
    fn LLVMBuildInsertElement(BuilderRef, ValueRef, ValueRef, ValueRef, *const c_char) -> ValueRef;
    fn LLVMBuildAddrSpaceCast(BuilderRef, ValueRef, TypeRef, *const c_char) -> ValueRef;
    fn LLVMGetInlineAsm(TypeRef, *const c_char, usize, *const c_char, usize, Bool, Bool, c_int, Bool) -> ValueRef;
    fn LLVMBuildGEP2(BuilderRef, TypeRef, ValueRef, *mut ValueRef, c_uint, *const c_char) -> ValueRef;
    fn LLVMGetVolatile(ValueRef) -> Bool;
    fn LLVMIsAtomic(ValueRef) -> Bool;
    fn LLVMGetOrdering(ValueRef) -> c_int;
    fn LLVMGetAtomicRMWBinOp(ValueRef) -> c_int;
    fn LLVMGetFastMathFlags(ValueRef) -> c_uint;
    fn LLVMSetFastMathFlags(ValueRef, c_uint);
    fn LLVMCanValueUseFastMathFlags(ValueRef) -> Bool;

    // Debug information.
    fn LLVMDILocationGetInlinedAt(MetadataRef) -> MetadataRef;
    fn LLVMDILocationGetLine(MetadataRef) -> c_uint;
    fn LLVMDILocationGetColumn(MetadataRef) -> c_uint;
    fn LLVMDILocationGetScope(MetadataRef) -> MetadataRef;
    fn LLVMDIScopeGetFile(MetadataRef) -> MetadataRef;
    fn LLVMDIFileGetDirectory(MetadataRef, *mut c_uint) -> *const c_char;
    fn LLVMDIFileGetFilename(MetadataRef, *mut c_uint) -> *const c_char;
    fn LLVMGetMetadataKind(MetadataRef) -> c_uint;
    fn LLVMGetMDKindIDInContext(ContextRef, *const c_char, c_uint) -> c_uint;
    fn LLVMGlobalEraseMetadata(ValueRef, c_uint);
    fn LLVMMetadataAsValue(ContextRef, MetadataRef) -> ValueRef;
    fn LLVMValueAsMetadata(ValueRef) -> MetadataRef;
    fn LLVMMDStringInContext2(ContextRef, *const c_char, usize) -> MetadataRef;
    fn LLVMMDNodeInContext2(ContextRef, *mut MetadataRef, usize) -> MetadataRef;
    fn LLVMTemporaryMDNode(ContextRef, *mut MetadataRef, usize) -> MetadataRef;
    fn LLVMMetadataReplaceAllUsesWith(MetadataRef, MetadataRef);
    fn LLVMGetMDNodeNumOperands(ValueRef) -> c_uint;
    fn LLVMGetMDNodeOperands(ValueRef, *mut ValueRef);
    fn LLVMGetMDString(ValueRef, *mut c_uint) -> *const c_char;
    fn LLVMGetSubprogram(ValueRef) -> MetadataRef;
    fn LLVMCreateDIBuilder(ModuleRef) -> DebugBuilderRef;
    fn LLVMDisposeDIBuilder(DebugBuilderRef);
    fn LLVMDIBuilderCreateFile(DebugBuilderRef, *const c_char, usize, *const c_char, usize) -> MetadataRef;
    fn LLVMDIBuilderCreateLexicalBlockFile(DebugBuilderRef, MetadataRef, MetadataRef, c_uint) -> MetadataRef;
    fn LLVMDIBuilderCreateDebugLocation(ContextRef, c_uint, c_uint, MetadataRef, MetadataRef) -> MetadataRef;
    fn LLVMInstructionGetDebugLoc(ValueRef) -> MetadataRef;
    fn LLVMInstructionSetDebugLoc(ValueRef, MetadataRef);
    fn LLVMGetDebugLocLine(ValueRef) -> c_uint;
    fn LLVMGetDebugLocColumn(ValueRef) -> c_uint;
    fn LLVMGetDebugLocFilename(ValueRef, *mut c_uint) -> *const c_char;
}
some versions {
    // Since 23: how a function treats subnormal numbers, of all types and of `f32`, results before operands.
    fn LLVMCreateDenormalFPEnvAttribute(ContextRef, c_int, c_int, c_int, c_int) -> AttributeRef;
}}
