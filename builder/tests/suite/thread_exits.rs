//! Kernels that lend shared memory across a cluster count their threads' exits; others have nothing of it.

use warpsmith_builder::{Arch, CudaBuilder};

use super::projects::Project;
use super::support::*;

/// The device library's markers, and kernels around them.
fn krate(kernels: &str) -> Project {
    let source = format!(
        "#![no_std]\n\
         #[panic_handler] fn panic(_: &core::panic::PanicInfo<'_>) -> ! {{ loop {{}} }}\n\
         unsafe extern \"C\" {{\n\
             safe fn __warpsmith_lends_cluster_memory();\n\
             safe fn __warpsmith_arrives_at_cluster();\n\
             safe fn __warpsmith_thread_exits();\n\
         }}\n\
         #[inline(always)] fn exit() -> ! {{\n\
             __warpsmith_thread_exits();\n\
             unsafe {{ core::arch::asm!(\"exit;\", options(noreturn)) }}\n\
         }}\n\
         fn phase() {{\n\
             __warpsmith_lends_cluster_memory();\n\
             unsafe {{ core::arch::asm!(\"barrier.cluster.arrive.release; barrier.cluster.wait.acquire;\") }}\n\
         }}\n{kernels}"
    );
    Project::new(&[("src/lib.rs", &source)])
}

fn kernel(name: &str, body: &str) -> String {
    format!(
        "#[unsafe(no_mangle)] pub unsafe extern \"ptx-kernel\" fn {name}(x: *mut u32) {{ unsafe {{ {body} }} }}\n"
    )
}

fn ptx(project: &Project) -> String {
    build(CudaBuilder::new(project.path()).arch(Arch::Sm90)).ptx
}

const COUNT: &str = "atom.acq_rel.cta.shared.add.u32";
const CLEAR: &str = "st.shared.v2.u32";
const TELL: &str = "red.release.cluster.shared::cluster.add.u32";

/// Ways to a return do not meet before they have counted: threads of a warp that wait for others to exit would be asked to come there.
#[test]
fn each_way_to_a_return_counts_by_itself() {
    let early = "if *x == 1 { return; } phase(); if *x == 2 { return; } phase(); *x = 3;";
    let project = krate(&kernel("lends", early));
    let ptx = ptx(&project);
    let lends = body(&ptx, "lends");
    assert_eq!(count(&lends, CLEAR), 1, "{lends:#?}");
    assert_eq!(count(&lends, COUNT), 3, "{lends:#?}");
    assert_eq!(count(&lends, TELL), 1, "{lends:#?}");
}

#[test]
fn what_does_not_lend_does_not_count() {
    let kernels = kernel("lends", "if *x == 1 { exit() } phase(); *x = 3;")
        + &kernel("exits", "if *x == 1 { exit() } *x = 3;");
    let ptx = ptx(&krate(&kernels));
    let lends = body(&ptx, "lends");
    assert_eq!(count(&lends, COUNT), 2, "{lends:#?}");
    let exits = body(&ptx, "exits");
    for part in [COUNT, CLEAR, TELL, "cluster", "bar.sync", "__warpsmith"] {
        assert_eq!(count(&exits, part), 0, "{exits:#?}");
    }
}

/// A function that is called does not know whose it is: a kernel that does not lend lets it count where the number never comes.
#[test]
fn a_called_function_counts_for_all_kernels_if_one_lends() {
    let kernels = "#[inline(never)] fn leave(x: u32) { if x == 1 { exit() } }\n".to_owned()
        + &kernel("lends", "leave(*x); phase(); *x = 3;")
        + &kernel("exits", "leave(*x); *x = 3;")
        + &kernel("neither", "*x = 3;");
    let ptx = ptx(&krate(&kernels));
    assert_eq!(ptx.matches(TELL).count(), 2, "of `leave` and `lends`");
    let exits = body(&ptx, "exits");
    assert_eq!(count(&exits, CLEAR), 1, "{exits:#?}");
    assert_eq!(count(&exits, "2147483648"), 1, "{exits:#?}");
    assert_eq!(count(&exits, COUNT), 0, "{exits:#?}");
    assert_eq!(count(&body(&ptx, "neither"), CLEAR), 0);
}

/// Between an arrival and its wait a thread may end.
#[test]
fn a_kernel_that_lends_does_not_arrive_without_waiting() {
    let kernels = "fn half() { __warpsmith_arrives_at_cluster(); }\n".to_owned()
        + &kernel("fine", "half(); *x = 3;")
        + &kernel("both", "phase(); half(); *x = 3;");
    let project = krate(&kernels);
    let text = error(CudaBuilder::new(project.path()).arch(Arch::Sm90)).to_string();
    for part in [
        "the kernel `both` lends shared memory across its cluster in `both` (",
        "without waiting in `both` (",
        "cluster::sync",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("fine"), "{text}");
}
