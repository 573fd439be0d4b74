//! What kernels see of the graphs that they launch with `cudaGraphLaunch` (CUDA C++ Programming Guide, "Device Graph Launch").

/// When a graph that a kernel launches runs, as its handle of a stream says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GraphLaunchMode {
    /// After the launching graph and all that it has launched by fire and forget.
    Tail,
    /// At once; the launching graph's tails come after it.
    FireAndForget,
    /// At once, as if the launching graph's parent had launched it.
    Sibling,
}

impl GraphLaunchMode {
    /// The mode of a named stream; `None` if it is another stream's handle.
    pub(super) fn of_stream(stream: u64) -> Option<Self> {
        match stream {
            0x0100_0000_0000_0000 => Some(Self::Tail),
            0x0200_0000_0000_0000 => Some(Self::FireAndForget),
            0x0300_0000_0000_0000 => Some(Self::Sibling),
            _ => None,
        }
    }
}

/// What a kernel asks of the graph that it is a node of; from several threads at once.
pub(crate) trait RunningGraph: Sync {
    /// The executable graph's handle; 0 if kernels cannot launch it.
    fn handle(&self) -> u64;

    /// The priority of its kernels; `None` where each has that of its node.
    fn priority(&self) -> Option<i32>;

    /// Launches another graph; `false` if it is refused.
    ///
    /// # Errors
    ///
    /// The handle names no graph that kernels may launch: the text says why.
    fn launch(&self, exec: u64, mode: GraphLaunchMode) -> Result<bool, String>;
}
