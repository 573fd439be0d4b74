//! What an architecture lacks is refused when kernels are built, in the words of the CUDA guide, at its place in the source.

use std::path::Path;

use warpsmith_builder::{Arch, BuildError, CudaBuilder};

use super::projects::Project;
use super::support::*;

/// A crate that depends on the device library.
fn project() -> Project {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let device = workspace.join("device").canonicalize().unwrap();
    let project = Project::with_dependencies(
        &format!("warpsmith-device = {{ path = \"{}\" }}", device.display()),
        &[],
    );
    std::fs::copy(
        workspace.join("Cargo.lock"),
        project.path().join("Cargo.lock"),
    )
    .unwrap();
    project
}

/// The error of `source` for `arch`, which stands at the line with `// here`.
fn refusal(project: &Project, source: &str, arch: Arch) -> String {
    let source = format!("#![no_std]\nuse warpsmith_device::prelude::*;\n{source}");
    let line = source.lines().position(|line| line.ends_with("// here"));
    let line = line.expect("a line is marked") as u32 + 1;
    project.write("src/lib.rs", &source);
    let error = error(CudaBuilder::new(project.path()).arch(arch));
    let text = error.to_string();
    let BuildError::ArchLacks(lacks) = error else {
        panic!("{text}")
    };
    let location = lacks.location.expect("a place in the source");
    assert!(location.file.ends_with("src/lib.rs"), "{text}");
    assert_eq!(location.line, line, "{text}");
    assert!(
        text.contains(&format!("src/lib.rs:{line}")) && !text.contains("ptxas"),
        "{text}"
    );
    text
}

/// The library's functions.
// covers: CC-03, CC-16
#[test]
fn functions_of_the_device_library() {
    let project = project();
    for (body, named) in [
        (
            "cluster::sync();",
            "cluster::sync` (`barrier.cluster.arrive.release`: thread block clusters)",
        ),
        (
            "*x = cluster::rank();",
            "cluster::rank` (`%cluster_ctarank`: thread block clusters)",
        ),
        (
            "*cluster::map_shared(x, 0) = 1;",
            "cluster::map_shared::<u32>` (`mapa.u64`: distributed shared memory)",
        ),
        (
            "Atomic::<u128>::from_ptr(x.cast()).store(1, Relaxed);",
            "exch.b128`: 128-bit atomics)",
        ),
        (
            "warpsmith_device::atomic::AtomicVector::fetch_add(x.cast(), Float2::new(1.0, 2.0), scope::Device, Relaxed);",
            ".global.add.v2.f32`: float2 and float4 atomics)",
        ),
        (
            "warpsmith_device::atomic::AtomicVector::fetch_add(x.cast(), Float4::new(1.0, 2.0, 3.0, 4.0), scope::Device, Relaxed);",
            ".global.add.v4.f32`: float2 and float4 atomics)",
        ),
        (
            "warpsmith_device::dependent::launch_dependents();",
            "(`griddepcontrol.launch_dependents`: programmatic dependent launch)",
        ),
    ] {
        let source = format!(
            "use warpsmith_device::atomic::scope;\nuse warpsmith_device::vector::{{Float2, Float4}};\n\
             /// # Safety\n/// As the body asks.\n#[kernel]\npub unsafe fn k(x: *mut u32) {{\n    unsafe {{\n        {body} // here\n    }}\n}}\n"
        );
        let text = refusal(&project, &source, Arch::Sm80);
        assert!(
            text.contains(named) && text.contains(" needs sm_90, and this build is for sm_80"),
            "{text}"
        );
        assert!(
            text.contains("(used by `kernels_under_test::k` at "),
            "{text}"
        );
    }
    // An attribute of the kernel.
    let text = refusal(
        &project,
        "#[kernel(cluster(2))] // here\npub fn k(x: u32) {\n    let _ = x;\n}\n",
        Arch::Sm80,
    );
    assert!(
        text.starts_with(
            "`cluster dimensions` (thread block clusters) needs sm_90, and this build is for sm_80 (used by `k` at "
        ),
        "{text}"
    );
    // The function that a neighbour's memory is reached by in safe code.
    let text = refusal(
        &project,
        "#[kernel(launch_bounds(32))]\npub fn k(x: u32) {\n    let filled = shared!([u32; 32]).write(x);\n    \
         filled.across_cluster(|_| ()); // here\n}\n",
        Arch::Sm80,
    );
    assert!(
        text.contains("across_cluster::<..>` (`barrier.cluster"),
        "{text}"
    );
}

