//! Chapter 19: unified memory that the driver allocates.

use warpsmith_host::prelude::*;
use warpsmith_host::{PointerMemory, UnifiedSupport};
use warpsmith_test_kernels::guide_memory as kernels;
use warpsmith_testkit::process::{calling_test, is_child, run_in_child};
use warpsmith_tests::{Fixture, Side, fixture, own_process};

/// In device memory with a copy back, in unified memory and in a managed static; `pageable.rs` has heap and stack.
// covers: UM-X01
#[test]
fn a_kernel_writes_a_value_into_each_kind_of_memory() -> Result<()> {
    let Fixture { gpu, module } = Fixture::open()?;
    let stream = gpu.stream()?;
    let set = module.kernel(kernels::set_each)?;
    let one = Grid::new(1, 1);

    let mut device = stream.zeroed::<u32>(1)?;
    stream.launch(&set, one, (1, &mut device))?;
    assert_eq!(stream.download(&device)?, [1]);

    let mut unified = gpu.unified::<u32>(1)?;
    stream.launch(&set, one, (1, &mut unified))?;
    stream.synchronize()?;
    assert_eq!(*unified.host()?, [1]);

    let write = module.kernel(kernels::write_managed_static)?;
    let value = module.managed::<i32>("GUIDE_VALUE")?;
    stream.launch(&write, one, (1,))?;
    stream.synchronize()?;
    assert_eq!(*value.host()?, [1]);
    Ok(())
}

// covers: UM-X02
#[test]
fn a_plus_b_in_three_forms() -> Result<()> {
    let Fixture { gpu, module } = Fixture::open()?;
    let stream = gpu.stream()?;
    let expected: Vec<u32> = (0..1000).map(|i| 110 + i).collect();
    let a_plus_b = module.kernel(kernels::a_plus_b)?;
    let grid = Grid::new(1, 1000);

    let mut device = stream.zeroed::<u32>(1000)?;
    stream.launch(&a_plus_b, grid, (10, 100, &mut device))?;
    assert_eq!(stream.download(&device)?, expected);

    let mut unified = gpu.unified::<u32>(1000)?;
    stream.launch(&a_plus_b, grid, (10, 100, &mut unified))?;
    stream.synchronize()?;
    assert_eq!(*unified.host()?, *expected);

    let in_static = module.kernel(kernels::a_plus_b_static)?;
    let sums = module.managed::<u32>("GUIDE_SUMS")?;
    stream.launch(&in_static, grid, (10, 100))?;
    stream.synchronize()?;
    assert_eq!(*sums.host()?, *expected);
    Ok(())
}

// covers: UM-X03
#[test]
fn a_kernel_prints_a_string_that_the_host_has_written() -> Result<()> {
    match own_process(&[]) {
        Side::Child => {
            let Fixture { gpu, module } = Fixture::open()?;
            let stream = gpu.stream()?;
            let mut text = gpu.unified::<u8>(100)?;
            text.host_mut()?[..20].copy_from_slice(b"Hello Unified Memory");
            let print = module.kernel(kernels::print_text)?;
            stream.launch(&print, Grid::new(1, 32), (&text,))?;
            stream.synchronize()
        }
        Side::Parent(output) => {
            assert!(output.stdout.contains("Hello Unified Memory\n"), "{output}");
            Ok(())
        }
    }
}

// covers: UM-X04
#[test]
fn statics_that_both_sides_name() -> Result<()> {
    let Fixture { gpu, module } = Fixture::open()?;
    let stream = gpu.stream()?;
    let add = module.kernel(kernels::add_statics)?;
    let mut x = module.managed::<u32>("GUIDE_X")?;
    let mut y = module.managed::<u32>("GUIDE_Y")?;
    x.host_mut()?[0] = 3;
    y.host_mut()?[0] = 5;
    stream.launch(&add, Grid::new(1, 1), ())?;
    stream.synchronize()?;
    assert_eq!(*x.host()?, [3, 8]);
    Ok(())
}

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
    let heap = Box::new([0_u32; 16]);
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

/// A program that is started (a fork that executes at once) takes nothing of the memory that its parent goes on with; and the memory keeps its
/// context, so that there is no access without one.
// covers: UM-11, UM-14
#[test]
fn unified_memory_goes_on_when_another_program_was_started() -> Result<()> {
    let Fixture { gpu, module } = Fixture::open()?;
    let stream = gpu.stream()?;
    let set = module.kernel(kernels::set_each)?;
    let increase = module.kernel(kernels::increase_each)?;
    let mut words = gpu.unified::<u32>(1000)?;
    let grid = Grid::cover(1000, 128);
    stream.launch(&set, grid, (6, &mut words))?;
    let other = std::process::Command::new(std::env::current_exe().expect("a program"))
        .arg("--list")
        .stdout(std::process::Stdio::null())
        .status();
    assert!(other.expect("it is started").success());
    stream.launch(&increase, grid, (1, &mut words))?;
    stream.synchronize()?;
    drop((set, increase, module, stream, gpu));
    assert_eq!(*words.host()?, [7; 1000]);
    Ok(())
}
