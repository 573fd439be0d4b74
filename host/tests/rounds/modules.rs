//! Modules, kernels, variables, and what compiles them.

use warpsmith_host::ModuleOptions;
use warpsmith_host::prelude::*;
use warpsmith_testkit::ptx;

use crate::common::{add, launch_add, module};
use crate::plain;
use crate::world::{Case, World, leave_nothing};

const LIBRARY: &str = ptx!("7.0", "sm_70", ".visible .func stop() { exit; }");
const USER: &str = ptx!(
    "7.0",
    "sm_70",
    ".extern .func stop(); .visible .entry k() { call.uni stop; ret; }"
);

fn modules(world: &World, round: usize) -> Result<()> {
    let module = module(&world.gpu);
    let add = add(&module);
    let counter = module.global::<u32>("counter")?;
    counter.set(&(round as u32))?;
    assert_eq!(counter.get()?, round as u32);
    add.set_max_dynamic_shared(1024)?;
    let mut words = world.stream.zeroed::<u32>(100)?;
    launch_add(&world.stream, &add, &mut words, 1);
    // It is in use yet, in any order.
    match round % 3 {
        0 => drop((module, add, counter)),
        1 => drop((counter, add, module)),
        _ => drop((add, module, counter)),
    }
    Ok(())
}

fn options(world: &World, _: usize) -> Result<()> {
    let options = ModuleOptions {
        max_registers: Some(32),
        verbose: true,
        ..Default::default()
    };
    let module = world.gpu.load_with(USER_ALONE, &options)?;
    module.preload()?;
    assert_eq!(module.kernel_names(), ["k"]);
    Ok(())
}

const USER_ALONE: &str = ptx!("7.0", "sm_70", ".visible .entry k() { ret; }");

fn linked(world: &World, round: usize) -> Result<()> {
    let module = world.gpu.link(&[("library", LIBRARY), ("user", USER)])?;
    let kernel = module.untyped_kernel::<()>("k")?;
    if round.is_multiple_of(2) {
        // SAFETY: the entry does nothing.
        unsafe { world.stream.launch_untyped(&kernel, Grid::new(1, 32), ()) }?;
    }
    Ok(())
}

/// PTX that the compiler rejects, and modules that cannot be linked.
fn rejected(world: &World, _: usize) -> Result<()> {
    let wrong = USER_ALONE.replace("ret", "rat");
    assert!(matches!(world.gpu.load(&wrong), Err(Error::Ptx(_))));
    assert!(world.gpu.link(&[("user", USER)]).is_err());
    assert!(world.module.untyped_kernel::<()>("no_such_entry").is_err());
    assert!(world.module.global::<u64>("counter").is_err());
    Ok(())
}

fn rejected_plainly(_: &World, _: usize) -> Result<()> {
    plain::rejected(&USER_ALONE.replace("ret", "rat"), USER);
    Ok(())
}

#[test]
fn of_modules() {
    leave_nothing(&[
        Case::remembered("modules", modules),
        Case::new("modules with options", options),
        Case::new("linked modules", linked),
        Case::beside("rejected modules", rejected, rejected_plainly),
    ]);
}
