//! The text of a module as LLVM prints it: its definitions, and in each the references to others.
//!
//! Whatever is not a reference is left as it is. So the cut knows no instruction, and no version of LLVM brings one that it misses.

use std::collections::HashMap;

use crate::parallel::in_parallel;

/// What a symbol of the module is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A function that the host launches.
    Kernel,
    /// Another function with a body.
    Function,
    /// A variable with an initial value.
    Variable,
    /// A function or a variable that the module does not define.
    Declaration,
}

/// A part of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// Text without references.
    Text(&'a str),
    /// A symbol, by the number of its definition.
    Symbol {
        /// The definition.
        definition: usize,
        /// Whether it is what a call calls.
        is_called: bool,
    },
    /// A group of attributes, `#3`.
    Attributes(u32),
    /// A node of metadata, `!5`.
    Node(u32),
}

/// A function or a variable.
#[derive(Debug)]
pub(super) struct Definition<'a> {
    /// Its symbol as in the text, with the `@`.
    pub symbol: &'a str,
    pub kind: Kind,
    /// All of its text, to the end of its last line.
    pub text: &'a str,
    /// The same in pieces; the first symbol is its own.
    pub pieces: Vec<Piece<'a>>,
    /// Definitions that it needs although they do not stand in its text.
    pub needs: Vec<usize>,
    /// Whether it calls through a pointer.
    pub calls_pointers: bool,
}

/// A module in parts.
#[derive(Debug, Default)]
pub(super) struct ModuleText<'a> {
    /// The lines that name target and data layout, and those with named types.
    pub head: Vec<&'a str>,
    /// In the order of the text, variables first.
    pub definitions: Vec<Definition<'a>>,
    numbers: HashMap<&'a str, usize>,
    /// The groups of attributes: what stands between the braces.
    pub attributes: HashMap<u32, &'a str>,
    /// The nodes of metadata by their numbers: what stands behind `!5 = `, nothing for numbers without a node.
    pub nodes: Vec<&'a str>,
    /// The nodes of the module's flags.
    pub flags: Vec<u32>,
    /// The nodes of the compile units of debug information, sorted.
    pub compile_units: Vec<u32>,
}

impl<'a> ModuleText<'a> {
    /// Takes a module's text apart; `None` if it has something that cannot be cut: an alias, a comdat, or assembly of its own.
    pub fn parse(text: &'a str) -> Option<ModuleText<'a>> {
        let mut module = ModuleText::default();
        let mut at = 0;
        while at < text.len() {
            let line = line_at(text, at);
            let start = at;
            at += line.len();
            match line.as_bytes()[0] {
                b'\n' | b';' => {}
                b'@' => {
                    let symbol = &line[..symbol_length(line)];
                    let head = line[symbol.len()..].strip_prefix(" = ")?;
                    let words = || head.split(' ').take_while(|word| !word.starts_with('"'));
                    if words()
                        .take(8)
                        .any(|word| word == "alias" || word == "ifunc")
                    {
                        return None;
                    }
                    let is_declared = words()
                        .take(2)
                        .any(|word| word == "external" || word == "extern_weak");
                    let kind = if is_declared {
                        Kind::Declaration
                    } else {
                        Kind::Variable
                    };
                    module.add(symbol, kind, line);
                }
                b'd' if line.starts_with("define ") => {
                    loop {
                        let next = line_at(text, at);
                        at += next.len();
                        if next == "}\n" || next.is_empty() {
                            break;
                        }
                    }
                    let kind = if line[..line.find('@')?].contains(" ptx_kernel ") {
                        Kind::Kernel
                    } else {
                        Kind::Function
                    };
                    module.add(first_symbol(line)?, kind, &text[start..at]);
                }
                b'd' if line.starts_with("declare ") => {
                    module.add(first_symbol(line)?, Kind::Declaration, line);
                }
                b'a' if line.starts_with("attributes #") => {
                    let (number, group) = line["attributes #".len()..].split_once(" = { ")?;
                    let group = group.trim_end().strip_suffix(" }")?;
                    module.attributes.insert(number.parse().ok()?, group);
                }
                b'!' => module.note_metadata(line.trim_end())?,
                b't' if line.starts_with("target ") => module.head.push(line),
                b's' if line.starts_with("source_filename ") => {}
                b'%' => module.head.push(line),
                _ => return None,
            }
        }
        let lexed = in_parallel(&module.definitions, |definition| {
            let has_body = matches!(definition.kind, Kind::Kernel | Kind::Function);
            let calls_pointers = has_body && calls_pointers(definition.text);
            Some((lex(definition.text, &module.numbers)?, calls_pointers))
        });
        for (definition, lexed) in module.definitions.iter_mut().zip(lexed) {
            (definition.pieces, definition.calls_pointers) = lexed?;
        }
        Some(module)
    }

    fn add(&mut self, symbol: &'a str, kind: Kind, text: &'a str) {
        self.numbers.insert(symbol, self.definitions.len());
        self.definitions.push(Definition {
            symbol,
            kind,
            text,
            pieces: Vec::new(),
            needs: Vec::new(),
            calls_pointers: false,
        });
    }

    fn note_metadata(&mut self, line: &'a str) -> Option<()> {
        let (name, node) = line[1..].split_once(" = ")?;
        if let Ok(number) = name.parse::<usize>() {
            // LLVM numbers them one after the other.
            self.nodes.resize(self.nodes.len().max(number + 1), "");
            self.nodes[number] = node;
            return Some(());
        }
        let members = || {
            let list = node.trim_start_matches("!{").trim_end_matches('}');
            list.split(", ")
                .filter_map(|member| member.strip_prefix('!')?.parse().ok())
        };
        match name {
            "llvm.module.flags" => self.flags = members().collect(),
            "llvm.dbg.cu" => {
                self.compile_units = members().collect();
                self.compile_units.sort_unstable();
            }
            // They say who made the module, and in which version of NVIDIA's format.
            "llvm.ident" | "nvvmir.version" => {}
            _ => return None,
        }
        Some(())
    }

    /// The number of the definition of this symbol, which begins with `@`.
    pub fn number(&self, symbol: &str) -> Option<usize> {
        self.numbers.get(symbol).copied()
    }

    /// The definitions that a definition refers to.
    pub fn references(&self, definition: usize) -> impl Iterator<Item = usize> {
        let definition = &self.definitions[definition];
        let named = definition.pieces.iter().filter_map(|piece| match piece {
            Piece::Symbol { definition, .. } => Some(*definition),
            _ => None,
        });
        named.chain(definition.needs.iter().copied())
    }

    /// The attributes of a function.
    pub fn attributes_of(&self, definition: usize) -> impl Iterator<Item = &'a str> {
        let head = line_at(self.definitions[definition].text, 0);
        let group = head
            .rsplit(" #")
            .next()
            .and_then(|rest| rest.split(' ').next()?.trim_end().parse().ok())
            .and_then(|number: u32| self.attributes.get(&number));
        group.into_iter().flat_map(|group| group.split(' '))
    }
}

