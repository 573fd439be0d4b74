//! Values in the directives of file tests.

use std::fmt::Write as _;

use half::{bf16, f16};

/// A type of parameters and buffers.
#[derive(Clone, Copy, Debug)]
pub struct Type {
    kind: char,
    bits: usize,
}

/// `4` or `4,2` or `4,2,1`.
pub(super) fn dimensions(text: &str) -> Result<[u32; 3], String> {
    let mut result = [1; 3];
    for (index, part) in text.split(',').enumerate() {
        let place = result.get_mut(index).ok_or("at most three dimensions")?;
        *place = part
            .parse()
            .map_err(|_| format!("`{part}`: not a number"))?;
    }
    Ok(result)
}

impl Type {
    /// The type of this name; `b` is bf16.
    pub fn parse(name: &str) -> Option<Type> {
        if name == "bf16" {
            return Some(Type {
                kind: 'b',
                bits: 16,
            });
        }
        let kind = name.chars().next()?;
        let bits = name[1..].parse().ok()?;
        let known = match kind {
            'u' | 's' | 'x' => matches!(bits, 8 | 16 | 32 | 64),
            'f' => matches!(bits, 16 | 32 | 64),
            _ => false,
        };
        known.then_some(Type { kind, bits })
    }

    /// Bytes of a value.
    pub fn size(self) -> usize {
        self.bits / 8
    }

    fn value(self, text: &str) -> Result<u64, String> {
        let wrong = |_| format!("`{text}` is not a value of this type");
        if let Some(digits) = text.strip_prefix("0x") {
            return u64::from_str_radix(digits, 16).map_err(|_| wrong(()));
        }
        if matches!(self.kind, 'f' | 'b') {
            let value: f64 = text.parse().map_err(|_| wrong(()))?;
            return Ok(match (self.kind, self.bits) {
                ('b', _) => bf16::from_f64(value).to_bits().into(),
                (_, 16) => f16::from_f64(value).to_bits().into(),
                (_, 32) => (value as f32).to_bits().into(),
                _ => value.to_bits(),
            });
        }
        text.parse::<i128>()
            .map(|value| value as u64)
            .map_err(|_| wrong(()))
    }

    /// The bytes of a list of values.
    ///
    /// # Errors
    /// A word that is no value of the type.
    pub fn encode(self, text: &str) -> Result<Vec<u8>, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let count = |word: &str| {
            word.parse::<u64>()
                .map_err(|_| format!("`{word}`: not a number"))
        };
        let values: Vec<u64> = match words[..] {
            ["iota", n] => (0..count(n)?)
                .map(|i| self.value(&i.to_string()))
                .collect::<Result<_, _>>()?,
            ["fill", value, n] => vec![self.value(value)?; count(n)? as usize],
            _ => words
                .iter()
                .map(|word| self.value(word))
                .collect::<Result<_, _>>()?,
        };
        Ok(values
            .iter()
            .flat_map(|value| value.to_le_bytes()[..self.size()].to_vec())
            .collect())
    }

    /// The values in these bytes, as text; `V*N` for N equal ones in a row.
    pub fn decode(self, bytes: &[u8]) -> Vec<String> {
        let mut runs: Vec<(String, usize)> = Vec::new();
        for chunk in bytes.chunks_exact(self.size()) {
            let mut wide = [0; 8];
            wide[..chunk.len()].copy_from_slice(chunk);
            let bits = u64::from_le_bytes(wide);
            let shift = 64 - self.bits;
            let text = match (self.kind, self.bits) {
                ('u', _) => bits.to_string(),
                ('s', _) => (((bits << shift) as i64) >> shift).to_string(),
                ('x', _) => format!("0x{bits:0width$x}", width = self.bits / 4),
                ('b', _) => bf16::from_bits(bits as u16).to_f32().to_string(),
                (_, 16) => f16::from_bits(bits as u16).to_f32().to_string(),
                (_, 32) => f32::from_bits(bits as u32).to_string(),
                _ => f64::from_bits(bits).to_string(),
            };
            match runs.last_mut() {
                Some((last, count)) if *last == text => *count += 1,
                _ => runs.push((text, 1)),
            }
        }
        runs.into_iter()
            .map(|(text, count)| {
                if count == 1 {
                    text
                } else {
                    format!("{text}*{count}")
                }
            })
            .collect()
    }
}

/// The lines that show a buffer: 16 values, or runs of equal values, a line.
pub fn show(index: usize, ty: Type, bytes: &[u8]) -> Vec<String> {
    let values = ty.decode(bytes);
    let rows = values.chunks(16).enumerate();
    let lines = rows.map(|(row, values)| {
        let mut line = match row {
            0 => format!("{index}:"),
            _ => " ".into(),
        };
        for value in values {
            let _ = write!(line, " {value}");
        }
        line
    });
    lines.collect()
}
