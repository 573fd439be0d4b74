//! `cust` on the chosen device: the symbols it links against are ours.

use cust::context::{CacheConfig, Context, CurrentContext, ResourceLimit};
use cust::event::{Event, EventFlags};
use cust::function::FunctionAttribute;
use cust::launch;
use cust::memory::{
    AsyncCopyDestination, CopyDestination, DeviceBox, DeviceBuffer, LockedBuffer, UnifiedBuffer,
};
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use warpsmith_testkit::ptx;

warpsmith_driver::provide_simulator! {
    // SAFETY: the simulator compiles each of its functions against the signature of its name.
    unsafe { warpsmith_driver::SimulatorBackend::new(warpsmith_simulator::entry_point) }
}

const PTX: &str = ptx!(
    "7.0",
    "sm_70",
    "
.visible .const .align 4 .u32 factor = 3;
.visible .entry scale(.param .u64 words, .param .u32 n)
{
    .reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [words];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra DONE;
    mul.wide.u32 %rd2, %r5, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r6, [%rd3];
    ld.const.u32 %r7, [factor];
    mul.lo.u32 %r8, %r6, %r7;
    st.global.u32 [%rd3], %r8;
DONE:
    ret;
}
"
);

fn context() -> Context {
    if std::env::var_os("WARPSMITH_DEVICE").is_none() {
        warpsmith_driver::select(warpsmith_driver::Choice::Simulator).expect("a driver");
    }
    cust::quick_init().expect("a context")
}

#[test]
fn kernels_copies_events_and_streams() -> Result<(), Box<dyn std::error::Error>> {
    let _context = context();
    let module = Module::from_ptx(PTX, &[])?;
    let scale = module.get_function("scale")?;
    assert!(scale.get_attribute(FunctionAttribute::MaxThreadsPerBlock)? >= 128);
    let (_, block) = scale.suggested_launch_configuration(0, 0.into())?;
    assert!(block >= 32);
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let other = Stream::new(StreamFlags::DEFAULT, Some(-1))?;
    let (start, end) = (
        Event::new(EventFlags::DEFAULT)?,
        Event::new(EventFlags::DEFAULT)?,
    );

    let values = LockedBuffer::new(&5u32, 1000)?;
    let mut back = LockedBuffer::new(&0u32, 1000)?;
    // SAFETY: everything lives until the streams have been waited for.
    unsafe {
        let mut memory = DeviceBuffer::<u32>::uninitialized(1000)?;
        start.record(&stream)?;
        memory.async_copy_from(&values, &stream)?;
        launch!(scale<<<8, 128, 0, stream>>>(memory.as_device_ptr(), 1000u32))?;
        end.record(&stream)?;
        other.wait_event(end, cust::stream::StreamWaitEventFlags::DEFAULT)?;
        memory.async_copy_to(&mut back, &other)?;
        other.synchronize()?;
    }
    assert!(back.iter().all(|&value| value == 15));
    stream.synchronize()?;
    start.synchronize()?;
    Ok(())
}

#[test]
fn globals_unified_memory_and_limits() -> Result<(), Box<dyn std::error::Error>> {
    let _context = context();
    let module = Module::from_ptx(PTX, &[])?;
    let scale = module.get_function("scale")?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let mut factor = module.get_global::<u32>(c"factor")?;
    let mut value = 0;
    factor.copy_to(&mut value)?;
    assert_eq!(value, 3);
    factor.copy_from(&7)?;
    let mut unified = UnifiedBuffer::new(&2u32, 64)?;
    // SAFETY: the buffer lives until the stream has been waited for.
    unsafe {
        launch!(scale<<<1, 64, 0, stream>>>(unified.as_unified_ptr(), 64u32))?;
    }
    stream.synchronize()?;
    assert!(unified.iter().all(|&value| value == 14));
    unified[0] = 1;
    let zeroed = DeviceBuffer::<u32>::zeroed(16)?;
    assert_eq!(zeroed.as_host_vec()?, [0; 16]);
    let boxed = DeviceBox::new(&9u32)?;
    let mut unboxed = 0;
    boxed.copy_to(&mut unboxed)?;
    assert_eq!(unboxed, 9);
    CurrentContext::set_cache_config(CacheConfig::PreferShared)?;
    assert!(CurrentContext::get_resource_limit(ResourceLimit::StackSize)? >= 1024);
    assert!(module.get_function("unknown").is_err());
    assert!(Module::from_ptx("nonsense", &[]).is_err());
    Ok(())
}
