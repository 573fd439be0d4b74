//! How ptxas names what an instruction needs: the reading of the table in [`phrases`](crate::phrases).

use crate::matched::Match;
use crate::operand::type_bits;
use core::fmt;

/// What a sentence of ptxas is about.
///
/// In its text, `{opcode}` stands for the opcode, `{name}` for the instruction's name, `{word}` for the modifier that asks,
/// `{1}` and `{2}` for the first and second type, and `{slot}` or `{slot|other}` for the modifier in the first of these
/// slots that has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// `Feature '..'`
    Feature(&'static str),
    /// `Instruction '..'`
    Instruction(&'static str),
    /// `Modifier '..'`
    Modifier(&'static str),
    /// `Modifier '..' on '..'`
    ModifierOn(&'static str, &'static str),
}

/// A row of the table: the names of a need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phrase {
    /// The opcodes, separated by spaces; empty: any.
    pub opcodes: &'static str,
    /// The modifiers that ask, separated by spaces; empty: the form itself asks; `*`: any.
    pub of: &'static str,
    /// What else must hold, separated by spaces: `word`, `slot`, `slot=word`, `operand:name`, or several of them with `/`
    /// between, of which one must.
    pub when: &'static str,
    /// What the sentence about the PTX version is about.
    pub version: Subject,
    /// What the sentence about the architecture is about.
    pub target: Subject,
    /// Whether it says that the architecture lacks it, though later ones have it, too.
    pub unsupported: bool,
}

impl Phrase {
    pub(crate) const fn on(mut self, target: Subject) -> Phrase {
        self.target = target;
        self
    }

    pub(crate) const fn unsupported(mut self) -> Phrase {
        self.unsupported = true;
        self
    }

    pub(crate) fn names(&self, found: &Match, word: &str) -> bool {
        let of = match self.of {
            "" => word.is_empty(),
            "*" => !word.is_empty(),
            words => words.split(' ').any(|other| other == word),
        };
        let holds = |item: &str| match item.strip_prefix("operand:") {
            Some(name) => found.form.operands().iter().any(|o| o.name == name),
            None => found.holds(item),
        };
        of && (self.opcodes.is_empty()
            || self
                .opcodes
                .split(' ')
                .any(|opcode| opcode == found.form.opcode))
            && (self.when.is_empty()
                || self
                    .when
                    .split(' ')
                    .all(|items| items.split('/').any(holds)))
    }
}

/// The name of a need, with all that its text refers to.
#[derive(Clone, Copy, Debug)]
pub struct Named<'t> {
    pub(crate) phrase: &'static Phrase,
    pub(crate) subject: Subject,
    pub(crate) word: &'static str,
    pub(crate) found: &'t Match,
}

impl Named<'_> {
    /// The row of the table that names it.
    pub fn phrase(&self) -> &'static Phrase {
        self.phrase
    }
}

impl Named<'_> {
    fn write(&self, f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            f.write_str(before)?;
            let (name, after) = after.split_once('}').unwrap_or((after, ""));
            match name {
                "name" if self.found.form.alias.is_empty() => write!(f, "{}", self.found.name())?,
                _ => f.write_str(self.part(name))?,
            }
            rest = after;
        }
        f.write_str(rest)
    }

    fn part(&self, name: &str) -> &'static str {
        let ty = |number| {
            let mut types = self.found.words().filter(|word| type_bits(word) != 0);
            types.nth(number).unwrap_or_default()
        };
        match name {
            "opcode" => self.found.form.opcode,
            "name" => self.found.form.alias,
            "word" => self.word,
            "1" => ty(0),
            "2" => ty(1),
            slots => slots
                .split('|')
                .find_map(|slot| self.found.slot(slot))
                .unwrap_or_default(),
        }
    }
}

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, name, on) = match self.subject {
            Subject::Feature(name) => ("Feature", name, None),
            Subject::Instruction(name) => ("Instruction", name, None),
            Subject::Modifier(name) => ("Modifier", name, None),
            Subject::ModifierOn(name, on) => ("Modifier", name, Some(on)),
        };
        write!(f, "{kind} '")?;
        self.write(f, name)?;
        f.write_str("'")?;
        if let Some(on) = on {
            f.write_str(" on '")?;
            self.write(f, on)?;
            f.write_str("'")?;
        }
        Ok(())
    }
}
