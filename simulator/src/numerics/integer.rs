//! The integer instructions that a host processor does not have: bit fields, byte permutes, funnel shifts, dot products,
//! carry chains.
//!
//! Operands and results are in the natural unsigned type; where signedness matters there is a flag or a second
//! function. Widths of 32 and 64 bits share code through [`Word`].

/// `u32` or `u64`, as an operand of instructions that exist in both widths.
pub trait Word: Copy + Eq {
    /// Bits.
    const BITS: u32;
    /// Zero-extended.
    fn wide(self) -> u64;
    /// The low bits.
    fn low(wide: u64) -> Self;
    /// Sign-extended.
    #[inline]
    fn signed(self) -> i64 {
        ((self.wide() << (64 - Self::BITS)) as i64) >> (64 - Self::BITS)
    }
}

macro_rules! word {
    ($type:ty) => {
        impl Word for $type {
            const BITS: u32 = <$type>::BITS;
            #[inline]
            fn wide(self) -> u64 {
                self.into()
            }
            #[inline]
            fn low(wide: u64) -> $type {
                wide as $type
            }
        }
    };
}
word!(u16);
word!(u32);
word!(u64);

/// The upper half of the product.
#[inline]
pub fn mul_hi<W: Word>(a: W, b: W, signed: bool) -> W {
    if signed {
        W::low(((i128::from(a.signed()) * i128::from(b.signed())) >> W::BITS) as u64)
    } else {
        W::low(((u128::from(a.wide()) * u128::from(b.wide())) >> W::BITS) as u64)
    }
}

/// The product of two 24-bit integers: its lower 32 bits, or with `hi` the upper 32 of its 48.
#[inline]
pub fn mul24(a: u32, b: u32, signed: bool, hi: bool) -> u32 {
    let product = if signed {
        let extend = |v: u32| i64::from((v << 8) as i32 >> 8);
        (extend(a) * extend(b)) as u64
    } else {
        u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff)
    };
    (if hi { product >> 16 } else { product }) as u32
}

/// `mad` with saturation (`mad.hi.sat.s32`): the sum of two signed numbers, clamped.
#[inline]
pub fn add_saturating(a: u32, b: u32) -> u32 {
    (a as i32).saturating_add(b as i32) as u32
}

/// `sad`: `c + |a - b|`.
#[inline]
pub fn sad<W: Word>(a: W, b: W, c: W, signed: bool) -> W {
    let difference = if signed {
        a.signed().abs_diff(b.signed())
    } else {
        a.wide().abs_diff(b.wide())
    };
    W::low(c.wide().wrapping_add(difference))
}

/// The start or length of a field: the low byte of its operand, but all of it in instructions of 64 bits.
#[inline]
fn extent<W: Word>(operand: u32) -> u32 {
    match W::BITS {
        64 => operand,
        _ => operand & 0xff,
    }
}

/// `bfe`: the field of `length` bits at `start`. Signed fields are extended with their top bit, or with the operand's own sign where
/// the field reaches beyond it.
#[inline]
pub fn bfe<W: Word>(a: W, start: u32, length: u32, signed: bool) -> W {
    let (start, length) = (extent::<W>(start), extent::<W>(length));
    if length == 0 {
        return W::low(0);
    }
    let top = start.saturating_add(length - 1).min(W::BITS - 1);
    let fill = if signed && a.wide() >> top & 1 != 0 {
        u64::MAX
    } else {
        0
    };
    let field = if start < W::BITS {
        a.wide() >> start
    } else {
        0
    };
    // Bits of the field that exist in the operand.
    let present = if start < W::BITS {
        (top + 1 - start).min(length)
    } else {
        0
    };
    let keep = if present >= 64 {
        u64::MAX
    } else {
        (1 << present) - 1
    };
    W::low(field & keep | fill & !keep)
}

/// `bfi`: `b` with the low `length` bits of `a` put at `start`.
#[inline]
pub fn bfi<W: Word>(a: W, b: W, start: u32, length: u32) -> W {
    let (start, length) = (extent::<W>(start), extent::<W>(length));
    if start >= W::BITS || length == 0 {
        return b;
    }
    let field = if length >= 64 {
        u64::MAX
    } else {
        (1 << length) - 1
    };
    let field = field << start;
    W::low(b.wide() & !field | a.wide() << start & field)
}

