//! Floating-point inputs: what formats have at their edges, and numbers that make sums cancel, products over- and underflow, and
//! results fall between two others.

use warpsmith_testkit::Random;

/// Sign, exponent and fraction, from the top bit down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bits of the exponent.
    pub exponent: u32,
    /// Bits of the fraction.
    pub fraction: u32,
    /// Unused bits below.
    pub padding: u32,
}

/// The format of a type; `None` of one that is no floating-point type.
pub fn format(ty: &str) -> Option<Format> {
    let (exponent, fraction, padding) = match ty {
        "f16" => (5, 10, 0),
        "bf16" => (8, 7, 0),
        "tf32" => (8, 10, 13),
        "f32" => (8, 23, 0),
        "f64" => (11, 52, 0),
        "e4m3" => (4, 3, 0),
        "e5m2" => (5, 2, 0),
        _ => return None,
    };
    Some(Format {
        exponent,
        fraction,
        padding,
    })
}

impl Format {
    /// The largest biased exponent: that of infinities and NaNs, where there are any.
    pub fn top(self) -> i64 {
        (1 << self.exponent) - 1
    }

    /// What the exponent of one is written as.
    pub fn bias(self) -> i64 {
        self.top() >> 1
    }

    fn fractions(self) -> u64 {
        1 << self.fraction
    }

    /// The bits of a number; an exponent out of range is brought into it.
    pub fn compose(self, is_negative: bool, exponent: i64, fraction: u64) -> u64 {
        let exponent = exponent.clamp(0, self.top()) as u64;
        let sign = u64::from(is_negative) << (self.exponent + self.fraction);
        (sign | exponent << self.fraction | fraction & (self.fractions() - 1)) << self.padding
    }

    /// The biased exponent of a number.
    fn exponent_of(self, bits: u64) -> i64 {
        (bits >> (self.fraction + self.padding)) as i64 & self.top()
    }

    fn sign_bit(self) -> u64 {
        1 << (self.exponent + self.fraction + self.padding)
    }

    /// What is at the edges: zeros, subnormals, one and its neighbours, the largest, infinities, NaNs of several payloads.
    pub fn edges(self) -> Vec<u64> {
        let (one, top, last) = (self.bias(), self.top(), self.fractions() - 1);
        let half = self.fractions() >> 1;
        let magnitudes = [
            (0, 0),
            (0, 1),
            (0, half),
            (0, last),
            (1, 0),
            (1, 1),
            (one - 1, 0),
            (one - 1, last),
            (one, 0),
            (one, 1),
            (one, half),
            (one + 1, 0),
            (top - 1, 0),
            (top - 1, last),
            (top, 0),
            (top, 1),
            (top, half),
            (top, half | 1),
            (top, last),
        ];
        let signs = [false, true].into_iter();
        signs
            .flat_map(|sign| {
                magnitudes.map(|(exponent, fraction)| self.compose(sign, exponent, fraction))
            })
            .collect()
    }

    /// A fraction with few ones, all of them, or any.
    fn fraction(self, random: &mut Random) -> u64 {
        let bit = |random: &mut Random| 1u64 << random.below(self.fraction);
        match random.below(6) {
            0 => 0,
            1 => bit(random),
            2 => bit(random) | bit(random) | bit(random),
            3 => self.fractions() - bit(random),
            // Random digits, then a half, a little less, or a little more, from some place on.
            4 => {
                let place = bit(random);
                let digits = random.bits() & !(place | (place - 1));
                digits | [place, place - 1, place + 1, place | 1][random.index(4)]
            }
            _ => random.bits(),
        }
    }

    /// A finite number with this biased exponent.
    fn number(self, random: &mut Random, exponent: i64) -> u64 {
        let fraction = self.fraction(random);
        let is_negative = random.below(2) != 0;
        self.compose(is_negative, exponent.clamp(0, self.top() - 1), fraction)
    }

