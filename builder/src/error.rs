//! Everything that can go wrong in a device build, each with its cause and the remedy.

use std::path::PathBuf;

use crate::arch::{Arch, PtxVersion};
use crate::rustc_error::RustcError;
use crate::source_location::SourceLocation;

/// A failed device build.
///
/// `Debug` shows the same text as `Display`, because build scripts end in `.unwrap()`.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// rustc or cargo refused the kernel crate; their diagnostics stand here unchanged.
    #[error("the kernel crate does not compile for the GPU{}\n\n{diagnostics}", hint_text(.hint))]
    Rustc {
        /// What rustc and cargo wrote.
        diagnostics: String,
        /// The errors among that.
        errors: Vec<RustcError>,
        /// What to do, where we know better than rustc.
        hint: Option<String>,
    },
    /// Something is used in a kernel that no linked crate defines.
    #[error("{}", unresolved_text(.0))]
    UnresolvedSymbols(Vec<UnresolvedSymbol>),
    /// The crate compiles, and has no kernel.
    #[error(
        "`{package}` has no kernels: mark the functions that the host launches with `#[kernel]` (and `pub`)"
    )]
    NoKernels {
        /// The crate.
        package: String,
    },
    /// Two kernels have one name in PTX.
    #[error("two kernels are called `{name}`, in {}: rename one, or give it another name with `#[kernel(name = \"...\")]`", .crates.join(" and "))]
    DuplicateKernel {
        /// The name.
        name: String,
        /// The crates that define it.
        crates: Vec<String>,
    },
    /// A kernel uses something that the architecture does not have.
    #[error("{0}")]
    ArchLacks(Box<ArchLacks>),
    /// A PTX version was asked for that lacks what a kernel uses or what the architecture needs.
    #[error(
        "PTX {asked} was asked for, and {reason} needs PTX {needs}: leave out `.ptx_version(..)`, or raise it"
    )]
    PtxVersionTooOld {
        /// What `.ptx_version(..)` says.
        asked: PtxVersion,
        /// What is needed.
        needs: PtxVersion,
        /// What needs it.
        reason: String,
    },
    /// LLVM has no PTX for something in a kernel.
    #[error("{0}")]
    Untranslatable(Box<Untranslatable>),
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
    /// ptxas rejects the PTX.
    #[error("ptxas rejects the PTX:\n{message}")]
    Ptxas {
        /// What it wrote.
        message: String,
    },
    /// One of NVIDIA's other tools rejects a file.
    #[error("{tool} rejects {}:\n{message}", file.display())]
    Rejected {
        /// The tool.
        tool: &'static str,
        /// The file.
        file: PathBuf,
        /// What it wrote.
        message: String,
    },
    /// An ingredient of the set-up is missing or broken.
    #[error("{0}")]
    Setup(String),
}

/// Something that the architecture of a build does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArchLacks {
    /// The instruction or attribute.
    pub feature: String,
    /// What it is a part of, as the CUDA C++ Programming Guide calls it: `thread block clusters`. None if the architecture has that, or
    /// there is no such name.
    pub capability: Option<&'static str>,
    /// The library's function that has it, where the user's code calls one.
    pub called: Option<String>,
    /// The architecture that has it.
    pub needs: String,
    /// The build's architecture.
    pub arch: Arch,
    /// The function that uses it.
    pub used_by: Option<String>,
    /// Where.
    pub location: Option<SourceLocation>,
}

impl std::fmt::Display for ArchLacks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.called, self.capability) {
            (Some(called), Some(capability)) => {
                write!(f, "`{called}` (`{}`: {capability})", self.feature)?;
            }
            (Some(called), None) => write!(f, "`{called}` (`{}`)", self.feature)?,
            (None, Some(capability)) => write!(f, "`{}` ({capability})", self.feature)?,
            (None, None) => write!(f, "`{}`", self.feature)?,
        }
        let (needs, arch) = (&self.needs, self.arch);
        write!(
            f,
            " needs {needs}, and this build is for {arch}{}: build with `.arch(..)` of {needs}, or keep the call away from {arch} \
             with `#[cfg(warpsmith_arch_at_least = \"..\")]`",
            used_text(&self.used_by, &self.location)
        )
    }
}

/// Something in a kernel that LLVM cannot translate to PTX.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Untranslatable {
    /// The kernels that it is in, directly or through functions that they call.
    pub kernels: Vec<String>,
    /// The function in the source.
    pub function: Option<String>,
    /// Where.
    pub location: Option<SourceLocation>,
    /// LLVM's instruction, where it was found.
    pub instruction: Option<String>,
    /// Why not.
    pub reason: String,
}

impl std::fmt::Display for Untranslatable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kernels: Vec<String> = self.kernels.iter().map(|k| format!("`{k}`")).collect();
        let subject = match &kernels[..] {
            [] => "the kernels use".to_owned(),
            [kernel] => format!("kernel {kernel} uses"),
            [first, second] => format!("kernels {first} and {second} use"),
            [first, second, rest @ ..] => {
                format!("kernels {first}, {second} and {} more use", rest.len())
            }
        };
        write!(f, "{subject} something that the GPU has no instruction for")?;
        if let Some(function) = &self.function {
            write!(f, ", in `{function}`")?;
        }
        if let Some(location) = &self.location {
            write!(f, " at {location}")?;
        }
        if let Some(instruction) = &self.instruction {
            write!(f, ": `{instruction}`")?;
        }
        write!(
            f,
            "\n  {}\n  write it with other operations, or call a function that does it (such as one of the crate `libm`)",
            self.reason
        )
    }
}

/// A symbol that is used and that no linked crate defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnresolvedSymbol {
    /// The symbol (a Rust path, where it is one).
    pub symbol: String,
    /// The function that uses it.
    pub used_by: Option<String>,
    /// Where.
    pub location: Option<SourceLocation>,
    /// What to do about it.
    pub remedy: String,
}

fn used_text(used_by: &Option<String>, location: &Option<SourceLocation>) -> String {
    let mut text = String::new();
    if let Some(function) = used_by {
        text += &format!(" (used by `{function}`");
        if let Some(location) = location {
            text += &format!(" at {location}");
        }
        text.push(')');
    }
    text
}

impl std::fmt::Display for UnresolvedSymbol {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "unresolved symbol `{}`{}\n  {}",
            self.symbol,
            used_text(&self.used_by, &self.location),
            self.remedy
        )
    }
}

fn unresolved_text(symbols: &[UnresolvedSymbol]) -> String {
    let lines = symbols.iter().map(ToString::to_string);
    lines.collect::<Vec<_>>().join("\n")
}

impl From<String> for BuildError {
    fn from(message: String) -> BuildError {
        BuildError::Link(message)
    }
}

fn known_archs() -> String {
    Arch::ALL
        .iter()
        .map(|a| a.name())
        .collect::<Vec<_>>()
        .join(", ")
}

impl std::fmt::Debug for BuildError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
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
