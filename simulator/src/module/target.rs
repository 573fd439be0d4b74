//! What the head of a PTX module says about where it runs: `.version` and `.target`.

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

/// A target's number and suffix: (90, "a") for `sm_90a`.
pub(super) fn parse_target(target: &str) -> Option<(u32, &str)> {
    let rest = target.trim().strip_prefix("sm_")?;
    let digits = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    Some((rest[..digits].parse().ok()?, &rest[digits..]))
}

/// Why a target does not run on a device. PTX runs on devices of its target's capability and newer ones; `a` only on exactly that,
/// `f` only in the family.
pub(super) fn wrong_target(target: &str, index: usize) -> Option<String> {
    let (number, suffix) = parse_target(target)?;
    let (major, minor) = device::compute_capability(index);
    let have = major * 10 + minor;
    let fits = match suffix {
        "a" => have == number,
        "f" => have / 10 == number / 10 && have >= number,
        _ => have >= number,
    };
    (!fits).then(|| {
        format!("the PTX is for {target}, and the device has compute capability {major}.{minor}")
    })
}
