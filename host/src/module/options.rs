//! How the driver compiles PTX.

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
    /// The most registers of a thread, for all kernels.
    pub max_registers: Option<u32>,
    /// 0 to 4.
    pub optimisation: u32,
    /// Lets the compiler report registers and spills in [`Module::jit_log`](crate::Module::jit_log).
    pub verbose: bool,
    /// Keeps line information for profilers and debuggers.
    pub line_info: bool,
}

impl Default for ModuleOptions {
    fn default() -> Self {
        ModuleOptions {
            max_registers: None,
            optimisation: 4,
            verbose: false,
            line_info: true,
        }
    }
}
