//! Everything that can go wrong in a device build, each with its culprit and the way out.

use std::path::PathBuf;

/// A failed device build.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// rustc or cargo refused the kernel crate; their diagnostics stand here unchanged.
    #[error("the kernel crate does not compile for the GPU{}\n\n{diagnostics}", hint_text(.hint))]
    Rustc {
        /// What rustc and cargo wrote.
        diagnostics: String,
        /// What to do, where we know better than rustc.
        hint: Option<String>,
    },
    /// The PTX linker stopped.
    #[error("{0}")]
    Link(String),
    /// A file or folder could not be read or written.
    #[error("{action} {}: {source}", path.display())]
    Io {
        /// What was tried, as in "cannot read".
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// An architecture that does not exist or is not supported.
    #[error("unknown architecture `{name}`; known are {}", known_archs())]
    UnknownArch {
        /// What was asked for.
        name: String,
    },
    /// An ingredient of the set-up is missing or broken.
    #[error("{0}")]
    Setup(String),
}

fn known_archs() -> String {
    crate::Arch::ALL
        .iter()
        .map(|a| a.name())
        .collect::<Vec<_>>()
        .join(", ")
}

fn hint_text(hint: &Option<String>) -> String {
    hint.as_ref().map(|h| format!(": {h}")).unwrap_or_default()
}

/// Attaches action and path to an I/O error.
pub(crate) trait IoContext<T> {
    fn context(self, action: &'static str, path: impl Into<PathBuf>) -> Result<T, BuildError>;
}

impl<T> IoContext<T> for std::io::Result<T> {
    fn context(self, action: &'static str, path: impl Into<PathBuf>) -> Result<T, BuildError> {
        self.map_err(|source| BuildError::Io {
            action,
            path: path.into(),
            source,
        })
    }
}
