//! What a benchmark is told.

/// What to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// The cases by name; none means all.
    pub names: Vec<String>,
    /// Launches of each implementation before those that are timed: at least one, which loads the kernel and touches the memory.
    pub warm_ups: usize,
    /// Timed launches of each implementation.
    pub repetitions: usize,
    /// Seed of the inputs.
    pub seed: u64,
    /// Whether to build and time the CUDA C++ twins.
    pub twins: bool,
    /// Problem size; the device's default if not given.
    pub size: Option<usize>,
    /// Whether to go on without a GPU, where times mean nothing.
    pub on_simulator: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            names: Vec::new(),
            warm_ups: 1,
            repetitions: 21,
            seed: 1,
            twins: true,
            size: None,
            on_simulator: false,
        }
    }
}
