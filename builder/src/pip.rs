//! Fetches Python packages from PyPI with pip.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache;
use crate::error::BuildError;

/// A wheel of PyPI of which nothing is left open: the version is fixed, and so are the digests of its files.
#[derive(Clone, Debug)]
pub struct PinnedWheel {
    /// The package's name.
    pub package: String,
    /// Its version.
    pub version: String,
    /// The SHA-256 digests of the wheels that may be taken, in hexadecimal.
    pub sha256: Vec<String>,
    /// The platform whose wheel is taken, as wheels name it; `None` for this machine's.
    pub platform: Option<String>,
}

impl PinnedWheel {
    /// The folder of the cache that holds the wheel's files, fetched if it is not there. Needs Python with pip then.
    ///
    /// # Errors
    ///
    /// pip is not there or cannot reach PyPI, or no wheel has one of the digests.
    pub fn find_or_fetch(&self) -> Result<PathBuf, BuildError> {
        let name = format!("wheel-{}-{}", self.package, self.version);
        cache::once(&cache::folder()?, &name, |temporary| {
            eprintln!(
                "warpsmith: fetching {} {} from PyPI",
                self.package, self.version
            );
            // pip checks digests only of what a file of requirements lists.
            let folder = tempfile::tempdir()
                .map_err(|error| BuildError::Setup(format!("no temporary folder: {error}")))?;
            let list = folder.path().join("requirements.txt");
            std::fs::write(&list, self.requirement())
                .map_err(|error| BuildError::Setup(format!("{}: {error}", list.display())))?;
            let list = list.display().to_string();
            let mut arguments = vec!["--only-binary=:all:", "--require-hashes", "-r", &list];
            if let Some(platform) = &self.platform {
                arguments.extend(["--platform", platform]);
            }
            install(temporary, &arguments, &self.package)
        })
    }

    fn requirement(&self) -> String {
        let digests = self.sha256.iter().map(|d| format!(" --hash=sha256:{d}"));
        format!(
            "{}=={}{}\n",
            self.package,
            self.version,
            digests.collect::<String>()
        )
    }
}

/// `pip install` into the folder `target`. `arguments` names the packages, and `what` names them in the error.
pub(crate) fn install(target: &Path, arguments: &[&str], what: &str) -> Result<(), BuildError> {
    let mut reasons = Vec::new();
    for python in ["python3", "python"] {
        let output = Command::new(python)
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-deps",
                "--disable-pip-version-check",
                "--target",
            ])
            .arg(target)
            .args(arguments)
            .output();
        match output {
            Ok(output) if output.status.success() => return Ok(()),
            Ok(output) => {
                let text = String::from_utf8_lossy(&output.stderr).into_owned();
                let line = text
                    .lines()
                    .rev()
                    .find(|l| l.contains("ERROR") || l.contains("No module"))
                    .unwrap_or(text.trim());
                reasons.push(format!("{python} -m pip: {}", line.trim()));
            }
            Err(error) => reasons.push(format!("{python}: {error}")),
        }
    }
    Err(BuildError::Setup(format!(
        "cannot fetch {what}:\n  {}\nInstall Python with pip, or a CUDA toolkit, and run this again",
        reasons.join("\n  ")
    )))
}
