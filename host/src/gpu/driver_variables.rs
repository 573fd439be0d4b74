//! Variables of the environment that the driver reads when it is initialised, set from the program.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::error::{Code, Error, Result};

const CALL: &str = "DriverVariables::apply";

/// Variables of the environment as `CUDA_MODULE_LOADING`, which the driver (or the simulator) reads once, when it is initialised.
///
/// A change of the process's own environment is unsafe as soon as there may be other threads, and comes too late after the driver's start. So
/// [`apply`](Self::apply) starts the program anew where a variable has another value yet: call it first in `main`.
///
/// ```no_run
/// use warpsmith_host::DriverVariables;
/// use warpsmith_host::prelude::*;
///
/// fn main() -> Result<()> {
///     DriverVariables::new()
///         .set("CUDA_MODULE_LOADING", "EAGER")
///         .set("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
///         .apply()?;
///     let gpu = Gpu::open_default()?;
///     # let _ = gpu;
///     Ok(())
/// }
/// ```
// covers: ENV-15
#[derive(Clone, Debug, Default)]
pub struct DriverVariables {
    wanted: BTreeMap<OsString, OsString>,
}

impl DriverVariables {
    /// None yet.
    pub fn new() -> DriverVariables {
        DriverVariables::default()
    }

    /// Wants this value of a variable; the last one that was wanted counts.
    #[must_use]
    pub fn set(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> DriverVariables {
        self.wanted.insert(name.into(), value.into());
        self
    }

    /// Returns where the environment has all these values. Else the process executes its program again, with the same arguments and these
    /// variables, and does not return: the program begins anew as the same process, without what its threads were doing, without
    /// destructors, and with what it has read of its standard input read.
    ///
    /// # Errors
    ///
    /// A variable has another value, and this process has chosen its driver already, so that it would lose its work; a name is empty or
    /// holds `=` or a zero byte, or a value does; the system cannot execute the program's file.
    pub fn apply(&self) -> Result<()> {
        for (name, value) in &self.wanted {
            check(name, value)?;
        }
        let differs =
            |(name, value): (&OsString, &OsString)| std::env::var_os(name).as_ref() != Some(value);
        let Some((name, value)) = self
            .wanted
            .iter()
            .find(|&(name, value)| differs((name, value)))
        else {
            return Ok(());
        };
        if warpsmith_driver::backend().is_some() {
            return Err(Error::misuse(
                CALL,
                Code::NOT_PERMITTED,
                format!(
                    "the driver was chosen before {} was set to {}, and reads it no more",
                    name.display(),
                    value.display()
                ),
                "call it before anything else of this library, or set the variable where the program is started",
            ));
        }
        let program = std::env::current_exe().map_err(|error| not_executed(&error))?;
        let mut command = Command::new(program);
        let mut arguments = std::env::args_os();
        if let Some(name) = arguments.next() {
            command.arg0(name);
        }
        let error = command.args(arguments).envs(&self.wanted).exec();
        Err(not_executed(&error))
    }
}

/// Refuses what the environment cannot hold; such a variable would differ after each start.
fn check(name: &OsStr, value: &OsStr) -> Result<()> {
    let has = |text: &OsStr, byte| text.as_bytes().contains(&byte);
    if name.is_empty() || has(name, b'=') || has(name, 0) || has(value, 0) {
        return Err(Error::misuse(
            CALL,
            Code::INVALID_VALUE,
            format!("the environment has no variable {name:?} of the value {value:?}"),
            "a name has a letter at least, no `=`, and neither has a zero byte",
        ));
    }
    Ok(())
}

fn not_executed(error: &std::io::Error) -> Error {
    Error::misuse(
        CALL,
        Code::OPERATING_SYSTEM,
        format!("the program cannot be started anew: {error}"),
        "set the variables where the program is started",
    )
}
