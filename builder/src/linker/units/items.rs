//! The PTX of a unit, cut into functions, variables and declarations.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::text::line_at;
use crate::ptx;

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum ItemKind {
    /// A kernel.
    Entry,
    /// A function with a body.
    Function,
    /// A variable of the module.
    Variable,
    /// A function or variable that is elsewhere, or a function's head before its body.
    Declaration,
}

/// A symbol that an item names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Reference {
    pub symbol: String,
    /// Whether it is named otherwise than by a call.
    pub by_address: bool,
}

/// A part of a unit's PTX.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Item {
    pub symbol: String,
    pub kind: ItemKind,
    pub text: String,
    /// The symbols of the unit that it names, each once.
    pub references: Vec<Reference>,
    /// Whether it calls through a pointer.
    pub calls_pointers: bool,
}

/// A unit's PTX in parts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Items {
    /// Version, target and address size.
    pub head: String,
    pub items: Vec<Item>,
    /// The names of source files, by their numbers, with quotes and backslashes as in the text.
    pub files: Vec<(u32, String)>,
    /// Sections of debug information.
    pub sections: String,
}

impl Items {
    /// Takes LLVM's text apart.
    pub fn parse(ptx: &str) -> Items {
        let mut parts = Items::default();
        let mut rest = ptx;
        while !rest.is_empty() {
            let line = line_at(rest, 0);
            let mut length = line.len();
            if let Some(file) = line.strip_prefix("\t.file\t") {
                parts.files.extend(file_of(file));
            } else if line.starts_with("\t.section") {
                parts.sections.push_str(line);
            } else if [".version", ".target", ".address_size"]
                .iter()
                .any(|directive| line.starts_with(directive))
            {
                parts.head.push_str(line);
            } else if line.starts_with('.') {
                let has_body;
                (length, has_body) = extent(rest);
                parts
                    .items
                    .extend(Item::parse(rest[..length].to_owned(), has_body));
            }
            rest = &rest[length..];
        }
        parts.resolve();
        parts
    }

    /// Finds what each item names.
    fn resolve(&mut self) {
        let symbols: HashSet<String> = self.items.iter().map(|item| item.symbol.clone()).collect();
        for item in &mut self.items {
            if item.kind == ItemKind::Declaration {
                continue;
            }
            let mut found: HashMap<&str, bool> = HashMap::new();
            let mut order = Vec::new();
            for line in item.text.lines() {
                let is_call = line.starts_with("\tcall") || line.starts_with("\t{ call");
                item.calls_pointers |= line.contains(".callprototype");
                for word in words(line) {
                    if word != item.symbol && symbols.contains(word) {
                        let by_address = found.entry(word).or_insert_with(|| {
                            order.push(word);
                            false
                        });
                        *by_address |= !is_call;
                    }
                }
            }
            item.references = order
                .iter()
                .map(|&word| Reference {
                    symbol: word.to_owned(),
                    by_address: found[word],
                })
                .collect();
        }
    }
}

impl Item {
    fn parse(text: String, has_body: bool) -> Option<Item> {
        let head = text.split(['{', '=']).next().unwrap_or_default();
        let (symbol, kind) = if let Some((_, rest)) = head.split_once(".entry ") {
            let kind = if has_body {
                ItemKind::Entry
            } else {
                ItemKind::Declaration
            };
            (first_word(rest), kind)
        } else if let Some((_, rest)) = head.split_once(".func ") {
            let rest = rest.trim_start();
            let rest = match rest.strip_prefix('(') {
                Some(result) => result.split_once(')')?.1,
                None => rest,
            };
            let kind = if has_body {
                ItemKind::Function
            } else {
                ItemKind::Declaration
            };
            (first_word(rest.trim_start()), kind)
        } else {
            let kind = if head.starts_with(".extern") {
                ItemKind::Declaration
            } else {
                ItemKind::Variable
            };
            let name = head.split(['[', ';']).next()?.trim_end();
            (name.rsplit(' ').next()?, kind)
        };
        Some(Item {
            symbol: symbol.to_owned(),
            kind,
            text,
            references: Vec::new(),
            calls_pointers: false,
        })
    }
}

/// How long the item is that `text` begins with, and whether it has a body.
fn extent(text: &str) -> (usize, bool) {
    let mut at = 0;
    while at < text.len() {
        let line = line_at(text, at);
        at += line.len();
        if line == "{\n" {
            at += ptx::length_of_block(&text[at..]);
            return (at + line_at(text, at).len(), true);
        }
        if line.ends_with(";\n") {
            break;
        }
    }
    (at, false)
}

fn first_word(text: &str) -> &str {
    words(text).next().unwrap_or_default()
}

/// What may be a symbol.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !is_of_word(c))
        .filter(|word| !word.is_empty())
}

/// Whether a symbol may have the character.
pub(super) fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$'
}

/// Number and name of a file: `1 "/src/kernel.rs"`.
fn file_of(line: &str) -> Option<(u32, String)> {
    let (number, name) = line.split_once(' ')?;
    let name = name.trim().strip_prefix('"')?.strip_suffix('"')?;
    Some((number.parse().ok()?, name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = "//
.version 8.0
.target sm_90
.address_size 64

	// .globl	k
.extern .func  (.param .b32 func_retval0) vprintf
(
	.param .b64 vprintf_param_0
)
;
.func helper
()
.noreturn;
.global .align 8 .u64 table[2] = {helper, generic(text)};
.global .align 1 .b8 text[3] = {1, 2, 3};
.visible .entry k(
	.param .u32 k_param_0
)
.maxntid 64, 1, 1
{
	.reg .b32 	%r<2>;
	mov.b64 	%rd1, table;
	// begin inline asm
	{
.reg .pred truth; /* { */ // }
}
	// end inline asm
	call.uni (retval0), vprintf, (param0);
	prototype_0 : .callprototype ()_ ();
	call %rd2, (), prototype_0;
}
.func  (.param .b32 func_retval0) helper()
.noreturn
{
	trap;
}
	.file	1 \"/a.rs\"
	.section	.debug_macinfo	{	}
";

    #[test]
    fn a_text_is_cut_at_its_functions() {
        let Items {
            head,
            items,
            files,
            sections,
        } = Items::parse(PTX);
        assert_eq!(head, ".version 8.0\n.target sm_90\n.address_size 64\n");
        assert_eq!(files, [(1, "/a.rs".to_owned())]);
        assert_eq!(sections, "\t.section\t.debug_macinfo\t{\t}\n");
        let found: Vec<_> = items
            .iter()
            .map(|item| (item.symbol.as_str(), item.kind))
            .collect();
        assert_eq!(
            found,
            [
                ("vprintf", ItemKind::Declaration),
                ("helper", ItemKind::Declaration),
                ("table", ItemKind::Variable),
                ("text", ItemKind::Variable),
                ("k", ItemKind::Entry),
                ("helper", ItemKind::Function),
            ]
        );
        let references = |n: usize| -> Vec<(&str, bool)> {
            let references = items[n].references.iter();
            references
                .map(|reference| (reference.symbol.as_str(), reference.by_address))
                .collect()
        };
        assert_eq!(references(2), [("helper", true), ("text", true)]);
        assert_eq!(references(4), [("table", true), ("vprintf", false)]);
        assert!(items[4].calls_pointers && !items[5].calls_pointers);
    }
}
