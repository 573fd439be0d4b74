//! Writes source locations with their call chains into PTX text, where LLVM printed numbers of chains (see `lines`).
//!
//! In PTX a location names the function around it and the point of the call, and the chain goes on with the newest location
//! before it that has this point:
//!
//! ```text
//! .loc 1 12 5
//! .loc 2 40 9, function_name $L__info_string0, inlined_at 1 12 5
//! ```
//!
//! So the call's location is repeated wherever another one with its point came between. The names stand in the section
//! `.debug_str`. This is also what nvcc writes with `-lineinfo`.

use std::collections::HashMap;
use std::fmt::Write;

use super::call_chains::{CallChains, Numbered, SourcePoint};
use super::lines::NUMBERS_FILE;

const LOCATION: &str = "\t.loc\t";
const FILE: &str = "\t.file\t";

/// What the numbers in the locations of a text mean.
#[derive(Clone, Copy)]
pub(super) struct Meaning<'a> {
    /// The files that LLVM names, with quotes and backslashes as in the text.
    pub files: &'a [(u32, String)],
    /// The chains, if there are any.
    pub chains: Option<&'a CallChains>,
    /// Line `n` of the source is this one, at `n - 1`; `None` if the lines are the source's.
    pub lines: Option<&'a [u32]>,
}

impl Meaning<'_> {
    fn file(&self, number: u32) -> Option<&str> {
        let file = self.files.iter().find(|(n, _)| *n == number);
        file.map(|(_, name)| name.as_str())
    }

    /// The line of the source.
    pub fn line(&self, line: u32) -> u32 {
        let Some(lines) = self.lines else { return line };
        match line.checked_sub(1) {
            Some(index) => lines.get(index as usize).copied().unwrap_or_default(),
            None => 0,
        }
    }
}

/// The number of the file, and what follows.
fn location(line: &str) -> Option<(u32, &str)> {
    let (file, rest) = line.strip_prefix(LOCATION)?.split_once(' ')?;
    Some((file.parse().ok()?, rest))
}

/// A path as LLVM writes it between quotes.
fn quoted(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'"' | b'\\' => text.extend(['\\', char::from(byte)]),
            b' '..=b'~' => text.push(char::from(byte)),
            _ => text += &format!("\\{byte:03o}"),
        }
    }
    text
}

/// The text of a module with its locations, as it grows.
#[derive(Default)]
pub(super) struct LineDirectives {
    text: String,
    /// The names of files as in the text.
    files: Numbered<String>,
    /// The functions that are named.
    names: Numbered<String>,
    /// The newest chain of each point in this function.
    newest: HashMap<SourcePoint, u32>,
    /// The file of the newest location.
    file: u32,
}

impl LineDirectives {
    /// Adds a function, or other text that is whole.
    pub fn add(&mut self, ptx: &str, meaning: Meaning<'_>) {
        // A location of one function is no call in another.
        self.newest.clear();
        for line in ptx.split_inclusive('\n') {
            match location(line) {
                Some((file, rest)) => match (meaning.file(file), meaning.chains) {
                    (Some(NUMBERS_FILE), Some(chains)) => self.numbered(rest, chains, meaning),
                    (Some(name), _) => self.printed(name, rest, meaning),
                    (None, _) => self.text.push_str(line),
                },
                None => self.text.push_str(line),
            }
        }
    }

    /// A location whose line is the number of a chain, or 0 where LLVM knows no line.
    fn numbered(&mut self, rest: &str, chains: &CallChains, meaning: Meaning<'_>) {
        let number = rest
            .split(' ')
            .next()
            .and_then(|number| number.parse().ok());
        match number {
            Some(number) if number != 0 => self.chain(number, chains, meaning),
            _ => {
                let _ = writeln!(self.text, "{LOCATION}{} 0 0", self.file.max(1));
            }
        }
    }

