//! Chapter 19: unified memory that the driver allocates.

use warpsmith_host::prelude::*;
use warpsmith_host::{PointerMemory, UnifiedSupport};
use warpsmith_testkit::process::{calling_test, is_child, run_in_child};
use warpsmith_tests::fixture;

/// How memory was allocated, not where it is. What was not allocated by the driver it does not know, also where kernels reach it.
// covers: UM-03, UM-X05
#[test]
fn five_kinds_of_pointers() -> Result<()> {
    let gpu = &fixture().gpu;
    let stream = gpu.stream()?;
    let kind_of =
        |address| -> Result<_> { Ok(gpu.pointer_attributes(address)?.map(|known| known.memory)) };
    let device = stream.zeroed::<u32>(16)?;
    let unified = gpu.unified::<u32>(16)?;
    let pinned = gpu.pinned::<u32>(16)?;
    let registered = gpu.register(vec![0_u32; 4096])?;
    let heap = vec![0_u32; 16];
    for (address, expected) in [
        (
            device.as_device_ptr().address(),
            Some(PointerMemory::Device),
        ),
        (
            unified.as_device_ptr().address(),
            Some(PointerMemory::Unified),
        ),
        (
            pinned.host()?.as_ptr().addr() as u64,
            Some(PointerMemory::Host),
        ),
        (
            registered.host()?.as_ptr().addr() as u64,
            Some(PointerMemory::Host),
        ),
        (heap.as_ptr().addr() as u64, None),
    ] {
        assert_eq!(kind_of(address)?, expected, "{address:#x}");
    }
    Ok(())
}

/// Simulated devices of each level; a GPU has one of them.
// covers: UM-01, UM-X06
#[test]
fn the_level_of_support_is_one_question() {
    let levels = [
        ("88=1", UnifiedSupport::Full),
        ("88=0", UnifiedSupport::Managed),
        ("89=0", UnifiedSupport::Limited),
        ("89=0,83=0", UnifiedSupport::None),
    ];
    // The child finds its level by the same variable.
    const VARIABLE: &str = "WARPSMITH_SIMULATOR_ATTRIBUTES";
    if is_child() {
        let gpu = Gpu::open_default().expect("a device");
        let level = gpu.unified_support().expect("it says so");
        println!("{}: {level:?}", gpu.name());
        let attributes = std::env::var(VARIABLE).expect("the parent has set it");
        if gpu.is_simulator() {
            let expected = levels.iter().find(|(text, _)| *text == attributes);
            assert_eq!(expected.map(|(_, level)| *level), Some(level));
        }
        let made = gpu.unified::<u32>(4);
        assert_eq!(made.is_ok(), level != UnifiedSupport::None);
        return;
    }
    let test = calling_test();
    for (attributes, _) in levels {
        run_in_child(&test, &[(VARIABLE, attributes)]);
    }
}
