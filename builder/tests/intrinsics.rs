//! What LLVM makes of its own intrinsics for NVIDIA devices, beside what the instruction tables say of them.
#![allow(non_snake_case, reason = "LLVM's names")]

use std::collections::BTreeSet;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;

use warpsmith_builder::toolchain::Toolchain;
use warpsmith_isa::nvvm::{self, Lowered};
use warpsmith_isa::{PtxVersion, Target, find};

type Handle = *mut c_void;

macro_rules! functions {
    ($(fn $name:ident($($arg:ty),*) $(-> $result:ty)?;)*) => {
        /// The part of LLVM's C API that is used here.
        struct Llvm {
            $($name: unsafe extern "C" fn($($arg),*) $(-> $result)?,)*
            _library: &'static libloading::Library,
        }

        impl Llvm {
            fn load() -> Llvm {
                let path = Toolchain::find().and_then(|toolchain| toolchain.llvm_library());
                let path = path.expect("rustc comes with LLVM");
                // SAFETY: rustc's own library; its initialisers register LLVM's options and targets alone.
                let library = unsafe { libloading::Library::new(path) }.expect("it can be loaded");
                let library: &'static _ = Box::leak(Box::new(library));
                Llvm {
                    // SAFETY: the signatures are those of LLVM's C headers.
                    $($name: unsafe {
                        *library.get(concat!(stringify!($name), "\0").as_bytes()).expect(stringify!($name))
                    },)*
                    _library: library,
                }
            }
        }
    };
}

functions! {
    fn LLVMInitializeNVPTXTargetInfo();
    fn LLVMInitializeNVPTXTarget();
    fn LLVMInitializeNVPTXTargetMC();
    fn LLVMInitializeNVPTXAsmPrinter();
    fn LLVMContextCreate() -> Handle;
    fn LLVMLookupIntrinsicID(*const c_char, usize) -> c_uint;
    fn LLVMIntrinsicGetName(c_uint, *mut usize) -> *const c_char;
    fn LLVMIntrinsicIsOverloaded(c_uint) -> c_int;
    fn LLVMIntrinsicGetType(Handle, c_uint, *mut Handle, usize) -> Handle;
    fn LLVMGetIntrinsicDeclaration(Handle, c_uint, *mut Handle, usize) -> Handle;
    fn LLVMModuleCreateWithNameInContext(*const c_char, Handle) -> Handle;
    fn LLVMDisposeModule(Handle);
    fn LLVMSetTarget(Handle, *const c_char);
    fn LLVMAddFunction(Handle, *const c_char, Handle) -> Handle;
    fn LLVMAppendBasicBlockInContext(Handle, Handle, *const c_char) -> Handle;
    fn LLVMCreateBuilderInContext(Handle) -> Handle;
    fn LLVMPositionBuilderAtEnd(Handle, Handle);
    fn LLVMBuildCall2(Handle, Handle, Handle, *mut Handle, c_uint, *const c_char) -> Handle;
    fn LLVMBuildRet(Handle, Handle) -> Handle;
    fn LLVMBuildRetVoid(Handle) -> Handle;
    fn LLVMDisposeBuilder(Handle);
    fn LLVMGetReturnType(Handle) -> Handle;
    fn LLVMGetTypeKind(Handle) -> c_int;
    fn LLVMCountParams(Handle) -> c_uint;
    fn LLVMGetParam(Handle, c_uint) -> Handle;
    fn LLVMTypeOf(Handle) -> Handle;
    fn LLVMConstInt(Handle, u64, c_int) -> Handle;
    fn LLVMGetEnumAttributeKindForName(*const c_char, usize) -> c_uint;
    fn LLVMGetEnumAttributeAtIndex(Handle, c_uint, c_uint) -> Handle;
    fn LLVMGetTargetFromTriple(*const c_char, *mut Handle, *mut *mut c_char) -> c_int;
    fn LLVMCreateTargetMachine(Handle, *const c_char, *const c_char, *const c_char, c_int, c_int, c_int) -> Handle;
    fn LLVMTargetMachineEmitToMemoryBuffer(Handle, Handle, c_int, *mut *mut c_char, *mut Handle) -> c_int;
    fn LLVMGetBufferStart(Handle) -> *const c_char;
    fn LLVMDisposeMemoryBuffer(Handle);
    fn LLVMDisposeTargetMachine(Handle);
}

