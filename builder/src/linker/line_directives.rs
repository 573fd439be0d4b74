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

use super::call_chains::{CallChains, Numbered, SourcePoint};
use super::lines::NUMBERS_FILE;

const LOCATION: &str = "\t.loc\t";
const FILE: &str = "\t.file\t";

/// `ptx` with the locations of `chains`.
pub(super) fn write(ptx: &str, chains: &CallChains) -> String {
    let printed = printed_files(ptx);
    if !printed.values().any(|name| *name == NUMBERS_FILE) {
        return ptx.to_owned();
    }
    let mut writer = Writer {
        text: String::with_capacity(ptx.len() * 2),
        chains,
        files: Numbered::default(),
        names: Numbered::default(),
        newest: HashMap::new(),
        file: 1,
    };
    for line in ptx.split_inclusive('\n') {
        if let Some((file, rest)) = location(line) {
            match printed.get(&file) {
                Some(&NUMBERS_FILE) => writer.numbered(rest),
                Some(name) => writer.printed(name, rest),
                None => writer.text.push_str(line),
            }
        } else if !line.starts_with(FILE) {
            if line == "{\n" {
                // A location of one function is no call in another.
                writer.newest.clear();
            }
            writer.text.push_str(line);
        }
    }
    writer.finish()
}

/// The files that LLVM names, with quotes and backslashes as in the text.
fn printed_files(ptx: &str) -> HashMap<u32, &str> {
    ptx.lines()
        .filter_map(|line| {
            let (number, name) = line.strip_prefix(FILE)?.split_once(' ')?;
            let name = name.trim().strip_prefix('"')?.strip_suffix('"')?;
            Some((number.parse().ok()?, name))
        })
        .collect()
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

struct Writer<'a> {
    text: String,
    chains: &'a CallChains,
    /// The names of files as in the text: number `n` of `chains` is another one here.
    files: Numbered<String>,
    /// The numbers of the functions that are named.
    names: Numbered<u32>,
    /// The newest chain of each point in this function.
    newest: HashMap<SourcePoint, u32>,
    /// The file of the newest location.
    file: u32,
}

impl Writer<'_> {
    /// A location whose line is the number of a chain, or 0 where LLVM knows no line.
    fn numbered(&mut self, rest: &str) {
        let number = rest
            .split(' ')
            .next()
            .and_then(|number| number.parse().ok());
        match number {
            Some(number) if number != 0 => self.chain(number),
            _ => self.text += &format!("{LOCATION}{} 0 0\n", self.file),
        }
    }

    /// A location that LLVM printed by itself: that of a function.
    fn printed(&mut self, name: &str, rest: &str) {
        self.file = self.files.number(name.to_owned());
        self.text += &format!("{LOCATION}{} {rest}", self.file);
    }

    /// A chain, after the chain of the call unless this is the newest of its point.
    fn chain(&mut self, number: u32) {
        let Some(chain) = self.chains.chain(number) else {
            return;
        };
        let call = chain.inlined.and_then(|inlined| {
            let call = self.chains.chain(inlined.call)?;
            if self.newest.get(&call.point) != Some(&inlined.call) {
                self.chain(inlined.call);
            }
            Some((self.names.number(inlined.function) - 1, call.point))
        });
        self.newest.insert(chain.point, number);
        self.file = self.file_number(chain.point);
        let SourcePoint { line, column, .. } = chain.point;
        self.text += &format!("{LOCATION}{} {line} {column}", self.file);
        if let Some((name, point)) = call {
            let file = self.file_number(point);
            let SourcePoint { line, column, .. } = point;
            self.text += &format!(
                ", function_name $L__info_string{name}, inlined_at {file} {line} {column}"
            );
        }
        self.text.push('\n');
    }

    fn file_number(&mut self, point: SourcePoint) -> u32 {
        let path = self.chains.file(point.file).unwrap_or_default();
        self.files.number(quoted(path))
    }

    /// Ends the text with the tables of files and names.
    fn finish(mut self) -> String {
        let mut end = String::new();
        for (n, name) in self.files.values().iter().enumerate() {
            end += &format!("{FILE}{} \"{name}\"\n", n + 1);
        }
        if !self.names.values().is_empty() {
            end += "\t.section\t.debug_str\n\t{\n";
            for (n, &function) in self.names.values().iter().enumerate() {
                let name = self.chains.function(function).unwrap_or_default();
                let bytes: String = name.bytes().map(|byte| format!("{byte},")).collect();
                end += &format!("$L__info_string{n}:\n.b8 {bytes}0\n");
            }
            end += "\n\t}\n";
        }
        self.text += &end;
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

    const FILES: &str = "\t.file\t1 \"/warpsmith-call-chains\"\n\t.file\t2 \"/src/kernel.rs\"\n";

    #[test]
    fn calls_are_repeated_where_their_point_means_another_chain() {
        let (chains, [first, second, middle]) = chains();
        let at = |chain: u32| format!("\t.loc\t1 {chain} 0\n\tnop;\n");
        let ptx = function(&[at(first), at(second), at(middle), at(second)]) + FILES;
        assert_eq!(
            write(&ptx, &chains),
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
        let text = write(&format!("{body}{body}{FILES}"), &chains);
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
        let text = write(&(body + FILES), &chains);
        let unknown: Vec<&str> = text.lines().filter(|line| line.ends_with(" 0 0")).collect();
        assert_eq!(unknown, ["\t.loc\t1 0 0", "\t.loc\t2 0 0"]);
    }

    #[test]
    fn text_without_lines_is_left_alone() {
        let ptx = "kernel()\n{\n\tret;\n}\n";
        assert_eq!(write(ptx, &CallChains::default()), ptx);
    }
}
