//! Sizes of tests where Miri interprets them, a thousand times slower than they run otherwise.

/// How many cases a random test tries: `count`, or two where Miri interprets it.
pub const fn cases(count: u32) -> u32 {
    if cfg!(miri) { 2 } else { count }
}

/// In which steps a test goes through `count` values: all of them, or some sixteen where Miri interprets it.
///
/// The steps are odd, so that all low bits occur.
pub const fn stride(count: usize) -> usize {
    if cfg!(miri) { (count / 16) | 1 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_is_not_interpreted_tries_everything() {
        let interpreted = cfg!(miri);
        assert_eq!(cases(1000) < 1000, interpreted);
        assert_eq!(stride(1000) > 1, interpreted);
        assert_eq!(stride(3), 1);
    }
}