/// A symbol without its `@` and without quotes.
pub(super) fn bare(symbol: &str) -> &str {
    symbol.trim_start_matches('@').trim_matches('"')
}

/// The line that begins at `at`, with its end.
pub(super) fn line_at(text: &str, at: usize) -> &str {
    let rest = &text[at..];
    match rest.find('\n') {
        Some(end) => &rest[..=end],
        None => rest,
    }
}

fn first_symbol(line: &str) -> Option<&str> {
    let start = line.find('@')?;
    let symbol = &line[start..];
    Some(&symbol[..symbol_length(symbol)])
}

/// The length of the symbol that `text` begins with.
fn symbol_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    if bytes.get(1) == Some(&b'"') {
        return 2 + text[2..].find('"').map_or(0, |end| end + 1);
    }
    let mut end = 1;
    while end < bytes.len()
        && (bytes[end].is_ascii_alphanumeric() || matches!(bytes[end], b'_' | b'.' | b'$' | b'-'))
    {
        end += 1;
    }
    end
}

/// The number behind `text[at]`, and where it ends.
fn number_behind(text: &str, at: usize) -> Option<(u32, usize)> {
    let bytes = text.as_bytes();
    let mut end = at + 1;
    while end < bytes.len() && bytes[end].is_ascii_digit() {
        end += 1;
    }
    Some((text[at + 1..end].parse().ok()?, end))
}

/// Whether there is a call of a value: `call void %5(`.
fn calls_pointers(text: &str) -> bool {
    text.split('%').skip(1).any(|rest| {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        digits != 0 && rest.as_bytes().get(digits) == Some(&b'(')
    })
}

/// Finds the references in a definition or a node. `None` if a symbol is not one of the module's.
///
/// The compiler notes with inline assembly where in all of the sources it stands (`!srcloc`): this is left out, since it changes with
/// every edit before it.
pub(super) fn lex<'a>(text: &'a str, numbers: &HashMap<&str, usize>) -> Option<Vec<Piece<'a>>> {
    const PLACE_OF_ASSEMBLY: &str = ", !srcloc !";
    let bytes = text.as_bytes();
    let mut pieces = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < bytes.len() {
        let (piece, end) = match bytes[at] {
            b'"' => {
                at += 2 + text[at + 1..].find('"')?;
                continue;
            }
            b'@' => {
                let end = at + symbol_length(&text[at..]);
                let piece = Piece::Symbol {
                    definition: *numbers.get(&text[at..end])?,
                    is_called: bytes.get(end) == Some(&b'('),
                };
                (piece, end)
            }
            b'#' => match number_behind(text, at) {
                Some((number, end)) => (Piece::Attributes(number), end),
                None => {
                    at += 1;
                    continue;
                }
            },
            b'!' => match number_behind(text, at) {
                Some((number, end)) => (Piece::Node(number), end),
                None => {
                    at += 1;
                    continue;
                }
            },
            b',' if text[at..].starts_with(PLACE_OF_ASSEMBLY) => {
                pieces.push(Piece::Text(&text[start..at]));
                (_, at) = number_behind(text, at + PLACE_OF_ASSEMBLY.len() - 1)?;
                start = at;
                continue;
            }
            _ => {
                at += 1;
                continue;
            }
        };
        if start < at {
            pieces.push(Piece::Text(&text[start..at]));
        }
        pieces.push(piece);
        (start, at) = (end, end);
    }
    pieces.push(Piece::Text(&text[start..]));
    Some(pieces)
}
