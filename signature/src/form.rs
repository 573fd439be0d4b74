//! The values in a panic's message: a thread records each as 64 bits, and the message says how those are written.
//!
//! ```text
//! the len is \u{1}u but the index is \u{2}u        the first value and the second, as unsigned integers
//! ```

/// What 64 bits are, and how that is written: as Rust writes a value of the type, without options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// An unsigned integer.
    Unsigned,
    /// A signed integer.
    Signed,
    /// The bits of an `f32`, by `{}`.
    Single,
    /// The bits of an `f32`, by `{:?}`.
    SingleDebug,
    /// The bits of an `f64`, by `{}`.
    Double,
    /// The bits of an `f64`, by `{:?}`.
    DoubleDebug,
    /// A truth value.
    Bool,
    /// A character, by `{}`.
    Char,
    /// A character, by `{:?}`.
    CharDebug,
}

/// All of them, each with the letter that stands for it in a message.
const LETTERS: [(char, Form); 9] = [
    ('u', Form::Unsigned),
    ('i', Form::Signed),
    ('f', Form::Single),
    ('F', Form::SingleDebug),
    ('d', Form::Double),
    ('D', Form::DoubleDebug),
    ('b', Form::Bool),
    ('c', Form::Char),
    ('C', Form::CharDebug),
];

impl Form {
    fn write(self, bits: u64) -> String {
        // Of a narrower value, the bits above it are no part of it.
        let single = f32::from_bits(bits as u32);
        let double = f64::from_bits(bits);
        let character = char::from_u32(bits as u32).unwrap_or(char::REPLACEMENT_CHARACTER);
        match self {
            Form::Unsigned => bits.to_string(),
            Form::Signed => (bits as i64).to_string(),
            Form::Single => single.to_string(),
            Form::SingleDebug => format!("{single:?}"),
            Form::Double => double.to_string(),
            Form::DoubleDebug => format!("{double:?}"),
            Form::Bool => (bits != 0).to_string(),
            Form::Char => character.to_string(),
            Form::CharDebug => format!("{character:?}"),
        }
    }
}

/// What placeholders of the two values begin with. A letter follows.
const STARTS: [char; 2] = ['\u{1}', '\u{2}'];

/// What stands in a message for the value of this index, 0 or 1.
pub fn placeholder(index: usize, form: Form) -> String {
    let (letter, _) = LETTERS
        .into_iter()
        .find(|(_, known)| *known == form)
        .unwrap_or(LETTERS[0]);
    String::from_iter([STARTS[index], letter])
}

/// Whether a text may stand beside placeholders: it has nothing that would be taken for one.
pub fn is_free_of_placeholders(text: &str) -> bool {
    !text.contains(STARTS)
}

/// The message with values in the place of its placeholders.
pub(crate) fn fill(message: &str, values: [u64; 2]) -> String {
    let mut filled = String::with_capacity(message.len() + 32);
    let mut characters = message.chars();
    while let Some(character) = characters.next() {
        let Some(index) = STARTS.iter().position(|start| *start == character) else {
            filled.push(character);
            continue;
        };
        let letter = characters.next();
        match LETTERS.iter().find(|(known, _)| Some(*known) == letter) {
            Some((_, form)) => filled.push_str(&form.write(values[index])),
            // No builder writes it.
            None => filled.push(char::REPLACEMENT_CHARACTER),
        }
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(form: Form, bits: u64) -> String {
        fill(&placeholder(0, form), [bits, 0])
    }

    #[test]
    fn each_form_is_written_as_rust_writes_its_type() {
        for bits in [
            0,
            1,
            0x41,
            0x1f600,
            0x3f80_0000,
            0x7fc0_0000,
            0x7f7f_ffff,
            1 << 63,
            0x3ff8_0000_0000_0000,
            0x7fef_ffff_ffff_ffff,
            u64::MAX,
        ] {
            let (single, double) = (f32::from_bits(bits as u32), f64::from_bits(bits));
            assert_eq!(of(Form::Unsigned, bits), format!("{bits}"));
            assert_eq!(of(Form::Signed, bits), format!("{}", bits as i64));
            assert_eq!(of(Form::Single, bits), format!("{single}"));
            assert_eq!(of(Form::SingleDebug, bits), format!("{single:?}"));
            assert_eq!(of(Form::Double, bits), format!("{double}"));
            assert_eq!(of(Form::DoubleDebug, bits), format!("{double:?}"));
            assert_eq!(of(Form::Bool, bits), format!("{}", bits != 0));
            if let Some(character) = char::from_u32(bits as u32) {
                assert_eq!(of(Form::Char, bits), format!("{character}"));
                assert_eq!(of(Form::CharDebug, bits), format!("{character:?}"));
            }
        }
    }

    #[test]
    fn values_are_written_where_they_stand_and_not_read_again() {
        let [first, second] = [placeholder(0, Form::Char), placeholder(1, Form::Unsigned)];
        let message = format!("{second}, {first}u, {second}");
        assert_eq!(fill(&message, [2, 7]), "7, \u{2}u, 7");
        assert_eq!(fill("\u{1}x\u{2}", [1, 2]), "\u{fffd}\u{fffd}");
        assert!(is_free_of_placeholders("a\nb") && !is_free_of_placeholders(&message));
    }
}
