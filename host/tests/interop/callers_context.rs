//! A library of this crate's, called by a program that works in a context of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

use crate::common::gpu;
use warpsmith_driver::raw;
use warpsmith_host::prelude::*;

macro_rules! ok {
    ($call:expr) => {{
        // SAFETY: of each call: handles are alive, and results are local variables.
        let code = unsafe { $call };
        assert_eq!(code.0, 0, stringify!($call));
    }};
}

fn current() -> raw::CUcontext {
    let mut current = null_mut();
    ok!(raw::cuCtxGetCurrent(&mut current));
    current
}

/// Each way out of the library finds `before` current afterwards.
fn on_every_path(gpu: &Gpu, before: raw::CUcontext, other: raw::CUcontext) {
    let ours = gpu.as_raw_context();
    let doubled = gpu.while_current(|| {
        assert_eq!(current().cast(), ours);
        let stream = gpu.stream()?;
        let words = stream.upload(&[1, 2])?;
        // Nested, as by a library that uses another one.
        let second = gpu.while_current(|| stream.download(&words))?;
        Ok(second.iter().map(|word| word * 2).collect::<Vec<u32>>())
    });
    assert_eq!(doubled.unwrap(), [2, 4]);
    assert_eq!(current(), before, "after a success");
    let refused = gpu.while_current(|| gpu.load("no module").map(drop));
    assert!(refused.is_err());
    assert_eq!(current(), before, "after an error");
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        gpu.while_current(|| -> Result<()> { panic!("on the way") })
    }));
    assert!(panicked.is_err());
    assert_eq!(current(), before, "after a panic");
    // Whatever the work has made current instead.
    let replaced = gpu.while_current(|| {
        ok!(raw::cuCtxSetCurrent(other));
        Ok(())
    });
    replaced.unwrap();
    assert_eq!(current(), before, "after another context");
}

// covers: DRV-08
#[test]
fn the_callers_context_is_current_again() {
    let gpu = gpu();
    let gpu: &Gpu = &gpu;
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let (mut theirs, mut other) = (null_mut(), null_mut());
            for context in [&mut theirs, &mut other] {
                ok!(raw::cuCtxCreate_v2(context, 0, 0));
                ok!(raw::cuCtxPopCurrent_v2(&mut null_mut()));
            }
            on_every_path(gpu, null_mut(), other);
            ok!(raw::cuCtxPushCurrent_v2(theirs));
            on_every_path(gpu, theirs, other);
            // Nothing is left on the stack.
            ok!(raw::cuCtxPopCurrent_v2(&mut null_mut()));
            assert_eq!(current(), null_mut());
            for context in [theirs, other] {
                ok!(raw::cuCtxDestroy_v2(context));
            }
        });
    });
}

#[test]
fn a_function_of_a_stream_makes_none_current() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let (sender, receiver) = std::sync::mpsc::channel();
    let inside = Gpu::clone(&gpu);
    stream.host_fn(move || {
        let refused = inside.while_current(|| Ok(()));
        sender.send(refused.unwrap_err().code()).unwrap();
    })?;
    stream.synchronize()?;
    assert_eq!(receiver.recv().unwrap(), Some(Code::NOT_PERMITTED));
    Ok(())
}
