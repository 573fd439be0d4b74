//! Each mistake gets one clear message with the culprit and the way out.

use std::path::Path;

use warpsmith_builder::toolchain::Toolchain;
use warpsmith_builder::{BuildError, CudaBuilder};

use super::projects::Project;
use super::support::*;

const PANIC: &str = "#[panic_handler] fn panic(_: &core::panic::PanicInfo<'_>) -> ! { loop {} }\n";

/// A crate of its own folder; `source` follows the attribute `no_std` and a panic handler.
fn krate(source: &str) -> Project {
    Project::new(&[("src/lib.rs", &format!("#![no_std]\n{PANIC}{source}"))])
}

fn kernel(name: &str, body: &str) -> String {
    format!(
        "#[unsafe(no_mangle)] pub unsafe extern \"ptx-kernel\" fn {name}(x: *mut f32) {{ unsafe {{ {body} }} }}\n"
    )
}

#[test]
fn diagnostics_of_rustc_pass_unchanged() {
    let project = krate("fn f() -> u32 { \"text\" }\n");
    let error = error(CudaBuilder::new(project.path()));
    let BuildError::Rustc {
        diagnostics, hint, ..
    } = &error
    else {
        panic!("{error}")
    };
    assert_eq!(*hint, None);
    assert!(
        diagnostics.starts_with("error[E0308]: mismatched types\n --> src/lib.rs:3:17\n"),
        "{diagnostics}"
    );
    assert!(
        diagnostics.contains("expected `u32`, found `&str`"),
        "{diagnostics}"
    );
}

/// What the builder adds to a crate is no reason to warn of it.
#[test]
fn a_crate_that_denies_warnings_compiles() {
    let source = kernel("k", "*x += 1.0;");
    let source = format!("#![no_std]\n#![deny(warnings, unused)]\n{PANIC}{source}");
    let project = Project::new(&[("src/lib.rs", &source)]);
    let output = build(CudaBuilder::new(project.path()));
    assert_eq!(output.warnings, "");
}

// covers: SPACE-05
#[test]
fn an_unresolved_symbol_is_named_with_its_user_and_the_way_out() {
    let source = format!(
        "unsafe extern \"C\" {{ fn atanhf(x: f32) -> f32; fn nowhere(x: f32) -> f32; }}\n\
         #[inline(never)] fn wave(x: f32) -> f32 {{ unsafe {{ atanhf(x) }} }}\n{}",
        kernel("k", "*x = wave(*x) + nowhere(*x);")
    );
    let project = krate(&source);
    let error = error(CudaBuilder::new(project.path()));
    let BuildError::UnresolvedSymbols(symbols) = &error else {
        panic!("{error}")
    };
    assert_eq!(symbols.len(), 2);
    let text = error.to_string();
    assert!(
        text.contains("unresolved symbol `atanhf` (used by `"),
        "{text}"
    );
    assert!(
        text.contains("::wave` at ") && text.contains("src/lib.rs:4:52)"),
        "{text}"
    );
    assert!(
        text.contains(
            "the GPU has no C library: use the approximations of `warpsmith_device::float`"
        ),
        "{text}"
    );
    assert!(
        text.contains("unresolved symbol `nowhere` (used by `k` at "),
        "{text}"
    );
}

/// A static of the host's, declared where the linker is to find it.
// covers: UM-17, UM-X10
#[test]
fn a_static_of_the_host_is_out_of_reach() {
    let source = format!(
        "unsafe extern \"C\" {{ static HOST_COUNT: u32; }}\n\
         #[inline(never)] fn count() -> u32 {{ unsafe {{ HOST_COUNT }} }}\n{}",
        kernel("k", "*x = count() as f32;")
    );
    let text = error(CudaBuilder::new(krate(&source).path())).to_string();
    assert!(
        text.contains("unresolved symbol `HOST_COUNT` (used by `")
            && text.contains("::count` at ")
            && text.contains("src/lib.rs:4:47)"),
        "{text}"
    );
    assert!(
        text.contains("the GPU, which cannot reach statics of the host: pass the value, or the address of memory that the device reaches, as an argument")
            && text.contains("`managed_static!`"),
        "{text}"
    );
}

