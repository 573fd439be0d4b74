//! Which toolchains may compile kernels: the tested ones, and any other one that translates the probe kernels rightly.
//!
//! The probe runs once for each such toolchain and version of the builder; its PTX stays in the cache.

mod probe;

use std::fs;
use std::path::PathBuf;
use std::sync::Once;

use crate::arch::Arch;
use crate::build;
use crate::cache;
use crate::environment;
use crate::error::{BuildError, IoContext};
use crate::fingerprint;
use crate::linker;
use crate::options::{KernelSource, Options};
use crate::toolchain::Toolchain;
use crate::toolchain::tested::{self, Standing};

/// The file with the probe kernels' PTX in their folder of the cache.
const PTX: &str = "kernels.ptx";

/// Lets a tested toolchain pass, tries any other one once, and says that it did; an error for one that is too old, or that
/// translates the probe kernels wrongly.
pub(crate) fn admit(toolchain: &Toolchain) -> Result<(), BuildError> {
    if toolchain.standing()? == Standing::Tested {
        return Ok(());
    }
    cache::once(&cache::folder()?, &folder_name(toolchain), |folder| {
        let ptx =
            probe(toolchain, folder.join("crate")).map_err(|reason| refusal(toolchain, &reason))?;
        let path = folder.join(PTX);
        fs::write(&path, ptx).context("cannot write", &path)
    })?;
    warn(&format!(
        "rustc {} with LLVM {} is not one of the tested ones ({}). The probe kernels came out right, so it is used",
        toolchain.release,
        toolchain.llvm_version,
        tested::described()
    ));
    Ok(())
}

/// Whether the probe kernels came out right with this toolchain before.
pub(crate) fn remembered(toolchain: &Toolchain) -> bool {
    cache::folder().is_ok_and(|cache| cache.join(folder_name(toolchain)).join(PTX).is_file())
}

/// Builds the probe kernels with `toolchain` and returns their PTX, or what is wrong with it.
fn probe(toolchain: &Toolchain, krate: PathBuf) -> Result<String, String> {
    let write = |name: &str, text: &str| {
        let path = krate.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&krate))
            .and_then(|()| fs::write(&path, text))
            .map_err(|e| format!("{}: {e}", path.display()))
    };
    write(
        "Cargo.toml",
        "[package]\nname = \"probe-kernels\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n",
    )?;
    write("src/lib.rs", probe::SOURCE)?;
    write(
        "src/record.rs",
        &format!("pub const VERSION: u32 = {};\n", linker::RECORD_VERSION),
    )?;
    let mut options = Options {
        arch: Arch::Sm90,
        ..Options::default()
    };
    options.float.ftz = true;
    let ptx = build::locate(&KernelSource::Crate(krate))
        .and_then(|source| build::build(toolchain, &source, &options))
        .map_err(|error| format!("they do not build: {error}"))?
        .ptx;
    match &probe::faults(&ptx)[..] {
        [] => Ok(ptx),
        faults => Err(faults.join("; ")),
    }
}

fn refusal(toolchain: &Toolchain, reason: &str) -> BuildError {
    BuildError::Setup(format!(
        "rustc {} with LLVM {} is not one of the tested ones ({}), and translates the probe kernels wrongly: {reason}.\n\
         Use a tested one: `rustup toolchain install {tested}`, and `cargo +{tested} ...` or `channel = \"{tested}\"` in \
         rust-toolchain.toml",
        toolchain.release,
        toolchain.llvm_version,
        tested::described(),
        tested = tested::newest_stable(),
    ))
}

/// The builder's own version is part of it: another one makes other PTX.
fn folder_name(toolchain: &Toolchain) -> String {
    format!("probe-{}-{}", toolchain.key(), fingerprint::of_builder())
}

/// Once in a process: cargo shows a build script's warnings, and others stand on stderr.
fn warn(text: &str) {
    static WARNED: Once = Once::new();
    WARNED.call_once(|| {
        if environment::build_script_package().is_some() {
            println!("cargo::warning={text}");
        } else {
            eprintln!("warning: {text}");
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptxas::Ptxas;

    fn probed() -> String {
        let toolchain = Toolchain::find().expect("the tests run with a rustc");
        let folder = tempfile::tempdir().expect("a temporary folder");
        probe(&toolchain, folder.path().join("crate")).expect("the probe kernels come out right")
    }

    #[test]
    fn this_toolchain_passes_and_each_fault_is_found() {
        let ptx = probed();
        if let Some(ptxas) = Ptxas::find() {
            ptxas
                .check(&ptx, Arch::Sm90)
                .expect("ptxas takes the probe kernels");
        }
        // Each change is what a compiler that is wrong would make of it; each is found, and found alone.
        let changes: [(&str, &[(&str, &str)]); 9] = [
            (
                "a shuffle moved",
                &[("\tshfl.sync", "\t@%p1 bra $L;\n\tshfl.sync")],
            ),
            (
                "one barrier became several",
                &[("\tbar.sync 0;", "\tbar.sync 0;\n\tbar.sync 0;")],
            ),
            ("two votes", &[("vote.sync", "mov.b32")]),
            ("a static of shared memory", &[("\tst.shared", "\tst")]),
            (
                "an atomic operation",
                &[("atom.acq_rel.sys", "atom.relaxed.gpu")],
            ),
            ("subnormal numbers", &[("fma.rn.ftz", "fma.rn")]),
            ("a kernel's launch bounds", &[(".maxntid 64, 2, 1", "")]),
            ("read-only memory", &[("ld.global.nc", "ld.global")]),
            ("instructions do not name", &[(".loc", "//")]),
        ];
        for (wrong, change) in changes {
            let changed = change
                .iter()
                .fold(ptx.clone(), |ptx, (from, to)| ptx.replace(from, to));
            assert_ne!(changed, ptx, "{wrong}");
            let faults = probe::faults(&changed);
            assert!(
                faults.iter().any(|fault| fault.starts_with(wrong)),
                "{wrong}: {faults:?}"
            );
        }
        assert_eq!(
            probe::faults("").len(),
            11,
            "a kernel that is not there is wrong"
        );
    }

    /// As [`Toolchain::find`], with another version's name.
    fn renamed(release: &str) -> Toolchain {
        let mut toolchain = Toolchain::find().expect("the tests run with a rustc");
        toolchain.release = release.into();
        toolchain.commit = "0123456789".into();
        toolchain
    }

    #[test]
    fn an_older_one_is_refused_and_a_newer_one_names_what_is_wrong() {
        let error = admit(&renamed("1.94.0")).unwrap_err().to_string();
        assert!(error.contains("is too old"), "{error}");
        let error = refusal(&renamed("1.120.0"), "one barrier became several").to_string();
        assert!(
            error.contains("rustc 1.120.0")
                && error.contains("wrongly: one barrier became several")
                && error.contains("1.95.0")
                && error.contains("rustup toolchain install"),
            "{error}"
        );
    }
}
