//! Quotients of 128-bit integers, without a loop: "Improved division by invariant integers" by Möller and Granlund (2011).
//!
//! A divisor is shifted until its highest bit is set; of its highest 64 bits, `d`, there is the [`reciprocal()`], by which [`divide()`]
//! divides 128 bits. A divisor of 64 bits takes that once or twice. A longer one takes it once: half of the dividend by `d` gives,
//! shifted back, a quotient that is not too small and at most one too large (Hacker's Delight, `udivdi3`).
//!
//! A division by zero, which is none of Rust's, ends with some number.

/// `n / d` and `n % d`. If `is_constant`, LLVM computes all that depends on `d` alone.
#[inline]
pub fn unsigned(n: u128, d: u128, is_constant: bool) -> (u128, u128) {
    let ([n_low, n_high], [d_low, d_high]) = (words(n), words(d));
    let is_long = d_high != 0;
    let first = if is_long { d_high } else { d_low };
    // Of zero, 63 as well: so no shift is longer than 63.
    let shift = (first | 1).leading_zeros();
    let back = 63 - shift;
    let next = if is_long { d_low >> 1 >> back } else { 0 };
    let divisor = first << shift | next;
    let start = (divisor >> 32) as u32 as f32;
    let start = if is_constant {
        1.0 / start
    } else {
        approximate_reciprocal(start)
    };
    let inverse = reciprocal(divisor, start);

    let (upper, high, low) = if is_long {
        let [low, high] = words(n >> 1);
        (0, high, low)
    } else {
        let [low, middle] = [n_low << shift, n_high << shift | n_low >> 1 >> back];
        let (upper, high) = if n_high < d_low {
            (0, middle)
        } else {
            divide(n_high >> 1 >> back, middle, divisor, inverse)
        };
        (upper, high, low)
    };
    let (quotient, rest) = divide(high, low, divisor, inverse);
    if !is_long {
        return (joined(upper, quotient), (rest >> shift).into());
    }
    let quotient = (quotient >> back).saturating_sub(1);
    let rest = n.wrapping_sub(d.wrapping_mul(quotient.into()));
    if rest < d {
        (quotient.into(), rest)
    } else {
        (joined(0, quotient + 1), rest - d)
    }
}

/// `n / d` without its fraction, and `n % d`, which has the sign of `n`. As [`unsigned()`].
#[inline]
pub fn signed(n: i128, d: i128, is_constant: bool) -> (i128, i128) {
    let (quotient, rest) = unsigned(n.unsigned_abs(), d.unsigned_abs(), is_constant);
    let of_sign = |x: u128, is_negative| {
        let x = x as i128;
        if is_negative { x.wrapping_neg() } else { x }
    };
    (of_sign(quotient, (n ^ d) < 0), of_sign(rest, n < 0))
}

/// `(2^128 - 1) / d - 2^64`, of a `d` with its highest bit set; `first` is the reciprocal of `d / 2^32` as f32, off by at most two units
/// in its last place.
///
/// Each step squares the relative error of the one before, and gives a number that is too small. What is said of errors is relative.
#[inline]
pub fn reciprocal(d: u64, first: f32) -> u64 {
    let [low, high] = [d as u32, (d >> 32) as u32].map(u64::from);
    // 2^94 / d, in 31 bits. The number that `first` is the reciprocal of was rounded, by at most 2^-24 + 2^-31. Less four units of
    // 2^-24 to 2^-23, it is too small, by more than 2^-25 and less than 2^-20.2.
    let first = f32::from_bits(first.to_bits().wrapping_add((62 << 23) - 4));
    // SAFETY: it is less than 2^31, and no NaN.
    let short = u64::from(unsafe { first.to_int_unchecked::<u32>() });
    // 2^62 times the error, rounded down: less than 2^42, and not negative.
    let error = ((1 << 62) - 1_u64).wrapping_sub(short * high + ((short * low) >> 32));
    // 2^97 / d, in 34 bits: too small by less than 1 + 2^-6, which is one for the shift, and the rest for the square and for `error`.
    let more = (short * u64::from((error >> 10) as u32)) >> 49;
    let longer = (short << 3) + more;
    // Half of 2^97 - longer * d, rounded down: the latter is less than (1 + 2^-6) * d, and more than zero.
    let half = if d & 1 == 0 {
        0
    } else {
        (short << 2) + ((more + 1) >> 1)
    };
    let rest = longer
        .wrapping_mul(d >> 1)
        .wrapping_add(half)
        .wrapping_neg();
    // 2^128 / d without the highest of its 65 bits. Times d it is 2^128 less something that is above zero and less than 1.3 * d: one for
    // the shift, and the rest for the square. So it is the result, or less by one, if d more would still be less than 2^128: then the
    // product of the next number has the high word -1, else 0. (If the next number has 66 bits, d is 2^63.) The last bit tells.
    let nearly = (longer << 31).wrapping_add(high_product(longer, rest) >> 1);
    let excess = high_product(nearly.wrapping_add(1), d).wrapping_add(d);
    nearly.wrapping_add(excess & 1)
}

/// Quotient and remainder of a division by `d`, whose highest bit is set and whose [`reciprocal()`] is `inverse`; `high` is less than `d`.
///
/// Theorem 2 of the paper: the first quotient is too large by one, or right, or, which is rare, too small by one. If it is too large, the
/// remainder wraps around, and is more than the fraction that was left of the quotient. It may be more in other cases, too; then one
/// less is too small, and the second correction puts it right.
#[inline]
pub fn divide(high: u64, low: u64, d: u64, inverse: u64) -> (u64, u64) {
    let estimate = u128::from(inverse) * u128::from(high) + joined(high, low);
    let [fraction, quotient] = words(estimate);
    let mut quotient = quotient.wrapping_add(1);
    let mut rest = low.wrapping_sub(quotient.wrapping_mul(d));
    if rest > fraction {
        quotient = quotient.wrapping_sub(1);
        rest = rest.wrapping_add(d);
    }
    if rest >= d {
        quotient = quotient.wrapping_add(1);
        rest -= d;
    }
    (quotient, rest)
}

/// The low word and the high word.
fn words(x: u128) -> [u64; 2] {
    [x as u64, (x >> 64) as u64]
}

fn joined(high: u64, low: u64) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

fn high_product(a: u64, b: u64) -> u64 {
    let [_, high] = words(u128::from(a) * u128::from(b));
    high
}

/// The reciprocal of a normal number, by LLVM's own function: LLVM moves it out of loops, which it does with no inline assembly.
#[cfg(target_arch = "nvptx64")]
fn approximate_reciprocal(x: f32) -> f32 {
    unsafe extern "C" {
        #[link_name = "llvm.nvvm.rcp.approx.ftz.f"]
        fn instruction(x: f32) -> f32;
    }
    // SAFETY: an instruction that reads and writes registers only.
    unsafe { instruction(x) }
}

#[cfg(not(target_arch = "nvptx64"))]
fn approximate_reciprocal(x: f32) -> f32 {
    1.0 / x
}
