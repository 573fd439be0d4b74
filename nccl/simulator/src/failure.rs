//! What a function answers instead of success, with what went wrong in words.

use warpsmith_nccl_abi::ncclResult_t;

/// A result code other than success, and its reason.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) code: ncclResult_t,
    pub(crate) reason: String,
}

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// What was begun goes on: no failure, but no success yet.
    pub(crate) fn in_progress() -> Failure {
        Failure {
            code: ncclResult_t::ncclInProgress,
            reason: "the ranks come together".into(),
        }
    }

    pub(crate) fn argument(reason: impl Into<String>) -> Failure {
        Failure {
            code: ncclResult_t::ncclInvalidArgument,
            reason: reason.into(),
        }
    }

    pub(crate) fn usage(reason: impl Into<String>) -> Failure {
        Failure {
            code: ncclResult_t::ncclInvalidUsage,
            reason: reason.into(),
        }
    }

    pub(crate) fn remote(reason: impl Into<String>) -> Failure {
        Failure {
            code: ncclResult_t::ncclRemoteError,
            reason: reason.into(),
        }
    }

    pub(crate) fn system(what: &str, error: impl std::fmt::Display) -> Failure {
        Failure {
            code: ncclResult_t::ncclSystemError,
            reason: format!("{what}: {error}"),
        }
    }
}
