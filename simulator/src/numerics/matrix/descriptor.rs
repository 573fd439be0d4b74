//! Descriptors of matrices in shared memory, as `wgmma` takes them: where each 16 bytes of a factor lie.
//!
//! A matrix consists of units of 16 bytes. Eight of them that follow one another along a line's other direction, or several such
//! groups beside each other if the matrix is swizzled, are a tile that lies in one piece; two offsets lead to the next tiles. A
//! swizzled tile has its units exchanged within 128 bytes: bits of the address above select which.

/// How units are exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Swizzle {
    /// Not at all.
    None,
    /// Within 128 bytes.
    Bytes128,
    /// Within 64 bytes.
    Bytes64,
    /// Within 32 bytes.
    Bytes32,
}

impl Swizzle {
    /// Units that lie beside each other in a tile: a power of two.
    fn units(self) -> u32 {
        match self {
            Swizzle::None => 1,
            Swizzle::Bytes32 => 2,
            Swizzle::Bytes64 => 4,
            Swizzle::Bytes128 => 8,
        }
    }
}

/// Which elements follow one another in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Major {
    /// Those of a row of A or of a column of B.
    K,
    /// Those of a column of A or of a row of B.
    Lines,
}

/// A descriptor's fields, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Where the matrix starts in the shared memory of the block.
    pub start: u32,
    /// The leading dimension byte offset.
    pub leading: u32,
    /// The stride dimension byte offset.
    pub stride: u32,
    /// The place of the swizzle pattern's start among 128-byte lines, modulo 8.
    pub base_offset: u32,
    /// How units are exchanged.
    pub swizzle: Swizzle,
}

impl Descriptor {
    /// The fields of a descriptor's 64 bits.
    pub fn from_bits(bits: u64) -> Descriptor {
        let field = |at: u32| (bits >> at & 0x3fff) as u32 * 16;
        Descriptor {
            start: field(0),
            leading: field(16),
            stride: field(32),
            base_offset: (bits >> 49 & 7) as u32,
            swizzle: match bits >> 62 {
                0 => Swizzle::None,
                1 => Swizzle::Bytes128,
                2 => Swizzle::Bytes64,
                _ => Swizzle::Bytes32,
            },
        }
    }

    /// The bits of a descriptor with these fields, of which the offsets are multiples of 16 below 2^18.
    pub fn to_bits(self) -> u64 {
        let field = |bytes: u32, at: u32| u64::from(bytes / 16 % 0x4000) << at;
        let swizzle = match self.swizzle {
            Swizzle::None => 0,
            Swizzle::Bytes128 => 1,
            Swizzle::Bytes64 => 2,
            Swizzle::Bytes32 => 3,
        };
        field(self.start, 0)
            | field(self.leading, 16)
            | field(self.stride, 32)
            | u64::from(self.base_offset & 7) << 49
            | swizzle << 62
    }

