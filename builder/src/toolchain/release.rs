//! Versions of rustc, as `rustc -vV` writes them.

use std::fmt;
use std::str::FromStr;

/// A release of rustc, as in `1.99.1`, `1.100.0-beta.3` or `1.101.0-nightly`.
///
/// Ordered by its numbers; of one number, what comes before a stable release is smaller than it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release {
    /// The first number.
    pub major: u32,
    /// The second one, which a release every six weeks raises.
    pub minor: u32,
    /// The third one.
    pub patch: u32,
    /// Whether it is a stable release, and no beta, nightly or build of one's own.
    pub stable: bool,
}

impl Release {
    /// A stable release.
    pub const fn stable(major: u32, minor: u32, patch: u32) -> Release {
        Release {
            major,
            minor,
            patch,
            stable: true,
        }
    }

    /// Whether both belong to one series of stable releases, whose patches change no code generation but to mend it.
    pub fn same_series(self, other: Release) -> bool {
        self.stable && other.stable && (self.major, self.minor) == (other.major, other.minor)
    }
}

impl FromStr for Release {
    type Err = String;

    fn from_str(text: &str) -> Result<Release, String> {
        let (numbers, suffix) = match text.split_once('-') {
            Some((numbers, suffix)) => (numbers, Some(suffix)),
            None => (text, None),
        };
        let parsed: Option<Vec<u32>> = numbers.split('.').map(|n| n.parse().ok()).collect();
        match parsed.as_deref() {
            Some(&[major, minor, patch]) => Ok(Release {
                major,
                minor,
                patch,
                stable: suffix.is_none(),
            }),
            _ => Err(format!("`{text}` is no version of rustc")),
        }
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        f.write_str(if self.stable { "" } else { " (not stable)" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(text: &str) -> Release {
        text.parse().expect(text)
    }

    #[test]
    fn releases_are_ordered_by_their_numbers() {
        let ordered = [
            "1.95.0",
            "1.97.0-nightly",
            "1.97.0",
            "1.97.1",
            "1.100.0-beta.3",
            "1.100.0",
        ];
        for pair in ordered.windows(2) {
            assert!(release(pair[0]) < release(pair[1]), "{pair:?}");
        }
        for wrong in ["", "1.95", "1.95.0.1", "one", "1.x.0"] {
            assert!(wrong.parse::<Release>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_patch_belongs_to_its_series_and_a_nightly_to_none() {
        assert!(release("1.99.1").same_series(release("1.99.0")));
        assert!(!release("1.99.1").same_series(release("1.98.0")));
        assert!(!release("1.97.0-nightly").same_series(release("1.97.0")));
    }
}
