//! What is changed in the source of `core`, and why.

use super::{Change, Edit, How};

/// All of them. One for which a toolchain's source is not as it was is left out: then the method is as slow as it was.
pub(super) const CHANGES: [Change; 6] = [
    Change(&[Edit {
        file: "core/src/slice/mod.rs",
        how: How::Body {
            signature:
                "    pub fn binary_search_by<'a, F>(&'a self, mut f: F) -> Result<usize, usize>
    where
        F: FnMut(&'a T) -> Ordering,
    {
",
            lines: include_str!("binary_search_by.in"),
        },
    }]),
    Change(&[
        Edit {
            file: SKIP,
            how: How::Items(include_str!("skip.in")),
        },
        Edit {
            file: STEP_BY,
            how: How::Nothing {
                from: "impl<I> StepBy<I> {",
                to: "unsafe impl<I: Iterator> StepByImpl<I> for StepBy<I> {",
                hash: 0x972278a7d4cf36ac,
            },
        },
        Edit {
            file: STEP_BY,
            how: How::Items(include_str!("step_by.in")),
        },
        Edit {
            file: STEP_BY,
            how: How::Text {
                old: "    first_take: bool,\n}\n",
                new: "    first_take: bool,\n    /// Those that are left, of an iterator that has indices.\n    indices: Range<usize>,\n}\n",
            },
        },
        Edit {
            file: STEP_BY,
            how: How::Text {
                old: "        StepBy { iter, step_minus_one: step - 1, first_take: true }\n",
                new: "        let (indices, step) = iter.beginning(step);
        StepBy { iter, step_minus_one: step - 1, first_take: true, indices }\n",
            },
        },
    ]),
    // The loop of a range that includes its end calls what it is folded by for the last number once more: it would stand there twice. That of `next` is counted by the linker.
    Change(&[
        Edit {
            file: RANGE,
            how: How::Text {
                old: "        while self.start < self.end {
            // SAFETY: just checked precondition
            let n = unsafe { Step::forward_unchecked(self.start, 1) };
            let n = mem::replace(&mut self.start, n);
            accum = f(accum, n)?;
        }

        self.exhausted = true;

        if self.start == self.end {
            accum = f(accum, self.start)?;
        }
",
                new: "        while let Some(n) = self.spec_next() {
            accum = f(accum, n)?;
        }
",
            },
        },
        Edit {
            file: RANGE,
            how: How::Text {
                old: "        while self.start < self.end {
            // SAFETY: just checked precondition
            let n = unsafe { Step::backward_unchecked(self.end, 1) };
            let n = mem::replace(&mut self.end, n);
            accum = f(accum, n)?;
        }

        self.exhausted = true;

        if self.start == self.end {
            accum = f(accum, self.start)?;
        }
",
                new: "        while let Some(n) = self.spec_next_back() {
            accum = f(accum, n)?;
        }
",
            },
        },
    ]),
    // Arrays by value are passed over at once, as slices are.
    Change(&[
        Edit {
            file: ZIP,
            how: How::Text {
                old: "            self.super_nth(n)
",
                new: "            self.nth_of_both(n)
",
            },
        },
        Edit {
            file: ZIP,
            how: How::Items(include_str!("zip.in")),
        },
    ]),
    // Where the first element is searched for by a loop of its own, another loop is gone through for the others, with all that stands in the loop once more. The threads of a
    // warp find the first one at different times, and would go through both loops one after the other. From Rust 1.97 on, `reduce` is `const` and left as it is.
    Change(&[
        Edit {
            file: ITERATOR,
            how: How::Text {
                old: "    #[rustc_non_const_trait_method]
    fn reduce<F>(mut self, f: F) -> Option<Self::Item>
    where
        Self: Sized,
        F: FnMut(Self::Item, Self::Item) -> Self::Item,
    {
        let first = self.next()?;
        Some(self.fold(first, f))
    }
",
                new: "    #[rustc_non_const_trait_method]
    fn reduce<F>(mut self, f: F) -> Option<Self::Item>
    where
        Self: Sized,
        F: FnMut(Self::Item, Self::Item) -> Self::Item,
    {
        if Self::__is_searched() {
            return self.__reduce_by_fold(f);
        }
        let first = self.next()?;
        Some(self.fold(first, f))
    }

    /// Whether its first element is searched for by a loop of its own.
    #[inline]
    #[doc(hidden)]
    #[unstable(feature = \"trusted_random_access\", issue = \"none\")]
    #[rustc_non_const_trait_method]
    fn __is_searched() -> bool
    where
        Self: Sized,
    {
        false
    }

    /// The same of all elements by one loop.
    #[inline]
    #[doc(hidden)]
    #[unstable(feature = \"trusted_random_access\", issue = \"none\")]
    #[rustc_non_const_trait_method]
    fn __reduce_by_fold<F>(self, mut f: F) -> Option<Self::Item>
    where
        Self: Sized,
        F: FnMut(Self::Item, Self::Item) -> Self::Item,
    {
        self.fold(None, move |reduced, item| match reduced {
            None => Some(item),
            Some(reduced) => Some(f(reduced, item)),
        })
    }
",
            },
        },
        Edit {
            file: "core/src/iter/adapters/flatten.rs",
            how: How::Text {
                old: " Iterator for FlatMap<I, U, F>
where
    F: FnMut(I::Item) -> U,
{
    type Item = U::Item;
",
                new: " Iterator for FlatMap<I, U, F>
where
    F: FnMut(I::Item) -> U,
{
    type Item = U::Item;

    #[inline]
    fn __is_searched() -> bool {
        true
    }
",
            },
        },
        Edit {
            file: "core/src/iter/adapters/filter.rs",
            how: How::Text {
                old: "    fn next(&mut self) -> Option<I::Item> {
        self.iter.find(&mut self.predicate)
    }
",
                new: "    fn next(&mut self) -> Option<I::Item> {
        self.iter.find(&mut self.predicate)
    }

    #[inline]
    fn __is_searched() -> bool {
        true
    }
",
            },
        },
        Edit {
            file: "core/src/iter/adapters/filter_map.rs",
            how: How::Text {
                old: "    fn next(&mut self) -> Option<B> {
        self.iter.find_map(&mut self.f)
    }
",
                new: "    fn next(&mut self) -> Option<B> {
        self.iter.find_map(&mut self.f)
    }

    #[inline]
    fn __is_searched() -> bool {
        true
    }
",
            },
        },
        Edit {
            file: "core/src/iter/adapters/copied.rs",
            how: How::Text {
                old: "    fn next(&mut self) -> Option<T> {
        self.it.next().copied()
    }
",
                new: "    fn next(&mut self) -> Option<T> {
        self.it.next().copied()
    }

    #[inline]
    fn __is_searched() -> bool {
        I::__is_searched()
    }