/// The program's statics, named from the module of its kernels.
// covers: UM-17, UM-X10
#[test]
fn a_module_of_kernels_does_not_see_the_program() {
    for (head, value) in [
        ("", "crate::COUNT"),
        ("", "super::COUNT"),
        ("use crate::COUNT;\n", "COUNT"),
        ("use super::COUNT;\n", "COUNT"),
    ] {
        let module = format!(
            "{head}{PANIC}{}",
            kernel("k", &format!("*x = {value} as f32;"))
        );
        let project = Project::new(&[
            (
                "src/main.rs",
                "mod kernels;\nstatic COUNT: u32 = 1;\nfn main() {}\n",
            ),
            ("src/kernels.rs", &module),
        ]);
        let module = project.path().join("src/kernels.rs");
        let error = error(CudaBuilder::for_module(module));
        let text = error.to_string();
        assert!(
            text.contains("A static of the host's is out of reach there: pass its value")
                && text.contains("--> src/kernels.rs:"),
            "{text}"
        );
    }
}

/// What exists on the host only gets the name of what stands for it, in the text and in the error's data.
#[test]
fn what_only_the_host_has_gets_a_hint() {
    for (body, hint) in [
        (
            "std::println!(\"{}\", *x);",
            "kernels have `core`, not `std`",
        ),
        ("println!(\"{}\", *x);", "`gpu_println!`"),
        (
            "*x = (*x).sin();",
            "the hardware's approximation `sin_approx`",
        ),
        ("*x = (*x).powf(2.5);", "use the crate `libm`"),
    ] {
        let error = error(CudaBuilder::new(krate(&kernel("k", body)).path()));
        let text = error.to_string();
        assert!(text.contains(hint), "{text}");
        let BuildError::Rustc { errors, .. } = &error else {
            panic!("{text}")
        };
        let location = errors[0].location.as_ref().expect("a place");
        assert!(location.file.ends_with("src/lib.rs"), "{location}");
        assert_eq!(location.line, 3, "{location}");
        assert!(
            errors[0].details.iter().any(|line| line.contains(hint)),
            "{errors:?}"
        );
    }
}

#[test]
fn symbols_that_the_driver_supplies_are_no_errors() {
    let source = format!(
        "unsafe extern \"C\" {{ fn vprintf(f: *const u8, a: *const u8) -> i32; fn cudaGraphLaunch(g: u64, m: u64) -> i32; }}\n{}",
        kernel(
            "k",
            "*x = (vprintf(c\"hello\".as_ptr().cast(), core::ptr::null()) + cudaGraphLaunch(1, 2)) as f32;"
        )
    );
    let ptx = build(CudaBuilder::new(krate(&source).path())).ptx;
    assert!(
        ptx.contains(".extern .func") && ptx.contains("vprintf") && ptx.contains("cudaGraphLaunch"),
        "{ptx}"
    );
}

#[test]
fn a_crate_without_kernels() {
    let project = krate("pub fn not_a_kernel() {}\n");
    let error = error(CudaBuilder::new(project.path()));
    assert!(matches!(error, BuildError::NoKernels { .. }));
    let text = error.to_string();
    assert!(
        text.ends_with(
            "has no kernels: mark the functions that the host launches with `#[kernel]` (and `pub`)"
        ),
        "{text}"
    );
}

#[test]
fn two_kernels_of_one_name() {
    let one = "one = { path = \"one\" }";
    let project = Project::with_dependencies(
        one,
        &[
            (
                "src/lib.rs",
                &format!(
                    "#![no_std]\npub use one::*;\n{PANIC}{}",
                    kernel("twice", "*x = 1.0;")
                ),
            ),
            (
                "one/Cargo.toml",
                "[package]\nname = \"one\"\nversion = \"0.0.0\"\nedition = \"2024\"\n",
            ),
            (
                "one/src/lib.rs",
                &format!("#![no_std]\n{}", kernel("twice", "*x = 2.0;")),
            ),
        ],
    );
    let error = error(CudaBuilder::new(project.path()));
    let text = error.to_string();
    // Within one compilation rustc sees both; else the linker does.
    assert!(text.contains("`twice`"), "{text}");
    assert!(
        matches!(
            error,
            BuildError::DuplicateKernel { .. } | BuildError::Rustc { .. }
        ),
        "{text}"
    );
}

