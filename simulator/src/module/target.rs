//! What the head of a PTX module says about where it runs: `.version` and `.target`.

use warpsmith_isa::{Features, Target};

use crate::device;

/// The newest PTX that is taken: the newest that NVIDIA has published. A driver takes none that is newer than itself.
pub(super) const NEWEST_PTX: (u32, u32) = (9, 5);

/// The version that a module's `.version` names.
pub(super) fn version_directive(ptx: &str) -> Option<(u32, u32)> {
    let line = ptx
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with(".version"))?;
    let (major, minor) = line.strip_prefix(".version")?.trim().split_once('.')?;
    let digits = |text: &str| {
        text.chars()
            .take_while(char::is_ascii_digit)
            .collect::<String>()
            .parse()
            .ok()
    };
    Some((digits(major)?, digits(minor)?))
}

/// Why a target does not run on a device. PTX runs on devices of its target's capability and newer ones; `a` only on exactly that,
/// `f` only in the family.
pub(super) fn wrong_target(target: Target, index: usize) -> Option<String> {
    let (major, minor) = device::compute_capability(index);
    let (have, level) = (major * 10 + minor, u32::from(target.level));
    let fits = match target.features {
        Features::Specific => have == level,
        Features::Family => have / 10 == level / 10 && have >= level,
        Features::Baseline => have >= level,
    };
    (!fits).then(|| {
        format!("the PTX is for {target}, and the device has compute capability {major}.{minor}")
    })
}
