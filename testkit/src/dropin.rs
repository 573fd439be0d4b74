//! The simulator as the driver's library, for tests of programs that load it by its name.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use crate::foreign::built_library;

/// The library that cargo has built for this test: `warpsmith-simulator-dropin` is a development dependency of its package.
///
/// # Panics
/// If it is none.
pub fn library() -> PathBuf {
    built_library("libwarpsmith_dropin.so")
        .canonicalize()
        .expect("it is there")
}

/// A folder in which the library has the names that programs load, or none where they are to load the machine's own; removed when this is dropped.
#[derive(Debug)]
pub struct Dropin(Option<PathBuf>);

impl Dropin {
    /// None where there is a GPU to work on, unless `WARPSMITH_DEVICE` is the simulator.
    ///
    /// # Panics
    /// If the folder cannot be made.
    pub fn unless(cuda_is_available: bool) -> Dropin {
        let device = std::env::var("WARPSMITH_DEVICE").unwrap_or_default();
        let on_gpu = match &*device {
            "" => cuda_is_available,
            device => !device.starts_with("simulator"),
        };
        if on_gpu {
            return Dropin(None);
        }
        let name = format!("warpsmith-dropin-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        for name in ["libcuda.so.1", "libcuda.so"] {
            symlink(library(), folder.join(name)).expect("a link");
        }
        Dropin(Some(folder))
    }

    /// Has a program load the library, whoever in it loads it, and work on its device.
    pub fn be_driver_of(&self, command: &mut Command) {
        if let Some(folder) = &self.0 {
            command
                .env("LD_LIBRARY_PATH", folder)
                .env("WARPSMITH_DEVICE", "cuda");
        }
    }
}

impl Drop for Dropin {
    fn drop(&mut self) {
        if let Some(folder) = &self.0 {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}
