//! simulator The driver lacks functions that a newer one has.
//!
//! A function is looked up when the driver is chosen; one that it lacks is an error of the calls that need it, not of the program's start.

use core::ffi::{CStr, c_void};
use core::ptr::null_mut;

use warpsmith_driver::Choice;
use warpsmith_driver::raw::*;

warpsmith_driver::provide_simulator! {
    // SAFETY: the simulator compiles each of its functions against the signature of its name.
    unsafe { warpsmith_driver::SimulatorBackend::new(without_conditions) }
}

/// The simulator as a driver of before 12.3, which has no conditional nodes.
fn without_conditions(name: &str) -> Option<*const c_void> {
    match name {
        "cuGraphConditionalHandleCreate" => None,
        _ => warpsmith_simulator::entry_point(name),
    }
}

// covers: DRV-20
#[test]
fn a_function_that_is_missing_fails_its_own_call() {
    warpsmith_driver::select(Choice::Simulator).expect("the program starts");
    // SAFETY: all pointers are to variables that outlive the calls, and the handles are those that the driver gave.
    unsafe {
        assert_eq!(cuInit(0).0, 0);
        let (mut context, mut graph, mut condition) = (null_mut(), null_mut(), 0);
        assert_eq!(cuDevicePrimaryCtxRetain(&mut context, 0).0, 0);
        assert_eq!(cuCtxSetCurrent(context).0, 0);
        assert_eq!(cuGraphCreate(&mut graph, 0).0, 0);
        let missing = cuGraphConditionalHandleCreate(&mut condition, graph, null_mut(), 0, 0);
        assert_eq!(missing, CUresult::CUDA_ERROR_NOT_SUPPORTED);
        assert_eq!(condition, 0, "nothing was written");
        // What is there works on.
        let mut stream = null_mut();
        assert_eq!(cuStreamCreate(&mut stream, 1).0, 0);
        assert_eq!(cuStreamSynchronize(stream).0, 0);
        assert_eq!(cuGraphDestroy(graph).0, 0);
        let mut text = core::ptr::null();
        assert_eq!(cuGetErrorName(missing, &mut text).0, 0);
        assert_eq!(CStr::from_ptr(text), c"CUDA_ERROR_NOT_SUPPORTED");
    }
}
