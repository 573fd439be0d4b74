//! Modules, and their variables.

use warpsmith_host::ModuleOptions;
use warpsmith_testkit::ptx;

use crate::common::PTX;
use crate::row::{Row, rows};

pub const ANOTHER: &str = ptx!(
    "7.0",
    "sm_70",
    "
.visible .global .align 4 .u32 numbers[4];
.visible .entry idle()
{
    ret;
}
"
);

const MANAGED: &str = ptx!(
    "7.0",
    "sm_70",
    "
.visible .global .attribute(.managed) .align 4 .u32 shared[4];
"
);

fn no_optimisation() -> ModuleOptions {
    ModuleOptions {
        optimisation: 5,
        ..Default::default()
    }
}

fn no_registers() -> ModuleOptions {
    ModuleOptions {
        max_registers: Some(0),
        ..Default::default()
    }
}

pub fn rows() -> Vec<Row> {
    rows! {
        "Gpu::load", "no PTX" => Ptx, |w| w.gpu.load("");
        "Gpu::load", "PTX with a NUL" => Ptx, |w| w.gpu.load(&format!("{PTX}\0"));
        "Gpu::load", "an instruction that there is not" => Ptx, |w| w.gpu.load(&PTX.replace("ld.param.u32", "ld.param.u33"));
        "Gpu::load", "a version that there is not yet" => Ptx, |w| w.gpu.load(&ANOTHER.replace(".version 7.0", ".version 99.0"));
        "Gpu::load_with", "more optimisation than there is" => Limit, |w| w.gpu.load_with(PTX, &no_optimisation());
        "Gpu::load_with", "no registers" => Limit, |w| w.gpu.load_with(PTX, &no_registers());
        "Gpu::load_binary", "no image" => Driver, |w| {
            // SAFETY: nothing of the image is launched.
            unsafe { w.gpu.load_binary(&[0; 64]) }
        };
        "Gpu::link", "a name with a NUL" => Invalid, |w| w.gpu.link(&[("a\0b", PTX)]);
        "Gpu::link", "PTX with a NUL" => Ptx, |w| w.gpu.link(&[("one", &format!("{ANOTHER}\0"))]);
        "Gpu::link", "one symbol twice" => Ptx, |w| w.gpu.link(&[("one", ANOTHER), ("two", ANOTHER)]);
        "Gpu::link_with", "no registers" => Limit, |w| w.gpu.link_with(&[("one", PTX)], &no_registers());
        "Module::global", "a name that the module has not" => NotFound, |w| w.gpu.load(ANOTHER)?.global::<u32>("number");
        "Module::global", "a name with a NUL" => NotFound, |w| w.gpu.load(ANOTHER)?.global::<u32>("numbers\0");
        "Module::global", "elements that do not fit" => Invalid, |w| w.gpu.load(ANOTHER)?.global::<[u32; 3]>("numbers");
        "Module::global", "elements of no bytes" => Invalid, |w| w.gpu.load(ANOTHER)?.global::<()>("numbers");
        "Global::set", "one of several elements" => Invalid, |w| w.gpu.load(ANOTHER)?.global::<u32>("numbers")?.set(&1);
        "Global::set_slice", "one element too many" => Invalid, |w| w.gpu.load(ANOTHER)?.global::<u32>("numbers")?.set_slice(&[1; 5]);
        "Module::managed", "a variable that is not managed" => Invalid, |w| w.gpu.load(ANOTHER)?.managed::<u32>("numbers");
        "Module::managed", "a name that the module has not" => NotFound, |w| w.gpu.load(MANAGED)?.managed::<u32>("share");
        "Module::managed", "elements that do not fit" => Invalid, |w| w.gpu.load(MANAGED)?.managed::<[u32; 3]>("shared");
    }
}
