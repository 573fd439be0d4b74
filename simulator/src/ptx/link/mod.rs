//! Linking: the texts of several modules become the text of one.
//!
//! Statements of the module level are copied as they stand, comments and lines included. What changes:
//!
//! - one head, of the newest version and target among the modules;
//! - a declaration of what another module defines is left out; a prototype, or the variable's definition, comes before all modules instead,
//!   so that what is used is declared above its use;
//! - of several weak or common definitions one is kept, and a visible one takes the place of weak ones;
//! - a name that is a module's own and means something else in another gets a suffix;
//! - numbers of `.file` count on from module to module.

mod definitions;
mod parts;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::ast::Linkage;
use super::lexer::{Token, TokenKind};

pub use self::definitions::Definitions;
use self::parts::Parts;
pub use self::parts::Unit;

/// The text of all modules.
#[derive(Debug, Default)]
pub struct Linked {
    /// The PTX.
    pub text: String,
    /// For lines of it from which on another statement stands: the number of its unit, and its line there.
    starts: Vec<(u32, usize, u32)>,
}

impl Linked {
    /// From which unit a line of the text is, by its number, and the line there.
    pub fn origin(&self, line: u32) -> Option<(usize, u32)> {
        let next = self.starts.partition_point(|(start, ..)| *start <= line);
        let (start, unit, first) = *self.starts.get(next.checked_sub(1)?)?;
        Some((unit, first + line - start))
    }
}

/// Links modules. `is_provided` tells the names that need no definition: functions of the device runtime.
///
/// # Errors
///
/// What the driver's linker says of it: a name that is defined twice, or used and defined nowhere.
pub fn link(units: &[Unit], is_provided: &dyn Fn(&str) -> bool) -> Result<Linked, String> {
    let mut parts = Vec::new();
    for unit in units {
        parts.push(Parts::new(unit)?);
    }
    let mut definitions = Definitions::default();
    for part in &parts {
        definitions.add_parts(part)?;
    }
    let mut linker = Linker {
        names: parts.iter().flat_map(Parts::names).collect(),
        out: Linked::default(),
        dropped: definitions.superseded().clone(),
        definitions,
    };
    linker.head(&parts);
    linker.prelude(&parts, is_provided)?;
    let mut files = 0;
    for (number, part) in parts.iter().enumerate() {
        for (index, statement) in part.statements.iter().enumerate() {
            if !statement.head && !linker.dropped.contains(&(number, index)) {
                linker.copy(&parts, number, statement.tokens.clone(), files);
            }
        }
        files += part
            .module
            .files
            .iter()
            .map(|file| file.0)
            .max()
            .unwrap_or(0);
    }
    Ok(linker.out)
}

struct Linker<'t> {
    /// How many modules have each name.
    names: Counts<'t>,
    definitions: Definitions,
    /// Statements that are not copied in their place.
    dropped: HashSet<(usize, usize)>,
    out: Linked,
}

/// How often each name occurs.
struct Counts<'t>(HashMap<&'t str, usize>);

impl<'t> FromIterator<&'t str> for Counts<'t> {
    fn from_iter<I: IntoIterator<Item = &'t str>>(names: I) -> Self {
        let mut counts = HashMap::new();
        for name in names {
            *counts.entry(name).or_insert(0) += 1;
        }
        Counts(counts)
    }
}

