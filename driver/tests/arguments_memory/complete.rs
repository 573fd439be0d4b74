//! No memory function is without rows; and none does anything before the driver is initialised, in a host function, or with nothing but
//! zeros.
//!
//! The functions of the per-thread default stream (`_ptds`, `_ptsz`) are the plain ones with another meaning of the null stream.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::Mutex;

use warpsmith_testkit::process::{LIMIT, calling_test, output};
use warpsmith_testkit::{Side, own_process};

use crate::common::*;
use crate::run::is_cuda;
use crate::world::World;

/// A function by name, as a call with zeros for all arguments.
type Function = (&'static str, fn() -> CUresult);

macro_rules! functions {
    ($(fn $name:ident($($argument:ident: $kind:ty),* $(,)?) -> $result:ty;)*) => {
        pub const ALL: &[Function] = &[$((stringify!($name), || {
            // SAFETY: zeros are null pointers, null handles and numbers, which the memory functions find out; the tests call no others.
            unsafe { $name($(core::mem::zeroed::<$kind>()),*) }
        })),*];
    };
}

mod established {
    use super::*;
    warpsmith_abi::for_each_established_function!(functions);
}

mod newer {
    use super::*;
    warpsmith_abi::for_each_newer_function!(functions);
}

/// Of which functions these tables are.
fn is_of_memory(name: &str) -> bool {
    const PREFIXES: [&str; 14] = [
        "cuArray",
        "cuDestroyExternalMemory",
        "cuExternalMemory",
        "cuFlush",
        "cuImportExternalMemory",
        "cuMem",
        "cuMipmapped",
        "cuMulticast",
        "cuPointer",
        "cuStreamAttach",
        "cuSurf",
        "cuTensorMap",
        "cuTexObject",
        "cuCtxResetPersisting",
    ];
    let is_of_device = name.starts_with("cuDevice")
        && ["MemPool", "GraphMem", "Texture"]
            .iter()
            .any(|part| name.contains(part));
    let is_of_process = name.starts_with("cuIpc") && name.contains("Mem");
    let is_of_graph =
        name.starts_with("cuGraphAddMem") && (name.contains("Alloc") || name.contains("Free"));
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || is_of_device
        || is_of_process
        || is_of_graph
}

fn memory_functions() -> impl Iterator<Item = Function> {
    let all = established::ALL.iter().chain(newer::ALL).copied();
    all.filter(|(name, _)| is_of_memory(name))
}

#[test]
fn each_memory_function_has_rows() {
    let rows = crate::all_rows();
    let with_rows: BTreeSet<_> = rows.iter().map(|row| row.function).collect();
    let missing: Vec<_> = memory_functions()
        .map(|(name, _)| name)
        .filter(|name| !with_rows.contains(name))
        .collect();
    assert!(missing.is_empty(), "no rows: {missing:?}");
    let mut cases = BTreeSet::new();
    for row in &rows {
        assert!(cases.insert(row.to_string()), "twice: {row}");
    }
}

/// Those that answer other codes, one a line.
fn differences(expected: u32, functions: impl Iterator<Item = Function>) -> String {
    let mut lines = String::new();
    for (name, call) in functions {
        let answer = call();
        if answer.0 != expected {
            let text = warpsmith_driver::error::name(answer);
            lines.push_str(&format!("{name} answers {text}\n"));
        }
    }
    lines
}

/// Holds, in a child's environment, the one function that it calls.
const FUNCTION: &str = "WARPSMITH_ARGUMENTS_FUNCTION";

// covers: DRV-01
#[test]
fn nothing_happens_before_the_driver_is_initialised() {
    if let Ok(function) = std::env::var(FUNCTION) {
        choose_driver();
        let mut functions = memory_functions();
        let (_, call) = functions
            .find(|&(name, _)| name == function)
            .expect("a name");
        println!("answers {}", call().0);
        return;
    }
    if is_cuda() {
        return none_succeeds(&calling_test());
    }
    let Side::Child = own_process(&[]) else {
        return;
    };
    choose_driver();
    let functions = memory_functions().filter(|(name, _)| !MISSING.contains(name));
    let wrong = differences(3, functions);
    assert!(wrong.is_empty(), "{wrong}");
}

/// With no place to write to it does nothing, and a real driver says so before it is initialised, too.
const NOTHING_TO_DO: &str = "cuMemGetAddressRange_v2";

/// Calls each function in a process of its own, of which the calling test is what runs: some of a real driver look at their arguments first,
/// and refuse them or follow a null pointer. What they answer other than 3 is printed.
fn none_succeeds(test: &str) {
    let mut succeed = Vec::new();
    for (name, _) in memory_functions() {
        let mut command = Command::new(std::env::current_exe().expect("a test knows its program"));
        command
            .args([test, "--exact", "--nocapture", "--test-threads=1"])
            .env(FUNCTION, name);
        let child = output(&mut command, LIMIT);
        match child.stdout.split_once("answers ") {
            Some((_, answer)) if answer.starts_with("3\n") => {}
            Some((_, answer)) => {
                eprintln!("{name} answers {}", answer.lines().next().unwrap_or(""));
                if answer.starts_with("0\n") && name != NOTHING_TO_DO {
                    succeed.push(name);
                }
            }
            None => {
                eprintln!("{name} ends the process: {}", child.status);
                assert_eq!(child.status.code(), None, "{name} is not asked: {child}");
            }
        }
    }
    assert!(succeed.is_empty(), "{succeed:?}");
}

#[test]
fn nothing_happens_in_a_host_function() {
    static WRONG: Mutex<Option<String>> = Mutex::new(None);
    unsafe extern "C" fn call_all(_: *mut c_void) {
        let functions = memory_functions().filter(|(name, _)| !MISSING.contains(name));
        *WRONG.lock().unwrap() = Some(differences(800, functions));
    }
    let _turn = turn();
    if gpu() == Backend::Cuda {
        // What a real driver does then is undefined.
        return;
    }
    let stream = stream();
    ok!(cuLaunchHostFunc(stream, Some(call_all), null_mut()));
    ok!(cuStreamSynchronize(stream));
    let wrong = WRONG.lock().unwrap().take();
    assert_eq!(wrong.as_deref(), Some(""));
}

/// What the simulator does not have: it answers that it is not supported, and nothing else.
const MISSING: [&str; 7] = [
    "cuArrayGetPlane",
    "cuDeviceGetTexture1DLinearMaxWidth",
    "cuFlushGPUDirectRDMAWrites",
    "cuMemMapArrayAsync",
    "cuTensorMapEncodeIm2col",
    "cuTensorMapEncodeTiled",
    "cuTensorMapReplaceAddress",
];

#[test]
fn zeros_are_refused_or_do_nothing() {
    let Side::Child = own_process(&[]) else {
        return;
    };
    if gpu() == Backend::Cuda {
        // Some functions of a real driver follow null pointers.
        return;
    }
    let world = World::new();
    let before = world.state();
    let mut succeed = Vec::new();
    for (name, call) in memory_functions() {
        let answer = call();
        assert_ne!(answer.0, 999, "{name} meets an internal error");
        if answer.0 == 0 {
            succeed.push(name);
        }
    }
    let after = world.state();
    assert!(after == before, "{}", before.differences(&after));
    for name in succeed {
        let is_empty_work = name.starts_with("cuMemset")
            || (name.starts_with("cuMemcpy") && !name.contains("D_v2") && !name.contains("3D"));
        let does_nothing = [
            "cuCtxResetPersistingL2Cache",
            "cuDeviceGraphMemTrim",
            "cuMemFreeAsync",
            "cuMemFreeHost",
            "cuMemFree_v2",
            "cuMemGetInfo_v2",
            "cuSurfObjectDestroy",
            "cuTexObjectDestroy",
        ];
        assert!(
            is_empty_work || does_nothing.contains(&name) || name.starts_with("cuMemcpy"),
            "{name} takes zeros"
        );
    }
}
