//! Faults, which the context does not survive. Each in a process of its own.

use crate::common::{Gate, gpu, in_own_process, module};
use warpsmith_host::prelude::*;

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
    crate::common::in_own_process(&[("WARPSMITH_LAUNCH_BLOCKING", "1")], || {
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

/// There is no last error: a call that is refused says so once, in its result, and later calls of this thread and of others are none the
/// worse. Work that is not complete is no error.
#[test]
fn a_refused_call_is_remembered_nowhere() -> Result<()> {
    // covers: ERROR-04
    let gpu = gpu();
    let module = module(&gpu);
    let stream = gpu.stream()?;
    let mut gate = Gate::new(&gpu, &module);
    for _ in 0..2 {
        let refused = module.untyped_kernel::<()>("no_such_entry");
        assert!(refused.is_err());
        assert_eq!(stream.download(&stream.upload(&[7_u32])?)?, [7]);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| stream.upload(&[8_u32]).and_then(|x| stream.download(&x)));
            assert_eq!(other.join().expect("no panic")?, [8]);
            Ok::<(), Error>(())
        })?;
    }
    gate.close(&stream);
    assert!(!stream.is_idle()?);
    gate.open();
    stream.synchronize()
}
