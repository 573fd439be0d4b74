//! Integer instructions against the definitions in the manual, bit by bit.

use super::*;
use proptest::prelude::*;

/// The start or length of a field: only the instructions of 32 bits take the low byte of it.
fn extent(operand: u32, bits: u32) -> u32 {
    if bits == 32 { operand & 0xff } else { operand }
}

/// The manual's definition of `bfe`, one bit at a time.
fn slow_bfe(a: u64, start: u32, length: u32, signed: bool, bits: u32) -> u64 {
    let (start, length) = (extent(start, bits), extent(length, bits));
    let msb = bits - 1;
    let sign = if !signed || length == 0 {
        0
    } else {
        a >> (start + length - 1).min(msb) & 1
    };
    (0..bits).fold(0, |d, i| {
        let bit = if i < length && start + i <= msb {
            a >> (start + i) & 1
        } else {
            sign
        };
        d | bit << i
    })
}

/// The manual's definition of `bfi`.
fn slow_bfi(a: u64, b: u64, start: u32, length: u32, bits: u32) -> u64 {
    let (start, length) = (extent(start, bits), extent(length, bits));
    let mut f = b;
    for i in 0..length {
        if start + i >= bits {
            break;
        }
        f = f & !(1 << (start + i)) | (a >> i & 1) << (start + i);
    }
    f
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(warpsmith_testkit::cases(5_000)) })]

    #[test]
    fn bit_fields(a in any::<u64>(), b in any::<u64>(), start in 0u32..300, length in 0u32..300, signed in any::<bool>()) {
        prop_assert_eq!(bfe(a as u32, start, length, signed), slow_bfe(a & 0xffff_ffff, start, length, signed, 32) as u32);
        prop_assert_eq!(bfe(a, start, length, signed), slow_bfe(a, start, length, signed, 64));
        prop_assert_eq!(bfi(a as u32, b as u32, start, length), slow_bfi(a & 0xffff_ffff, b & 0xffff_ffff, start, length, 32) as u32);
        prop_assert_eq!(bfi(a, b, start, length), slow_bfi(a, b, start, length, 64));
    }

    #[test]
    fn products_and_carries(a in any::<u64>(), b in any::<u64>(), c in any::<bool>()) {
        let (x, y) = (a as u32, b as u32);
        prop_assert_eq!(mul_hi(x, y, false), ((u64::from(x) * u64::from(y)) >> 32) as u32);
        prop_assert_eq!(mul_hi(x, y, true), ((i64::from(x as i32) * i64::from(y as i32)) >> 32) as u32);
        prop_assert_eq!(mul_hi(a, b, true), ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64);
        let (low, carry) = add_carry(a, b, c);
        let (high, none) = add_carry(0u64, 0, carry);
        prop_assert!(!none);
        prop_assert_eq!(u128::from(high) << 64 | u128::from(low), u128::from(a) + u128::from(b) + u128::from(c));
        let (low, carry) = sub_carry(x, y, c);
        let exact = i64::from(x) - i64::from(y) - i64::from(!c);
        prop_assert_eq!((low, carry), (exact as u32, exact >= 0));
        prop_assert_eq!(sad(x, y, 7, true), (i64::from(x as i32) - i64::from(y as i32)).unsigned_abs().wrapping_add(7) as u32);
    }

    #[test]
    fn logic_and_shifts(a in any::<u32>(), b in any::<u32>(), c in any::<u32>(), table in any::<u8>(), n in 0u32..70) {
        for bit in 0..32 {
            let index = (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | (c >> bit & 1);
            prop_assert_eq!(lop3(a, b, c, table) >> bit & 1, u32::from(table) >> index & 1);
        }
        let both = u64::from(b) << 32 | u64::from(a);
        prop_assert_eq!(shf(a, b, n, false, true), (both >> (n % 32)) as u32);
        prop_assert_eq!(shf(a, b, n, true, false), if n >= 32 { a } else { ((both << n) >> 32) as u32 });
        prop_assert_eq!(shf(a, b, n, false, false), if n >= 32 { b } else { (both >> n) as u32 });
        let dot = (0..4).map(|i| i64::from((a >> (8 * i)) as i8) * i64::from((b >> (8 * i)) as u8)).sum::<i64>();
        prop_assert_eq!(dp4a(a, b, c, true, false), (dot as u32).wrapping_add(c));
        let dot = (0..2).map(|i| i64::from((a >> (16 * i)) as u16) * i64::from((b >> (16 + 8 * i)) as i8)).sum::<i64>();
        prop_assert_eq!(dp2a(a, b, c, false, true, true), (dot as u32).wrapping_add(c));
    }
}

