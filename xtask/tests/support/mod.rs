//! Makes a project with `cargo xtask new` in a temporary folder and runs cargo in it, as a user would.

use std::path::{Path, PathBuf};
use std::process::Command;
use warpsmith_testkit::process::{self, ProcessOutput};

/// A user's project in a temporary folder; the folder goes when it is dropped.
pub struct Project {
    _folder: tempfile::TempDir,
    /// The project's own folder.
    pub dir: PathBuf,
}

impl Project {
    /// `cargo xtask new DIR`.
    pub fn new(name: &str) -> Project {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let dir = folder.path().join(name);
        new(&dir).expect_success();
        // The workspace's own versions, so that what it has built is not built again.
        std::fs::copy(workspace().join("Cargo.lock"), dir.join("Cargo.lock"))
            .expect("the lock file can be copied");
        Project {
            _folder: folder,
            dir,
        }
    }

    /// Writes a file of the project.
    #[allow(
        dead_code,
        reason = "each test file that shares this module uses a part of it"
    )]
    pub fn write(&self, path: &str, text: &str) {
        let path = self.dir.join(path);
        std::fs::create_dir_all(path.parent().expect("a file has a folder"))
            .expect("the folder can be made");
        std::fs::write(path, text).expect("the file can be written");
    }

    /// `cargo ARGUMENTS` in the project, on the simulator, with the workspace's target folder: a new project's profile is the
    /// workspace's, so the libraries are not built again.
    pub fn cargo(&self, arguments: &[&str]) -> ProcessOutput {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command
            .args(arguments)
            .arg("--quiet")
            .current_dir(&self.dir)
            .env("CARGO_TARGET_DIR", target())
            .env("WARPSMITH_DEVICE", "simulator");
        // What the running `cargo test` set for this test must not reach the user's build.
        for (name, _) in std::env::vars_os() {
            let name_text = name.to_string_lossy();
            if name_text.starts_with("CARGO_PKG_")
                || name_text.starts_with("CARGO_MANIFEST")
                || name_text == "CUDA_LIBRARY_PATH"
            {
                command.env_remove(&name);
            }
        }
        process::output(&mut command, process::BUILD_LIMIT)
    }
}

/// The workspace's target folder.
#[allow(
    dead_code,
    reason = "each test file that shares this module uses a part of it"
)]
pub fn target() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .expect("cargo puts the temporary folder into the target folder")
}

/// `cargo xtask new DIR`, whatever comes of it.
pub fn new(dir: &Path) -> ProcessOutput {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    process::output(command.arg("new").arg(dir), process::LIMIT)
}

/// The checkout.
pub fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies one folder below the workspace's root")
}