    /// A whole number of up to 65 bits, or one and a half, a quarter or a little more or less than it.
    fn around_whole(self, random: &mut Random) -> u64 {
        let digits = i64::from(random.below(66));
        let exponent = self.bias() + digits;
        let bits = self.number(random, exponent);
        // Digits down to one quarter, so that halves show.
        let unit = i64::from(self.fraction) - digits;
        let keep = match random.below(3) {
            0 => unit,
            1 => unit - 1,
            _ => unit - 2,
        };
        match keep {
            1.. => {
                bits >> (keep.min(63) + i64::from(self.padding))
                    << (keep.min(63) + i64::from(self.padding))
            }
            _ => bits,
        }
    }

    fn between(random: &mut Random, lowest: i64, highest: i64) -> i64 {
        lowest + i64::from(random.below((highest - lowest + 1) as u32))
    }

    /// Operands of one instruction, all of this format. `case` counts the instruction's inputs: the first are all pairs of edges.
    pub fn operands(self, random: &mut Random, case: usize, count: usize) -> Vec<u64> {
        let edges = self.edges();
        let systematic = if count == 1 {
            edges.len()
        } else {
            edges.len() * edges.len() / 4
        };
        if case < systematic {
            // Of two operands every fourth pair, of three with a third at random.
            let pair = if count == 1 {
                case
            } else {
                case * 4 + case / edges.len() % 4
            };
            let picks = [
                pair % edges.len(),
                pair / edges.len() % edges.len(),
                random.index(edges.len()),
            ];
            return (0..count)
                .map(|operand| edges[picks[operand.min(2)]])
                .collect();
        }
        let (top, one) = (self.top(), self.bias());
        let width = i64::from(self.fraction);
        let mut operands: Vec<u64> = match random.below(9) {
            0 => (0..count)
                .map(|_| edges[random.index(edges.len())])
                .collect(),
            1 => (0..count).map(|_| random.bits()).collect(),
            // Exponents near one another.
            2 | 3 => {
                let base = Self::between(random, 1, top - 1);
                (0..count)
                    .map(|_| {
                        let exponent = base + Self::between(random, -width - 2, width + 2);
                        self.number(random, exponent)
                    })
                    .collect()
            }
            // The same number but for its sign and last digits.
            4 => {
                let exponent = Self::between(random, 0, top - 1);
                let first = self.number(random, exponent);
                (0..count)
                    .map(|_| {
                        let other = first ^ u64::from(random.below(4)) << self.padding;
                        other
                            ^ if random.below(2) != 0 {
                                self.sign_bit()
                            } else {
                                0
                            }
                    })
                    .collect()
            }
            // Products and quotients at both ends of the range.
            5 => {
                let sum = match random.below(2) {
                    0 => one + Self::between(random, -width - 2, 3),
                    _ => one + top + Self::between(random, -3, 2),
                };
                let first = Self::between(random, 0, top - 1);
                let quotient = random.below(4) == 0;
                (0..count)
                    .map(|operand| {
                        let exponent = match operand {
                            0 => first,
                            1 if quotient => first + one - sum,
                            1 => sum - first,
                            _ => sum - one + Self::between(random, -3, 3),
                        };
                        self.number(random, exponent)
                    })
                    .collect()
            }
            6 => (0..count).map(|_| self.around_whole(random)).collect(),
            7 => (0..count)
                .map(|_| {
                    let exponent = one + Self::between(random, -3, 3);
                    self.number(random, exponent)
                })
                .collect(),
            _ => (0..count)
                .map(|_| {
                    let exponent = Self::between(random, 0, top - 1);
                    self.number(random, exponent)
                })
                .collect(),
        };
        // An addend that nearly cancels a product.
        if count == 3 && random.below(4) == 0 {
            let (a, b) = (self.exponent_of(operands[0]), self.exponent_of(operands[1]));
            let negative = ((operands[0] ^ operands[1]) & self.sign_bit()) == 0;
            let exponent = a + b - one + Self::between(random, 0, 1);
            let fraction = operands[0] >> self.padding ^ u64::from(random.below(4));
            operands[2] = self.compose(negative, exponent.clamp(0, top - 1), fraction);
        }
        let mask = self.sign_bit() | (self.sign_bit() - 1);
        for operand in &mut operands {
            *operand &= mask;
        }
        operands
    }
}