/// What the library has no function for, in `asm!`.
// covers: CC-03, CC-16, TMA-22
#[test]
fn instructions_in_assembly() {
    let project = project();
    let (tma, dsmem) = ("bulk asynchronous copies, TMA", "distributed shared memory");
    let (copies, barriers) = (
        "asynchronous copies to shared memory",
        "split arrive/wait barriers in shared memory",
    );
    let floats = "float2 and float4 atomics";
    for (arch, needs, instruction, capability) in [
        (
            Arch::Sm80,
            "sm_90",
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{x:e}], [{x}], 16, [{x:e}];",
            Some(tma),
        ),
        (
            Arch::Sm80,
            "sm_90",
            "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [{x:e}], [{x}, {{{x:e}}}], [{x:e}];",
            Some(tma),
        ),
        (
            Arch::Sm80,
            "sm_90",
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [{x}], [{x:e}], 16;",
            Some(tma),
        ),
        (Arch::Sm86, "sm_90", "prefetch.tensormap [{x}];", Some(tma)),
        (
            Arch::Sm89,
            "sm_90",
            "red.global.add.v2.f32 [{x}], {{{x:e}, {x:e}}};",
            Some(floats),
        ),
        (
            Arch::Sm80,
            "sm_90",
            "red.global.add.v4.f32 [{x}], {{{x:e}, {x:e}, {x:e}, {x:e}}};",
            Some(floats),
        ),
        (
            Arch::Sm80,
            "sm_90",
            "{{ .reg .b128 t; atom.global.exch.b128 t, [{x}], t; }}",
            Some("128-bit atomics"),
        ),
        (
            Arch::Sm80,
            "sm_90",
            "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [{x:e}], {x:e}, [{x:e}];",
            Some(dsmem),
        ),
        (
            Arch::Sm80,
            "sm_90",
            "ld.shared::cluster.u32 {x:e}, [{x:e}];",
            Some(dsmem),
        ),
        (
            Arch::Sm80,
            "sm_90",
            "fence.acq_rel.cluster;",
            Some("thread block clusters"),
        ),
        (
            Arch::Sm89,
            "sm_90",
            "max.s16x2.relu {x:e}, {x:e}, {x:e};",
            Some("DPX"),
        ),
        (
            Arch::Sm75,
            "sm_80",
            "cp.async.ca.shared.global [{x:e}], [{x}], 4;",
            Some(copies),
        ),
        (
            Arch::Sm75,
            "sm_80",
            "mbarrier.init.shared.b64 [{x:e}], 32;",
            Some(barriers),
        ),
        // The architecture has mbarriers, and not this instruction.
        (
            Arch::Sm80,
            "sm_90",
            "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [{x:e}], 32;",
            None,
        ),
        (
            Arch::Sm90,
            "sm_90a",
            "wgmma.commit_group.sync.aligned;",
            Some("matrix products of a warpgroup"),
        ),
        (
            Arch::Sm100a,
            "sm_90a",
            "wgmma.commit_group.sync.aligned;",
            Some("matrix products of a warpgroup"),
        ),
    ] {
        let asm = instruction.replace("{x:e}", "{e}");
        let mut operands = String::new();
        if asm.contains("{x}") {
            operands += ", x = in(reg64) x";
        }
        if asm.contains("{e}") {
            operands += ", e = in(reg32) 64u32";
        }
        let source = format!(
            "/// # Safety\n/// As the body asks.\n#[kernel]\npub unsafe fn k(x: *mut u32) {{\n    let _ = x;\n    #[cfg(target_arch = \"nvptx64\")]\n    \
             unsafe {{\n        core::arch::asm!(\"{asm}\"{operands}); // here\n    }}\n}}\n"
        );
        let text = refusal(&project, &source, arch);
        let name = instruction.trim_start_matches("{{ .reg .b128 t; ");
        let name = name.split([' ', ';']).next().unwrap();
        let what = match capability {
            Some(capability) => format!("`{name}` ({capability})"),
            None => format!("`{name}`"),
        };
        let expected = format!(
            "{what} needs {needs}, and this build is for {arch} (used by `kernels_under_test::k` at "
        );
        assert!(text.starts_with(&expected), "{text}\n{expected}");
    }
}
