//! Faults, which the context does not survive. Each in a process of its own.

use crate::common::{Gate, gpu, in_own_process, module};
use warpsmith_driver::raw;
use warpsmith_host::fault::FaultKind;
use warpsmith_host::prelude::*;
use warpsmith_testkit::ptx;

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
    assert!(gate.holds(&stream));
    gate.open();
    stream.synchronize()
}

/// Kernels that do what no thread may.
const FAULTY: &str = ptx!(
    "7.8",
    "sm_70",
    r#"
.extern .func __assertfail(.param .b64 message, .param .b64 file, .param .b32 line, .param .b64 function, .param .b64 size);
.visible .global .align 1 .b8 text[2] = {120, 0};
.visible .entry outside(.param .u64 p, .param .u64 n)
{
    .reg .b64 %p;
    ld.param.u64 %p, [p];
    st.global.u32 [%p+0x100000000000], 1;
    ret;
}
.visible .entry misaligned(.param .u64 p, .param .u64 n)
{
    .reg .b64 %p;
    ld.param.u64 %p, [p];
    st.global.u32 [%p+2], 1;
    ret;
}
.visible .entry trapped(.param .u64 p, .param .u64 n)
{
    trap;
    ret;
}
.visible .entry asserted(.param .u64 p, .param .u64 n)
{
    .reg .b64 %t;
    mov.u64 %t, text;
    cvta.global.u64 %t, %t;
    {
        .param .b64 message; .param .b64 file; .param .b32 line; .param .b64 function; .param .b64 size;
        st.param.b64 [message], %t;
        st.param.b64 [file], %t;
        st.param.b32 [line], 7;
        st.param.b64 [function], %t;
        st.param.b64 [size], 1;
        call.uni __assertfail, (message, file, line, function, size);
    }
    ret;
}
.func (.param .b32 sum) endless(.param .b32 depth)
{
    .local .align 4 .b8 kept[64];
    .reg .b32 %r<5>;
    ld.param.b32 %r1, [depth];
    st.local.u32 [kept], %r1;
    add.u32 %r2, %r1, 1;
    {
        .param .b32 a; .param .b32 b;
        st.param.b32 [a], %r2;
        call.uni (b), endless, (a);
        ld.param.b32 %r3, [b];
    }
    ld.local.u32 %r4, [kept];
    add.u32 %r3, %r3, %r4;
    st.param.b32 [sum], %r3;
    ret;
}
.visible .entry recursive(.param .u64 p, .param .u64 n)
{
    .reg .b32 %r<2>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    {
        .param .b32 a; .param .b32 b;
        st.param.b32 [a], 0;
        call.uni (b), endless, (a);
        ld.param.b32 %r1, [b];
    }
    st.global.u32 [%rd1], %r1;
    ret;
}
"#
);

/// Launches one of them, and what the wait for it answers.
fn failing(gpu: &Gpu, name: &str) -> Error {
    let stream = gpu.stream().unwrap();
    let module = gpu.load(FAULTY).unwrap();
    let kernel = module.untyped_kernel::<(Out<u32>,)>(name).unwrap();
    let mut buffer = stream.zeroed::<u32>(4).unwrap();
    stream.synchronize().unwrap();
    // SAFETY: it is not; the fault is what this is about.
    unsafe { stream.launch_untyped(&kernel, Grid::new(1, 1), (&mut buffer,)) }.unwrap();
    // A driver whose device other processes use may tell of a fault a moment after the work is done.
    let waits = if gpu.is_simulator() { 1 } else { 100 };
    let error = (0..waits).find_map(|_| {
        let error = stream.synchronize().err();
        if error.is_none() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        error
    });
    let error = error.expect("the fault is told");
    let code = error.code().expect("the driver's");
    assert!(code.is_fatal(), "{error}");

    // Every later call answers the same, whatever it would do.
    let mut pinned = [0; 4];
    for later in [
        stream.synchronize(),
        stream.download_into(&buffer, &mut pinned),
        stream.fill(&mut buffer, 1),
        stream.zeroed::<u8>(1).map(drop),
        gpu.stream().map(drop),
        gpu.pinned::<u8>(1).map(drop),
        gpu.load(crate::common::PTX).map(drop),
        gpu.synchronize(),
        // SAFETY: it is refused.
        unsafe { stream.launch_untyped(&kernel, Grid::new(1, 1), (&mut buffer,)) },
    ] {
        assert_eq!(later.unwrap_err().code(), Some(code));
    }
    error
}