#[test]
fn permutes() {
    let (a, b) = (0x3322_1180, 0x7766_55c4);
    assert_eq!(prmt(a, b, 0x7531, Permute::Generic), 0x7755_3311);
    assert_eq!(prmt(a, b, 0x0c80, Permute::Generic), 0x80ff_ff80);
    assert_eq!(prmt(a, b, 0xffff_9876, Permute::Generic), 0x00ff_7766);
    let modes = [
        (
            Permute::Forward4,
            [0x3322_1180, 0xc433_2211, 0x55c4_3322, 0x6655_c433],
        ),
        (
            Permute::Backward4,
            [0x5566_7780, 0x6677_8011, 0x7780_1122, 0x8011_2233],
        ),
        (
            Permute::Replicate8,
            [0x8080_8080, 0x1111_1111, 0x2222_2222, 0x3333_3333],
        ),
        (
            Permute::EdgeLeft,
            [0x3322_1180, 0x3322_1111, 0x3322_2222, 0x3333_3333],
        ),
        (
            Permute::EdgeRight,
            [0x8080_8080, 0x1111_1180, 0x2222_1180, 0x3322_1180],
        ),
        (
            Permute::Replicate16,
            [0x1180_1180, 0x3322_3322, 0x1180_1180, 0x3322_3322],
        ),
    ];
    for (mode, results) in modes {
        for (selector, result) in results.into_iter().enumerate() {
            assert_eq!(
                prmt(a, b, selector as u32 | 0x40, mode),
                result,
                "{mode:?} {selector}"
            );
        }
    }
}

#[test]
fn fields_of_64_bits_have_extents_of_32() {
    assert_eq!(bfe(0x1234u32, 0x104, 0x208, false), 0x23);
    assert_eq!(bfe(0x1234u64, 0x104, 8, false), 0);
    assert_eq!(bfe(u64::MAX << 63, u32::MAX, u32::MAX, true), u64::MAX);
    assert_eq!(bfi(0xffu64, 0, 0x104, 4), 0);
    assert_eq!(bfi(0xffu64, 0, 4, 0x104), 0xff0);
}

#[test]
fn finding_and_masking() {
    assert_eq!(bfind(0x0001_0000u32, false, false), 16);
    assert_eq!(bfind(0x0001_0000u32, false, true), 15);
    assert_eq!(bfind(0xffff_fff0u32, true, false), 3);
    assert_eq!(bfind(0xffff_ffffu32, true, false), u32::MAX);
    assert_eq!(bfind(0u64, false, true), u32::MAX);
    assert_eq!(bfind(1u64 << 40, true, true), 23);
    assert_eq!(
        (clz(0u32), clz(1u64), brev(1u32), brev(2u64)),
        (32, 63, 1 << 31, 1 << 62)
    );
    assert_eq!(fns(0b1011_0100, 0, 1), 2);
    assert_eq!(fns(0b1011_0100, 2, 2), 4);
    assert_eq!(fns(0b1011_0100, 6, -1), 5);
    assert_eq!(fns(0b1011_0100, 4, 0), 4);
    assert_eq!(fns(0b1011_0100, 3, 0), u32::MAX);
    assert_eq!(fns(0b1011_0100, 0, 5), u32::MAX);
    assert_eq!(bmsk(4, 8, false), 0xff0);
    assert_eq!(bmsk(28, 8, false), 0xf000_0000);
    assert_eq!(
        (bmsk(40, 8, false), bmsk(36, 33, true), bmsk(0, 32, false)),
        (0, 0x10, u32::MAX)
    );
    assert_eq!(
        (szext(0x180, 8, true, false), szext(0x1ff, 8, false, false)),
        (0xffff_ff80, 0xff)
    );
    assert_eq!(
        (
            szext(5, 0, true, false),
            szext(0x8000_0000, 40, true, false),
            szext(3, 33, false, true)
        ),
        (0, 0x8000_0000, 1)
    );
    assert_eq!(
        mul24(0xff80_0001, 3, true, false),
        (-0x7f_ffff * 3i32) as u32
    );
    assert_eq!(
        mul24(0xffff_ffff, 0xffff_ffff, false, true),
        ((0xff_ffffu64 * 0xff_ffff) >> 16) as u32
    );
    assert_eq!(add_saturating(0x7fff_ffff, 1), 0x7fff_ffff);
}
