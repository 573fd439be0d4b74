//! The toolchains that kernels were compiled and looked at with, and how any other stands to them.

use super::{Release, Toolchain};
use crate::error::BuildError;

/// A toolchain that `cargo xtask test --toolchain` has passed with, or one of whose neighbours it has, with which the reference kernels
/// have the same registers and as many instructions (`cargo xtask bench toolchains`).
#[derive(Debug, Clone, Copy)]
pub struct Tested {
    /// As `rustc -vV` writes it.
    pub release: &'static str,
    /// The commit that it was built from, in short: what tells one nightly from another.
    pub commit: &'static str,
    /// Its LLVM.
    pub llvm: &'static str,
}

/// The tested toolchains, oldest first. One with other differences than those of its neighbours has its row in `toolchain::release` or in
/// `llvm::differences`.
pub const TESTED: &[Tested] = &[
    tested("1.95.0", "59807616e", "22.1.2"),
    tested("1.96.0", "ac68faa20", "22.1.2"),
    tested("1.97.0-nightly", "e50aa6fba", "22.1.4"),
    tested("1.97.0", "2d8144b78", "22.1.6"),
    tested("1.98.0", "88d9e12ae", "22.1.8"),
    tested("1.99.1", "58cf8f9c3", "23.1.1"),
    tested("1.101.0-nightly", "92b5b8c87", "23.1.4"),
];

/// The oldest release that can work: those before it have an LLVM whose interface the linker does not know.
pub const OLDEST: Release = Release::stable(1, 95, 0);
/// The LLVM of [`OLDEST`].
pub const OLDEST_LLVM: u32 = 22;

const fn tested(release: &'static str, commit: &'static str, llvm: &'static str) -> Tested {
    Tested {
        release,
        commit,
        llvm,
    }
}

/// How a toolchain stands to the tested ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is one of them, or another patch of one's stable series.
    Tested,
    /// Newer than what was tested, or a beta or nightly that was not.
    Untested,
}

/// The newest stable release that was tested: what a remedy names.
pub fn newest_stable() -> &'static str {
    TESTED
        .iter()
        .rev()
        .find(|tested| !tested.release.contains('-'))
        .map_or("stable", |tested| tested.release)
}

/// What was tested, in words.
pub fn described() -> String {
    let releases = |stable: bool| {
        TESTED
            .iter()
            .filter(move |tested| tested.release.contains('-') != stable)
    };
    let stable: Vec<&str> = releases(true).map(|tested| tested.release).collect();
    let others: Vec<String> = releases(false)
        .map(|tested| format!("{} ({})", tested.release, tested.commit))
        .collect();
    format!("{}, and {}", stable.join(", "), others.join(", "))
}

impl Toolchain {
    /// How the toolchain stands to the tested ones; an error for one that is too old to work.
    pub fn standing(&self) -> Result<Standing, BuildError> {
        let release = self.release()?;
        if release < OLDEST || self.llvm_major().is_some_and(|major| major < OLDEST_LLVM) {
            return Err(BuildError::Setup(format!(
                "rustc {} with LLVM {} is too old: kernels need rustc {OLDEST} with LLVM {OLDEST_LLVM}, or a newer one. \
                 `rustup update stable` fetches the newest; a `channel` in rust-toolchain.toml may name an old one",
                self.release, self.llvm_version
            )));
        }
        let is_tested = TESTED.iter().any(|tested| {
            tested
                .release
                .parse()
                .is_ok_and(|known: Release| known.same_series(release))
                || (tested.release == self.release && self.commit.starts_with(tested.commit))
        });
        Ok(if is_tested {
            Standing::Tested
        } else {
            Standing::Untested
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn toolchain(release: &str, commit: &str, llvm: &str) -> Toolchain {
        Toolchain {
            rustc: PathBuf::new(),
            cargo: PathBuf::new(),
            sysroot: PathBuf::new(),
            release: release.into(),
            commit: commit.into(),
            llvm_version: llvm.into(),
        }
    }

    #[test]
    fn the_table_is_in_order_and_begins_with_the_oldest() {
        let releases: Vec<Release> = TESTED
            .iter()
            .map(|t| t.release.parse().expect("a version"))
            .collect();
        assert!(releases.is_sorted(), "{releases:?}");
        assert_eq!(releases[0], OLDEST);
        assert!(TESTED.iter().all(|t| t.commit.len() == 9));
        let text = described();
        assert!(text.contains(newest_stable()), "{text}");
    }

    #[test]
    fn each_tested_one_is_tested_and_so_are_patches_of_stable_ones() {
        for tested in TESTED {
            let one = toolchain(tested.release, tested.commit, tested.llvm);
            assert_eq!(one.standing().expect("not too old"), Standing::Tested);
        }
        let standing = |release, commit| toolchain(release, commit, "23.1.1").standing().unwrap();
        assert_eq!(standing("1.99.7", "0123456789"), Standing::Tested);
        assert_eq!(standing("1.100.0", "0123456789"), Standing::Untested);
        assert_eq!(standing("1.100.0-beta.1", "0123456789"), Standing::Untested);
        // A nightly of the same number from another day.
        assert_eq!(standing("1.97.0-nightly", "0123456789"), Standing::Untested);
    }

    #[test]
    fn older_ones_are_refused_with_the_way_out() {
        for (release, llvm) in [
            ("1.94.2", "21.1.8"),
            ("1.60.0", "14.0.0"),
            ("1.96.0", "21.0.0"),
        ] {
            let text = toolchain(release, "0123456789", llvm)
                .standing()
                .unwrap_err()
                .to_string();
            assert!(
                text.contains(&format!("rustc {release} with LLVM {llvm} is too old"))
                    && text.contains("rustup update stable"),
                "{text}"
            );
        }
    }
}
