//! Memory and events of another process, opened and given up a thousand times.

use warpsmith_host::interprocess::{EventHandle, MemoryHandle};
use warpsmith_host::prelude::*;
use warpsmith_testkit::process::{is_child, run_in_child};

use crate::world::{Case, World};

/// Holds, in the child's environment, the handles of the parent's memory and event.
const HANDLES: &str = "WARPSMITH_TEST_HANDLES";

fn handles() -> (MemoryHandle, EventHandle) {
    let text = std::env::var(HANDLES).expect("the parent sets it");
    let byte = |at: usize| u8::from_str_radix(&text[at * 2..at * 2 + 2], 16).expect("hexadecimal");
    (
        MemoryHandle::from_bytes(std::array::from_fn(byte)),
        EventHandle::from_bytes(std::array::from_fn(|at| byte(64 + at))),
    )
}

fn opened(world: &World, round: usize) -> Result<()> {
    let (memory, event) = handles();
    let event = world.gpu.open_event(event)?;
    world.stream.wait(&event)?;
    // SAFETY: the parent keeps the buffer, and does not use it until this process has ended.
    let mut words = unsafe { world.gpu.open_buffer::<u32>(memory, 100)? };
    world.stream.fill(&mut words, round as u32)?;
    // SAFETY: it is refused, as the memory has not so many.
    assert!(unsafe { world.gpu.open_buffer::<u32>(memory, 100 << 20) }.is_err());
    Ok(())
}

#[test]
fn of_another_process() -> Result<()> {
    const NAME: &str = "other_process::of_another_process";
    if is_child() {
        let world = World::new()?;
        let case = Case::new("memory and events of another process", opened);
        let growth = world.growth(&case)?;
        assert!(growth.is_empty(), "{growth:?}");
        return Ok(());
    }
    let gpu = crate::common::gpu();
    let stream = gpu.stream()?;
    let (words, event) = (gpu.exportable::<u32>(100)?, gpu.event_interprocess()?);
    stream.record(&event)?;
    let (memory, event) = (
        words.export_handle()?.to_bytes(),
        event.export()?.to_bytes(),
    );
    let text: String = memory
        .iter()
        .chain(&event)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    run_in_child(NAME, &[(HANDLES, &text)]);
    assert_eq!(stream.download(&words)?[0], 999);
    Ok(())
}