/// `bfind`: the position of the top one bit, or for signed operands of the top bit that differs from the sign; all ones
/// if there is none. With `shift`, how far to shift left to bring it to the top.
#[inline]
pub fn bfind<W: Word>(a: W, signed: bool, shift: bool) -> u32 {
    let value = if signed && a.signed() < 0 {
        W::low(!a.wide())
    } else {
        a
    };
    if value.wide() == 0 {
        return u32::MAX;
    }
    let position = 63 - value.wide().leading_zeros();
    if shift {
        W::BITS - 1 - position
    } else {
        position
    }
}

/// `clz`
#[inline]
pub fn clz<W: Word>(a: W) -> u32 {
    a.wide().leading_zeros() - (64 - W::BITS)
}

/// `brev`
#[inline]
pub fn brev<W: Word>(a: W) -> W {
    W::low(a.wide().reverse_bits() >> (64 - W::BITS))
}

/// The modes of `prmt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Permute {
    /// Four selector nibbles, each with a flag that replicates the sign.
    Generic,
    /// `.f4e`: four bytes upwards from the selected.
    Forward4,
    /// `.b4e`: four bytes downwards from the selected.
    Backward4,
    /// `.rc8`: one byte, replicated.
    Replicate8,
    /// `.ecl`: edge clamp to the left.
    EdgeLeft,
    /// `.ecr`: edge clamp to the right.
    EdgeRight,
    /// `.rc16`: one halfword, replicated.
    Replicate16,
}

impl Permute {
    /// The mode of this name, without the dot.
    pub fn parse(name: &str) -> Option<Permute> {
        Some(match name {
            "f4e" => Permute::Forward4,
            "b4e" => Permute::Backward4,
            "rc8" => Permute::Replicate8,
            "ecl" => Permute::EdgeLeft,
            "ecr" => Permute::EdgeRight,
            "rc16" => Permute::Replicate16,
            _ => return None,
        })
    }
}

/// `prmt`: picks four of the eight bytes of `b:a`.
#[inline]
pub fn prmt(a: u32, b: u32, selector: u32, mode: Permute) -> u32 {
    let bytes = u64::from(b) << 32 | u64::from(a);
    let byte = |index: u32| (bytes >> ((index & 7) * 8)) as u8;
    let s = selector & 3;
    let picks = match mode {
        Permute::Generic => {
            return (0..4).fold(0, |result, i| {
                let nibble = selector >> (4 * i) & 15;
                let value = byte(nibble);
                let value = if nibble & 8 != 0 {
                    ((value as i8) >> 7) as u8
                } else {
                    value
                };
                result | u32::from(value) << (8 * i)
            });
        }
        Permute::Forward4 => [s, s + 1, s + 2, s + 3],
        Permute::Backward4 => [s, s + 7, s + 6, s + 5],
        Permute::Replicate8 => [s; 4],
        Permute::EdgeLeft => [0, 1, 2, 3].map(|i: u32| i.max(s)),
        Permute::EdgeRight => [0, 1, 2, 3].map(|i: u32| i.min(s)),
        Permute::Replicate16 => {
            let s = (selector & 1) * 2;
            [s, s + 1, s, s + 1]
        }
    };
    u32::from_le_bytes(picks.map(byte))
}

/// `shf`: 32 bits out of the 64 of `b:a`, shifted left (the upper half remains) or right (the lower half). The amount is
/// clamped to 32 or taken modulo 32.
#[inline]
pub fn shf(a: u32, b: u32, amount: u32, left: bool, wrap: bool) -> u32 {
    let both = u64::from(b) << 32 | u64::from(a);
    let amount = if wrap { amount & 31 } else { amount.min(32) };
    if left {
        ((both << amount) >> 32) as u32
    } else {
        (both >> amount) as u32
    }
}

