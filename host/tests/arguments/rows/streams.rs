//! Streams, events, flags, limits and attributes of a device.

use warpsmith_host::prelude::*;
use warpsmith_host::{
    AccessPolicyWindow, ContextLimit, EventOptions, FlagOperations, MemSyncDomainMap,
};

use crate::row::{Row, rows};

pub fn rows() -> Vec<Row> {
    rows! {
        "Gpu::event_with", "timed, and for other processes" => Invalid, |w| w.gpu.event_with(EventOptions { timed: true, interprocess: true, ..Default::default() });
        "Event::elapsed_since", "a start that was not recorded" => Driver, |w| {
            let (start, end) = (w.gpu.event()?, w.gpu.event()?);
            w.stream.record(&end)?;
            end.synchronize()?;
            end.elapsed_since(&start)
        };
        "Event::elapsed_since", "a start without a time" => Invalid, |w| {
            let (start, end) = (w.gpu.event_untimed()?, w.gpu.event()?);
            w.stream.record(&start)?;
            w.stream.record(&end)?;
            end.synchronize()?;
            end.elapsed_since(&start)
        };
        "Event::export", "an event of this process alone" => Driver, |w| w.gpu.event_untimed()?.export();
        "Stream::set_mem_sync_domain_map", "a domain that there is not" => Limit, |w| w.stream.set_mem_sync_domain_map(MemSyncDomainMap { default: 0, remote: u8::MAX });
        "Stream::set_access_policy", "a share beyond 1" => Invalid, |w| {
            let window = AccessPolicyWindow::over(&w.words).hit_ratio(1.5);
            w.stream.set_access_policy(Some(&window))
        };
        "Stream::set_access_policy", "a share that is no number" => Invalid, |w| {
            let window = AccessPolicyWindow::over(&w.words).hit_ratio(f32::NAN);
            w.stream.set_access_policy(Some(&window))
        };
        "Stream::set_access_policy", "a window that is too long" => Limit, |w| {
            let large = w.stream.zeroed::<u8>(1 << 28)?;
            w.stream.set_access_policy(Some(&AccessPolicyWindow::over(&large)))
        };
        "Stream::flag_operations", "more than the driver takes" => Limit, |w| {
            let flag = w.gpu.flag(0_u32)?;
            let operations = (0..256).fold(FlagOperations::new(), |all, _| all.write(&flag, 1));
            w.stream.flag_operations(&operations)
        };
        "Gpu::set_limit", "more of the second-level cache than there is" => Limit, |w| w.gpu.set_limit(ContextLimit::PersistingL2, usize::MAX);
        "Gpu::set_limit", "more to print than the device's memory holds" => Limit, |w| w.gpu.set_limit(ContextLimit::PrintBuffer, usize::MAX);
        "Gpu::set_limit", "a larger heap than the device's memory" => Limit, |w| w.gpu.set_limit(ContextLimit::Heap, w.gpu.total_memory() + 1);
        "Gpu::set_limit", "more launches than the device's memory holds" => Limit, |w| w.gpu.set_limit(ContextLimit::PendingLaunches, usize::MAX);
        "Gpu::set_stack_size", "more than a device has" => Driver, |w| w.gpu.set_stack_size(1 << 40);
        "Gpu::attribute", "none that a driver knows" => Driver, |w| w.gpu.attribute(Attribute(9999));
        "Gpu::open", "a device that there is not" => Invalid, |w| Gpu::open(match w.gpu.is_simulator() {
            true => DeviceChoice::SimulatorDevice(99),
            false => DeviceChoice::Cuda(99),
        });
    }
}

pub fn far_rows() -> Vec<Row> {
    rows! {
        "Stream::record", "an event of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.record(&far.gpu.event()?)
        };
        "PerThreadStream::record", "an event of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.gpu.per_thread_stream()?.record(&far.gpu.event()?)
        };
        "Event::elapsed_since", "an event of another device" => Invalid, |w| {
            let (near, far) = w.both();
            let (start, end) = (near.gpu.event()?, far.gpu.event()?);
            near.stream.record(&start)?;
            far.stream.record(&end)?;
            end.synchronize()?;
            end.elapsed_since(&start)
        };
        "Stream::set_access_policy", "memory of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.set_access_policy(Some(&AccessPolicyWindow::over(&far.words)))
        };
        "Stream::copy_attributes", "of a stream of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.copy_attributes(&far.stream)
        };
        "Stream::write_value", "a flag of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.write_value(&far.gpu.flag(0_u32)?, 1)
        };
        "Stream::wait_value", "a flag of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.wait_value(&far.gpu.flag(1_u32)?, Wait::Equal(1))
        };
        "Stream::flag_operations", "one flag of another device" => Invalid, |w| {
            let (near, far) = w.both();
            let (here, there) = (near.gpu.flag(0_u32)?, far.gpu.flag(0_u32)?);
            let operations = FlagOperations::new().write(&here, 1).write(&there, 1);
            near.stream.flag_operations(&operations)
        };
    }
}
