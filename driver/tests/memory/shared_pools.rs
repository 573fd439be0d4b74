//! Pools that processes share: whose access it takes, and uses and frees in the wrong order, which the simulator's check of the order of
//! work names with both sides.

use crate::common::*;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use warpsmith_abi::fault::FaultKind;
use warpsmith_driver::{configure_simulator, fault, simulator_report};
use warpsmith_testkit::process::{calling_test, is_child, run_in_child};

const DESCRIPTOR: CUmemAllocationHandleType =
    CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
const PUT: &core::ffi::CStr = c"
.version 8.0
.target sm_90
.address_size 64
.visible .entry put(.param .u64 out)
{
    .reg .b64 %a;
    ld.param.u64 %a, [out];
    st.global.u32 [%a], 7;
    ret;
}
";

/// A pool of the first device that other processes may import.
fn shareable_pool() -> CUmemoryPool {
    let properties = CUmemPoolProps {
        allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        handleTypes: DESCRIPTOR,
        location: on(0),
        ..Default::default()
    };
    get!(cuMemPoolCreate(&properties))
}

fn on(device: c_int) -> CUmemLocation {
    let mut location = CUmemLocation {
        type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
        ..Default::default()
    };
    location.__bindgen_anon_1.id = device;
    location
}

fn access(pool: CUmemoryPool, device: c_int) -> u32 {
    let mut location = on(device);
    let flags: CUmemAccess_flags = get!(cuMemPoolGetAccess(pool, &mut location));
    flags.0
}

fn give_access(pool: CUmemoryPool, device: c_int) {
    let wish = CUmemAccessDesc {
        location: on(device),
        flags: CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    };
    ok!(cuMemPoolSetAccess(pool, &wish, 1));
}

fn launch_put(stream: CUstream, memory: CUdeviceptr) {
    let module: CUmodule = get!(cuModuleLoadData(PUT.as_ptr().cast()));
    let kernel: CUfunction = get!(cuModuleGetFunction(module, c"put".as_ptr()));
    let mut address = memory;
    let mut parameters = [(&raw mut address).cast()];
    ok!(cuLaunchKernel(
        kernel,
        1,
        1,
        1,
        1,
        1,
        1,
        0,
        stream,
        parameters.as_mut_ptr(),
        null_mut()
    ));
}

/// What the owner of a pool gives the importers: its open descriptor, which the system shows to them, and allocations.
struct Exported {
    descriptor: OwnedFd,
    /// Where the two tell each other how far they are.
    meeting: PathBuf,
    /// Which test's other side the importers run.
    test: String,
}

/// Holds, in an importer's environment, where the owner's descriptor is.
const POOL: &str = "WARPSMITH_TEST_POOL";

/// Holds the allocations, as digits.
const POINTERS: &str = "WARPSMITH_TEST_POINTERS";

/// Holds the folder of [`Exported::meeting`].
const MEETING: &str = "WARPSMITH_TEST_MEETING";

impl Exported {
    fn new(pool: CUmemoryPool, name: &str) -> Exported {
        let mut number: c_int = -1;
        ok!(cuMemPoolExportToShareableHandle(
            (&raw mut number).cast(),
            pool,
            DESCRIPTOR,
            0
        ));
        let meeting = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(&meeting).expect("a folder");
        Exported {
            // SAFETY: the call above made the descriptor, which nothing else owns.
            descriptor: unsafe { OwnedFd::from_raw_fd(number) },
            meeting,
            test: calling_test(),
        }
    }

    /// Runs the test's other side in a process of its own.
    fn import_in_child(&self, memory: &[CUdeviceptr], variables: &[(&str, &str)]) {
        let pool = format!(
            "/proc/{}/fd/{}",
            std::process::id(),
            self.descriptor.as_raw_fd()
        );
        let mut pointers = String::new();
        for &address in memory {
            let data: CUmemPoolPtrExportData = get!(cuMemPoolExportPointer(address));
            let bytes = data.reserved.map(|byte| format!("{byte:02x}"));
            pointers.push_str(&bytes.concat());
        }
        let meeting = self.meeting.to_str().expect("it is text");
        let mut all = vec![(POOL, &*pool), (POINTERS, &*pointers), (MEETING, meeting)];
        all.extend(variables);
        run_in_child(&self.test, &all);
    }
}

impl Drop for Exported {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.meeting);
    }
}

/// The owner's pool, in another process.
fn imported_pool() -> CUmemoryPool {
    let file = std::fs::OpenOptions::new();
    let path = std::env::var(POOL).expect("the owner tells");
    let file = { file }.read(true).write(true).open(path);
    let file = file.expect("the owner's descriptor");
    let number = file.as_raw_fd() as usize as *mut c_void;
    get!(cuMemPoolImportFromShareableHandle(number, DESCRIPTOR, 0))
}

/// One of the owner's allocations, in another process.
fn imported_pointer(pool: CUmemoryPool, which: usize) -> CUdeviceptr {
    let text = std::env::var(POINTERS).expect("the owner tells");
    let text = &text[128 * which..];
    let mut data = CUmemPoolPtrExportData { reserved: [0; 64] };
    for (at, byte) in data.reserved.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).expect("digits");
    }
    get!(cuMemPoolImportPointer(pool, &mut data))
}

