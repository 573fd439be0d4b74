//! Launch options, attributes of streams, limits of the context.

use crate::common::{Gate, add, gpu, module};
use warpsmith_host::prelude::*;
use warpsmith_host::{
    AccessPolicyWindow, AccessProperty, ClusterScheduling, ContextLimit, LaunchOptions,
    MemSyncDomain, MemSyncDomainMap, MissProperty, SynchronizationPolicy, Trigger,
};

/// What, value and limit of a [`Error::Limit`].
fn limit<T: std::fmt::Debug>(result: Result<T>) -> (&'static str, u64, u64) {
    match result {
        Err(Error::Limit(error)) => {
            assert_eq!(error.code, Code::INVALID_VALUE);
            assert!(!error.hint.is_empty());
            (error.what, error.value, error.limit)
        }
        other => panic!("another answer: {other:?}"),
    }
}

// covers: MODEL-25, L2-05, DOMAIN-02, DOMAIN-04, EX1-16, SHMEM-04
#[test]
fn a_launch_has_many_options_at_once() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let stream = gpu.stream()?;
    let mut buffer = stream.zeroed::<u32>(1024)?;
    let begun = gpu.event_untimed()?;
    let options = LaunchOptions::new()
        .access_policy(
            AccessPolicyWindow::over(&buffer)
                .hit_ratio(0.5)
                .on_miss(MissProperty::Streaming),
        )
        .priority(gpu.stream_priorities()?.greatest)
        .mem_sync_domain(MemSyncDomain::Remote)
        .mem_sync_domain_map(MemSyncDomainMap {
            default: 0,
            remote: 0,
        })
        .cluster_scheduling(ClusterScheduling::LoadBalancing)
        .shared_memory_carveout(25)
        .completion_event(&begun);
    let grid = Grid::cover(1024, 128).cluster(2);
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    unsafe { stream.launch_untyped_with(&add, grid, &options, (&mut buffer, 3))? };
    begun.synchronize()?;
    assert_eq!(stream.download(&buffer)?, [3; 1024]);
    Ok(())
}

// covers: L2-04, L2-06, L2-07, L2-08, EX1-13
#[test]
fn a_window_stays_with_its_stream_until_it_is_taken_off() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let (stream, other) = (gpu.stream()?, gpu.stream()?);
    let most = gpu.attribute(Attribute::MAX_PERSISTING_L2_CACHE_SIZE)? as usize;
    let before = gpu.limit(ContextLimit::PersistingL2)?;
    let set_aside = gpu.set_limit(ContextLimit::PersistingL2, most / 2)?;
    assert!(set_aside > 0 && set_aside <= most);
    let mut table = stream.zeroed::<u32>(1 << 14)?;
    assert_eq!(stream.access_policy()?, None);
    let window =
        AccessPolicyWindow::over(&table.slice(0..1 << 12)).on_miss(MissProperty::Streaming);
    assert_eq!(window.bytes(), 4 << 12);
    stream.set_access_policy(Some(&window))?;
    other.copy_attributes(&stream)?;
    for stream in [&stream, &other] {
        assert_eq!(stream.access_policy()?, Some(window));
    }
    for value in 0..10 {
        crate::common::launch_add(&stream, &add, &mut table, value);
    }
    for hit in [AccessProperty::Normal, AccessProperty::Streaming] {
        let window = window.on_hit(hit).on_miss(MissProperty::Normal);
        stream.set_access_policy(Some(&window))?;
        assert_eq!(stream.access_policy()?, Some(window));
    }
    stream.set_access_policy(None)?;
    assert_eq!(stream.access_policy()?, None);
    assert_eq!(other.access_policy()?, Some(window));
    gpu.reset_persisting_l2()?;
    assert_eq!(stream.download(&table)?, vec![45; 1 << 14]);
    // A window outlives its memory: it is about addresses, and about speed.
    drop(table);
    let mut next = other.zeroed::<u32>(64)?;
    crate::common::launch_add(&other, &add, &mut next, 1);
    assert_eq!(other.download(&next)?, [1; 64]);
    gpu.set_limit(ContextLimit::PersistingL2, before)?;
    Ok(())
}

// covers: L2-02, L2-06, DOMAIN-04
#[test]
fn what_the_device_has_not_is_refused_with_the_limit() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let stream = gpu.stream()?;
    let mut buffer = stream.zeroed::<u32>(64)?;
    let domains = gpu.attribute(Attribute::MEM_SYNC_DOMAIN_COUNT)? as u64;
    let map = MemSyncDomainMap {
        default: 0,
        remote: domains as u8,
    };
    let expected = ("the number of a physical domain", domains, domains - 1);
    assert_eq!(limit(stream.set_mem_sync_domain_map(map)), expected);
    let most = gpu.attribute(Attribute::MAX_PERSISTING_L2_CACHE_SIZE)? as u64;
    assert_eq!(
        limit(gpu.set_limit(ContextLimit::PersistingL2, most as usize + 1)),
        ("the part that is set aside in bytes", most + 1, most)
    );
    let widest = gpu.attribute(Attribute::MAX_ACCESS_POLICY_WINDOW_SIZE)? as u64;
    let large = stream.zeroed::<u8>(widest as usize + 1)?;
    let window = AccessPolicyWindow::over(&large);
    let expected = ("the length in bytes", widest + 1, widest);
    assert_eq!(limit(stream.set_access_policy(Some(&window))), expected);
    for ratio in [-0.1, 1.5, f32::NAN] {
        let window = AccessPolicyWindow::over(&buffer).hit_ratio(ratio);
        let error = stream.set_access_policy(Some(&window)).unwrap_err();
        assert_eq!(error.code(), Some(Code::INVALID_VALUE));
        assert!(error.to_string().contains("hit ratio"), "{error}");
    }
    let timed = gpu.event()?;
    let mut try_with = |options: &LaunchOptions<'_>| {
        // SAFETY: the entry takes a slice and a number, and writes only the slice.
        unsafe { stream.launch_untyped_with(&add, Grid::new(1, 64), options, (&mut buffer, 1)) }
    };
    let options = LaunchOptions::new();
    let expected = ("the share of shared memory in percent", 101, 100);
    assert_eq!(
        limit(try_with(&options.shared_memory_carveout(101))),
        expected
    );
    let expected = ("the number of a physical domain", domains, domains - 1);
    assert_eq!(limit(try_with(&options.mem_sync_domain_map(map))), expected);
    for options in [
        options.completion_event(&timed),
        options.programmatic_event(&timed, Trigger::BlocksSignalled),
    ] {
        let error = try_with(&options).unwrap_err();
        assert!(error.to_string().contains("event_untimed"), "{error}");
    }
    // Nothing of all that ran.
    assert_eq!(stream.download(&buffer)?, [0; 64]);
    Ok(())
}

