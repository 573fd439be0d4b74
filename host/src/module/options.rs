//! How the driver compiles PTX.

use crate::error::{Code, Error, LimitError, Result};

/// How the driver compiles PTX.
///
/// ```
/// use warpsmith_host::ModuleOptions;
///
/// let options = ModuleOptions { max_registers: Some(64), ..Default::default() };
/// assert_eq!(options.optimisation, 4);
/// ```
// covers: BUILD-02
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ModuleOptions {
    /// The most registers of a thread, for all kernels: 1 or more. What calls between functions need is given in any case, and a thread has
    /// 255 at most.
    pub max_registers: Option<u32>,
    /// How hard the compiler tries, 0 to 4.
    pub optimisation: u32,
    /// Lets the compiler report registers and spills in [`Module::jit_log`](crate::Module::jit_log).
    pub verbose: bool,
    /// Keeps line information for profilers and debuggers.
    pub line_info: bool,
}

impl ModuleOptions {
    /// # Errors
    ///
    /// A value that the compiler does not have. Drivers take some of these in silence, and do something else.
    pub(super) fn check(&self, call: &'static str) -> Result<()> {
        if self.optimisation > MOST_OPTIMISATION {
            return Err(Error::Limit(Box::new(LimitError {
                call,
                code: Code::INVALID_VALUE,
                subject: "ModuleOptions".into(),
                what: "`optimisation`",
                value: self.optimisation.into(),
                limit: MOST_OPTIMISATION.into(),
                hint: "4 is the most and the default, 0 is for debuggers".into(),
            })));
        }
        if self.max_registers == Some(0) {
            return Err(Error::Limit(Box::new(LimitError {
                call,
                code: Code::INVALID_VALUE,
                subject: "ModuleOptions".into(),
                what: "`max_registers`",
                value: 0,
                limit: 1,
                hint: "a kernel without registers computes nothing: `None` leaves the number to the compiler".into(),
            })));
        }
        Ok(())
    }
}

/// Of the levels of `CU_JIT_OPTIMIZATION_LEVEL`.
const MOST_OPTIMISATION: u32 = 4;

impl Default for ModuleOptions {
    fn default() -> Self {
        ModuleOptions {
            max_registers: None,
            optimisation: MOST_OPTIMISATION,
            verbose: false,
            line_info: true,
        }
    }
}
