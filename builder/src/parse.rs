//! Architectures and PTX versions, read from text.

use std::str::FromStr;

use crate::arch::{Arch, PtxVersion};
use crate::error::BuildError;

impl FromStr for Arch {
    type Err = BuildError;

    fn from_str(text: &str) -> Result<Arch, BuildError> {
        let name = text.trim().to_ascii_lowercase();
        let name = name
            .strip_prefix("compute_")
            .map(|n| format!("sm_{n}"))
            .unwrap_or(name);
        Arch::ALL
            .iter()
            .copied()
            .find(|a| a.name() == name)
            .ok_or_else(|| BuildError::UnknownArch { name: text.into() })
    }
}

impl FromStr for PtxVersion {
    type Err = BuildError;

    fn from_str(text: &str) -> Result<PtxVersion, BuildError> {
        let parse = || -> Option<PtxVersion> {
            let (major, minor) = text.trim().split_once('.')?;
            Some(PtxVersion {
                major: major.parse().ok()?,
                minor: minor.parse().ok()?,
            })
        };
        parse().ok_or_else(|| {
            BuildError::Setup(format!("`{text}` is no PTX version; write one like `8.6`"))
        })
    }
}
