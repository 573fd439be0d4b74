//! The driver's contexts and memory beside those of the runtime library (cuBLAS, cuFFT and others are written on that): one context, the
//! primary one, for all of a process.

use crate::common::*;

/// What a program and a library that know nothing of each other share: a device's primary context and its memory.
#[test]
fn whoever_retains_the_primary_context_gets_the_same_one() {
    // covers: DRV-17
    let _turn = turn();
    gpu();
    let ours: CUcontext = get!(cuCtxGetCurrent());
    let memory = upload(&[7_u32; 4]);
    let on_another_thread = std::thread::spawn(move || {
        let theirs: CUcontext = get!(cuDevicePrimaryCtxRetain(0));
        ok!(cuCtxSetCurrent(theirs));
        let words: Vec<u32> = download(memory, 4);
        let added = upload(&[8_u32; 4]);
        let (mut flags, mut active) = (0, 0);
        ok!(cuDevicePrimaryCtxGetState(0, &mut flags, &mut active));
        ok!(cuDevicePrimaryCtxRelease_v2(0));
        (theirs as usize, words, added, active)
    });
    let (theirs, words, added, active) = on_another_thread.join().expect("no panic");
    assert_eq!(theirs, ours as usize);
    assert_eq!((words, active), (vec![7; 4], 1));
    // The other's release has ended nothing.
    assert_eq!(download::<u32>(added, 4), [8; 4]);
    ok!(cuMemFree_v2(added));
    ok!(cuMemFree_v2(memory));
}

/// The runtime library speaks to a driver in ways that are documented nowhere, so only to NVIDIA's own.
mod with_the_library {
    use super::*;
    use libloading::{Library, Symbol};

    const NAMES: [&str; 4] = [
        "libcudart.so",
        "libcudart.so.13",
        "libcudart.so.12",
        "/usr/local/cuda/lib64/libcudart.so",
    ];
    /// `cudaMemcpyDeviceToHost`
    const DEVICE_TO_HOST: c_int = 2;

    fn library() -> Option<Library> {
        // SAFETY: the library's initialisers are NVIDIA's, and expect nothing of the program.
        NAMES
            .iter()
            .find_map(|name| unsafe { Library::new(*name) }.ok())
    }

    /// # Safety
    ///
    /// The function of this name has this type.
    unsafe fn symbol<'a, T>(library: &'a Library, name: &str) -> Symbol<'a, T> {
        // SAFETY: by the caller's contract.
        let found = unsafe { library.get(name.as_bytes()) };
        found.unwrap_or_else(|_| panic!("the library has no {name}"))
    }

    type Allocate = unsafe extern "C" fn(*mut *mut c_void, usize) -> c_int;
    type Free = unsafe extern "C" fn(*mut c_void) -> c_int;
    type Copy = unsafe extern "C" fn(*mut c_void, *const c_void, usize, c_int) -> c_int;
    type GetInteger = unsafe extern "C" fn(*mut c_int) -> c_int;

    #[test]
    fn the_runtime_takes_the_drivers_context_and_memory() {
        // covers: DRV-17
        let _turn = turn();
        if gpu() == Backend::Simulator {
            return;
        }
        let Some(library) = library() else {
            println!("skipped: none of {NAMES:?} was found");
            return;
        };
        // SAFETY: the types are those of the runtime's manual.
        let (allocate, free, copy, device, version) = unsafe {
            (
                symbol::<Allocate>(&library, "cudaMalloc"),
                symbol::<Free>(&library, "cudaFree"),
                symbol::<Copy>(&library, "cudaMemcpy"),
                symbol::<GetInteger>(&library, "cudaGetDevice"),
                symbol::<GetInteger>(&library, "cudaDriverGetVersion"),
            )
        };
        let before: CUcontext = get!(cuCtxGetCurrent());
        let (mut number, mut theirs) = (-1, null_mut());
        // SAFETY: each call gets places that outlive it.
        unsafe {
            assert_eq!(device(&mut number), 0);
            assert_eq!(allocate(&mut theirs, 64), 0);
        }
        assert_eq!(number, 0);
        let after: CUcontext = get!(cuCtxGetCurrent());
        assert_eq!(before, after, "no context of its own");

        // Their memory by our calls, our memory by theirs.
        ok!(cuMemsetD32_v2(theirs as CUdeviceptr, 5, 16));
        let ours = upload(&[6_u32; 16]);
        for (memory, expected) in [(theirs, 5), (ours as *mut c_void, 6)] {
            let mut words = [0_u32; 16];
            // SAFETY: both sides have 64 bytes.
            let code = unsafe { copy(words.as_mut_ptr().cast(), memory, 64, DEVICE_TO_HOST) };
            assert_eq!((code, words), (0, [expected; 16]));
        }
        // SAFETY: nobody uses the memory any more.
        assert_eq!(unsafe { free(theirs) }, 0);
        ok!(cuMemFree_v2(ours));

        let (mut ours, mut theirs) = (0, 0);
        ok!(cuDriverGetVersion(&mut ours));
        // SAFETY: a place that outlives the call.
        assert_eq!(unsafe { version(&mut theirs) }, 0);
        assert_eq!(ours, theirs);
    }
}
