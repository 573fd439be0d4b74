//! What the driver knows about addresses, and how the host waits.

use crate::common::gpu;
use warpsmith_host::prelude::*;
use warpsmith_host::{
    EventOptions, PointerAccess, PointerAttributes, PointerMemory, PoolOptions,
    SynchronizationPolicy,
};

fn known<T>(gpu: &Gpu, pointer: DevicePointer<T>) -> Result<PointerAttributes> {
    Ok(gpu
        .pointer_attributes(pointer.address())?
        .expect("the driver's own memory"))
}

#[test]
fn each_kind_of_memory_is_told() -> Result<()> {
    // covers: UM-03, POOL-40
    let gpu = gpu();
    let stream = gpu.stream()?;
    let pool = gpu.pool(PoolOptions::default())?;
    let buffer = stream.alloc_from(&pool)?.zeroed::<u32>(1000)?;
    let address = buffer.as_device_ptr().address();
    let of_pool = gpu.pointer_attributes(address + 400)?.expect("the pool's");
    assert_eq!(of_pool.memory, PointerMemory::Device);
    assert_eq!((of_pool.device, of_pool.host_address), (Some(0), None));
    assert_eq!(of_pool.device_address, Some(address + 400));
    assert_eq!(of_pool.pool, Some(pool.as_raw().addr()));
    assert_eq!(of_pool.access, Some(PointerAccess::ReadWrite));
    let range = of_pool.range.expect("a range");
    assert!(
        range.start <= address && range.end >= address + 4000,
        "{range:?}"
    );

    let plain = gpu.exportable::<u32>(100)?;
    let of_plain = known(&gpu, plain.as_device_ptr())?;
    assert_eq!(of_plain.memory, PointerMemory::Device);
    assert_eq!((of_plain.pool, of_plain.is_exportable), (None, true));
    assert!(!of_pool.is_exportable && of_plain.buffer_id != of_pool.buffer_id);

    let unified = gpu.unified::<u32>(100)?;
    let of_unified = known(&gpu, unified.as_device_ptr())?;
    assert_eq!(of_unified.memory, PointerMemory::Unified);
    assert_eq!(of_unified.host_address, of_unified.device_address);
    assert_eq!(
        of_unified.host_address,
        Some(unified.host()?.as_ptr().addr() as u64)
    );

    let mapped = gpu.mapped::<u32>(100)?;
    let of_mapped = known(&gpu, mapped.as_device_ptr())?;
    assert_eq!(of_mapped.memory, PointerMemory::Host);
    assert_eq!(
        of_mapped.host_address,
        Some(mapped.host()?.as_ptr().addr() as u64)
    );
    assert_eq!(
        of_mapped.device_address,
        Some(mapped.as_device_ptr().address())
    );

    let registered = gpu.register(vec![0_u32; 100])?;
    let at = registered.host()?.as_ptr().addr() as u64;
    let of_registered = gpu.pointer_attributes(at)?.expect("registered");
    assert_eq!(of_registered.memory, PointerMemory::Host);
    assert_eq!(of_registered.host_address, Some(at));
    Ok(())
}

#[test]
fn of_other_memory_nothing_is_known() -> Result<()> {
    let gpu = gpu();
    let local = 5_u32;
    assert_eq!(
        gpu.pointer_attributes((&raw const local).addr() as u64)?,
        None
    );
    assert_eq!(gpu.pointer_attributes(0)?, None);
    let heap = Box::new([1_u8; 100]);
    assert_eq!(gpu.pointer_attributes(heap.as_ptr().addr() as u64)?, None);
    // What was freed.
    let buffer = gpu.exportable::<u32>(100)?;
    let address = buffer.as_device_ptr().address();
    assert!(gpu.pointer_attributes(address)?.is_some());
    drop(buffer);
    gpu.synchronize()?;
    // The next allocation, of another kind of memory, has what is due to be freed done first.
    let _next = gpu.unified::<u32>(1)?;
    assert_eq!(gpu.pointer_attributes(address)?, None);
    Ok(())
}

#[test]
fn events_are_made_as_wished() -> Result<()> {
    // covers: EVENT-01
    let gpu = gpu();
    let stream = gpu.stream()?;
    for (timed, blocking) in [(true, true), (true, false), (false, true), (false, false)] {
        let options = EventOptions {
            timed,
            blocking,
            interprocess: false,
        };
        let (start, end) = (gpu.event_with(options)?, gpu.event_with(options)?);
        stream.record(&start)?;
        let words = stream.filled(1 << 20, 3_u32)?;
        stream.record(&end)?;
        end.synchronize()?;
        assert!(start.is_complete()? && end.is_complete()?);
        assert_eq!(end.elapsed_since(&start).is_ok(), timed, "{options:?}");
        drop(words);
    }
    let shared = EventOptions {
        timed: false,
        blocking: true,
        interprocess: true,
    };
    let event = gpu.event_with(shared)?;
    stream.record(&event)?;
    event.export()?;
    event.synchronize()?;
    let error = gpu
        .event_with(EventOptions {
            timed: true,
            ..shared
        })
        .map(drop)
        .unwrap_err();
    assert!(error.to_string().contains("measures no time"), "{error}");
    Ok(())
}

/// It is the context's, which the tests of a process share.
#[test]
fn a_device_is_waited_for_as_wished() {
    crate::common::in_own_process(&[], || {
        let gpu = gpu();
        let before = gpu.synchronization_policy().unwrap();
        for policy in [
            SynchronizationPolicy::Spin,
            SynchronizationPolicy::Yield,
            SynchronizationPolicy::Blocking,
            SynchronizationPolicy::Auto,
        ] {
            gpu.set_synchronization_policy(policy).unwrap();
            assert_eq!(gpu.synchronization_policy().unwrap(), policy);
            let stream = gpu.stream().unwrap();
            let words = stream.filled(1 << 16, 4_u32).unwrap();
            gpu.synchronize().unwrap();
            assert_eq!(stream.download(&words).unwrap(), [4; 1 << 16]);
        }
        assert_eq!(before, SynchronizationPolicy::Auto);
    });
}
