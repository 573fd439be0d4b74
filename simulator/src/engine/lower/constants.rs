//! The constants of a function: each stands in the pool once for every lane, as a register would.

use rustc_hash::FxHashMap;

use super::field::Constant;
use crate::engine::exec::operand::Width;

/// The constants of a function.
#[derive(Debug, Default)]
pub(crate) struct Constants {
    words: Vec<u64>,
    /// Of each constant: its offset in bytes, and its width.
    entries: Vec<(u32, Width)>,
    /// The constants by the lower and upper half of their bits, and their width.
    index: FxHashMap<(u64, u64, Width), Constant>,
}

impl Constants {
    /// The constant of these bits (and those above 64) in all lanes.
    pub fn get(&mut self, bits: u64, high: u64, width: Width) -> Constant {
        let key = (bits, high, width);
        if let Some(&constant) = self.index.get(&key) {
            return constant;
        }
        let constant = Constant {
            number: self.entries.len() as u32,
            offset: (self.words.len() * 8) as u32,
        };
        self.entries.push((constant.offset, width));
        match width {
            Width::Pred => {
                self.words.push(if bits != 0 { u64::MAX } else { 0 });
                self.words.resize(self.words.len() + 7, 0);
            }
            Width::W16 => self
                .words
                .extend([(bits & 0xFFFF) * 0x0001_0001_0001_0001; 8]),
            Width::W32 => self
                .words
                .extend([(bits & 0xFFFF_FFFF) * 0x1_0000_0001; 16]),
            Width::W64 => self.words.extend([bits; 32]),
            Width::W128 | Width::Area(_) => {
                for _ in 0..32 {
                    self.words.extend([bits, high]);
                }
            }
        }
        self.index.insert(key, constant);
        constant
    }

    /// The width of the constant of this number.
    pub fn width(&self, number: u32) -> Option<Width> {
        self.entries.get(number as usize).map(|&(_, width)| width)
    }

    /// The offset of the constant of this number in the pool, in bytes.
    pub fn offset(&self, number: u32) -> u32 {
        self.entries[number as usize].0
    }

    /// The pool.
    pub fn words(&self) -> &[u64] {
        &self.words
    }
}
