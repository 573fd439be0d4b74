//! A module taken apart: its statements, what they declare, and where they stand in the text.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::ptx::ast::{Linkage, Module, Position, Space};
use crate::ptx::lexer::{Token, TokenKind, tokens};
use crate::ptx::module::parse;

/// A module to be linked.
#[derive(Clone, Debug)]
pub struct Unit {
    /// What errors call it.
    pub name: String,
    /// Its PTX, which the parser takes.
    pub text: String,
}

/// A name that is declared at module scope.
pub(super) struct Declaration<'t> {
    pub(super) name: &'t str,
    pub(super) linkage: Linkage,
    pub(super) defines: bool,
    pub(super) function: bool,
    /// A variable in shared memory without a size: the launch's dynamic shared memory.
    pub(super) dynamic_shared: bool,
}

/// A statement at module scope.
pub(super) struct Statement<'t> {
    pub(super) tokens: Range<usize>,
    pub(super) declares: Vec<Declaration<'t>>,
    /// It is part of the head.
    pub(super) head: bool,
}

/// A module taken apart.
pub(super) struct Parts<'t> {
    pub(super) unit: &'t Unit,
    pub(super) module: Module<'t>,
    pub(super) tokens: Vec<Token<'t>>,
    pub(super) statements: Vec<Statement<'t>>,
    /// Names that mean something in this module alone.
    pub(super) private: HashSet<&'t str>,
}

impl<'t> Parts<'t> {
    pub(super) fn new(unit: &'t Unit) -> Result<Self, String> {
        let in_unit = |error: crate::ptx::Error| format!("{} in '{}'", error, unit.name);
        let module = parse(&unit.text).map_err(in_unit)?;
        let tokens = tokens(&unit.text).map_err(in_unit)?;
        let mut part = Parts {
            unit,
            statements: Vec::new(),
            private: HashSet::new(),
            module,
            tokens,
        };
        let declared = part.declared();
        let mut at = 0;
        while part.tokens[at].kind != TokenKind::End {
            let tokens = at..part.end_of_statement(at);
            let names = part.tokens[tokens.clone()].iter();
            let declares = names
                .filter_map(|token| declared.get(&(token.at.line, token.at.column)))
                .map(|make| make())
                .collect();
            if part.tokens[at].text == "section" {
                let labels = part.tokens[tokens.clone()].windows(2);
                let labels =
                    labels.filter(|pair| pair[0].kind == TokenKind::Name && pair[1].text == ":");
                part.private.extend(labels.map(|pair| pair[0].text));
            }
            at = tokens.end;
            part.statements.push(Statement {
                head: matches!(
                    part.tokens[tokens.start].text,
                    "version" | "target" | "address_size"
                ),
                tokens,
                declares,
            });
        }
        let own: Vec<&str> = part
            .declarations()
            .filter(|(_, declared)| declared.defines && declared.linkage == Linkage::Private)
            .map(|(_, declared)| declared.name)
            .collect();
        part.private.extend(own);
        Ok(part)
    }

    /// What is declared at module scope, by the place of its name.
    #[allow(clippy::type_complexity)]
    fn declared(&self) -> HashMap<(u32, u32), Box<dyn Fn() -> Declaration<'t> + 't>> {
        let place = |at: Position| (at.line, at.column);
        let mut all: HashMap<_, Box<dyn Fn() -> Declaration<'t> + 't>> = HashMap::new();
        for variable in &self.module.variables {
            let (name, linkage) = (variable.name, variable.linkage);
            let external = linkage == Linkage::Extern;
            let dynamic_shared = external && variable.space == Space::Shared;
            let make = move || Declaration {
                name,
                linkage,
                defines: !external,
                function: false,
                dynamic_shared,
            };
            all.insert(place(variable.at), Box::new(make));
        }
        for function in &self.module.functions {
            let (name, defines) = (function.name, function.body.is_some());
            // The host finds kernels by name, with `.visible` or without.
            let linkage = match (function.entry, function.linkage) {
                (true, Linkage::Private) => Linkage::Visible,
                (_, linkage) => linkage,
            };
            let make = move || Declaration {
                name,
                linkage,
                defines,
                function: true,
                dynamic_shared: false,
            };
            all.insert(place(function.at), Box::new(make));
        }
        all
    }

    /// The declarations with the numbers of their statements.
    pub(super) fn declarations(&self) -> impl Iterator<Item = (usize, &Declaration<'t>)> {
        let statements = self.statements.iter().enumerate();
        statements.flat_map(|(index, statement)| {
            let declares = statement.declares.iter();
            declares.map(move |declared| (index, declared))
        })
    }

    /// Each name of the module scope once.
    pub(super) fn names(&self) -> impl Iterator<Item = &'t str> {
        let declared = self.declarations().map(|(_, declared)| declared.name);
        let all: HashSet<&str> = declared.chain(self.private.iter().copied()).collect();
        all.into_iter()
    }

    /// Whether a name stands anywhere but in its declarations.
    pub(super) fn uses(&self, name: &str) -> bool {
        let declared = self
            .declarations()
            .filter(|(_, declared)| declared.name == name);
        let named = self.tokens.iter();
        let named = named.filter(|token| token.kind == TokenKind::Name && token.text == name);
        named.count() > declared.count()
    }

    /// The token after the statement that begins with a token.
    fn end_of_statement(&self, start: usize) -> usize {
        let text = |index: usize| self.tokens.get(index).map_or("", |token| token.text);
        let list = |mut end: usize| {
            while text(end) == "," {
                end += 2;
            }
            end
        };
        match text(start) {
            "version" | "address_size" => return start + 2,
            "target" => return list(start + 2),
            "file" => return list(start + 3),
            _ => {}
        }
        let mut depth = 0;
        let mut has_body = text(start) == "section";
        for index in start..self.tokens.len() {
            let token = &self.tokens[index];
            match (token.kind, token.text) {
                (TokenKind::Dotted, "func" | "entry") if depth == 0 => has_body = true,
                (TokenKind::Punctuation, "{") => depth += 1,
                (TokenKind::Punctuation, "}") => {
                    depth -= 1;
                    if depth == 0 && has_body {
                        return index + 1;
                    }
                }
                (TokenKind::Punctuation, ";") if depth == 0 => return index + 1,
                (TokenKind::End, _) => return index,
                _ => {}
            }
        }
        self.tokens.len() - 1
    }

    /// The offset of a token in the text.
    pub(super) fn start(&self, index: usize) -> usize {
        let token = &self.tokens[index];
        let inside = token.text.as_ptr() as usize - self.unit.text.as_ptr() as usize;
        inside - usize::from(matches!(token.kind, TokenKind::Dotted | TokenKind::String))
    }

    /// The offset of a token's end.
    pub(super) fn end(&self, index: usize) -> usize {
        let token = &self.tokens[index];
        let marks = match token.kind {
            TokenKind::Dotted => 1,
            TokenKind::String => 2,
            _ => 0,
        };
        self.start(index) + token.text.len() + marks
    }
}
