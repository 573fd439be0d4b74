//! PTX versions and architectures: what a module declares, and since when an instruction exists.

use core::fmt;

/// A PTX ISA version, as in `.version 7.8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PtxVersion {
    /// The part before the dot.
    pub major: u8,
    /// The part after the dot.
    pub minor: u8,
}

impl PtxVersion {
    /// The newest version that the tables were compared with.
    pub const NEWEST: PtxVersion = PtxVersion::new(9, 5);

    /// A version by its two parts.
    pub const fn new(major: u8, minor: u8) -> PtxVersion {
        PtxVersion { major, minor }
    }

    /// Whether there is such a version, as far as the tables know.
    pub fn exists(self) -> bool {
        let major = usize::from(self.major);
        let last = major.checked_sub(1).and_then(|at| LAST_MINORS.get(at));
        last.is_some_and(|&last| self.minor <= last)
    }
}

/// Of each major version, from 1, the last minor one.
const LAST_MINORS: [u8; 9] = [5, 3, 2, 3, 1, 5, 8, 8, PtxVersion::NEWEST.minor];

impl fmt::Display for PtxVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Which instructions beyond those of its level an architecture has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Features {
    /// `sm_90`: those that every later architecture has too.
    Baseline,
    /// `sm_100f`: those of its family as well.
    Family,
    /// `sm_90a`: those of exactly this architecture as well.
    Specific,
}

/// An architecture, as in `.target sm_90a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// 90 in `sm_90a`.
    pub level: u16,
    /// The letter after the level.
    pub features: Features,
}

impl Target {
    /// The architecture of this name.
    pub const fn parse(name: &str) -> Option<Target> {
        let bytes = name.as_bytes();
        if bytes.len() < 5 || bytes[0] != b's' || bytes[1] != b'm' || bytes[2] != b'_' {
            return None;
        }
        let (mut level, mut at) = (0u16, 3);
        while at < bytes.len() && bytes[at].is_ascii_digit() && level < 1000 {
            level = level * 10 + (bytes[at] - b'0') as u16;
            at += 1;
        }
        let features = match bytes.len() - at {
            0 => Features::Baseline,
            1 if bytes[at] == b'a' => Features::Specific,
            1 if bytes[at] == b'f' => Features::Family,
            _ => return None,
        };
        if level == 0 {
            return None;
        }
        Some(Target { level, features })
    }

    /// The first PTX version that a module for this architecture may have; none if there is no such architecture, as far as the
    /// tables know.
    pub fn first_version(self) -> Option<PtxVersion> {
        let row = ARCHITECTURES.iter().find(|row| row.level == self.level)?;
        let (major, minor) = match self.features {
            Features::Baseline => Some(row.baseline),
            Features::Specific => row.specific,
            Features::Family => row.family,
        }?;
        Some(PtxVersion::new(major, minor))
    }
}

/// An architecture, and the PTX versions that came with it, with what is its own, and with what is its family's.
struct Architecture {
    level: u16,
    baseline: (u8, u8),
    specific: Option<(u8, u8)>,
    family: Option<(u8, u8)>,
}

const fn plain(level: u16, baseline: (u8, u8)) -> Architecture {
    Architecture {
        level,
        baseline,
        specific: None,
        family: None,
    }
}

/// One whose family has instructions of its own, since a version that may be later.
const fn featured(level: u16, baseline: (u8, u8), family: (u8, u8)) -> Architecture {
    Architecture {
        level,
        baseline,
        specific: Some(baseline),
        family: Some(family),
    }
}

/// The architectures that ptxas knows.
static ARCHITECTURES: &[Architecture] = &[
    plain(10, (1, 0)),
    plain(11, (1, 0)),
    plain(12, (1, 2)),
    plain(13, (1, 2)),
    plain(20, (2, 0)),
    plain(21, (2, 0)),
    plain(30, (3, 0)),
    plain(32, (4, 0)),
    plain(35, (3, 1)),
    plain(37, (4, 1)),
    plain(50, (4, 0)),
    plain(52, (4, 1)),
    plain(53, (4, 2)),
    plain(60, (5, 0)),
    plain(61, (5, 0)),
    plain(62, (5, 0)),
    plain(70, (5, 1)),
    plain(72, (6, 1)),
    plain(75, (6, 3)),
    plain(80, (7, 0)),
    plain(82, (6, 2)),
    plain(86, (7, 1)),
    plain(87, (7, 4)),
    plain(88, (9, 0)),
    plain(89, (7, 8)),
    Architecture {
        level: 90,
        baseline: (7, 8),
        specific: Some((8, 0)),
        family: None,
    },
    featured(100, (8, 6), (8, 8)),
    featured(101, (8, 6), (8, 8)),
    featured(103, (8, 8), (8, 8)),
    featured(107, (9, 4), (9, 4)),
    featured(110, (9, 0), (9, 0)),
    featured(120, (8, 7), (8, 8)),
    featured(121, (8, 8), (8, 8)),
];

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self.features {
            Features::Baseline => "",
            Features::Family => "f",
            Features::Specific => "a",
        };
        write!(f, "sm_{}{letter}", self.level)
    }
}

/// The architectures that have an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Targets {
    /// Those of this level and later ones; 0: all.
    AtLeast(u16),
    /// The ones named, as in `sm_90a,sm_100f`: a family's name stands for its specific architectures too.
    Named(&'static str),
}

impl Targets {
    /// Whether `target` is one of them.
    pub fn contain(self, target: Target) -> bool {
        match self {
            Targets::AtLeast(level) => target.level >= level,
            Targets::Named(names) => {
                names
                    .split(',')
                    .filter_map(Target::parse)
                    .any(|named| match named.features {
                        Features::Family => {
                            target.features != Features::Baseline
                                && target.level / 10 == named.level / 10
                                && target.level >= named.level
                        }
                        _ => named == target,
                    })
            }
        }
    }

    /// The level of the first of them.
    pub fn first_level(self) -> u16 {
        match self {
            Targets::AtLeast(level) => level,
            Targets::Named(names) => names
                .split(',')
                .filter_map(Target::parse)
                .map(|target| target.level)
                .min()
                .unwrap_or(0),
        }
    }
}

/// Since when an instruction or a modifier exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Since {
    /// The first PTX version.
    pub ptx: PtxVersion,
    /// The architectures.
    pub targets: Targets,
}

impl Since {
    /// Always and everywhere.
    pub const ALWAYS: Since = Since {
        ptx: PtxVersion::new(1, 0),
        targets: Targets::AtLeast(0),
    };

    /// Reads `7.8`, `7.8 sm_90` or `8.0 sm_90a,sm_100a` (the space may be a `+`).
    ///
    /// # Panics
    /// If the text is none of these: the tables are constants, so this is an error of compilation.
    pub const fn parse(text: &'static str) -> Since {
        let bytes = text.as_bytes();
        assert!(
            bytes.len() >= 3 && bytes[1] == b'.' && bytes[2].is_ascii_digit(),
            "a version such as 7.8"
        );
        let ptx = PtxVersion::new(bytes[0] - b'0', bytes[2] - b'0');
        let targets = if bytes.len() == 3 {
            Targets::AtLeast(0)
        } else {
            assert!(
                bytes[3] == b' ' || bytes[3] == b'+',
                "a space or `+` before the architecture"
            );
            let name = text.split_at(4).1;
            match Target::parse(name) {
                Some(Target {
                    level,
                    features: Features::Baseline,
                }) => Targets::AtLeast(level),
                _ => Targets::Named(name),
            }
        };
        Since { ptx, targets }
    }
}
