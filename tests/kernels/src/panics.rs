//! Panics whose messages have values of the thread's in them.

use core::num::NonZeroU32;

use warpsmith_device::prelude::*;

/// How many types [`tell_one`] knows.
pub const TYPES: u32 = 14;

/// Panics with two values of a type that the number says: one is displayed, the other one is for debugging.
#[inline(always)]
pub fn tell_one(words: [u64; 2], way: u32) {
    let [a, b] = words;
    match way {
        0 => panic!("u8 {} and {:?}", a as u8, b as u8),
        1 => panic!("u16 {} and {:?}", a as u16, b as u16),
        2 => panic!("u32 {} and {:?}", a as u32, b as u32),
        3 => panic!("u64 {a} and {b:?}"),
        4 => panic!("usize {} and {:?}", a as usize, b as usize),
        5 => panic!("i8 {} and {:?}", a as i8, b as i8),
        6 => panic!("i16 {} and {:?}", a as i16, b as i16),
        7 => panic!("i32 {} and {:?}", a as i32, b as i32),
        8 => panic!("i64 {} and {:?}", a as i64, b as i64),
        9 => panic!("isize {} and {:?}", a as isize, b as isize),
        10 => panic!(
            "f32 {} and {:?}",
            f32::from_bits(a as u32),
            f32::from_bits(b as u32)
        ),
        11 => panic!("f64 {} and {:?}", f64::from_bits(a), f64::from_bits(b)),
        12 => panic!("bool {} and {:?}", a & 1 != 0, b & 1 != 0),
        13 => panic!("char {} and {:?}", char::from(a as u8), char::from(b as u8)),
        _ => (),
    }
}

/// The same in a kernel.
#[kernel]
pub fn tells_one(a: u64, b: u64, way: u32, mut out: PerThread<[u32]>) {
    tell_one([a, b], way);
    if let Some(out) = out.mine() {
        *out = 7;
    }
}

/// An even number; else it is the error.
#[inline(always)]
fn refused(number: u64) -> Result<u64, u64> {
    if number.is_multiple_of(2) {
        Ok(number)
    } else {
        Err(number)
    }
}

/// How many ways [`tell_of_core`] knows.
pub const WAYS: u32 = 18;

/// The panics of `core` that authors write without knowing it.
#[inline(always)]
pub fn tell_of_core(x: &[f32], a: u64, b: u64, way: u32, to: &mut [f32; 4]) -> f32 {
    let (n, m) = (a as usize, b as usize);
    match way {
        0 => return x[0].clamp(f32::from_bits(a as u32), f32::from_bits(b as u32)),
        1 => assert_eq!(a, b),
        2 => assert_ne!(a as u8, b as u8),
        3 => assert_eq!(f32::from_bits(a as u32), f32::from_bits(b as u32)),
        4 => return u32::try_from(a).unwrap() as f32,
        5 => {
            let array: [f32; 2] = x[n..m].try_into().unwrap();
            return array[0] + array[1];
        }
        6 => to[..n].copy_from_slice(&x[..m]),
        7 => assert!(a < b, "{a} is not below {b}: {a}"),
        8 => return u8::try_from(a).expect("a small one") as f32,
        9 => assert_eq!(a as i32, b as i32, "told with {}", 3),
        10 => return NonZeroU32::try_from(a as u32).unwrap().get() as f32,
        11 => return (a as i32).clamp(b as i32, 9) as f32,
        12 => {
            return x[0]
                .abs()
                .max(f64::from(x[0]).clamp(f64::from_bits(a), f64::from_bits(b)) as f32);
        }
        13 => assert_eq!(&x[0], &(a as u32 as f32), "first"),
        14 => {
            let words = [a, b];
            let sum: u64 = words
                .iter()
                .inspect(|word| assert!(**word < 300, "{word} of {}", words[0]))
                .sum();
            return sum as f32;
        }
        15 => return refused(a).unwrap() as f32,
        16 => {
            return char::from_u32(a as u32).map_or(0.0, |c| {
                assert!(c.is_ascii_digit(), "{c} is no digit but {c:?}");
                1.0
            });
        }
        17 => assert!(a & 1 == 0, "odd"),
        _ => (),
    }
    to[0]
}

/// The same in a kernel.
#[kernel]
pub fn tells_of_core(x: &[f32], a: u64, b: u64, way: u32, mut out: PerThread<[f32]>) {
    let mut to = [0.0; 4];
    let value = tell_of_core(x, a, b, way, &mut to);
    if let Some(out) = out.mine() {
        *out = value + to[1];
    }
}

/// A function that panics, and a kernel that calls it.
macro_rules! panicking {
    ($($(#[$doc:meta])* $kernel:ident of $function:ident($a:ident, $b:ident) $body:block)*) => {
        $(
            $(#[$doc])*
            #[inline(always)]
            pub fn $function($a: u64, $b: u64) $body

            $(#[$doc])*
            #[kernel]
            pub fn $kernel(a: u64, b: u64, mut out: PerThread<[u32]>) {
                $function(a, b);
                if let Some(out) = out.mine() {
                    *out = 7;
                }
            }
        )*
    };
}

/// Writes itself.
struct Own(u64);

impl core::fmt::Display for Own {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "<{}>", self.0)
    }
}

panicking! {
    /// A record has two values.
    tells_three_values of tell_three_values(a, b) { assert!(a > b, "{a}, {b}, {}", a ^ b) }
    /// Another trait.
    tells_in_hexadecimal of tell_in_hexadecimal(a, b) { assert!(a > b, "{a:x}") }
    /// Options.
    tells_with_width of tell_with_width(a, b) { assert!(a > b, "{a:>8} {b:?}") }
    /// A type of the user's.
    tells_of_an_own_type of tell_of_an_own_type(a, b) { assert!(a > b, "{} {b}", Own(a)) }
    /// Three values, too.
    asserts_with_a_value of assert_with_a_value(a, b) { assert_eq!(a, b, "with {}", a ^ b) }
}

/// Panics of two places in a loop of which no thread knows the number of rounds before, with much to do behind it.
#[inline(always)]
pub fn go_through_digits(a: u64, b: u64) -> u32 {
    let mut digits = [0_u8; 48];
    let (mut rest, mut length) = (a, 0);
    while rest > 0 {
        let digit = rest % 58;
        assert!(digit != b, "digit {digit} after {length} others");
        digits[length + (b / 1000) as usize] = digit as u8;
        length += 1;
        rest /= 58;
    }
    let digits = digits[..length].iter().rev();
    digits.fold(7, |sum: u32, &digit| sum.rotate_left(5) ^ u32::from(digit))
}

/// The same for each number.
#[kernel]
pub fn panics_behind_a_loop(a: &[u64], b: u64, mut out: PerThread<[u32]>) {
    if let (Some(&a), Some(out)) = (a.get(thread::index()), out.mine()) {
        *out = go_through_digits(a, b);
    }
}
