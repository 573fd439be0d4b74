//! Text of a kernel's `printf`: CUDA's `vprintf` protocol and C's formatting.
//!
//! A kernel calls `vprintf(format, arguments)`. The arguments lie in a buffer, promoted as in C (f32 to f64, small integers
//! to 32 bits), each at its natural alignment. How wide an argument is follows from its conversion alone: 4 bytes for an
//! integer without `l` or `ll` and for `*`, else 8. At most 32 arguments count; the conversions after them, and whatever
//! is no conversion, are printed as they stand.
//!
//! The call returns the number of arguments, 0 if there are none, and -1 for a null format.

/// Arguments beyond this number are ignored.
pub const MAX_ARGUMENTS: usize = 32;

/// How the formatter reads the kernel's memory.
pub trait Memory {
    /// One byte of device memory; `None` where there is none.
    fn byte(&mut self, address: u64) -> Option<u8>;
}

impl<F: FnMut(u64) -> Option<u8>> Memory for F {
    fn byte(&mut self, address: u64) -> Option<u8> {
        self(address)
    }
}

/// An access by the formatter that failed: the format, the argument buffer or a string is no readable memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable(
    /// The address.
    pub u64,
);

/// Formats what `vprintf(format, arguments)` prints. Returns the text and the call's result.
pub fn vprintf(
    memory: &mut dyn Memory,
    format: u64,
    arguments: u64,
) -> Result<(Vec<u8>, i32), Unreadable> {
    if format == 0 {
        return Ok((Vec::new(), -1));
    }
    let format = string(memory, format)?;
    let mut printer = Printer {
        memory,
        next: arguments,
        arguments: 0,
        text: Vec::new(),
    };
    printer.format(&format)?;
    Ok((printer.text, printer.arguments as i32))
}

/// A C string, without its end. Strings are cut at a megabyte.
fn string(memory: &mut dyn Memory, address: u64) -> Result<Vec<u8>, Unreadable> {
    let mut text = Vec::new();
    while text.len() < 1 << 20 {
        let at = address.wrapping_add(text.len() as u64);
        match memory.byte(at).ok_or(Unreadable(at))? {
            0 => break,
            byte => text.push(byte),
        }
    }
    Ok(text)
}

/// Flags, width and precision of a conversion.
#[derive(Clone, Debug, Default)]
struct Specification {
    left: bool,
    plus: bool,
    space: bool,
    alternative: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    /// `h` is -1, `hh` -2, `l` 1, `ll` 2.
    size: i32,
}

struct Printer<'a> {
    memory: &'a mut dyn Memory,
    /// Where the next argument lies, before alignment.
    next: u64,
    arguments: usize,
    text: Vec<u8>,
}