/// `dp4a`: four products of bytes, added to `c`.
#[inline]
pub fn dp4a(a: u32, b: u32, c: u32, a_signed: bool, b_signed: bool) -> u32 {
    let value = |v: u8, signed: bool| {
        if signed {
            i32::from(v as i8)
        } else {
            i32::from(v)
        }
    };
    a.to_le_bytes()
        .into_iter()
        .zip(b.to_le_bytes())
        .fold(c, |sum, (x, y)| {
            sum.wrapping_add((value(x, a_signed) * value(y, b_signed)) as u32)
        })
}

/// `dp2a`: two products of the halfwords of `a` with the lower or upper two bytes of `b`, added to `c`.
#[inline]
pub fn dp2a(a: u32, b: u32, c: u32, a_signed: bool, b_signed: bool, hi: bool) -> u32 {
    (0..2).fold(c, |sum, i| {
        let half = (a >> (16 * i)) as u16;
        let byte = (b >> (8 * i + if hi { 16 } else { 0 })) as u8;
        let half = if a_signed {
            i32::from(half as i16)
        } else {
            i32::from(half)
        };
        let byte = if b_signed {
            i32::from(byte as i8)
        } else {
            i32::from(byte)
        };
        sum.wrapping_add((half * byte) as u32)
    })
}

/// `lop3`: the Boolean function of three operands whose truth table is `table`.
#[inline]
pub fn lop3(a: u32, b: u32, c: u32, table: u8) -> u32 {
    (0..8).filter(|i| table >> i & 1 != 0).fold(0, |result, i| {
        let pick = |v: u32, bit: u32| if i & bit != 0 { v } else { !v };
        result | pick(a, 4) & pick(b, 2) & pick(c, 1)
    })
}

/// `fns`: the position of the `offset`-th one bit of `mask` from `base` on (upwards if positive, downwards if
/// negative, and with offset 0 the bit at `base` itself); all ones if there is none.
#[inline]
pub fn fns(mask: u32, base: u32, offset: i32) -> u32 {
    let set = |position: i32| (0..32).contains(&position) && mask >> position & 1 != 0;
    if offset == 0 {
        return if set(base as i32) { base } else { u32::MAX };
    }
    let step = offset.signum();
    let (mut position, mut left) = (base as i32, offset.abs());
    while (0..32).contains(&position) {
        if set(position) {
            left -= 1;
            if left == 0 {
                return position as u32;
            }
        }
        position += step;
    }
    u32::MAX
}

/// `bmsk`: `width` ones from `start` on; both clamped to 32, or taken modulo 32.
#[inline]
pub fn bmsk(start: u32, width: u32, wrap: bool) -> u32 {
    let (start, width) = if wrap {
        (start & 31, width & 31)
    } else {
        (start.min(32), width.min(32))
    };
    ((((1u64 << width) - 1) << start) & 0xffff_ffff) as u32
}

/// `szext`: the low `width` bits, sign- or zero-extended. A width above 32 counts as 32, or is taken modulo 32.
#[inline]
pub fn szext(a: u32, width: u32, signed: bool, wrap: bool) -> u32 {
    let width = if wrap { width & 31 } else { width.min(32) };
    if width == 0 {
        return 0;
    }
    let shift = 32 - width;
    if signed {
        ((a << shift) as i32 >> shift) as u32
    } else {
        (a << shift) >> shift
    }
}

/// `add.cc`, `addc`: the sum with a carry in, and the carry out.
#[inline]
pub fn add_carry<W: Word>(a: W, b: W, carry: bool) -> (W, bool) {
    let sum = u128::from(a.wide()) + u128::from(b.wide()) + u128::from(carry);
    (W::low(sum as u64), sum >> W::BITS != 0)
}

/// `sub.cc`, `subc`: `a + !b + carry`, and the carry out of that. So the flag is set where nothing is borrowed, and `sub.cc` has a
/// carry in.
#[inline]
pub fn sub_carry<W: Word>(a: W, b: W, carry: bool) -> (W, bool) {
    add_carry(a, W::low(!b.wide()), carry)
}

#[cfg(test)]
#[path = "integer_tests.rs"]
mod tests;
