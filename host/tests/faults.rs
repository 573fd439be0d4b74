//! Panics of kernels, which the context survives, and faults, which it does not. Each in a process of its own.

mod common;

use common::{add, gpu, in_own_process, launch_add, module};
use warpsmith_host::prelude::*;

#[test]
fn a_panic_is_an_error_and_the_context_lives_on() {
    in_own_process(&[], || {
        let gpu = gpu();
        let module = module(&gpu);
        let add = add(&module);
        let panicking = module.untyped_kernel::<()>("panicking").unwrap();
        let stream = gpu.stream().unwrap();
        let mut buffer = stream.filled(100, 1_u32).unwrap();
        for round in 0..2 {
            launch_add(&stream, &add, &mut buffer, 1);
            // SAFETY: the entry writes to the record that it was given.
            unsafe { stream.launch_untyped(&panicking, Grid::new(2, 32), ()) }.unwrap();
            let error = stream.synchronize().unwrap_err();
            let panic = error.panic().unwrap_or_else(|| panic!("{error}"));
            assert_eq!(panic.kernel, "panicking");
            assert_eq!(
                (
                    panic.message.as_str(),
                    panic.file.as_str(),
                    panic.line,
                    panic.column
                ),
                ("oops", "k.rs", 17, 5)
            );
            assert_eq!((panic.block, panic.thread), ([1, 0, 0], [3, 0, 0]));
            assert_eq!((panic.grid_dim, panic.block_dim), ([2, 1, 1], [32, 1, 1]));
            assert!(
                error
                    .to_string()
                    .starts_with("kernel `panicking` panicked at k.rs:17:5: oops"),
                "{error}"
            );
            // Told once; then all is well.
            stream.synchronize().unwrap();
            launch_add(&stream, &add, &mut buffer, 1);
            assert_eq!(stream.download(&buffer).unwrap(), [3 + 2 * round; 100]);
        }
    });
}

#[test]
fn a_download_reports_a_panic_too() {
    in_own_process(&[], || {
        let gpu = gpu();
        let module = module(&gpu);
        let panicking = module.untyped_kernel::<()>("panicking").unwrap();
        let stream = gpu.stream().unwrap();
        let buffer = stream.filled(100, 1_u32).unwrap();
        // A graph's kernels are known as well.
        let mut graph = gpu.graph().unwrap();
        // SAFETY: the entry writes to the record that it was given.
        unsafe { graph.kernel_untyped(&panicking, Grid::new(2, 64), ()) }.unwrap();
        graph.instantiate().unwrap().launch(&stream).unwrap();
        let error = stream.download(&buffer).unwrap_err();
        assert_eq!(
            error.panic().map(|panic| panic.kernel.as_str()),
            Some("panicking"),
            "{error}"
        );
        assert_eq!(stream.download(&buffer).unwrap(), [1; 100]);
    });
}

// covers: ERROR-02, ERROR-X01
#[test]
fn a_fault_shows_at_the_wait_and_stays() {
    let output = in_own_process(&[], || {
        let gpu = gpu();
        let module = module(&gpu);
        let stray = module.untyped_kernel::<()>("stray").unwrap();
        let stream = gpu.stream().unwrap();
        let buffer = stream.filled(100, 1_u32).unwrap();
        stream.synchronize().unwrap();
        // SAFETY: it is not; the fault is what this is about.
        unsafe { stream.launch_untyped(&stray, Grid::new(1, 1), ()) }.unwrap();
        let error = stream.synchronize().unwrap_err();
        assert_eq!(error.code(), Some(Code::ILLEGAL_ADDRESS), "{error}");
        assert!(error.to_string().contains("cuStreamSynchronize"));
        if gpu.is_simulator() {
            let report = error.report().expect("the simulator's report");
            assert!(report.contains("stray"), "{report}");
        } else {
            assert!(error.hint().unwrap().contains("WARPSMITH_DEVICE=simulator"));
        }
        assert_eq!(
            stream.download(&buffer).unwrap_err().code(),
            Some(Code::ILLEGAL_ADDRESS)
        );
        assert!(stream.zeroed::<u8>(1).is_err());
        assert!(gpu.stream().is_err());
        // Everything that is dropped now cannot be freed; nobody wants to read that line for each.
        drop((buffer, stray, module, stream, gpu));
    });
    if let Some(output) = output {
        assert!(!output.contains("while dropping"), "{output}");
    }
}

// covers: ERROR-03
#[test]
fn launches_can_be_made_to_wait() {
    common::in_own_process(&[("WARPSMITH_LAUNCH_BLOCKING", "1")], || {
        let gpu = gpu();
        let module = module(&gpu);
        let stray = module.untyped_kernel::<()>("stray").unwrap();
        let stream = gpu.stream().unwrap();
        // SAFETY: it is not; the fault is what this is about.
        let error = unsafe { stream.launch_untyped(&stray, Grid::new(1, 1), ()) }.unwrap_err();
        assert!(
            error.to_string().contains("after launching `stray`"),
            "{error}"
        );
    });
}