impl Printer<'_> {
    fn format(&mut self, format: &[u8]) -> Result<(), Unreadable> {
        let mut rest = format;
        while let Some(start) = rest.iter().position(|&c| c == b'%') {
            self.text.extend_from_slice(&rest[..start]);
            let conversion = &rest[start..];
            let (saved, saved_arguments) = (self.next, self.arguments);
            match self.conversion(&conversion[1..])? {
                Some(length) => rest = &conversion[1 + length..],
                None => {
                    // No conversion, or one too many: the percent sign stands for itself.
                    (self.next, self.arguments) = (saved, saved_arguments);
                    self.text.push(b'%');
                    rest = &conversion[1..];
                }
            }
        }
        self.text.extend_from_slice(rest);
        Ok(())
    }

    /// The next argument's bits, or `None` after the last that counts.
    fn argument(&mut self, size: u64) -> Result<Option<u64>, Unreadable> {
        if self.arguments == MAX_ARGUMENTS {
            return Ok(None);
        }
        self.arguments += 1;
        let address = self.next.next_multiple_of(size);
        self.next = address + size;
        let mut value = 0;
        for i in 0..size {
            let byte = self
                .memory
                .byte(address + i)
                .ok_or(Unreadable(address + i))?;
            value |= u64::from(byte) << (8 * i);
        }
        Ok(Some(value))
    }

    /// Formats one conversion, given from after its percent sign; its length, or `None` if it is none.
    fn conversion(&mut self, text: &[u8]) -> Result<Option<usize>, Unreadable> {
        let mut spec = Specification::default();
        let mut at = 0;
        let peek = |at: usize| text.get(at).copied().unwrap_or(0);
        loop {
            match peek(at) {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternative = true,
                b'0' => spec.zero = true,
                _ => break,
            }
            at += 1;
        }
        if peek(at) == b'*' {
            at += 1;
            let Some(width) = self.argument(4)? else {
                return Ok(None);
            };
            let width = width as u32 as i32;
            spec.left |= width < 0;
            spec.width = width.unsigned_abs() as usize;
        } else {
            (spec.width, at) = digits(text, at);
        }
        if peek(at) == b'.' {
            at += 1;
            let precision;
            if peek(at) == b'*' {
                at += 1;
                let Some(value) = self.argument(4)? else {
                    return Ok(None);
                };
                precision = usize::try_from(value as u32 as i32).ok();
            } else {
                let (value, end) = digits(text, at);
                (precision, at) = (Some(value), end);
            }
            spec.precision = precision;
        }
        while let b'h' | b'l' = peek(at) {
            spec.size += if peek(at) == b'h' { -1 } else { 1 };
            at += 1;
        }
        // Nothing sensible is wider than this; it keeps a wild width from filling the memory.
        spec.width = spec.width.min(1 << 16);
        spec.precision = spec.precision.map(|p| p.min(1 << 12));
        let kind = peek(at);
        let integer = if spec.size > 0 { 8 } else { 4 };
        let size = match kind {
            b'%' => {
                self.text.push(b'%');
                return Ok(Some(at + 1));
            }
            b'd' | b'i' | b'u' | b'o' | b'x' | b'X' => integer,
            b'c' => 4,
            b's' | b'p' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => 8,
            _ => return Ok(None),
        };
        let Some(value) = self.argument(size)? else {
            return Ok(None);
        };
        match kind {
            b'd' | b'i' => self.signed(&spec, value),
            b'u' | b'o' | b'x' | b'X' => {
                let prefix = if spec.alternative && narrowed(&spec, value) != 0 {
                    match kind {
                        b'x' => "0x",
                        b'X' => "0X",
                        _ => "",
                    }
                } else {
                    ""
                };
                let value = narrowed(&spec, value);
                let digits = match kind {
                    b'u' => value.to_string(),
                    b'o' => format!("{value:o}"),
                    b'x' => format!("{value:x}"),
                    _ => format!("{value:X}"),
                };
                self.whole(&spec, prefix, digits, kind == b'o' && spec.alternative);
            }
            b'c' => self.pad(&spec, &[value as u8]),
            b's' => {
                let text = if value == 0 {
                    b"(null)".to_vec()
                } else {
                    string(self.memory, value)?
                };
                let length = spec.precision.unwrap_or(usize::MAX).min(text.len());
                self.pad(&spec, &text[..length]);
            }
            b'p' => {
                let text = if value == 0 {
                    "(nil)".to_string()
                } else {
                    format!("{value:#x}")
                };
                self.pad(&spec, text.as_bytes());
            }
            _ => self.float(&spec, kind, f64::from_bits(value)),
        }
        Ok(Some(at + 1))
    }

    fn signed(&mut self, spec: &Specification, value: u64) {
        let value = match spec.size {
            ..=-2 => i64::from(value as i8),
            -1 => i64::from(value as i16),
            0 => i64::from(value as i32),
            _ => value as i64,
        };
        self.whole(
            spec,
            sign(spec, value < 0),
            value.unsigned_abs().to_string(),
            false,
        );
    }

    /// An integer: precision is the least number of digits, and switches the zero flag off. `%#o` begins with a zero.
    fn whole(&mut self, spec: &Specification, prefix: &str, mut digits: String, octal: bool) {
        if let Some(precision) = spec.precision {
            if precision == 0 && digits == "0" {
                digits.clear();
            }
            while digits.len() < precision {
                digits.insert(0, '0');
            }
        }
        if octal && !digits.starts_with('0') {
            digits.insert(0, '0');
        }
        let zero = spec.zero && spec.precision.is_none();
        self.number(spec, prefix, &digits, zero);
    }

    /// A number padded to its width, with zeros between prefix and digits if `zero`.
    fn number(&mut self, spec: &Specification, prefix: &str, digits: &str, zero: bool) {
        let mut text = prefix.to_string();
        if zero && !spec.left {
            for _ in prefix.len() + digits.len()..spec.width {
                text.push('0');
            }
        }
        text.push_str(digits);
        self.pad(spec, text.as_bytes());
    }

    fn pad(&mut self, spec: &Specification, text: &[u8]) {
        let fill = spec.width.saturating_sub(text.len());
        let spaces = |text: &mut Vec<u8>| text.resize(text.len() + fill, b' ');
        if !spec.left {
            spaces(&mut self.text);
        }
        self.text.extend_from_slice(text);
        if spec.left {
            spaces(&mut self.text);
        }
    }

    fn float(&mut self, spec: &Specification, kind: u8, value: f64) {
        let upper = kind.is_ascii_uppercase();
        let prefix = sign(spec, value.is_sign_negative());
        let magnitude = value.abs();
        if !magnitude.is_finite() {
            let text = if magnitude.is_nan() { "nan" } else { "inf" };
            let text = if upper {
                text.to_uppercase()
            } else {
                text.to_string()
            };
            return self.number(spec, prefix, &text, false);
        }
        let (mut prefix, text) = match kind.to_ascii_lowercase() {
            b'a' => (format!("{prefix}0x"), hexadecimal(magnitude, spec)),
            b'e' => (
                prefix.to_string(),
                exponential(magnitude, spec.precision.unwrap_or(6), spec.alternative),
            ),
            b'f' => (
                prefix.to_string(),
                fixed(magnitude, spec.precision.unwrap_or(6), spec.alternative),
            ),
            _ => (prefix.to_string(), general(magnitude, spec)),
        };
        let mut text = text;
        if upper {
            (prefix, text) = (prefix.to_uppercase(), text.to_uppercase());
        }
        self.number(spec, &prefix, &text, spec.zero);
    }
}

