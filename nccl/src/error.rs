//! Errors. Each one names the call and what to do.

use std::fmt;
use std::time::Duration;

/// `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that this crate reports.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The host library, or the CUDA driver below it.
    #[error(transparent)]
    Host(#[from] warpsmith_host::Error),
    /// NCCL cannot be loaded.
    #[error(transparent)]
    Library(Box<Library>),
    /// NCCL refuses a call, or something went wrong in work that it does.
    #[error(transparent)]
    Nccl(Box<NcclError>),
    /// The call cannot work with these arguments; nothing was done.
    #[error(transparent)]
    Invalid(Box<Misuse>),
    /// Other ranks did not do their part in time.
    #[error(
        "{call}: rank {rank} of {size} waited {waited:?} for the other ranks: they have not made the same calls, have ended, or cannot be reached"
    )]
    Timeout {
        /// What waited.
        call: &'static str,
        /// The rank that waited.
        rank: usize,
        /// The ranks.
        size: usize,
        /// For so long.
        waited: Duration,
    },
    /// The communicator was aborted.
    #[error("{call}: the communicator was aborted: make a new one, with a new id")]
    Aborted {
        /// What was called.
        call: &'static str,
    },
    /// The ranks could not exchange the id.
    #[error("exchanging NCCL's id by {way}: {reason}")]
    Meeting {
        /// The file or the address.
        way: String,
        /// What went wrong.
        reason: String,
    },
    /// The launcher's variables are missing or make no sense.
    #[error("{0}")]
    Launcher(String),
}

/// [`Error::Library`].
#[derive(Debug)]
pub struct Library {
    /// Where it was looked for, and what came of it.
    pub tried: Vec<(String, String)>,
}

impl fmt::Display for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NCCL cannot be loaded:")?;
        for (place, reason) in &self.tried {
            write!(f, "\n  {place}: {reason}")?;
        }
        write!(
            f,
            "\n  hint: install the system's package (libnccl2), or `pip install --target ~/.cache/warpsmith/nvidia-nccl --no-deps nvidia-nccl-cu13`, \
             or name the file by WARPSMITH_NCCL_LIBRARY; with WARPSMITH_DEVICE=simulator none is needed"
        )
    }
}

impl std::error::Error for Library {}

/// [`Error::Nccl`].
#[derive(Debug)]
pub struct NcclError {
    /// NCCL's function.
    pub call: &'static str,
    /// What it answered.
    pub code: u32,
    /// The code's name in the header.
    pub name: String,
    /// What NCCL says of the code.
    pub description: String,
    /// What NCCL says of the last error of the communicator.
    pub detail: String,
}

impl fmt::Display for NcclError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} ({}): {}",
            self.call, self.name, self.code, self.description
        )?;
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        match self.code {
            // ncclRemoteError
            6 => write!(
                f,
                "\n  hint: look at the errors of the other ranks first; this communicator is lost: make a new one"
            ),
            // ncclUnhandledCudaError, ncclSystemError, ncclInternalError
            1..=3 => write!(f, "\n  hint: NCCL_DEBUG=WARN has NCCL say more on stdout"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for NcclError {}

/// [`Error::Invalid`].
#[derive(Debug)]
pub struct Misuse {
    /// What was called.
    pub call: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: &'static str,
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}\n  hint: {}", self.call, self.message, self.hint)
    }
}

impl std::error::Error for Misuse {}

impl Error {
    #[cold]
    pub(crate) fn misuse(
        call: &'static str,
        message: impl Into<String>,
        hint: &'static str,
    ) -> Error {
        Error::Invalid(Box::new(Misuse {
            call,
            message: message.into(),
            hint,
        }))
    }

    #[cold]
    pub(crate) fn meeting(way: impl fmt::Display, reason: impl fmt::Display) -> Error {
        Error::Meeting {
            way: way.to_string(),
            reason: reason.to_string(),
        }
    }
}