#[test]
fn kernels_of_dependencies_come_along() {
    let one = "one = { path = \"one\" }";
    let project = Project::with_dependencies(
        one,
        &[
            (
                "src/lib.rs",
                &format!("#![no_std]\npub use one::*;\n{PANIC}"),
            ),
            (
                "one/Cargo.toml",
                "[package]\nname = \"one\"\nversion = \"0.0.0\"\nedition = \"2024\"\n",
            ),
            (
                "one/src/lib.rs",
                &format!("#![no_std]\n{}", kernel("elsewhere", "*x = 2.0;")),
            ),
        ],
    );
    assert!(
        build(CudaBuilder::new(project.path()))
            .ptx
            .contains(".entry elsewhere(")
    );
}

#[test]
fn a_crate_that_needs_std() {
    let project = Project::new(&[("src/lib.rs", "pub fn f() -> Vec<u32> { Vec::new() }\n")]);
    let error = error(CudaBuilder::new(project.path()));
    let BuildError::Rustc {
        diagnostics, hint, ..
    } = &error
    else {
        panic!("{error}")
    };
    assert!(
        diagnostics.contains("can't find crate for `std`"),
        "{diagnostics}"
    );
    let hint = hint.as_deref().unwrap();
    assert!(
        hint.contains("needs `std`, which the GPU does not have") && hint.contains("#![no_std]"),
        "{hint}"
    );
}

#[test]
fn a_feature_that_the_builder_turns_on() {
    let project = Project::new(&[(
        "src/lib.rs",
        &format!("#![no_std]\n#![feature(abi_ptx)]\n{PANIC}"),
    )]);
    let text = error(CudaBuilder::new(project.path())).to_string();
    assert!(text.contains("that the builder turns on for every device crate; take it out of its `#![feature(...)]`"), "{text}");
}

#[test]
fn a_dependency_that_needs_std_is_named() {
    let project = Project::with_dependencies(
        "hostly = { path = \"hostly\" }",
        &[
            (
                "src/lib.rs",
                &format!("#![no_std]\nuse hostly as _;\n{PANIC}"),
            ),
            (
                "hostly/Cargo.toml",
                "[package]\nname = \"hostly\"\nversion = \"0.0.0\"\nedition = \"2024\"\n",
            ),
            (
                "hostly/src/lib.rs",
                "pub fn now() -> std::time::Instant { std::time::Instant::now() }\n",
            ),
        ],
    );
    let text = error(CudaBuilder::new(project.path())).to_string();
    assert!(text.contains("`hostly` needs `std`"), "{text}");
    assert!(text.contains("default-features = false"), "{text}");
}

#[test]
fn a_folder_without_a_crate() {
    let folder = tempfile::tempdir().unwrap();
    let text = error(CudaBuilder::new(folder.path())).to_string();
    assert!(
        text.contains("there is no ") && text.contains("`CudaBuilder::for_module`"),
        "{text}"
    );
    let text = error(CudaBuilder::new(folder.path().join("missing"))).to_string();
    assert!(text.starts_with("cannot find the kernel crate "), "{text}");
    let text = error(CudaBuilder::for_module(
        folder.path().join("src/kernels.rs"),
    ))
    .to_string();
    assert!(text.starts_with("cannot find the kernel module "), "{text}");
}

#[test]
fn shared_memory_of_unknown_size() {
    let source = format!(
        "unsafe extern \"C\" {{ fn __warpsmith_shared_static(size: usize, align: usize) -> *mut f32; }}\n{}",
        kernel("k", "*x = *__warpsmith_shared_static(x as usize, 4);")
    );
    let text = error(CudaBuilder::new(krate(&source).path())).to_string();
    assert_eq!(
        text,
        "`k` asks for shared memory of a size that is not a constant"
    );
}

