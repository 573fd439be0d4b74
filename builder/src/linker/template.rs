//! Splitting the templates of inline assembly into instructions.

use warpsmith_isa::operand::{Base, Elements, Shape};
use warpsmith_isa::{Match, accept, find};

/// An instruction of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Statement<'t> {
    /// The opcode with its modifiers.
    pub mnemonic: &'t str,
    /// What follows.
    pub operands: &'t str,
}

/// The instructions of a template: without labels, guards, declarations and the braces of scopes.
pub(crate) fn statements(template: &str) -> impl Iterator<Item = Statement<'_>> {
    template.split([';', '\n']).filter_map(|statement| {
        let mut rest =
            statement.trim_start_matches(|c: char| c.is_whitespace() || "{}".contains(c));
        if let Some((label, after)) = rest.split_once(':')
            && !after.starts_with(':')
            && label
                .chars()
                .all(|c| c.is_alphanumeric() || "_$%".contains(c))
        {
            rest = after.trim_start();
        }
        if rest.starts_with('@') {
            rest = rest.split_once(char::is_whitespace)?.1.trim_start();
        }
        let end = rest
            .find(|c: char| c.is_whitespace() || "({}".contains(c))
            .unwrap_or(rest.len());
        let (mnemonic, operands) = rest.split_at(end);
        let is_instruction = mnemonic.starts_with(|c: char| c.is_ascii_alphabetic());
        is_instruction.then_some(Statement {
            mnemonic,
            operands: operands.trim(),
        })
    })
}

impl<'t> Statement<'t> {
    /// The opcode and the modifiers.
    fn parts(self) -> (&'t str, Vec<&'t str>) {
        let mut parts = self.mnemonic.split('.');
        (parts.next().unwrap_or_default(), parts.collect())
    }

    /// The opcode.
    pub fn opcode(self) -> &'t str {
        self.parts().0
    }

    /// Whether it has this modifier.
    pub fn has(self, modifier: &str) -> bool {
        self.parts().1.contains(&modifier)
    }

    /// The form that it has: the one that takes its operands, or the first with its modifiers.
    pub fn form(self) -> Option<Match> {
        let (opcode, modifiers) = self.parts();
        let shapes: Vec<Shape<'_>> = operands(self.operands).map(shape).collect();
        accept(opcode, &modifiers, |form| form.fits(&shapes))
            .or_else(|_| find(opcode, &modifiers))
            .ok()
    }

    /// The special registers, and any other names that look like them.
    pub fn registers(self) -> impl Iterator<Item = &'t str> {
        self.operands
            .split(|c: char| !(c.is_alphanumeric() || "_%.".contains(c)))
            .filter(|word| word.starts_with('%'))
    }
}

/// The operands of a statement, as written.
fn operands(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0i32;
    text.split(move |c| {
        match c {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    })
    .map(str::trim)
    .filter(|operand| !operand.is_empty())
}

/// What an operand looks like, as far as its text says.
fn shape(operand: &str) -> Shape<'_> {
    let inside = |text: &str| u8::try_from(operands(text).count()).unwrap_or(u8::MAX);
    match operand.as_bytes() {
        b"_" => Shape::Sink,
        [b'{', inner @ ..] if operand.ends_with('}') => {
            Shape::Vector(inside(&operand[1..inner.len()]), Elements::Unknown)
        }
        [b'[', inner @ ..] if operand.ends_with(']') => Shape::Address(
            inside(&operand[1..inner.len()]).saturating_sub(1),
            Base::Unknown,
        ),
        [b'(', ..] => Shape::List,
        [b'!', ..] => Shape::Not,
        [b'0'..=b'9', ..] | [b'-', b'0'..=b'9', ..] => {
            operand.parse().map_or(Shape::Unknown, Shape::Integer)
        }
        _ if operand.contains('|') => Shape::Pair(Some("")),
        _ => Shape::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_split() {
        let template =
            "{ .reg .pred p; L$0: @!p ld.global.v2.u32 {$0, $1}, [$2+4]; }\n\tbar.sync 0;";
        let all: Vec<_> = statements(template).collect();
        assert_eq!(
            all,
            [
                Statement {
                    mnemonic: "ld.global.v2.u32",
                    operands: "{$0, $1}, [$2+4]"
                },
                Statement {
                    mnemonic: "bar.sync",
                    operands: "0"
                },
            ]
        );
        let shapes: Vec<_> = operands(all[0].operands).map(shape).collect();
        assert_eq!(
            shapes,
            [
                Shape::Vector(2, Elements::Unknown),
                Shape::Address(0, Base::Unknown)
            ]
        );
        let form = all[0].form().expect("a load of a vector");
        assert_eq!(form.slot("vec"), Some("v2"));
    }

    #[test]
    fn registers_are_found() {
        let statement = statements("mov.u32 $0, %tid.x;")
            .next()
            .expect("one statement");
        assert_eq!(statement.registers().collect::<Vec<_>>(), ["%tid.x"]);
    }
}