const TRIPLE: &CStr = c"nvptx64-nvidia-cuda";

impl Llvm {
    fn start() -> Llvm {
        let llvm = Llvm::load();
        // SAFETY: plain registration functions, called once, before any other use of this copy of LLVM.
        unsafe {
            (llvm.LLVMInitializeNVPTXTargetInfo)();
            (llvm.LLVMInitializeNVPTXTarget)();
            (llvm.LLVMInitializeNVPTXTargetMC)();
            (llvm.LLVMInitializeNVPTXAsmPrinter)();
        }
        llvm
    }

    fn name(&self, intrinsic: c_uint) -> String {
        let mut length = 0;
        // SAFETY: `intrinsic` is one of LLVM's numbers: they are walked from a known one, and end with another target's.
        let name = unsafe { (self.LLVMIntrinsicGetName)(intrinsic, &raw mut length) };
        // SAFETY: LLVM returned so many bytes, which live as long as its library.
        let bytes = unsafe { std::slice::from_raw_parts(name.cast::<u8>(), length) };
        String::from_utf8(bytes.to_vec()).expect("a name")
    }

    /// All intrinsics of the target: their numbers follow one another.
    fn intrinsics(&self) -> Vec<(c_uint, String)> {
        let known = "llvm.nvvm.bar.warp.sync";
        // SAFETY: a name and its length.
        let known = unsafe { (self.LLVMLookupIntrinsicID)(known.as_ptr().cast(), known.len()) };
        assert_ne!(known, 0, "LLVM has no such intrinsic any more");
        let ours = |&id: &c_uint| self.name(id).starts_with("llvm.nvvm.");
        let before = (1..known).rev().take_while(ours);
        let all = before.chain((known..).take_while(ours));
        all.map(|id| (id, self.name(id))).collect()
    }

    /// The PTX of a function that calls the intrinsic; `None` if its types depend on the call.
    fn compile(&self, context: Handle, intrinsic: c_uint, target: &str) -> Option<String> {
        // SAFETY: one of LLVM's numbers.
        if unsafe { (self.LLVMIntrinsicIsOverloaded)(intrinsic) } != 0 {
            return None;
        }
        let target = CString::new(target).expect("a name");
        let name = self.name(intrinsic);
        let sized = [
            "tensormap_generic",
            "discard",
            "applypriority",
            "setmaxnreg",
        ];
        let chosen = if sized.iter().any(|word| name.contains(word)) {
            128
        } else {
            0
        };
        // SAFETY: all handles come from the calls above them and are used in the same module; the argument list has as many
        // values as the declaration has parameters, of the same types, since the function has the declaration's type.
        unsafe {
            let module = (self.LLVMModuleCreateWithNameInContext)(c"one".as_ptr(), context);
            (self.LLVMSetTarget)(module, TRIPLE.as_ptr());
            let declaration = (self.LLVMGetIntrinsicDeclaration)(module, intrinsic, null_mut(), 0);
            let ty = (self.LLVMIntrinsicGetType)(context, intrinsic, null_mut(), 0);
            let function = (self.LLVMAddFunction)(module, c"function".as_ptr(), ty);
            let block = (self.LLVMAppendBasicBlockInContext)(context, function, c"".as_ptr());
            let builder = (self.LLVMCreateBuilderInContext)(context);
            (self.LLVMPositionBuilderAtEnd)(builder, block);
            let constant =
                (self.LLVMGetEnumAttributeKindForName)(c"immarg".as_ptr(), "immarg".len());
            let count = (self.LLVMCountParams)(declaration);
            let mut arguments: Vec<Handle> = (0..count)
                .map(|number| {
                    let argument = (self.LLVMGetParam)(function, number);
                    let attribute =
                        (self.LLVMGetEnumAttributeAtIndex)(declaration, number + 1, constant);
                    if attribute.is_null() {
                        argument
                    } else {
                        // A size or a choice.
                        (self.LLVMConstInt)((self.LLVMTypeOf)(argument), chosen, 0)
                    }
                })
                .collect();
            let list = arguments.as_mut_ptr();
            let name = c"".as_ptr();
            let call = (self.LLVMBuildCall2)(builder, ty, declaration, list, count, name);
            if (self.LLVMGetTypeKind)((self.LLVMGetReturnType)(ty)) == 0 {
                (self.LLVMBuildRetVoid)(builder);
            } else {
                (self.LLVMBuildRet)(builder, call);
            }
            (self.LLVMDisposeBuilder)(builder);
            let (mut kind, mut message, mut buffer) = (null_mut(), null_mut(), null_mut());
            let failed =
                (self.LLVMGetTargetFromTriple)(TRIPLE.as_ptr(), &raw mut kind, &raw mut message);
            assert_eq!(failed, 0, "LLVM has the target");
            let features = c"+ptx88".as_ptr();
            let (triple, cpu) = (TRIPLE.as_ptr(), target.as_ptr());
            let machine = (self.LLVMCreateTargetMachine)(kind, triple, cpu, features, 2, 0, 0);
            let failed = (self.LLVMTargetMachineEmitToMemoryBuffer)(
                machine,
                module,
                0,
                &raw mut message,
                &raw mut buffer,
            );
            assert_eq!(failed, 0, "LLVM makes no code");
            let text = CStr::from_ptr((self.LLVMGetBufferStart)(buffer));
            let text = text.to_string_lossy().into_owned();
            (self.LLVMDisposeMemoryBuffer)(buffer);
            (self.LLVMDisposeTargetMachine)(machine);
            (self.LLVMDisposeModule)(module);
            Some(text)
        }
    }
}

