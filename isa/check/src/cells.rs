//! The PTX versions and architectures that ptxas is asked about.

use anyhow::{Context, Result};
use warpsmith_isa::{PtxVersion, Target};

/// The versions that ptxas is asked about.
pub const VERSIONS: &[(u8, u8)] = &[
    (2, 3),
    (3, 0),
    (3, 1),
    (3, 2),
    (4, 0),
    (4, 1),
    (4, 2),
    (4, 3),
    (5, 0),
    (6, 0),
    (6, 1),
    (6, 2),
    (6, 3),
    (6, 4),
    (6, 5),
    (7, 0),
    (7, 1),
    (7, 2),
    (7, 3),
    (7, 4),
    (7, 5),
    (7, 6),
    (7, 7),
    (7, 8),
    (8, 0),
    (8, 1),
    (8, 2),
    (8, 3),
    (8, 4),
    (8, 5),
    (8, 6),
    (8, 7),
    (8, 8),
    (9, 0),
    (9, 1),
    (9, 2),
    (9, 3),
    (9, 4),
    (9, 5),
];

/// The architectures that ptxas is asked about.
pub const TARGETS: &[&str] = &[
    "sm_20", "sm_30", "sm_35", "sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_62", "sm_70",
    "sm_72", "sm_75", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_90a", "sm_100",
    "sm_100f", "sm_100a", "sm_103", "sm_103a", "sm_110", "sm_110f", "sm_110a", "sm_120", "sm_120f",
    "sm_120a", "sm_121", "sm_121a",
];

/// The architectures for which all versions are tried: the newest ones of each kind.
pub const BEST: &[&str] = &[
    "sm_90a", "sm_100a", "sm_120a", "sm_89", "sm_80", "sm_75", "sm_70",
];

/// The architectures for which pairs of alternatives are tried.
pub const PAIRS: &[&str] = &[
    "sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a",
];

/// One question: a version and an architecture.
pub type Cell = (PtxVersion, Target);

fn target(name: &str) -> Result<Target> {
    Target::parse(name).with_context(|| format!("{name} is no architecture"))
}

/// The newest version on these architectures.
pub fn newest(targets: &[&str]) -> Result<Vec<Cell>> {
    targets
        .iter()
        .map(|name| Ok((PtxVersion::NEWEST, target(name)?)))
        .collect()
}

/// The newest version on all architectures, and all versions on the newest ones of each kind.
pub fn all() -> Result<Vec<Cell>> {
    let mut cells = newest(TARGETS)?;
    for name in BEST {
        let target = target(name)?;
        cells.extend(
            VERSIONS
                .iter()
                .map(|&(major, minor)| (PtxVersion::new(major, minor), target))
                .filter(|&(version, _)| version != PtxVersion::NEWEST),
        );
    }
    Ok(cells)
}
