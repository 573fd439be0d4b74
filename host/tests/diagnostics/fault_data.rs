//! A fault on the simulator reaches the caller as data. Each test in a process of its own, because the context is lost.

use crate::common::{gpu, in_own_process};
use warpsmith_driver::raw;
use warpsmith_host::fault::{AccessKind, FaultKind, InlinedCall, MemorySpace, SourceLocation};
use warpsmith_host::prelude::*;

const KERNELS: &str = r#"
.version 7.8
.target sm_70
.address_size 64
.file 1 "/src/kernel.rs"
.file 2 "/src/vector.rs"
.visible .entry store(.param .u64 out, .param .u64 n)
{
    .reg .b32 %r<2>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    .loc 1 5 9
    .loc 2 40 13, function_name $names, inlined_at 1 5 9
    st.global.u32 [%rd3], %r1;
    ret;
}
.visible .entry stop()
{
    .loc 1 20 5
    trap;
}
.visible .entry race()
{
    .reg .b32 %r<3>;
    .shared .align 4 .b8 tile[4];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile;
    .loc 1 30 5
    st.shared.u32 [%r2], %r1;
    .loc 1 31 5
    bar.warp.sync -1;
    ret;
}
.section .debug_str
{
$names:
.b8 95,90,78,54,118,101,99,116,111,114,53,119,114,105,116,101,49,55,104,48,49,50,51,52,53,54,55,56,57,97,98,99,100,101,102,69
.b8 0
}
"#;

/// The error that a wait reports for a launch of this kernel; `None` on a GPU, which has no such data.
fn fault_of(name: &str, threads: u32) -> Option<Error> {
    let gpu = gpu();
    if !gpu.is_simulator() {
        return None;
    }
    assert!(warpsmith_driver::configure_simulator("stderr", "off"));
    let kernel = gpu
        .load(KERNELS)
        .unwrap()
        .untyped_kernel::<()>(name)
        .unwrap();
    let stream = gpu.stream().unwrap();
    // SAFETY: it is not; the fault is what this is about.
    unsafe { stream.launch_untyped(&kernel, Grid::new(1, threads), ()) }.unwrap();
    Some(stream.synchronize().unwrap_err())
}

fn at(location: &SourceLocation) -> (&str, u32, u32) {
    (&location.file, location.line, location.column)
}

// covers: ERROR-02
#[test]
fn an_access_out_of_bounds_says_who_where_and_what_it_missed() {
    in_own_process(&[], || {
        let gpu = gpu();
        if !gpu.is_simulator() {
            return;
        }
        assert!(warpsmith_driver::configure_simulator("stderr", "off"));
        let store = gpu
            .load(KERNELS)
            .unwrap()
            .untyped_kernel::<(Out<u32>,)>("store")
            .unwrap();
        let stream = gpu.stream().unwrap();
        let mut buffer = stream.zeroed::<u32>(100).unwrap();
        let end = buffer.as_device_ptr().address() + 400;
        // SAFETY: it is not; the fault is what this is about.
        unsafe { stream.launch_untyped(&store, Grid::new(1, 128), (&mut buffer,)) }.unwrap();
        let error = stream.synchronize().unwrap_err();
        let Error::Fault(fault) = &error else {
            panic!("{error:?}")
        };
        assert_eq!(
            (fault.call, fault.code),
            ("cuStreamSynchronize", Code::ILLEGAL_ADDRESS)
        );
        assert_eq!(fault.kind(), FaultKind::IllegalAddress);
        assert_eq!(fault.kernel(), Some("store"));
        assert_eq!(fault.block(), Some([0, 0, 0]));
        assert_eq!(fault.thread(), Some([100, 0, 0]));
        let access = fault.access().expect("an access failed");
        assert_eq!(
            (access.kind, access.space, access.address, access.size),
            (AccessKind::Write, MemorySpace::Global, end, 4)
        );
        let nearest = access.nearest.as_ref().expect("there is an allocation");
        assert_eq!((nearest.base, nearest.size), (end - 400, 400));
        assert_eq!(fault.location().map(at), Some(("/src/vector.rs", 40, 13)));
        let [frame] = fault.frames() else {
            panic!("{fault}")
        };
        assert_eq!(frame.function, "store");
        let [InlinedCall { function, call }] = &frame.inlined[..] else {
            panic!("{fault}")
        };
        assert_eq!(function.as_deref(), Some("vector::write"));
        assert_eq!(at(call), ("/src/kernel.rs", 5, 9));

        // In words: the call, the code, then the simulator's report.
        let report = error.report().expect("the report");
        assert_eq!(report, fault.data().to_string());
        assert_eq!(
            error.to_string(),
            format!(
                "cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700): {}\n{report}",
                Code::ILLEGAL_ADDRESS.description()
            )
        );
    });
}

