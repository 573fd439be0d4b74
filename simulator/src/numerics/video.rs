//! The SIMD video instructions (`vadd2`, `vabsdiff4`, ...): two halfwords or four bytes of a 32-bit register at once.
//!
//! Each lane of the result picks its operands from the eight bytes (four halfwords) of `b:a` or by position, computes in
//! wide arithmetic, and is clamped (`.sat`) or truncated. Lanes outside the mask come from the third operand;
//! with `.add` the lanes' results are summed onto it instead.

use super::compare::Comparison;

/// The operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// `vadd`
    Add,
    /// `vsub`
    Sub,
    /// `vavrg`: the mean, halves rounded away from zero.
    Average,
    /// `vabsdiff`
    AbsoluteDifference,
    /// `vmin`
    Min,
    /// `vmax`
    Max,
    /// `vset`: one where the comparison holds.
    Set(Comparison),
}

/// A decoded SIMD video instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Video {
    /// What each lane computes.
    pub operation: Operation,
    /// 2 or 4.
    pub lanes: u32,
    /// Signedness of the result (`.dtype`).
    pub signed: bool,
    /// Signedness of each lane's first and second operand (`.atype`, `.btype`), whichever register it is selected from.
    pub operands_signed: [bool; 2],
    /// For each result lane, which lane of `b:a` the first and the second operand are.
    pub selectors: [[u8; 4]; 2],
    /// Lanes that are computed; the others are those of `c`.
    pub mask: u8,
    /// `.sat`
    pub sat: bool,
    /// `.add`: the result is `c` plus the sum of the lanes.
    pub accumulate: bool,
}

impl Video {
    /// The instruction without selectors and mask: lane `i` of the result from lane `i` of `a` and of `b`.
    pub fn plain(operation: Operation, lanes: u32, signed: bool) -> Video {
        let own = [0, 1, 2, 3];
        Video {
            operation,
            lanes,
            signed,
            operands_signed: [signed; 2],
            selectors: [own, own.map(|i| i + lanes as u8)],
            mask: (1 << lanes) - 1,
            sat: false,
            accumulate: false,
        }
    }

    /// Executes it.
    pub fn apply(&self, a: u32, b: u32, c: u32) -> u32 {
        let width = 32 / self.lanes;
        let both = u64::from(b) << 32 | u64::from(a);
        let lane = |operand: usize, index: u8| {
            let bits = (both >> (u32::from(index) * width)) & ((1 << width) - 1);
            let shift = 64 - width;
            if self.operands_signed[operand] {
                ((bits << shift) as i64) >> shift
            } else {
                bits as i64
            }
        };
        let (lowest, highest) = if self.signed {
            (-(1i64 << (width - 1)), (1 << (width - 1)) - 1)
        } else {
            (0, (1 << width) - 1)
        };
        let mut result = c;
        for i in 0..self.lanes {
            if self.mask >> i & 1 == 0 {
                continue;
            }
            let (x, y) = (
                lane(0, self.selectors[0][i as usize]),
                lane(1, self.selectors[1][i as usize]),
            );
            let value = match self.operation {
                Operation::Add => x + y,
                Operation::Sub => x - y,
                Operation::Average => {
                    let sum = x + y;
                    if sum < 0 { sum >> 1 } else { (sum + 1) >> 1 }
                }
                Operation::AbsoluteDifference => (x - y).abs(),
                Operation::Min => x.min(y),
                Operation::Max => x.max(y),
                Operation::Set(comparison) => i64::from(comparison.integers(x, y)),
            };
            let value = if self.sat {
                value.clamp(lowest, highest)
            } else {
                value
            };
            if self.accumulate {
                result = result.wrapping_add(value as u32);
            } else {
                let field = (((1u64 << width) - 1) << (i * width)) as u32;
                result = result & !field | (value as u32) << (i * width) & field;
            }
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: VIDEO-01
    // covers: VIDEO-02
    #[test]
    fn lanes_do_not_mix() {
        let sat = |v: Video| Video { sat: true, ..v };
        let add4 = Video::plain(Operation::Add, 4, false);
        assert_eq!(add4.apply(0xff01_80fe, 0x0102_8003, 0), 0x0003_0001);
        assert_eq!(sat(add4).apply(0xff01_80fe, 0x0102_8003, 0), 0xff03_ffff);
        let sub2 = Video::plain(Operation::Sub, 2, true);
        assert_eq!(sub2.apply(0x8000_0001, 0x0001_0002, 0), 0x7fff_ffff);
        assert_eq!(sat(sub2).apply(0x8000_0001, 0x0001_0002, 0), 0x8000_ffff);
        assert_eq!(
            Video::plain(Operation::Min, 2, true).apply(0xffff_0005, 0x0001_0003, 0),
            0xffff_0003
        );
        assert_eq!(
            Video::plain(Operation::Max, 2, false).apply(0xffff_0005, 0x0001_0003, 0),
            0xffff_0005
        );
        assert_eq!(
            Video::plain(Operation::Average, 4, false).apply(0x0102_0304, 0x0202_0401, 0),
            0x0202_0403
        );
        let set = Video::plain(Operation::Set(Comparison::Lt), 4, false);
        assert_eq!(
            set.apply(0x0105_0003, 0x0204_0003, 0xaaaa_aaaa),
            0x0100_0000
        );
        let masked = Video {
            mask: 0b0101,
            ..add4
        };
        assert_eq!(
            masked.apply(0x0101_0101, 0x0101_0101, 0x9988_7766),
            0x9902_7702
        );
        let crossed = Video {
            selectors: [[3, 2, 1, 0], [4, 4, 4, 4]],
            ..add4
        };
        assert_eq!(crossed.apply(0x0403_0201, 0x0000_0010, 0), 0x1112_1314);
    }

    // covers: VIDEO-03
    // covers: VIDEO-E1
    #[test]
    fn sum_of_absolute_differences() {
        let sad = Video {
            accumulate: true,
            ..Video::plain(Operation::AbsoluteDifference, 4, false)
        };
        assert_eq!(
            sad.apply(0xff00_1020, 0x00ff_2010, 1000),
            1000 + 255 + 255 + 16 + 16
        );
        let signed = Video {
            accumulate: true,
            ..Video::plain(Operation::AbsoluteDifference, 4, true)
        };
        assert_eq!(signed.apply(0x80, 0x7f, 0), 255);
    }
}
