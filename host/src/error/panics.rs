//! Panics of kernels and of functions on the host.

use std::fmt::{self, Display};

/// [`Error::KernelPanic`](crate::Error::KernelPanic): the first panic of a launch that the wait covers. The thread ended; the context lives
/// on.
#[derive(Debug, Clone, Default)]
pub struct KernelPanic {
    /// The kernel.
    pub kernel: String,
    /// The panic's message; empty where the kernels were built to report the location only.
    pub message: String,
    /// The source file.
    pub file: String,
    /// Line in the file.
    pub line: u32,
    /// Column in the line.
    pub column: u32,
    /// The block's index in the grid.
    pub block: [u32; 3],
    /// The thread's index in the block.
    pub thread: [u32; 3],
    /// The grid's size in blocks.
    pub grid_dim: [u32; 3],
    /// The block's size in threads.
    pub block_dim: [u32; 3],
    /// The first panics of other launches that the wait covers.
    pub others: Vec<KernelPanic>,
}

impl KernelPanic {
    /// This panic alone: who panicked where, and why.
    fn write_one(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = if self.message.is_empty() {
            "(message not compiled in)"
        } else {
            &self.message
        };
        write!(f, "kernel `{}` panicked", self.kernel)?;
        if self.file.is_empty() {
            write!(f, ": {message}")
        } else {
            write!(
                f,
                " at {}:{}:{}: {message}\n  in block {:?} thread {:?} of grid {:?} block {:?}",
                self.file,
                self.line,
                self.column,
                self.block,
                self.thread,
                self.grid_dim,
                self.block_dim
            )
        }
    }
}

impl Display for KernelPanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_one(f)?;
        for other in &self.others {
            f.write_str("\nand ")?;
            other.write_one(f)?;
        }
        f.write_str(
            "\n  hint: the thread ended there and the context is still usable; what the grid wrote is incomplete",
        )
    }
}

impl std::error::Error for KernelPanic {}

/// [`Error::HostFunctionPanic`](crate::Error::HostFunctionPanic): the first panic of a host function that the wait covers. The stream went on
/// after it.
#[derive(Debug)]
pub struct HostFunctionPanic {
    /// The wait that reports it.
    pub call: &'static str,
    /// The panic's message.
    pub message: String,
    /// The messages of the others that the wait covers.
    pub others: Vec<String>,
}

impl Display for HostFunctionPanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: a host function panicked: {}",
            self.call, self.message
        )?;
        for other in &self.others {
            write!(f, "\nand a host function panicked: {other}")?;
        }
        f.write_str("\n  hint: the work after it was done all the same")
    }
}

impl std::error::Error for HostFunctionPanic {}