/// The mnemonics of a function's instructions.
fn mnemonics(ptx: &str) -> impl Iterator<Item = &str> {
    ptx.lines()
        .filter_map(|line| line.strip_prefix('\t'))
        .map(|line| {
            let line = line.trim_start_matches(['{', ' ', '\t']);
            let line = match line.strip_prefix('@') {
                Some(guarded) => guarded.split_once([' ', '\t']).map_or("", |(_, rest)| rest),
                None => line,
            };
            line.trim_start()
                .split([' ', '\t', ';'])
                .next()
                .unwrap_or("")
        })
}

/// Whether an instruction is what the tables say: the same words, or these and more, and then not older.
fn is(mnemonic: &str, lowered: &Lowered, target: Target) -> bool {
    let Lowered::Instruction { form, exact } = lowered else {
        return false;
    };
    let mut parts = mnemonic.split('.');
    let opcode = parts.next().unwrap_or("");
    if opcode != form.form.opcode {
        return false;
    }
    let words: BTreeSet<&str> = parts.clone().collect();
    let expected: BTreeSet<&str> = form.words().collect();
    if *exact {
        return words == expected;
    }
    let modifiers: Vec<&str> = parts.collect();
    let Ok(found) = find(opcode, &modifiers) else {
        // One that the tables lack, of the same name.
        return mnemonic.starts_with(&form.name().to_string());
    };
    found.first_version(target) >= form.first_version(target) && found.name() == form.name()
}

#[test]
fn intrinsics_become_the_instructions_of_the_tables() {
    let llvm = Llvm::start();
    // SAFETY: creates a context.
    let context = unsafe { (llvm.LLVMContextCreate)() };
    let (mut compared, mut wrong) = (0, Vec::new());
    for (intrinsic, name) in llvm.intrinsics() {
        let Some(lowered) = nvvm::find(&name) else {
            continue;
        };
        let architecture = ["sm_100a", "sm_90a"].into_iter().find(|name| {
            let target = Target::parse(name).expect("an architecture");
            let since = lowered.since(target);
            since.ptx <= PtxVersion::new(8, 8) && since.targets.contain(target)
        });
        let Some(architecture) = architecture else {
            continue;
        };
        let target = Target::parse(architecture).expect("an architecture");
        // LLVM ends the process where it has no instruction: then this says for which.
        eprintln!("{name} for {architecture}");
        let Some(ptx) = llvm.compile(context, intrinsic, architecture) else {
            continue;
        };
        compared += 1;
        let fits = match lowered {
            Lowered::Register(register) => {
                let start = register.name.split('<').next().unwrap_or_default();
                ptx.contains(start)
            }
            Lowered::Instruction { .. } => {
                mnemonics(&ptx).any(|mnemonic| is(mnemonic, &lowered, target))
            }
        };
        if !fits {
            let body: Vec<&str> = mnemonics(&ptx).collect();
            wrong.push(format!("{name}: {}", body.join(" ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{compared} intrinsics");
    assert!(compared > 600, "only {compared} intrinsics are known");
}