    /// A location that LLVM printed by itself: that of a function.
    fn printed(&mut self, name: &str, rest: &str, meaning: Meaning<'_>) {
        self.file = self.files.number(name.to_owned());
        let (line, rest) = rest.split_once(' ').unwrap_or((rest, "0\n"));
        let line = line.parse().map_or(0, |line| meaning.line(line));
        let _ = write!(self.text, "{LOCATION}{} {line} {rest}", self.file);
    }

    /// A chain, after the chain of the call unless this is the newest of its point.
    fn chain(&mut self, number: u32, chains: &CallChains, meaning: Meaning<'_>) {
        let Some(chain) = chains.chain(number) else {
            return;
        };
        let call = chain.inlined.and_then(|inlined| {
            let call = chains.chain(inlined.call)?;
            if self.newest.get(&call.point) != Some(&inlined.call) {
                self.chain(inlined.call, chains, meaning);
            }
            let name = chains.function(inlined.function).unwrap_or_default();
            Some((self.names.number(name.to_owned()) - 1, call.point))
        });
        self.newest.insert(chain.point, number);
        self.file = self.file_number(chain.point, chains);
        let SourcePoint { line, column, .. } = chain.point;
        let line = meaning.line(line);
        let _ = write!(self.text, "{LOCATION}{} {line} {column}", self.file);
        if let Some((name, point)) = call {
            let file = self.file_number(point, chains);
            let SourcePoint { line, column, .. } = point;
            let line = meaning.line(line);
            let _ = write!(
                self.text,
                ", function_name $L__info_string{name}, inlined_at {file} {line} {column}"
            );
        }
        self.text.push('\n');
    }

    fn file_number(&mut self, point: SourcePoint, chains: &CallChains) -> u32 {
        let path = chains.file(point.file).unwrap_or_default();
        self.files.number(quoted(path))
    }