fn digits(text: &[u8], mut at: usize) -> (usize, usize) {
    let mut value = 0usize;
    while let Some(digit) = text.get(at).filter(|c| c.is_ascii_digit()) {
        value = value
            .saturating_mul(10)
            .saturating_add(usize::from(digit - b'0'));
        at += 1;
    }
    (value, at)
}

fn sign(spec: &Specification, negative: bool) -> &'static str {
    match (negative, spec.plus, spec.space) {
        (true, ..) => "-",
        (_, true, _) => "+",
        (_, _, true) => " ",
        _ => "",
    }
}

/// An unsigned argument, cut to the size that `h` and `hh` ask for.
fn narrowed(spec: &Specification, value: u64) -> u64 {
    match spec.size {
        ..=-2 => value & 0xff,
        -1 => value & 0xffff,
        0 => value & 0xffff_ffff,
        _ => value,
    }
}

fn fixed(value: f64, precision: usize, alternative: bool) -> String {
    let point = if alternative && precision == 0 {
        "."
    } else {
        ""
    };
    format!("{value:.precision$}{point}")
}

/// C wants a sign and at least two digits in the exponent.
fn exponential(value: f64, precision: usize, alternative: bool) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let point = if alternative && precision == 0 {
        "."
    } else {
        ""
    };
    let (sign, exponent) = exponent
        .strip_prefix('-')
        .map_or(('+', exponent), |e| ('-', e));
    format!("{mantissa}{point}e{sign}{exponent:0>2}")
}

/// `%g`: the shorter of the two forms by C's rule, trailing zeros removed unless `#`.
fn general(value: f64, spec: &Specification) -> String {
    let precision = spec.precision.unwrap_or(6).max(1);
    let probe = format!("{value:.*e}", precision - 1);
    let exponent: i32 = probe
        .split_once('e')
        .and_then(|(_, e)| e.parse().ok())
        .unwrap_or(0);
    let trim = |text: &str| {
        if spec.alternative || !text.contains('.') {
            return text.to_string();
        }
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    };
    if exponent < -4 || exponent >= precision as i32 {
        let text = exponential(value, precision - 1, spec.alternative);
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "+00"));
        format!("{}e{exponent}", trim(mantissa))
    } else {
        trim(&fixed(
            value,
            (precision as i32 - 1 - exponent) as usize,
            spec.alternative,
        ))
    }
}

/// `%a` without its `0x`: one hexadecimal digit, the fraction, a binary exponent.
fn hexadecimal(value: f64, spec: &Specification) -> String {
    let bits = value.to_bits();
    let (mut exponent, mut significand) = ((bits >> 52) as i32 - 1023, bits & ((1 << 52) - 1));
    if exponent == -1023 {
        exponent = if significand == 0 { 0 } else { -1022 };
    } else {
        significand |= 1 << 52;
    }
    let mut places = 13;
    if let Some(precision) = spec.precision
        && precision < 13
    {
        // To nearest, ties to even.
        let cut = 4 * (13 - precision);
        let (kept, rest) = (significand >> cut, significand & ((1 << cut) - 1));
        let half = 1 << (cut - 1);
        significand = kept + u64::from(rest > half || rest == half && kept & 1 != 0);
        places = precision;
    }
    let (lead, fraction) = (
        significand >> (4 * places),
        significand & ((1u64 << (4 * places)) - 1),
    );
    let mut digits = if places == 0 {
        String::new()
    } else {
        format!("{fraction:0places$x}")
    };
    match spec.precision {
        None => digits.truncate(digits.trim_end_matches('0').len()),
        Some(precision) => digits.extend(std::iter::repeat_n('0', precision.saturating_sub(13))),
    }
    let point = if digits.is_empty() && !spec.alternative {
        ""
    } else {
        "."
    };
    format!("{lead}{point}{digits}p{exponent:+}")
}

#[cfg(test)]
#[path = "printf_tests.rs"]
mod tests;