/// Every later call answers the same fault; the whole report is in the first error alone.
#[test]
fn later_errors_refer_to_the_first_report() {
    let output = in_own_process(&[], || {
        // All that have the context open share what is told of it.
        let second = Gpu::open_default().unwrap();
        let Some(error) = fault_of("stop", 1) else {
            return;
        };
        let first = error.fault().expect("a fault");
        let report = "========= in thread";
        assert!(error.to_string().contains(first.report().trim_end()));
        let stream = second.stream().map(drop).unwrap_err();
        for later in [
            second.load(KERNELS).map(drop).unwrap_err(),
            second.pinned::<u8>(1).map(drop).unwrap_err(),
            second.unified::<u8>(1).map(drop).unwrap_err(),
            second.synchronize().unwrap_err(),
            stream,
        ] {
            let fault = later.fault().expect("the fault");
            assert!(std::sync::Arc::ptr_eq(fault.data(), first.data()));
            assert_eq!(fault.report(), first.report());
            let text = later.to_string();
            assert!(!text.contains(report), "{text}");
            assert_eq!(text.lines().count(), 2, "{text}");
            for part in [
                fault.call,
                "kernel `stop`",
                "first report",
                "cuStreamSynchronize",
            ] {
                assert!(text.contains(part), "{part}: {text}");
            }
        }
        assert!(
            error.to_string().contains(first.report().trim_end()),
            "told again, in whole"
        );
    });
    if let Some(output) = output {
        assert!(!output.contains("while dropping"), "{output}");
    }
}

/// What a test of the simulator's reports says in its own process where there is a GPU.
const ON_A_GPU: &str = "the device is a GPU";

/// Where no call returns the error, the destructors tell of the fault, once.
#[test]
fn a_fault_that_no_call_reports_is_told_once() {
    let output = in_own_process(&[], || {
        let gpu = gpu();
        if !gpu.is_simulator() {
            println!("{ON_A_GPU}");
            return;
        }
        assert!(warpsmith_driver::configure_simulator("stderr", "off"));
        let module = gpu.load(KERNELS).unwrap();
        let kernel = module.untyped_kernel::<()>("stop").unwrap();
        let stream = gpu.stream().unwrap();
        let buffers: Vec<_> = (1..9).map(|i| stream.zeroed::<u8>(i).unwrap()).collect();
        let pinned = gpu.pinned::<u8>(1).unwrap();
        // SAFETY: it is not; the fault is what this is about.
        unsafe { stream.launch_untyped(&kernel, Grid::new(1, 1), ()) }.unwrap();
        // Long enough that most destructors find the context lost.
        while warpsmith_driver::simulator_report().is_none() {
            std::thread::yield_now();
        }
        drop((buffers, pinned, kernel, module, stream, gpu));
    });
    if let Some(output) = output
        && !output.contains(ON_A_GPU)
    {
        assert_eq!(output.matches("while dropping").count(), 1, "{output}");
        assert_eq!(output.matches("in kernel stop").count(), 1, "{output}");
    }
}

#[test]
fn a_race_has_two_sides() {
    in_own_process(&[], || {
        let Some(error) = fault_of("race", 64) else {
            return;
        };
        let fault = error.fault().unwrap_or_else(|| panic!("{error}"));
        assert_eq!(fault.kind(), FaultKind::Race);
        let other = fault.other_side().expect("the other side");
        assert_eq!((fault.block(), other.block), (Some([0; 3]), [0; 3]));
        assert_ne!(fault.thread(), Some(other.thread));
        let location = other.frames[0].location.as_ref().expect("a location");
        assert_eq!(at(location), ("/src/kernel.rs", 30, 5));
    });
}

/// Contexts that fail one after the other keep their reports apart.
#[test]
fn a_fault_of_another_context_is_not_reported() {
    in_own_process(&[], || {
        // Keeps the context that is lost, so that it is not made anew.
        let gpu = Gpu::open_default().unwrap();
        let Some(error) = fault_of("stop", 1) else {
            return;
        };
        let stopped = error.fault().expect("a fault");
        assert_eq!(
            (stopped.kind(), stopped.kernel()),
            (FaultKind::Trap, Some("stop"))
        );

        let foreign = || {
            let ptx = std::ffi::CString::new(KERNELS).unwrap();
            let mut context = std::ptr::null_mut();
            let (mut module, mut function) = (std::ptr::null_mut(), std::ptr::null_mut());
            // SAFETY: all results and texts outlive the calls, which are made in the order that the driver wants.
            unsafe {
                assert_eq!(raw::cuCtxCreate_v2(&mut context, 0, 0).0, 0);
                assert_eq!(raw::cuModuleLoadData(&mut module, ptx.as_ptr().cast()).0, 0);
                assert_eq!(
                    raw::cuModuleGetFunction(&mut function, module, c"race".as_ptr()).0,
                    0
                );
                let none = std::ptr::null_mut();
                let launched = raw::cuLaunchKernel(
                    function,
                    1,
                    1,
                    1,
                    64,
                    1,
                    1,
                    0,
                    none,
                    none.cast(),
                    none.cast(),
                );
                assert_eq!(launched.0, 0);
                assert_ne!(raw::cuCtxSynchronize().0, 0);
            }
            context
        };
        let context = std::thread::spawn(move || foreign() as usize)
            .join()
            .unwrap();
        let raced = warpsmith_driver::fault(context as raw::CUcontext).expect("its fault");
        assert_eq!(raced.kind, FaultKind::Race);

        let again = gpu.synchronize().unwrap_err();
        assert_eq!(
            again.fault().map(|fault| fault.data()),
            Some(stopped.data())
        );
    });
}