impl<'t> Linker<'t> {
    /// `.version`, `.target` and `.address_size`.
    fn head(&mut self, parts: &[Parts<'t>]) {
        let heads = || parts.iter().map(|part| &part.module.head);
        let version = heads().map(|head| head.version).max();
        let target = heads().map(|head| head.target).max();
        let debug = heads().any(|head| head.debug.is_some());
        if let (Some(version), Some(target)) = (version, target) {
            self.out.text = format!(
                ".version {}.{}\n.target {target}{}\n.address_size 64\n",
                version.major,
                version.minor,
                if debug { ", debug" } else { "" }
            );
        }
    }

    /// What modules use of each other: prototypes of functions, and variables.
    fn prelude(
        &mut self,
        parts: &[Parts<'t>],
        is_provided: &dyn Fn(&str) -> bool,
    ) -> Result<(), String> {
        let mut declared: HashSet<&str> = HashSet::new();
        let mut variables = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            for (index, reference) in part.declarations() {
                let name = reference.name;
                if reference.defines || part.private.contains(name) {
                    continue;
                }
                let is_first = declared.insert(name);
                match self.definitions.get(name) {
                    Some(definition) => {
                        self.dropped.insert((number, index));
                        if is_first && reference.function {
                            let tokens = part.statements[index].tokens.clone();
                            self.prototype(parts, number, tokens, definition.linkage);
                        } else if is_first {
                            variables.push(definition);
                        }
                    }
                    // Declared by each that uses it, and defined by none: once is enough.
                    None if reference.dynamic_shared || is_provided(name) => {
                        if !is_first {
                            self.dropped.insert((number, index));
                        }
                    }
                    None if part.uses(name) => {
                        return Err(format!(
                            "Undefined reference to '{name}' in '{}'",
                            part.unit.name
                        ));
                    }
                    None => {
                        self.dropped.insert((number, index));
                    }
                }
            }
        }
        for definition in variables {
            if self.dropped.insert((definition.unit, definition.statement)) {
                let tokens = parts[definition.unit].statements[definition.statement]
                    .tokens
                    .clone();
                self.copy(parts, definition.unit, tokens, 0);
            }
        }
        Ok(())
    }

    /// A function's declaration with its definition's linkage.
    fn prototype(
        &mut self,
        parts: &[Parts<'t>],
        unit: usize,
        mut tokens: Range<usize>,
        linkage: Linkage,
    ) {
        let is_linkage = |token: &Token<'_>| matches!(token.text, "extern" | "visible" | "weak");
        if is_linkage(&parts[unit].tokens[tokens.start]) {
            tokens.start += 1;
        }
        let word = match linkage {
            Linkage::Weak => ".weak ",
            _ => ".visible ",
        };
        self.out.text += word;
        self.copy(parts, unit, tokens, 0);
    }

    /// Copies a statement of a module, whose `.file`s are preceded by `files` of other modules.
    fn copy(&mut self, parts: &[Parts<'t>], unit: usize, range: Range<usize>, files: u32) {
        let part = &parts[unit];
        let (text, tokens) = (&part.unit.text, &part.tokens);
        let line = self.out.text.bytes().filter(|&byte| byte == b'\n').count() as u32 + 1;
        self.out
            .starts
            .push((line, unit, tokens[range.start].at.line));
        let mut copied = part.start(range.start);
        for index in range.clone() {
            let token = &tokens[index];
            let before = index.checked_sub(1).map(|index| &tokens[index]);
            let replacement = match (token.kind, before) {
                (TokenKind::Number, Some(before)) if is_file_number(before) => token
                    .text
                    .parse()
                    .ok()
                    .map(|number: u32| (number + files).to_string()),
                (TokenKind::Name, before)
                    if part.private.contains(token.text)
                        && self.names.0.get(token.text).is_some_and(|count| *count > 1)
                        && !is_opcode(before, &tokens[index + 1]) =>
                {
                    Some(format!("{}$unit{unit}", token.text))
                }
                _ => None,
            };
            if let Some(replacement) = replacement {
                let start = part.start(index);
                self.out.text += &text[copied..start];
                self.out.text += &replacement;
                copied = start + token.text.len();
            }
        }
        self.out.text += &text[copied..part.end(range.end - 1)];
        self.out.text.push('\n');
    }
}

/// Whether the number of a file comes next.
fn is_file_number(before: &Token<'_>) -> bool {
    match before.kind {
        TokenKind::Dotted => matches!(before.text, "file" | "loc"),
        TokenKind::Name => before.text == "inlined_at",
        _ => false,
    }
}

/// Whether a name between these tokens is an instruction's.
fn is_opcode(before: Option<&Token<'_>>, after: &Token<'_>) -> bool {
    let begins = before.is_some_and(|before| matches!(before.text, ";" | "{" | "}" | ":"));
    begins && !matches!(after.text, "," | "}" | "+" | "-" | ":")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::module::parse;

    const HEAD: &str = ".version 7.8\n.target sm_80\n.address_size 64\n";

    fn units(texts: &[&str]) -> Vec<Unit> {
        let units = texts.iter().enumerate();
        units
            .map(|(number, text)| Unit {
                name: format!("unit{number}"),
                text: format!("{HEAD}{text}"),
            })
            .collect()
    }

    fn linked(texts: &[&str]) -> Result<Linked, String> {
        let linked = link(&units(texts), &|name| name == "vprintf")?;
        parse(&linked.text).map_err(|error| format!("{error} in\n{}", linked.text))?;
        Ok(linked)
    }

    const USER: &str = ".extern .func (.param .b32 r) twice(.param .b32 x);
.extern .global .u32 table[];
.extern .shared .align 4 .b8 room[];
.global .u32 own = 1;
.func add() { ret; }
.visible .entry k() {
    .reg .b32 %r<3>;
    .param .b32 a; .param .b32 b;
    ld.global.u32 %r1, [own];
    ld.global.u32 %r2, [table];
    add.u32 %r1, %r1, %r2;
    st.param.b32 [a], %r1;
    call (b), twice, (a);
    call add;
    ret;
}
";
    const LIBRARY: &str = ".file 1 \"library.cu\"
.extern .shared .align 16 .b8 room[];
.global .u32 own = 2, other;
.visible .global .u32 table[4] = { 7 };
.func add() { ret; }
.visible .func (.param .b32 r) twice(.param .b32 x) {
    .reg .b32 %r<3>;
    .loc 1 2 3
    ld.param.b32 %r1, [x];
    ld.global.u32 %r2, [own];
    st.param.b32 [r], %r2;
    ret;
}
";

    #[test]
    fn modules_find_what_others_define() {
        for texts in [[USER, LIBRARY], [LIBRARY, USER]] {
            let linked = linked(&texts).unwrap();
            assert_eq!(
                linked.text.matches("table[4]").count(),
                1,
                "{}",
                linked.text
            );
            assert!(!linked.text.contains("table[]"), "{}", linked.text);
            assert!(linked.text.contains("own$unit0") && linked.text.contains("own$unit1"));
            assert!(
                linked.text.contains("    add.u32 %r1"),
                "an instruction is no function"
            );
        }
        let both = linked(&[LIBRARY, LIBRARY]).unwrap_err();
        assert_eq!(
            both,
            "Multiple definition of 'table' in 'unit1', first defined in 'unit0'"
        );
    }

    #[test]
    fn what_nobody_defines_is_named() {
        let error = linked(&[USER]).unwrap_err();
        assert_eq!(error, "Undefined reference to 'twice' in 'unit0'");
        linked(&[".extern .func unused();"]).unwrap();
        let print = ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.visible .entry NAME() { .param .b64 f; .param .b64 a; .param .b32 r; call (r), vprintf, (f, a); ret; }";
        linked(&[&print.replace("NAME", "one"), &print.replace("NAME", "two")]).unwrap();
    }

    #[test]
    fn a_visible_definition_replaces_weak_ones() {
        let weak = ".weak .func f() { ret; }\n.visible .entry NAME() { call f; ret; }";
        let (one, two) = (weak.replace("NAME", "one"), weak.replace("NAME", "two"));
        let strong = ".visible .func f() { exit; }";
        for (texts, kept) in [
            (vec![&*one, &*two], "ret; }"),
            (vec![&*one, strong, &*two], "exit; }"),
        ] {
            let text = linked(&texts).unwrap().text;
            let definitions: Vec<_> = text
                .lines()
                .filter(|line| line.contains("func f()"))
                .collect();
            assert_eq!(definitions.len(), 1, "{text}");
            assert!(definitions[0].ends_with(kept), "{text}");
        }
    }

    #[test]
    fn files_and_lines_are_found_again() {
        let first = ".file 1 \"first.cu\"\n.visible .func g() { ret; }\n";
        let linked = linked(&[first, LIBRARY]).unwrap();
        assert!(
            linked.text.contains(".file 2 \"library.cu\""),
            "{}",
            linked.text
        );
        assert!(linked.text.contains(".loc 2 2 3"), "{}", linked.text);
        let line = linked
            .text
            .lines()
            .position(|line| line.contains(".loc 2"))
            .unwrap();
        let original = units(&[first, LIBRARY])[1].text.clone();
        let expected = original
            .lines()
            .position(|line| line.contains(".loc 1"))
            .unwrap();
        assert_eq!(
            linked.origin(line as u32 + 1),
            Some((1, expected as u32 + 1))
        );
    }
}