fn folder() -> PathBuf {
    std::env::var(MEETING).expect("the owner tells").into()
}

fn tell(folder: &std::path::Path, what: &str) {
    std::fs::write(folder.join(what), "").expect("a file");
}

fn hear(folder: &std::path::Path, what: &str) {
    let end = Instant::now() + Duration::from_secs(60);
    while !folder.join(what).exists() {
        assert!(Instant::now() < end, "nobody says `{what}`");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A context of its own for what ends it with a fault.
fn own_context() -> CUcontext {
    get!(cuCtxCreate_v2(0, 0))
}

/// The conflict that ended a context, with both sides.
fn conflict(context: CUcontext, sides: [&str; 2]) {
    fails!(719, cuCtxSynchronize());
    let found = fault(context).expect("a conflict");
    assert_eq!(found.kind, FaultKind::StreamOrder, "{found}");
    let text: Vec<String> = (found.work.iter())
        .map(|side| format!("{} in {} {}", side.what, side.place, side.does))
        .collect();
    assert_eq!(text.len(), 2, "{found}");
    for side in sides {
        assert!(
            text.iter().any(|text| text.contains(side)),
            "{side}: {text:?}"
        );
    }
    ok!(cuCtxDestroy_v2(context));
}

fn the_importer() {
    gpu();
    assert!(configure_simulator("stderr", "off"));
    let folder = folder();
    let context = own_context();
    let pool = imported_pool();
    let owner = std::env::var(POOL).expect("the owner tells");
    let owner = format!("process {}", owner.split('/').nth(2).expect("a number"));
    let stream = stream();

    // The owner's stream has not come to the allocation.
    launch_put(stream, imported_pointer(pool, 0));
    conflict(
        context,
        [
            "kernel `put`",
            &format!("cuMemAllocFromPoolAsync in {owner}"),
        ],
    );

    // What is there may be used: not even the check says anything.
    let context = own_context();
    let (used, freed) = (imported_pointer(pool, 1), imported_pointer(pool, 2));
    let stream = crate::common::stream();
    launch_put(stream, used);
    launch_put(stream, freed);
    ok!(cuCtxSynchronize());
    assert_eq!(download::<u32>(used, 1), [7]);
    assert_eq!(fault(context), None);

    // A second free, while the first has not been done.
    let gate = Gate::new();
    gate.block(stream);
    ok!(cuMemFreeAsync(used, stream));
    fails!(1, cuMemFreeAsync(used, stream));
    let report = simulator_report().expect("a report");
    assert!(report.contains("double free"), "{report}");
    gate.open();
    ok!(cuStreamSynchronize(stream));
    fails!(1, cuMemFreeAsync(used, stream));
    tell(&folder, "freed one");

    // The owner has freed the other one first.
    hear(&folder, "freed both");
    ok!(cuMemsetD32Async(freed, 1, 1, stream));
    conflict(
        context,
        ["a memset of 4 bytes", &format!("cuMemFreeAsync in {owner}")],
    );

    // An import that nobody frees is a leak of this process.
    assert!(configure_simulator("checks", "leaks"));
    let context = own_context();
    let memory = imported_pointer(pool, 3);
    ok!(cuCtxDestroy_v2(context));
    let report = simulator_report().expect("a report");
    let line = format!("of cuMemPoolImportPointer at {memory:#x}");
    assert!(
        report.starts_with("leak: 1 ") && report.contains(&line),
        "{report}"
    );
}

#[test]
fn what_another_process_does_too_early_or_too_late_is_named() {
    // covers: POOL-41, POOL-33, POOL-34
    if is_child() {
        return the_importer();
    }
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    assert!(configure_simulator("stderr", "off"));
    let _checks = Checks::set("all");
    let stream = stream();
    let pool = shareable_pool();
    let exported = Exported::new(pool, "warpsmith-shared-pools");
    let ready: [CUdeviceptr; 3] = [(); 3].map(|()| get!(cuMemAllocFromPoolAsync(64, pool, stream)));
    ok!(cuStreamSynchronize(stream));
    let gate = Gate::new();
    gate.block(stream);
    let early: CUdeviceptr = get!(cuMemAllocFromPoolAsync(64, pool, stream));
    std::thread::scope(|scope| {
        let memory = [early, ready[0], ready[1], ready[2]];
        let child = scope.spawn({
            let exported = &exported;
            move || {
                gpu();
                let checks = [("WARPSMITH_CHECKS", "all")];
                exported.import_in_child(&memory, &checks);
            }
        });
        hear(&exported.meeting, "freed one");
        gate.open();
        let other = crate::common::stream();
        // The importer has freed the first, and not the second.
        ok!(cuMemFreeAsync(ready[0], other));
        ok!(cuStreamSynchronize(other));
        let nothing = |report: Option<String>| {
            report.is_none_or(|text| !text.contains("free before an importer's"))
        };
        assert!(nothing(simulator_report()));
        ok!(cuMemFreeAsync(ready[1], other));
        ok!(cuStreamSynchronize(other));
        let report = simulator_report().expect("a report");
        let of_stream = format!(
            "cuMemFreeAsync of {:#x} in stream {:#x}",
            ready[1], other as usize
        );
        assert!(
            report.contains(&of_stream) && report.contains("cuMemPoolImportPointer in process "),
            "{report}"
        );
        tell(&exported.meeting, "freed both");
        child.join().expect("the importer's side holds");
    });
    // A process that has ended has nothing any more.
    ok!(cuMemFree_v2(ready[2]));
    let report = simulator_report().expect("the last report");
    assert!(!report.contains(&format!("{:#x}", ready[2])), "{report}");
}

fn a_process_that_does_not_see_the_pools_device() {
    gpu();
    let context = own_context();
    let count: c_int = get!(cuDeviceGetCount());
    let sees_all = count == 2;
    let pool = imported_pool();
    let memory = imported_pointer(pool, 0);
    // The one that is not the pool's.
    let other = if sees_all { 1 } else { 0 };
    if sees_all {
        assert_eq!(access(pool, 0), 3, "the resident device");
    }
    assert_eq!(
        access(pool, other),
        0,
        "what the owner has granted is the owner's"
    );
    let beside: CUcontext = get!(cuCtxCreate_v2(0, other));
    launch_put(stream(), memory);
    fails!(700, cuCtxSynchronize());
    let text = fault(beside).expect("a fault").to_string();
    assert!(
        text.contains("has not been granted access to the memory"),
        "{text}"
    );
    ok!(cuCtxDestroy_v2(beside));
    give_access(pool, other);
    assert_eq!(access(pool, other), 3);
    let beside: CUcontext = get!(cuCtxCreate_v2(0, other));
    launch_put(stream(), memory);
    ok!(cuCtxSynchronize());
    assert_eq!(download::<u32>(memory, 1), [7]);
    ok!(cuCtxDestroy_v2(beside));
    ok!(cuCtxSetCurrent(context));
    ok!(cuMemFree_v2(memory));
    ok!(cuMemPoolDestroy(pool));
    ok!(cuCtxDestroy_v2(context));
}

fn an_owner_of_two_devices() {
    gpu();
    let stream = stream();
    let pool = shareable_pool();
    give_access(pool, 1);
    let exported = Exported::new(pool, "warpsmith-importers");
    for visible in ["0,1", "1"] {
        let memory: CUdeviceptr = get!(cuMemAllocFromPoolAsync(64, pool, stream));
        ok!(cuMemsetD32Async(memory, 0, 16, stream));
        ok!(cuStreamSynchronize(stream));
        let variables = [("CUDA_VISIBLE_DEVICES", visible)];
        exported.import_in_child(&[memory], &variables);
        assert_eq!(download::<u32>(memory, 1), [7]);
        ok!(cuMemFreeAsync(memory, stream));
    }
    ok!(cuStreamSynchronize(stream));
}

#[test]
fn an_importer_starts_with_the_resident_devices_access() {
    // covers: POOL-32
    if is_child() {
        return match std::env::var_os(POOL) {
            Some(_) => a_process_that_does_not_see_the_pools_device(),
            None => an_owner_of_two_devices(),
        };
    }
    // The importer reads the descriptor as a file, which a GPU's driver would not take.
    let _turn = turn();
    if gpu() == Backend::Simulator {
        let variables = [
            ("WARPSMITH_SIMULATOR_DEVICES", "2"),
            ("WARPSMITH_REPORT", "0"),
        ];
        run_in_child(&calling_test(), &variables);
    }
}

/// An imported pool is not destroyed as long as what was imported from it is not freed, the owner's whether or not.
// covers: POOL-33
#[test]
fn an_imported_pool_stays_as_long_as_its_memory() {
    let _turn = turn();
    gpu();
    let stream = stream();
    let pool = shareable_pool();
    let memory: CUdeviceptr = get!(cuMemAllocFromPoolAsync(4096, pool, stream));
    ok!(cuStreamSynchronize(stream));
    let mut number: c_int = -1;
    ok!(cuMemPoolExportToShareableHandle(
        (&raw mut number).cast(),
        pool,
        DESCRIPTOR,
        0
    ));
    // SAFETY: the driver has made the descriptor for its caller.
    let descriptor = unsafe { OwnedFd::from_raw_fd(number) };
    let place = descriptor.as_raw_fd() as usize as *mut c_void;
    let imported: CUmemoryPool = get!(cuMemPoolImportFromShareableHandle(place, DESCRIPTOR, 0));
    let mut data: CUmemPoolPtrExportData = get!(cuMemPoolExportPointer(memory));
    let same: CUdeviceptr = get!(cuMemPoolImportPointer(imported, &mut data));
    fails!(1, cuMemPoolDestroy(imported));
    ok!(cuMemFreeAsync(same, stream));
    ok!(cuStreamSynchronize(stream));
    ok!(cuMemPoolDestroy(imported));
    ok!(cuMemPoolDestroy(pool));
    ok!(cuMemFreeAsync(memory, stream));
    ok!(cuStreamSynchronize(stream));
    ok!(cuStreamDestroy_v2(stream));
}
