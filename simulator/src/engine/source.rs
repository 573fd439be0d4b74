//! Where instructions come from: the `.loc` directives of a module with the calls that were inlined around them.

use rustc_hash::FxHashMap;

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
    files: FxHashMap<u32, String>,
    /// The function names that `.debug_str` holds.
    names: ast::DebugStrings<'a>,
    entries: Vec<SourceEntry>,
    /// For each point that a `.loc` has named: the newest entry for it, by its number.
    by_point: FxHashMap<ast::SourcePoint, u32>,
    /// The entry of a directive whose call is this entry (0: none): the same directive means another chain where its call does.
    by_directive: FxHashMap<(ast::Location<'a>, u32), u32>,
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
        // The call stands at a point that an earlier `.loc` names, which may itself be inlined.
        let call = directive
            .inlined_at
            .and_then(|at| self.by_point.get(&at))
            .copied()
            .unwrap_or(0);
        let number = match self.by_directive.get(&(directive, call)) {
            Some(&number) => number,
            None => {
                let entry = self.resolve(directive, call);
                self.entries.push(entry);
                let number = self.entries.len() as u32;
                self.by_directive.insert((directive, call), number);
                number
            }
        };
        self.by_point.insert(directive.point, number);
        number
    }

    /// The entries; number `n` is at `n - 1`.
    pub fn into_entries(self) -> Vec<SourceEntry> {
        self.entries
    }

    fn resolve(&self, directive: ast::Location<'a>, call: u32) -> SourceEntry {
        let mut inlined = Vec::new();
        if let Some(at) = directive.inlined_at {
            inlined.push(InlinedCall {
                function: directive
                    .function_name
                    .and_then(|name| self.function_name(name)),
                call: self.location(at),
            });
            if let Some(outer) = (call as usize).checked_sub(1) {
                inlined.extend(self.entries[outer].inlined.iter().cloned());
            }
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

    /// The entries, and each directive's number.
    fn numbered(text: &str) -> (Vec<SourceEntry>, Vec<u32>) {
        let module = ptx::parse(text).unwrap_or_else(|error| panic!("{error:?}"));
        let mut table = SourceTable::new(&module.files, module.debug_strings.clone());
        let body = module.functions[0].body.as_ref().expect("it has one");
        let numbers = body
            .iter()
            .filter_map(|statement| match statement {
                ast::Statement::Location(location) => Some(table.add(*location)),
                _ => None,
            })
            .collect();
        (table.into_entries(), numbers)
    }

    fn entries() -> Vec<SourceEntry> {
        numbered(MODULE).0
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

    /// `inner` is called at one point of `middle`, which is inlined at two points of `outer`.
    #[test]
    fn the_same_directive_means_the_newest_call() {
        let text = MODULE.replace(
            "    .loc 1 11 5\n",
            "    .loc 1 12 5
    .loc 1 20 9, function_name $L__info_string0, inlined_at 1 12 5
    .loc 2 30 1, function_name $L__info_string0+8, inlined_at 1 20 9
    .loc 1 20 9, function_name $L__info_string0, inlined_at 1 10 5
    .loc 2 30 1, function_name $L__info_string0+8, inlined_at 1 20 9\n",
        );
        let (entries, numbers) = numbered(&text);
        let outer_call = |number: u32| entries[number as usize - 1].inlined[1].call.line;
        let inner = [numbers[2], numbers[6], numbers[8]];
        assert_eq!(inner.map(outer_call), [10, 12, 10]);
        assert_eq!(inner[0], inner[2], "one entry for one chain");
    }

    #[test]
    fn a_location_without_a_line_is_the_call() {
        let entries = entries();
        assert_eq!(entries[3].location, at("/src/kernel.rs", 20, 9));
        assert_eq!(entries[3].inlined.len(), 1);
    }
}
