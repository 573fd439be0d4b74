//! The metadata of a unit. Nodes are numbered as they come, and the source's lines are numbers of a list, so that a unit is the same
//! wherever its kernel stands.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write;

use super::text::{ModuleText, Piece, lex};

/// The nodes of one unit as they are named.
pub(super) struct Nodes<'m, 'a> {
    module: &'m ModuleText<'a>,
    /// The new numbers.
    numbers: Vec<Option<u32>>,
    next: u32,
    /// Those that are named and not written yet.
    queue: VecDeque<u32>,
    /// Numbers of lines, by file and line.
    line_numbers: HashMap<(Option<u32>, u32), u32>,
    /// Line `n` of the unit is this one of the source, at `n - 1`.
    pub lines: Vec<u32>,
    /// The files of scopes, once they are known.
    files: Vec<Option<Option<u32>>>,
}

impl<'m, 'a> Nodes<'m, 'a> {
    /// Those of a unit with nothing in it.
    pub fn new(module: &'m ModuleText<'a>) -> Self {
        Nodes {
            module,
            numbers: vec![None; module.nodes.len()],
            next: 0,
            queue: VecDeque::new(),
            line_numbers: HashMap::new(),
            lines: Vec::new(),
            files: vec![None; module.nodes.len()],
        }
    }

    /// Adds the number of a node to `out`; [`Nodes::write`] writes the node itself.
    pub fn refer(&mut self, node: u32, out: &mut String) -> Option<()> {
        let node = self.only_compile_unit(node);
        let place = self.numbers.get_mut(node as usize)?;
        let number = *place.get_or_insert_with(|| {
            self.queue.push_back(node);
            self.next += 1;
            self.next - 1
        });
        out.push('!');
        push_number(out, number);
        Some(())
    }

    /// All parts of the module's debug information count as of one compilation: it is of no consequence which one.
    fn only_compile_unit(&self, node: u32) -> u32 {
        let units = &self.module.compile_units;
        match (units.first(), units.last()) {
            (Some(&first), Some(&last)) if node <= last && units.contains(&node) => first,
            _ => node,
        }
    }

    /// Writes the module's own nodes, and all that were named.
    pub fn write(&mut self, out: &mut String) -> Option<()> {
        let module = self.module;
        if let Some(&first) = module.compile_units.first() {
            out.push_str("!llvm.dbg.cu = !{");
            self.refer(first, out)?;
            out.push_str("}\n");
        }
        out.push_str("!llvm.module.flags = !{");
        for (n, &flag) in module.flags.iter().enumerate() {
            out.push_str(if n == 0 { "" } else { ", " });
            self.refer(flag, out)?;
        }
        out.push_str("}\n");
        while let Some(node) = self.queue.pop_front() {
            out.push('!');
            push_number(out, self.numbers[node as usize]?);
            out.push_str(" = ");
            let text = module.nodes[node as usize];
            if module.compile_units.contains(&node) {
                compile_unit(text, out)?;
            } else {
                self.node(node, text, out)?;
            }
            out.push('\n');
        }
        Some(())
    }

    /// Writes what stands behind the number of a node.
    fn node(&mut self, node: u32, text: &str, out: &mut String) -> Option<()> {
        const LOCATION: &str = "!DILocation(line: ";
        let after_distinct = text.strip_prefix("distinct ").unwrap_or(text);
        if after_distinct.starts_with(LOCATION) {
            return self.location(text, out);
        }
        // A file's checksum changes with every edit of it, and PTX has none.
        if text.starts_with("!DIFile(")
            && let Some((file, _)) = text.split_once(", checksumkind: ")
        {
            let _ = write!(out, "{file})");
            return Some(());
        }
        let file = if text.contains("ine: ") {
            self.file_of(node)
        } else {
            None
        };
        for piece in lex(text, &HashMap::new())? {
            match piece {
                Piece::Node(node) => self.refer(node, out)?,
                Piece::Text(text) if file.is_some() => self.text_with_lines(text, file, out),
                Piece::Text(text) => out.push_str(text),
                Piece::Symbol { .. } | Piece::Attributes(_) => return None,
            }
        }
        Some(())
    }

    /// The same of a location, the commonest of nodes: it has no strings, and the file is that of its scope.
    fn location(&mut self, text: &str, out: &mut String) -> Option<()> {
        let scope = text.split_once("scope: !")?.1;
        let digits = scope.bytes().take_while(u8::is_ascii_digit).count();
        let file = self.file_of(scope[..digits].parse().ok()?);
        let mut parts = text.split('!');
        if let Some(distinct) = parts.next() {
            out.push_str(distinct);
        }
        let line = parts.next()?;
        out.push('!');
        self.text_with_lines(line, file, out);
        for part in parts {
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            self.refer(part[..digits].parse().ok()?, out)?;
            out.push_str(&part[digits..]);
        }
        Some(())
    }

    /// Writes text with its lines replaced.
    fn text_with_lines(&mut self, text: &str, file: Option<u32>, out: &mut String) {
        let mut rest = text;
        while let Some(at) = place_of_line(rest) {
            let digits = rest[at..].bytes().take_while(u8::is_ascii_digit).count();
            let line: u32 = rest[at..at + digits].parse().unwrap_or(0);
            let number = match line {
                0 => 0,
                _ => *self.line_numbers.entry((file, line)).or_insert_with(|| {
                    self.lines.push(line);
                    self.lines.len() as u32
                }),
            };
            out.push_str(&rest[..at]);
            push_number(out, number);
            rest = &rest[at + digits..];
        }
        out.push_str(rest);
    }

    /// The node of the file that a scope is in.
    fn file_of(&mut self, scope: u32) -> Option<u32> {
        let text = self.module.nodes.get(scope as usize)?;
        *self.files[scope as usize].get_or_insert_with(|| field(text, "file: !"))
    }
}

/// Its file has the name of a part of the compiler's work; it has one that is always the same.
fn compile_unit(text: &str, out: &mut String) -> Option<()> {
    /// No node has a number as large.
    const FILE: u32 = 4_000_000_000;
    let (before, rest) = text.split_once("file: !")?;
    let (_, after) = rest.split_once(',')?;
    let _ = write!(
        out,
        "{before}file: !{FILE},{after}\n!{FILE} = !DIFile(filename: \"kernels\", directory: \"\")"
    );
    Some(())
}

/// Adds a number to the text: there are several in each line of it, and formatting takes its time.
fn push_number(text: &mut String, number: u32) {
    if number >= 10 {
        push_number(text, number / 10);
    }
    text.push(char::from(b'0' + (number % 10) as u8));
}

/// Where the next line of a node stands: `line: 5` or `scopeLine: 5` outside of strings.
fn place_of_line(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        let found = at + text[at..].find("ine: ")?;
        let key = text[..found].trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let is_line = matches!(&text[key.len()..found + "ine".len()], "line" | "scopeLine");
        let is_outside = text[..found].bytes().filter(|&byte| byte == b'"').count() % 2 == 0;
        at = found + "ine: ".len();
        if is_line && is_outside {
            return Some(at);
        }
    }
}

/// The node that a field of a node names.
fn field(text: &str, name: &str) -> Option<u32> {
    // Names in strings come before no field that is asked for but the file's.
    let mut rest = text;
    let mut in_string = false;
    while let Some(at) = rest.find(name) {
        in_string ^= rest[..at].bytes().filter(|&byte| byte == b'"').count() % 2 == 1;
        rest = &rest[at + name.len()..];
        if !in_string {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            return rest[..digits].parse().ok();
        }
    }
    None
}
