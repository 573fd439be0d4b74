//! Which work wrote memory last, as one word: what is noted with each write must cost no more than a store.

/// As or after which launch of a stream memory was written, and whether the work may have been given up since.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct WriteMark(u64);

impl WriteMark {
    /// Of work that another library may give up. Later work that has no number of its own is marked by the same number without this.
    const REVOCABLE: u64 = 1 << 63;

    /// Of work as, or after, this launch.
    #[inline]
    pub(crate) fn of(launch: u64) -> WriteMark {
        WriteMark(launch)
    }

    /// Of work that may be given up, together with all such work that has this number.
    #[inline]
    pub(crate) fn revocable(launch: u64) -> WriteMark {
        WriteMark(launch | WriteMark::REVOCABLE)
    }

    /// The launch's number.
    #[inline]
    pub(crate) fn launch(self) -> u64 {
        self.0 & !WriteMark::REVOCABLE
    }

    /// The same kind of mark, with the next number.
    #[inline]
    pub(crate) fn next(self) -> WriteMark {
        WriteMark(self.0 + 1)
    }

    /// The same kind of mark, with this number.
    pub(crate) fn with_launch(self, launch: u64) -> WriteMark {
        WriteMark(self.0 & WriteMark::REVOCABLE | launch)
    }

    /// For an atomic variable.
    #[inline]
    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    /// What [`bits`](Self::bits) was.
    pub(crate) fn from_bits(bits: u64) -> WriteMark {
        WriteMark(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_write_under_the_same_number_is_another_one() {
        let (given, later) = (WriteMark::revocable(7), WriteMark::of(7));
        assert_ne!(given, later);
        assert_eq!((given.launch(), later.launch()), (7, 7));
        assert_eq!(given.next(), WriteMark::revocable(8));
        assert_eq!(given.with_launch(3), WriteMark::revocable(3));
        assert_eq!(WriteMark::from_bits(given.bits()), given);
    }
}
