//! What each kind of error knows, and how it reads.

use std::fmt::{self, Display, Write as _};

use super::Code;

/// [`Error::Driver`](crate::Error::Driver): a code other than success.
#[derive(Debug)]
pub struct DriverError {
    /// The driver's function.
    pub call: &'static str,
    /// What it answered.
    pub code: Code,
    /// What was being done, if more is known than the call.
    pub context: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
    /// The simulator's full report.
    pub report: Option<String>,
}

impl Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.call)?;
        if let Some(context) = &self.context {
            write!(f, " ({context})")?;
        }
        write!(f, ": {}", self.code)?;
        if !self.code.description().is_empty() {
            write!(f, ": {}", self.code.description())?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n  hint: {hint}")?;
        }
        if let Some(report) = &self.report {
            write!(f, "\n{}", report.trim_end())?;
        }
        Ok(())
    }
}

impl std::error::Error for DriverError {}

/// [`Error::Limit`](crate::Error::Limit): a value beyond its limit.
#[derive(Debug)]
pub struct LimitError {
    /// The driver's function that was, or would have been, called.
    pub call: &'static str,
    /// What the driver answers to this.
    pub code: Code,
    /// The kernel, or what else was asked for.
    pub subject: String,
    /// The quantity, in words.
    pub what: &'static str,
    /// What was asked for.
    pub value: u64,
    /// What is possible.
    pub limit: u64,
    /// What to do about it.
    pub hint: String,
}

impl Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of `{}`: {} is {}, the limit is {}: {}\n  hint: {}",
            self.call, self.subject, self.what, self.value, self.limit, self.code, self.hint
        )
    }
}

impl std::error::Error for LimitError {}

/// [`Error::Ptx`](crate::Error::Ptx): the module's text was refused.
#[derive(Debug)]
pub struct PtxError {
    /// The driver's function.
    pub call: &'static str,
    /// What it answered.
    pub code: Code,
    /// The compiler's log, or the simulator's message with line and column.
    pub log: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Display for PtxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}: {}",
            self.call,
            self.code,
            self.code.description()
        )?;
        for line in self.log.lines().filter(|line| !line.trim().is_empty()) {
            write!(f, "\n  | {line}")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for PtxError {}

/// [`Error::KernelPanic`](crate::Error::KernelPanic): the first panic since the last one was reported. The thread ended; the context lives on.
#[derive(Debug, Clone)]
pub struct KernelPanic {
    /// The kernel, or the kernels that it can have been: those launched with this grid and block from the module.
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
}

impl Display for KernelPanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = if self.message.is_empty() {
            "(message not compiled in)"
        } else {
            &self.message
        };
        write!(
            f,
            "kernel `{}` panicked at {}:{}:{}: {message}\n  in block {:?} thread {:?} of grid {:?} block {:?}\n  \
             hint: the thread ended there and the context is still usable; what the grid wrote is incomplete",
            self.kernel,
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

impl std::error::Error for KernelPanic {}

/// [`Error::HostFunctionPanic`](crate::Error::HostFunctionPanic): the stream went on after it.
#[derive(Debug)]
pub struct HostFunctionPanic {
    /// The wait that reports it.
    pub call: &'static str,
    /// The panic's message.
    pub message: String,
}

impl Display for HostFunctionPanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: a host function panicked: {}\n  hint: the work after it was done all the same",
            self.call, self.message
        )
    }
}

impl std::error::Error for HostFunctionPanic {}

/// [`Error::NotFound`](crate::Error::NotFound).
#[derive(Debug)]
pub struct NotFound {
    /// The driver's function.
    pub call: &'static str,
    /// `kernel` or `variable`.
    pub what: &'static str,
    /// The name that was asked for.
    pub name: String,
    /// What the module has.
    pub present: Vec<String>,
}

impl Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}: the module has no {} `{}`",
            self.call,
            Code::NOT_FOUND,
            self.what,
            self.name
        )?;
        let close = self
            .present
            .iter()
            .min_by_key(|have| distance(have, &self.name));
        match close {
            Some(close) if distance(close, &self.name) <= 1 + self.name.len() / 3 => {
                write!(f, "\n  hint: did you mean `{close}`?")
            }
            Some(_) => write!(f, "\n  hint: it has {}", list(&self.present)),
            None => write!(
                f,
                "\n  hint: it has none at all; was the right file built into PTX?"
            ),
        }
    }
}

impl std::error::Error for NotFound {}

/// [`Error::Busy`](crate::Error::Busy).
#[derive(Debug)]
pub struct Busy {
    /// What was asked for.
    pub call: &'static str,
    /// Why it cannot be had now.
    pub reason: String,
    /// What to do about it.
    pub hint: &'static str,
}

impl Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}: {}\n  hint: {}",
            self.call,
            Code::NOT_READY,
            self.reason,
            self.hint
        )
    }
}

impl std::error::Error for Busy {}

/// [`Error::GraphUpdate`](crate::Error::GraphUpdate).
#[derive(Debug)]
pub struct GraphUpdateError {
    /// The driver's code, usually 910.
    pub code: Code,
    /// `CUgraphExecUpdateResult` as a number.
    pub result: u32,
    /// The same in words.
    pub reason: &'static str,
    /// The node of the new graph that does not fit, if the driver says so.
    pub node: Option<crate::Node>,
}

impl Display for GraphUpdateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "cuGraphExecUpdate: {}: {} (result {})",
            self.code, self.reason, self.result
        )?;
        if let Some(node) = self.node {
            write!(f, ", at {node:?}")?;
        }
        write!(
            f,
            "\n  hint: instantiate the new graph instead; the old executable graph still works as it was"
        )
    }
}

impl std::error::Error for GraphUpdateError {}

/// [`Error::Invalid`](crate::Error::Invalid).
#[derive(Debug)]
pub struct Misuse {
    /// What was called.
    pub call: &'static str,
    /// The driver's code for this, where it has one.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

impl Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.call, self.code, self.message)?;
        if !self.hint.is_empty() {
            write!(f, "\n  hint: {}", self.hint)?;
        }
        Ok(())
    }
}

impl std::error::Error for Misuse {}

/// [`Error::Unsupported`](crate::Error::Unsupported).
#[derive(Debug)]
pub struct Unsupported {
    /// What was asked for.
    pub what: String,
    /// What it needs.
    pub needs: String,
}

impl Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}\n  hint: it needs {}",
            self.what,
            Code::NOT_SUPPORTED,
            self.needs
        )
    }
}

impl std::error::Error for Unsupported {}

/// Levenshtein's distance, for "did you mean".
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

fn list(names: &[String]) -> String {
    let mut text = String::new();
    for (i, name) in names.iter().take(12).enumerate() {
        let _ = write!(text, "{}`{name}`", if i == 0 { "" } else { ", " });
    }
    if names.len() > 12 {
        let _ = write!(text, " and {} more", names.len() - 12);
    }
    text
}
