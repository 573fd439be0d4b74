//! How LLVM's versions differ, as far as the linker has to know: a table by version.
//!
//! What is not in it is the same in all of them. The tests of `builder/tests/suite` hold for each version of the table; what
//! they compare stands beside each row. `toolchain::differences` is the same for rustc and its standard library.

/// What a function's attribute for subnormal numbers is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subnormals {
    /// A text: `"denormal-fp-math-f32"="preserve-sign,preserve-sign"`.
    Text,
    /// An attribute of its own, `denormal_fpenv`; the text is read from older bitcode, and ignored on a function.
    Environment,
}

/// What one version of LLVM does in another way than some other version.
#[derive(Debug)]
pub struct Differences {
    /// The first LLVM of which this holds; it holds until the next row's.
    since: u32,
    /// How a function says that it flushes subnormal numbers.
    /// Test: `arithmetic::division_square_root_and_subnormals_are_exact_unless_told_otherwise`.
    pub subnormals: Subnormals,
}

/// The versions, oldest first.
const TABLE: &[Differences] = &[
    Differences {
        since: 22,
        subnormals: Subnormals::Text,
    },
    Differences {
        since: 23,
        subnormals: Subnormals::Environment,
    },
];

/// The row of a version of LLVM; a newer one than the table knows has the last row, and the probe kernels show whether that is right.
pub fn of(major: u32) -> &'static Differences {
    TABLE
        .iter()
        .rev()
        .find(|row| row.since <= major)
        .unwrap_or(&TABLE[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_has_the_last_row_that_is_not_newer() {
        assert!(TABLE.is_sorted_by_key(|row| row.since));
        assert_eq!(of(22).subnormals, Subnormals::Text);
        assert_eq!(of(23).subnormals, Subnormals::Environment);
        assert_eq!(of(99).since, TABLE[TABLE.len() - 1].since);
    }
}