    /// Where a unit lies: for [`Major::K`] unit `along` of the line `across`; for [`Major::Lines`] the elements at place `across`
    /// along k of the lines from `along` units on.
    pub fn address(self, major: Major, along: u32, across: u32) -> u32 {
        let units = self.swizzle.units();
        let (row, group) = (across % 8, across / 8);
        let offset = match (major, self.swizzle) {
            (Major::K, Swizzle::None) => row * 16 + group * self.stride + along * self.leading,
            (Major::K, _) => row * units * 16 + group * self.stride + along * 16,
            (Major::Lines, Swizzle::None) => row * 16 + group * self.leading + along * self.stride,
            (Major::Lines, _) => {
                row * units * 16
                    + group * self.stride
                    + along % units * 16
                    + along / units * self.leading
            }
        };
        let address = self.start + offset;
        let phase = (address >> 7).wrapping_sub(self.base_offset) & (units - 1);
        address ^ phase << 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn descriptor(swizzle: Swizzle, leading: u32, stride: u32) -> Descriptor {
        Descriptor {
            start: 4096,
            leading,
            stride,
            base_offset: 0,
            swizzle,
        }
    }

    #[test]
    fn fields_come_back_from_their_bits() {
        for swizzle in [
            Swizzle::None,
            Swizzle::Bytes128,
            Swizzle::Bytes64,
            Swizzle::Bytes32,
        ] {
            let all = Descriptor {
                start: 0x2_fff0,
                leading: 0x1_2340,
                stride: 0x3_fff0,
                base_offset: 5,
                swizzle,
            };
            assert_eq!(Descriptor::from_bits(all.to_bits()), all);
        }
        // A common one: 128-byte swizzle, tiles of eight rows one after the other.
        let bits = descriptor(Swizzle::Bytes128, 16, 1024).to_bits();
        assert_eq!(bits, 0x4000_0040_0001_0100);
    }

    #[test]
    fn units_of_rows_along_k() {
        let plain = descriptor(Swizzle::None, 128, 256);
        assert_eq!(plain.address(Major::K, 0, 0), 4096);
        assert_eq!(plain.address(Major::K, 0, 3), 4096 + 48);
        assert_eq!(plain.address(Major::K, 1, 3), 4096 + 128 + 48);
        assert_eq!(plain.address(Major::K, 1, 11), 4096 + 256 + 128 + 48);
        // Row 3 of a tile of 128-byte rows has its units exchanged by 3.
        let swizzled = descriptor(Swizzle::Bytes128, 0, 1024);
        assert_eq!(swizzled.address(Major::K, 0, 3), 4096 + 3 * 128 + 3 * 16);
        assert_eq!(swizzled.address(Major::K, 1, 3), 4096 + 3 * 128 + 2 * 16);
        assert_eq!(
            swizzled.address(Major::K, 1, 19),
            4096 + 2048 + 3 * 128 + 2 * 16
        );
        // The next 32 bytes along k, by a start inside the tile.
        let next = Descriptor {
            start: 4096 + 64,
            ..swizzled
        };
        assert_eq!(next.address(Major::K, 0, 3), 4096 + 3 * 128 + (4 ^ 3) * 16);
        // Rows of 64 bytes: two of them share a phase. Rows of 32 bytes: four do.
        let half = descriptor(Swizzle::Bytes64, 0, 512);
        assert_eq!(half.address(Major::K, 0, 5), 4096 + 5 * 64 + 2 * 16);
        let quarter = descriptor(Swizzle::Bytes32, 0, 256);
        assert_eq!(quarter.address(Major::K, 1, 5), 4096 + 5 * 32);
        assert_eq!(quarter.address(Major::K, 1, 3), 4096 + 3 * 32 + 16);
    }

    #[test]
    fn units_across_lines() {
        let plain = descriptor(Swizzle::None, 2048, 128);
        assert_eq!(plain.address(Major::Lines, 0, 5), 4096 + 80);
        assert_eq!(plain.address(Major::Lines, 3, 5), 4096 + 3 * 128 + 80);
        assert_eq!(
            plain.address(Major::Lines, 3, 13),
            4096 + 2048 + 3 * 128 + 80
        );
        let swizzled = descriptor(Swizzle::Bytes128, 4096, 1024);
        assert_eq!(
            swizzled.address(Major::Lines, 2, 5),
            4096 + 5 * 128 + (2 ^ 5) * 16
        );
        assert_eq!(
            swizzled.address(Major::Lines, 10, 13),
            4096 + 4096 + 1024 + 5 * 128 + (2 ^ 5) * 16
        );
    }

    #[test]
    fn a_pattern_may_start_inside_eight_lines() {
        let shifted = Descriptor {
            start: 4096 + 2 * 128,
            base_offset: 2,
            ..descriptor(Swizzle::Bytes128, 0, 1024)
        };
        assert_eq!(shifted.address(Major::K, 0, 0), 4096 + 2 * 128);
        assert_eq!(shifted.address(Major::K, 0, 1), 4096 + 3 * 128 + 16);
    }
}