    /// Ends the text with `sections` and the tables of files and names.
    pub fn finish(mut self, sections: &str) -> String {
        self.text.push_str(sections);
        for (n, name) in self.files.values().iter().enumerate() {
            let _ = writeln!(self.text, "{FILE}{} \"{name}\"", n + 1);
        }
        if !self.names.values().is_empty() {
            self.text.push_str("\t.section\t.debug_str\n\t{\n");
            for (n, name) in self.names.values().iter().enumerate() {
                let bytes: String = name.bytes().map(|byte| format!("{byte},")).collect();
                let _ = write!(self.text, "$L__info_string{n}:\n.b8 {bytes}0\n");
            }
            self.text.push_str("\n\t}\n");
        }
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linker::call_chains::{CallChain, InlinedCall};

    /// Two calls of `inner`, each in a call of `middle`, and one of `middle` alone; the numbers of the three chains.
    fn chains() -> (CallChains, [u32; 3]) {
        let mut chains = CallChains::default();
        let file = chains.number_file("/src/a \"b\"\\é.rs".into());
        let point = |line| SourcePoint {
            file,
            line,
            column: 5,
        };
        let [inner, middle] = ["inner", "middle"].map(|name| chains.number_function(name.into()));
        let middles = [10, 20].map(|line| {
            let call = chains.number(CallChain {
                point: point(line),
                inlined: None,
            });
            chains.number(CallChain {
                point: point(100),
                inlined: Some(InlinedCall {
                    function: middle,
                    call,
                }),
            })
        });
        let [first, second] = middles.map(|call| {
            chains.number(CallChain {
                point: point(200),
                inlined: Some(InlinedCall {
                    function: inner,
                    call,
                }),
            })
        });
        (chains, [first, second, middles[1]])
    }

    fn function(locations: &[String]) -> String {
        format!(
            "kernel()\n{{\n\t.loc\t2 7 0\n{}\tret;\n}}\n",
            locations.concat()
        )
    }

    /// The text of functions with these chains.
    fn write(functions: &[String], chains: &CallChains, lines: Option<&[u32]>) -> String {
        let files = [
            (1, "/warpsmith-call-chains".to_owned()),
            (2, "/src/kernel.rs".to_owned()),
        ];
        let mut text = LineDirectives::default();
        for function in functions {
            let meaning = Meaning {
                files: &files,
                chains: Some(chains),
                lines,
            };
            text.add(function, meaning);
        }
        text.finish("")
    }

    #[test]
    fn calls_are_repeated_where_their_point_means_another_chain() {
        let (chains, [first, second, middle]) = chains();
        let at = |chain: u32| format!("\t.loc\t1 {chain} 0\n\tnop;\n");
        let ptx = function(&[at(first), at(second), at(middle), at(second)]);
        assert_eq!(
            write(&[ptx], &chains, None),
            r#"kernel()
{
	.loc	1 7 0
	.loc	2 10 5
	.loc	2 100 5, function_name $L__info_string0, inlined_at 2 10 5
	.loc	2 200 5, function_name $L__info_string1, inlined_at 2 100 5
	nop;
	.loc	2 20 5
	.loc	2 100 5, function_name $L__info_string0, inlined_at 2 20 5
	.loc	2 200 5, function_name $L__info_string1, inlined_at 2 100 5
	nop;
	.loc	2 100 5, function_name $L__info_string0, inlined_at 2 20 5
	nop;
	.loc	2 200 5, function_name $L__info_string1, inlined_at 2 100 5
	nop;
	ret;
}
	.file	1 "/src/kernel.rs"
	.file	2 "/src/a \"b\"\\\303\251.rs"
	.section	.debug_str
	{
$L__info_string0:
.b8 109,105,100,100,108,101,0
$L__info_string1:
.b8 105,110,110,101,114,0

	}
"#
        );
    }

    #[test]
    fn each_function_names_its_calls_itself() {
        let (chains, [first, ..]) = chains();
        let body = function(&[format!("\t.loc\t1 {first} 0\n")]);
        let text = write(&[body.clone(), body], &chains, None);
        assert_eq!(text.matches("\t.loc\t2 10 5\n").count(), 2);
        assert_eq!(text.matches(".section\t.debug_str").count(), 1);
    }

    #[test]
    fn an_unknown_line_stays_unknown() {
        let (chains, [_, second, _]) = chains();
        let body = function(&[
            "\t.loc\t1 0 0\n".into(),
            format!("\t.loc\t1 {second} 0\n"),
            "\t.loc\t1 0 0\n".into(),
        ]);
        let text = write(&[body], &chains, None);
        let unknown: Vec<&str> = text.lines().filter(|line| line.ends_with(" 0 0")).collect();
        assert_eq!(unknown, ["\t.loc\t1 0 0", "\t.loc\t2 0 0"]);
    }

    #[test]
    fn text_without_lines_is_left_alone() {
        let ptx = "kernel()\n{\n\tret;\n}\n".to_owned();
        assert_eq!(
            write(std::slice::from_ref(&ptx), &CallChains::default(), None),
            ptx
        );
    }

    #[test]
    fn lines_that_are_numbers_are_replaced() {
        let (mut chains, _) = chains();
        let file = chains.number_file("/src/b.rs".into());
        let numbers = [1, 2].map(|line| {
            let point = SourcePoint {
                file,
                line,
                column: 3,
            };
            chains.number(CallChain {
                point,
                inlined: None,
            })
        });
        let body = numbers
            .map(|number| format!("\t.loc\t1 {number} 0\n"))
            .concat();
        let ptx = format!("kernel()\n{{\n\t.loc\t2 2 0\n{body}}}\n");
        let text = write(&[ptx], &chains, Some(&[70, 80]));
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| line.starts_with(LOCATION))
            .collect();
        assert_eq!(
            lines,
            ["\t.loc\t1 80 0", "\t.loc\t2 70 3", "\t.loc\t2 80 3"]
        );
    }
}
