//! Loops that are written out, so that arrays indexed by their counter stay in registers.

/// Repeats a block for each of the listed numbers, bound to a `const` of type `usize`.
///
/// LLVM unrolls short loops by itself; where an accumulator array is indexed by the counter, "by itself" is not enough:
/// a loop that stays a loop puts the array into local memory.
#[macro_export]
macro_rules! unroll {
    ($counter:ident in [$($value:literal),*] $body:block) => {
        $({
            #[allow(non_upper_case_globals)]
            const $counter: usize = $value;
            $body
        })*
    };
}