/// The device after a fault of which everything was dropped, if it can be opened again: on the simulator. A real driver refuses until the
/// process ends, and then there is no device left to give back.
fn reset(gpu: Gpu) -> Option<Gpu> {
    let is_simulator = gpu.is_simulator();
    match gpu.reset() {
        Ok(gpu) => Some(gpu),
        Err(refused) => {
            assert!(!is_simulator, "{refused}");
            assert!(refused.value.is_none());
            assert!(refused.error.code().expect("the driver's").is_fatal());
            None
        }
    }
}

fn works(gpu: &Gpu) {
    let stream = gpu.stream().unwrap();
    let buffer = stream.upload(&[5]).unwrap();
    assert_eq!(stream.download(&buffer).unwrap(), [5]);
}

/// A test for each way to lose the context: the kernel, and the codes of which a driver answers one.
macro_rules! faults {
    ($($(#[$attribute:meta])* $test:ident: $kernel:literal, $kind:ident, [$($code:ident),+];)*) => {
        $(
            $(#[$attribute])*
            #[test]
            fn $test() {
                let output = in_own_process(&[], || {
                    let gpu = Gpu::open_default().unwrap();
                    let error = failing(&gpu, $kernel);
                    let code = error.code().unwrap();
                    assert!([$(Code::$code),+].contains(&code), "{error}");
                    match error.fault() {
                        Some(fault) => {
                            assert_eq!(code, [$(Code::$code),+][0], "{error}");
                            assert_eq!(fault.kind(), FaultKind::$kind);
                        }
                        None => {
                            let hint = error.hint().expect("a way out");
                            assert!(hint.contains("start the process anew"), "{hint}");
                        }
                    }
                    if let Some(gpu) = reset(gpu) {
                        works(&gpu);
                    }
                });
                if let Some(output) = output {
                    assert!(!output.contains("while dropping"), "{output}");
                }
            }
        )*
    };
}

// covers: ERROR-02, ERROR-07, DEBUG-04, DEBUG-06, MEM-15
faults! {
    an_address_of_nobody_costs_the_context: "outside", IllegalAddress, [ILLEGAL_ADDRESS];
    a_misaligned_address_costs_the_context: "misaligned", MisalignedAddress, [MISALIGNED_ADDRESS];
    a_trap_costs_the_context: "trapped", Trap, [LAUNCH_FAILED, ILLEGAL_INSTRUCTION];
    an_assertion_costs_the_context: "asserted", Assert, [ASSERT];
    a_stack_overflow_costs_the_context: "recursive", StackOverflow,
        [HARDWARE_STACK_ERROR, LAUNCH_FAILED, ILLEGAL_ADDRESS, MISALIGNED_ADDRESS, INVALID_PC, INVALID_ADDRESS_SPACE];
}

/// Work that is cut off after a time: on the simulator a loop of a graph, after so many passes.
#[test]
fn a_timeout_costs_the_context() {
    in_own_process(&[], || {
        let gpu = Gpu::open_default().unwrap();
        if !gpu.is_simulator() {
            return;
        }
        assert!(warpsmith_driver::configure_simulator("iterations", "10"));
        let stream = gpu.stream().unwrap();
        let mut words = stream.zeroed::<u32>(4).unwrap();
        let mut graph = gpu.graph().unwrap();
        let many = graph.condition(1).unwrap();
        let mut left = stream.upload(&[u32::MAX]).unwrap();
        let kernel = module(&gpu).untyped_kernel::<(Out<u32>, Value<u64>)>("count_down");
        graph
            .while_loop(many, |body| {
                // SAFETY: the entry writes one word and sets the condition.
                unsafe {
                    body.kernel_untyped(&kernel?, Grid::new(1, 1), (&mut left, many))
                        .map(drop)
                }
            })
            .unwrap();
        let mut ready = graph.instantiate().unwrap();
        ready.launch(&stream).unwrap();
        let error = stream.synchronize().unwrap_err();
        assert_eq!(error.code(), Some(Code::LAUNCH_TIMEOUT), "{error}");
        let later = stream.fill(&mut words, 1).unwrap_err();
        assert_eq!(later.code(), Some(Code::LAUNCH_TIMEOUT), "{later}");
        drop((ready, graph, words, left, stream));
        works(&reset(gpu).expect("the simulator begins anew"));
    });
}

/// A reset that keeps somebody's objects is refused, and the context stays lost.
#[test]
fn a_fault_is_not_over_while_something_is_alive() {
    in_own_process(&[], || {
        let gpu = Gpu::open_default().unwrap();
        let kept = gpu.stream().unwrap();
        let code = failing(&gpu, "trapped").code();
        let refused = gpu.reset().expect_err("the stream is alive");
        assert!(matches!(refused.error, Error::Busy(_)), "{refused}");
        let gpu = refused.value.expect("nothing has changed");
        assert_eq!(gpu.stream().map(drop).unwrap_err().code(), code);
        drop(kept);
        // To drop it and to open it anew is the same.
        match gpu.is_simulator() {
            true => {
                drop(gpu);
                works(&Gpu::open_default().unwrap());
            }
            false => assert!(reset(gpu).is_none()),
        }
    });
}

/// Another library of the process resets the device: what was made before is of no use, and the device itself is. On the simulator alone:
/// what a real driver does with a stream that it has destroyed is not defined.
#[test]
fn a_reset_by_another_library_is_named() {
    in_own_process(&[], || {
        let gpu = Gpu::open_default().unwrap();
        if !gpu.is_simulator() {
            return;
        }
        let stream = gpu.stream().unwrap();
        // SAFETY: the call takes a number, and nothing is running.
        let code = unsafe { raw::cuDevicePrimaryCtxReset_v2(0) };
        assert_eq!(code.0, 0);
        let error = stream.synchronize().unwrap_err();
        let hint = error.hint().expect("a way out");
        assert!(
            hint.contains("cudaDeviceReset") && hint.contains("open it again"),
            "{error}"
        );
        drop((stream, gpu));
        works(&Gpu::open_default().unwrap());
    });
}

/// What is refused costs nothing: no memory, a shape that no launch has, a name that no module has, text that is no PTX.
#[test]
fn refusals_leave_the_context() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let stream = gpu.stream()?;
    let bounded = module.untyped_kernel::<()>("bounded")?;
    // SAFETY: the entry does nothing.
    let too_large = unsafe { stream.launch_untyped(&bounded, Grid::new(1, 129), ()) };
    for (refused, code) in [
        (stream.zeroed::<u8>(1 << 46).map(drop), Code::OUT_OF_MEMORY),
        (too_large, Code::INVALID_VALUE),
        (
            module.untyped_kernel::<()>("no_such_entry").map(drop),
            Code::NOT_FOUND,
        ),
        (gpu.load("not PTX").map(drop), Code::INVALID_IMAGE),
    ] {
        let error = refused.unwrap_err();
        assert!(
            error.code() == Some(code) || matches!(error, Error::Ptx(_)),
            "{error}"
        );
        assert!(!error.code().unwrap().is_fatal());
        works(&gpu);
    }
    Ok(())
}