// covers: DOMAIN-02, DOMAIN-04, DOMAIN-05, EX1-17
#[test]
fn a_stream_tells_its_attributes() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let default = MemSyncDomainMap {
        default: 0,
        remote: 1,
    };
    assert_eq!(stream.mem_sync_domain_map()?, default);
    assert_eq!(stream.mem_sync_domain()?, MemSyncDomain::Default);
    let map = MemSyncDomainMap {
        default: 2,
        remote: 2,
    };
    stream.set_mem_sync_domain_map(map)?;
    stream.set_mem_sync_domain(MemSyncDomain::Remote)?;
    assert_eq!(stream.mem_sync_domain_map()?, map);
    assert_eq!(stream.mem_sync_domain()?, MemSyncDomain::Remote);
    for policy in [
        SynchronizationPolicy::Spin,
        SynchronizationPolicy::Yield,
        SynchronizationPolicy::Blocking,
        SynchronizationPolicy::Auto,
    ] {
        stream.set_synchronization_policy(policy)?;
        stream.synchronize()?;
    }
    Ok(())
}

// covers: ERROR-06
#[test]
fn limits_are_read_back() -> Result<()> {
    let gpu = gpu();
    for (limit, value) in [
        (ContextLimit::Stack, 4096),
        (ContextLimit::PrintBuffer, 2 << 20),
        (ContextLimit::L2FetchGranularity, 128),
    ] {
        let before = gpu.limit(limit)?;
        let got = gpu.set_limit(limit, value)?;
        assert!(got >= value, "{limit:?}: {got}");
        assert_eq!(gpu.limit(limit)?, got);
        gpu.set_limit(limit, before)?;
    }
    assert!(gpu.limit(ContextLimit::Heap)? > 0);
    assert!(gpu.limit(ContextLimit::PendingLaunches)? > 0);
    Ok(())
}

// covers: PDL-05
#[test]
fn events_of_launches_order_streams() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let (one, other) = (gpu.stream()?, gpu.stream()?);
    let mut buffer = one.zeroed::<u32>(256)?;
    let event = gpu.event_untimed()?;
    for trigger in [Trigger::BlocksSignalled, Trigger::BlocksStarted] {
        let options = LaunchOptions::new().programmatic_event(&event, trigger);
        // SAFETY: the entry takes a slice and a number, and writes only the slice.
        unsafe { one.launch_untyped_with(&add, Grid::new(2, 128), &options, (&mut buffer, 1))? };
        other.wait(&event)?;
        // The same memory: it waits for the end in any case.
        crate::common::launch_add(&other, &add, &mut buffer, 10);
    }
    assert_eq!(one.download(&buffer)?, [22; 256]);
    Ok(())
}

#[test]
fn events_of_launches_are_not_captured() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let mut stream = gpu.stream()?;
    let mut buffer = stream.zeroed::<u32>(64)?;
    let event = gpu.event_untimed()?;
    let options = LaunchOptions::new().completion_event(&event);
    let graph = stream.capture(|capture| {
        // SAFETY: the entry takes a slice and a number, and writes only the slice.
        let refused = unsafe {
            capture.launch_untyped_with(&add, Grid::new(1, 64), &options, (&mut buffer, 1))
        };
        let error = refused.unwrap_err();
        assert_eq!(error.code(), Some(Code::STREAM_CAPTURE_UNSUPPORTED));
        crate::common::launch_add(capture, &add, &mut buffer, 2);
        Ok(())
    })?;
    graph.instantiate()?.launch(&stream)?;
    assert_eq!(stream.download(&buffer)?, [2; 64]);
    Ok(())
}

/// What the host waits for by such an event need not be the end of the kernel.
// covers: PDL-05
#[test]
fn a_completion_event_says_nothing_of_the_end() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let stream = gpu.stream()?;
    let mut buffer = stream.zeroed::<u32>(64)?;
    let event = gpu.event_untimed()?;
    let mut gate = Gate::new(&gpu, &module);
    gate.close(&stream);
    let options = LaunchOptions::new().completion_event(&event);
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    unsafe { stream.launch_untyped_with(&add, Grid::new(1, 64), &options, (&mut buffer, 1))? };
    assert!(!event.is_complete()?, "the launch has not begun");
    gate.open();
    event.synchronize()?;
    assert_eq!(stream.download(&buffer)?, [1; 64]);
    Ok(())
}