/// What LLVM has no PTX for, with what the message must name.
#[test]
fn what_the_gpu_has_no_instruction_for() {
    let sine = "unsafe extern \"C\" { #[link_name = \"llvm.sin.f32\"] fn sine(x: f32) -> f32; }\n";
    let wave = format!(
        "{sine}#[inline(always)] fn wave(x: f32) -> f32 {{ unsafe {{ sine(x) }} }}\
         #[inline(always)] fn bump(to: &mut f32, by: &f32) {{ *to += *by; *to *= *by; }}\n{}{}",
        kernel("plain", "*x += 1.0;"),
        // Before the sine stand declarations of what has no aliases.
        kernel("k", "bump(&mut *x, &*x.add(1)); *x = wave(*x);")
    );
    let quadruple = format!(
        "#[inline(never)] fn sum(x: f32) -> f32 {{\n    (x as f128 + 0.1) as f32\n}}\n{}{}",
        kernel("first", "*x = sum(*x);"),
        kernel("second", "*x = sum(*x + 1.0);")
    );
    let local = format!(
        "#[thread_local] static mut COUNT: f32 = 1.0;\n{}",
        kernel("k", "COUNT += *x; *x = COUNT;")
    );
    let wide = kernel(
        "k",
        "\n    let x = x.cast::<u128>();\n    core::intrinsics::atomic_xchg::<u128, { core::intrinsics::AtomicOrdering::SeqCst }>(x, 1);",
    );
    for (source, kernels, function, line) in [
        (&wide, &["k"][..], "k", 5),
        (&wave, &["k"], "::wave", 4),
        (&quadruple, &["first", "second"], "::sum", 4),
        (&local, &["k"], "k", 4),
    ] {
        let project = krate(source);
        let error = error(CudaBuilder::new(project.path()).rustc_flag(
            "-Zcrate-attr=feature(link_llvm_intrinsics,f128,thread_local,core_intrinsics)",
        ));
        let text = error.to_string();
        let BuildError::Untranslatable(what) = &error else {
            panic!("{text}")
        };
        assert_eq!(what.kernels, kernels, "{text}");
        assert!(
            what.function.as_ref().unwrap().ends_with(function),
            "{text}"
        );
        let location = what.location.as_ref().unwrap();
        assert!(location.file.ends_with("src/lib.rs"), "{text}");
        assert_eq!(location.line, line, "{text}");
        assert!(text.contains(&format!("src/lib.rs:{line}")), "{text}");
    }
    // The process goes on, and so does LLVM.
    build(CudaBuilder::new(
        krate(&kernel("fine", "*x += 1.0;")).path(),
    ));
}

/// A stand-in for rustc that answers `-vV` and `--print sysroot` only.
fn fake_rustc(folder: &Path, release: &str, llvm: &str) -> Toolchain {
    use std::os::unix::fs::PermissionsExt;
    let rustc = folder.join("rustc");
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = -vV ]; then\necho 'rustc {release}'\necho 'release: {release}'\necho 'commit-hash: 0123456789'\n\
         echo 'LLVM version: {llvm}'\nelse echo '{}'\nfi\n",
        folder.display()
    );
    std::fs::write(&rustc, script).unwrap();
    std::fs::set_permissions(&rustc, std::fs::Permissions::from_mode(0o755)).unwrap();
    Toolchain::of(&rustc).unwrap()
}

#[test]
fn a_wrong_toolchain() {
    let folder = tempfile::tempdir().unwrap();
    // Too old.
    let toolchain = fake_rustc(folder.path(), "1.60.0", "14.0.0");
    assert_eq!(toolchain.release, "1.60.0");
    let text = toolchain.llvm_library().unwrap_err().to_string();
    assert!(
        text.contains("rustc 1.60.0 with LLVM 14.0.0 is too old: kernels need rustc 1.95.0 with LLVM 22, or a newer one")
            && text.contains("`rustup update stable`"),
        "{text}"
    );
    // No LLVM library, as in a distribution's rustc.
    let toolchain = fake_rustc(folder.path(), "1.99.0", "23.1.0");
    let text = toolchain.llvm_library().unwrap_err().to_string();
    assert!(
        text.contains("no libLLVM.so in ") && text.contains("`rustup toolchain install stable`"),
        "{text}"
    );
    // Newer than any: it is tried, not refused by its number.
    let newer = fake_rustc(folder.path(), "1.130.0", "29.1.0");
    std::fs::create_dir(folder.path().join("lib")).unwrap();
    std::fs::write(folder.path().join("lib/libLLVM.so.29"), "").unwrap();
    assert_eq!(
        newer.llvm_library().unwrap(),
        folder.path().join("lib/libLLVM.so.29")
    );
    // None at all.
    let text = Toolchain::of(&folder.path().join("nothing"))
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("cannot run `") && text.contains("https://rustup.rs"),
        "{text}"
    );
}