",
            },
        },
        Edit {
            file: "core/src/iter/adapters/cloned.rs",
            how: How::Text {
                old: "    fn next(&mut self) -> Option<T> {
        self.it.next().cloned()
    }
",
                new: "    fn next(&mut self) -> Option<T> {
        self.it.next().cloned()
    }

    #[inline]
    fn __is_searched() -> bool {
        I::__is_searched()
    }
",
            },
        },
        Edit {
            file: "core/src/iter/adapters/map.rs",
            how: How::Text {
                old: "    fn next(&mut self) -> Option<B> {
        self.iter.next().map(&mut self.f)
    }
",
                new: "    fn next(&mut self) -> Option<B> {
        self.iter.next().map(&mut self.f)
    }

    #[inline]
    fn __is_searched() -> bool {
        I::__is_searched()
    }
",
            },
        },
    ]),
    // Where `next` keeps the word behind half a pair, a loop asks for it in each round, and has two ways to its next word.
    Change(&[
        Edit {
            file: DECODE,
            how: How::Nothing {
                from: "    fn next(&mut self) -> Option<Result<char, DecodeUtf16Error>> {",
                to: "    fn size_hint(&self) -> (usize, Option<usize>) {",
                hash: 0xe4e4f3867e1fdd93,
            },
        },
        Edit {
            file: DECODE,
            how: How::Text {
                old: "    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let (low, high) = self.iter.size_hint();

        let (low_buf",
                new: concat!(
                    include_str!("decode_utf16.in"),
                    "    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let (low, high) = self.iter.size_hint();

        let (low_buf"
                ),
            },
        },
    ]),
];

/// The file of `Iterator`.
pub(super) const ITERATOR: &str = "core/src/iter/traits/iterator.rs";

/// The file of `DecodeUtf16`.
const DECODE: &str = "core/src/char/decode.rs";

/// The file of ranges as iterators.
const RANGE: &str = "core/src/iter/range.rs";

/// The file of `Zip`.
const ZIP: &str = "core/src/iter/adapters/zip.rs";

/// The file of `Skip`.
const SKIP: &str = "core/src/iter/adapters/skip.rs";

/// The file of `StepBy`.
const STEP_BY: &str = "core/src/iter/adapters/step_by.rs";
