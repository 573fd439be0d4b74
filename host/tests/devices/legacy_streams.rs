//! The legacy default streams of two devices: one handle, which means that of the current context.

use crate::common::hold_up;
use crate::common::two::with_two;
use warpsmith_host::prelude::*;

#[test]
fn memory_of_a_legacy_stream_is_its_devices_whichever_is_current() {
    with_two(|one, other| {
        memory_stays_with_its_device(&one, &other).unwrap_or_else(|error| panic!("{error}"));
    });
}

fn memory_stays_with_its_device(one: &Gpu, other: &Gpu) -> Result<()> {
    let legacy = one.legacy_stream()?;
    other.make_current()?;
    let words = legacy.zeroed::<u32>(1000)?;
    let address = words.as_device_ptr().address();
    let attributes = one.pointer_attributes(address)?.expect("it is memory");
    assert_eq!(attributes.device, Some(0));
    assert_eq!(legacy.download(&words)?, [0; 1000]);
    // It is freed behind what its own device's stream holds.
    let late = hold_up(&legacy)?;
    other.make_current()?;
    drop(words);
    let next = one.stream()?.zeroed::<u32>(1000)?;
    assert_ne!(next.as_device_ptr().address(), address);
    drop(late);
    one.synchronize()
}

#[test]
fn copies_from_a_legacy_stream_are_in_order_on_both() {
    with_two(|one, other| {
        copies_are_in_order(&one, &other).unwrap_or_else(|error| panic!("{error}"));
    });
}

fn copies_are_in_order(one: &Gpu, other: &Gpu) -> Result<()> {
    let (here, there) = (one.stream()?, other.legacy_stream()?);
    let mut from = there.zeroed::<u32>(5000)?;
    let mut to = here.zeroed::<u32>(5000)?;
    for round in 1..20 {
        there.fill(&mut from, round)?;
        let late = hold_up(&here)?;
        here.copy_from_peer(&there, &from, &mut to)?;
        there.fill(&mut from, 0)?;
        drop(late);
        assert_eq!(here.download(&to)?, vec![round; 5000]);
        assert_eq!(there.download(&from)?, vec![0; 5000]);
    }
    Ok(())
}
