//! Where instructions come from: the `.loc` directives of a module with the calls that were inlined around them.

use std::collections::HashMap;

use super::fault::{InlinedCall, SourceLocation};
use crate::ptx::ast;

/// One `.loc`, resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SourceEntry {
    /// The location in the innermost function; its `ptx_line` is not set.
    pub location: SourceLocation,
    /// The calls that were inlined around it, the innermost first.
    pub inlined: Vec<InlinedCall>,
}

/// The `.loc` directives of a module.
#[derive(Debug, Default)]
pub(crate) struct SourceTable<'a> {
    files: HashMap<u32, String>,
    /// The function names that `.debug_str` holds.
    names: ast::DebugStrings<'a>,
    entries: Vec<SourceEntry>,
    /// For each place that a `.loc` has named: the newest entry for it, by its number.
    by_point: HashMap<ast::SourcePoint, u32>,
    by_directive: HashMap<ast::Location<'a>, u32>,
}

impl<'a> SourceTable<'a> {
    /// A table for a module with these files and names.
    pub fn new(files: &[(u32, String)], names: ast::DebugStrings<'a>) -> Self {
        Self {
            files: files.iter().cloned().collect(),
            names,
            ..Self::default()
        }
    }

    /// The number of a `.loc`, from 1. Directives are to be added in the order of the text: `inlined_at` refers to earlier ones.
    pub fn add(&mut self, directive: ast::Location<'a>) -> u32 {
        if let Some(&number) = self.by_directive.get(&directive) {
            self.by_point.insert(directive.point, number);
            return number;
        }
        let entry = self.resolve(directive);
        self.entries.push(entry);
        let number = self.entries.len() as u32;
        self.by_directive.insert(directive, number);
        self.by_point.insert(directive.point, number);
        number
    }

    /// The entries; number `n` is at `n - 1`.
    pub fn into_entries(self) -> Vec<SourceEntry> {
        self.entries
    }

    fn resolve(&self, directive: ast::Location<'a>) -> SourceEntry {
        let mut inlined = Vec::new();
        if let Some(at) = directive.inlined_at {
            inlined.push(InlinedCall {
                function: directive
                    .function_name
                    .and_then(|name| self.function_name(name)),
                call: self.location(at),
            });
            // The call stands at a place that an earlier `.loc` names, which may itself be inlined.
            let outer = self
                .by_point
                .get(&at)
                .map(|&number| &self.entries[number as usize - 1]);
            inlined.extend(
                outer
                    .into_iter()
                    .flat_map(|outer| outer.inlined.iter().cloned()),
            );
        }
        // Line 0 means that the compiler knows no line: the call's is better.
        if directive.point.line == 0 && !inlined.is_empty() {
            return SourceEntry {
                location: inlined.remove(0).call,
                inlined,
            };
        }
        SourceEntry {
            location: self.location(directive.point),
            inlined,
        }
    }

    fn location(&self, point: ast::SourcePoint) -> SourceLocation {
        SourceLocation {
            file: self.files.get(&point.file).cloned().unwrap_or_default(),
            line: point.line,
            column: point.column,
            ptx_line: 0,
        }
    }

    /// The demangled name of a function.
    fn function_name(&self, name: ast::DebugString<'_>) -> Option<String> {
        let name = self.names.get(name)?;
        // Without the hash that makes names of different crate versions differ.
        Some(format!("{:#}", rustc_demangle::demangle(&name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx;

    /// What LLVM writes for `outer` in which `middle` is inlined, and `inner` in that.
    const MODULE: &str = r#"
.version 8.0
.target sm_90
.address_size 64
.file 1 "/src/kernel.rs"
.file 2 "/src/inner.rs"
.visible .entry outer()
{
    .loc 1 10 5
    .loc 1 20 9, function_name $L__info_string0, inlined_at 1 10 5
    .loc 2 30 1, function_name $L__info_string0+8, inlined_at 1 20 9
    .loc 2 0 0, function_name $L__info_string0 + 8, inlined_at 1 20 9
    .loc 1 11 5
    ret;
}
.section .debug_str
{
$L__info_string0:
.b8 109,105,100,100
.b8 108,101,0
$L__info_string1:
.b8 0
.b8 95,90,78,53,105,110,110,101,114,49,55,104,48,49,50,51,52,53,54,55,56,57,97,98,99,100,101,102,69
.b8 0
}
"#;

    fn entries() -> Vec<SourceEntry> {
        let module = ptx::parse(MODULE).unwrap_or_else(|error| panic!("{error:?}"));
        let mut table = SourceTable::new(&module.files, module.debug_strings.clone());
        let body = module.functions[0].body.as_ref().expect("it has one");
        for statement in body {
            if let ast::Statement::Location(location) = statement {
                table.add(*location);
            }
        }
        table.into_entries()
    }

    fn at(file: &str, line: u32, column: u32) -> SourceLocation {
        SourceLocation {
            file: file.into(),
            line,
            column,
            ptx_line: 0,
        }
    }

    #[test]
    fn the_chain_of_inlined_calls_is_kept() {
        let entries = entries();
        let middle = InlinedCall {
            function: Some("middle".into()),
            call: at("/src/kernel.rs", 10, 5),
        };
        let inner = InlinedCall {
            function: Some("inner".into()),
            call: at("/src/kernel.rs", 20, 9),
        };
        assert_eq!(entries[0].location, at("/src/kernel.rs", 10, 5));
        assert_eq!(entries[0].inlined, []);
        assert_eq!(entries[1].location, at("/src/kernel.rs", 20, 9));
        assert_eq!(entries[1].inlined, std::slice::from_ref(&middle));
        assert_eq!(entries[2].location, at("/src/inner.rs", 30, 1));
        assert_eq!(entries[2].inlined, [inner, middle]);
        assert_eq!(entries[4].inlined, []);
    }

    #[test]
    fn a_location_without_a_line_is_the_call() {
        let entries = entries();
        assert_eq!(entries[3].location, at("/src/kernel.rs", 20, 9));
        assert_eq!(entries[3].inlined.len(), 1);
    }
}
