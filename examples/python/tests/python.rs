//! The module in a Python, with a stand-in for a tensor of PyTorch's: on a GPU; and where there is none on the simulator, as the library that all of the
//! process load.

use std::path::PathBuf;
use std::process::Command;

use warpsmith_driver::cuda_available;
use warpsmith_testkit::dropin::Dropin;
use warpsmith_testkit::process::{LIMIT, output};

/// A folder from which Python imports the module.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let test = std::env::current_exe().expect("the test has a path");
        let built = test.with_file_name("libwarpsmith_example.so");
        let name = format!("warpsmith-python-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        std::os::unix::fs::symlink(&built, folder.join("warpsmith_example.abi3.so"))
            .expect("a link");
        assert!(built.exists(), "cargo builds {}", built.display());
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn python_calls_a_kernel_on_a_tensor() {
    let is_newer = "import sys; sys.exit(sys.version_info < (3, 9))";
    let python = Command::new("python3").args(["-c", is_newer]).status();
    if !python.is_ok_and(|status| status.success()) {
        println!("skipped: there is no python3 of version 3.9 or newer");
        return;
    }
    let folder = Folder::new();
    let mut command = Command::new("python3");
    command
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stand_in.py"))
        .env("PYTHONPATH", &folder.0)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    let dropin = Dropin::unless(cuda_available());
    dropin.be_driver_of(&mut command);
    let output = output(&mut command, LIMIT).expect_success();
    assert!(output.stderr.contains("\nOK"), "{output}");
}
