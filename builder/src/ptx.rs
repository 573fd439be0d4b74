//! Reads back from PTX text what a person wants to know of each kernel: parameters, shared memory, bounds.

use std::collections::{BTreeMap, BTreeSet};

/// One kernel in a PTX module.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct KernelSummary {
    /// The entry's name.
    pub name: String,
    /// The flat parameters, in order.
    pub parameters: Vec<ParameterSummary>,
    /// Bytes of static shared memory, of the kernel and all it calls.
    pub static_shared: u64,
    /// Whether it uses dynamic shared memory.
    pub dynamic_shared: bool,
    /// Bytes of local memory that PTX itself asks for (arrays that are indexed at run time, mostly).
    pub local: u64,
    /// `.maxntid` or `.reqntid`.
    pub max_threads: Option<[u32; 3]>,
    /// Whether the block must have exactly this size (`.reqntid`).
    pub exact: bool,
    /// `.minnctapersm`
    pub min_blocks: Option<u32>,
    /// `.maxnreg`
    pub max_registers: Option<u32>,
    /// `.reqnctapercluster`
    pub cluster: Option<[u32; 3]>,
}

/// One flat parameter of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParameterSummary {
    /// PTX type: `u64`, `f32`; `b8` for a struct by value.
    pub ty: String,
    /// Size in bytes.
    pub size: u64,
    /// Whether it is a pointer.
    pub pointer: bool,
}

impl std::fmt::Display for ParameterSummary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.pointer, self.ty.as_str()) {
            (true, _) => f.write_str("pointer"),
            (false, "b8") => write!(f, "{} bytes", self.size),
            (false, ty) => f.write_str(ty),
        }
    }
}

/// A function or kernel, cut out of the text.
struct Piece<'a> {
    name: &'a str,
    is_entry: bool,
    head: &'a str,
    body: &'a str,
}

/// All kernels of a PTX module, in the order of the text.
pub fn summarise(ptx: &str) -> Vec<KernelSummary> {
    let pieces = pieces(ptx);
    let module_scope = shared_objects(&outside(ptx, &pieces));
    let by_name: BTreeMap<&str, &Piece<'_>> = pieces.iter().map(|p| (p.name, p)).collect();
    pieces
        .iter()
        .filter(|p| p.is_entry)
        .map(|entry| summary(entry, &by_name, &module_scope))
        .collect()
}

fn summary(
    entry: &Piece<'_>,
    by_name: &BTreeMap<&str, &Piece<'_>>,
    module_scope: &BTreeMap<String, Option<u64>>,
) -> KernelSummary {
    let mut kernel = KernelSummary {
        name: entry.name.to_owned(),
        ..KernelSummary::default()
    };
    let (parameters, directives) = entry.head.split_once(')').unwrap_or((entry.head, ""));
    kernel.parameters = parameters.lines().filter_map(parameter).collect();
    for line in directives.lines() {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let numbers: Vec<u32> = rest
            .split(',')
            .filter_map(|n| n.trim().parse().ok())
            .collect();
        let three =
            || -> [u32; 3] { std::array::from_fn(|i| numbers.get(i).copied().unwrap_or(1)) };
        match word {
            ".maxntid" => kernel.max_threads = Some(three()),
            ".reqntid" => (kernel.max_threads, kernel.exact) = (Some(three()), true),
            ".minnctapersm" => kernel.min_blocks = numbers.first().copied(),
            ".maxnreg" => kernel.max_registers = numbers.first().copied(),
            ".reqnctapercluster" => kernel.cluster = Some(three()),
            _ => {}
        }
    }
    let mut used = BTreeMap::new();
    for piece in reached(entry, by_name) {
        used.extend(shared_objects(piece.body));
        kernel.local += piece
            .body
            .lines()
            .filter_map(|l| l.trim().strip_prefix(".local"))
            .filter_map(object)
            .filter_map(|o| o.1)
            .sum::<u64>();
        for word in words(piece.body) {
            if let Some(size) = module_scope.get(word) {
                used.insert(word.to_owned(), *size);
            }
        }
    }
    kernel.dynamic_shared = used.values().any(Option::is_none);
    kernel.static_shared = used.values().flatten().sum();
    kernel
}

/// `entry` and every function it calls.
fn reached<'a>(
    entry: &'a Piece<'a>,
    by_name: &BTreeMap<&str, &'a Piece<'a>>,
) -> Vec<&'a Piece<'a>> {
    let mut seen = BTreeSet::from([entry.name]);
    let mut all = vec![entry];
    let mut at = 0;
    while at < all.len() {
        for word in words(all[at].body) {
            if let Some(piece) = by_name.get(word)
                && seen.insert(piece.name)
            {
                all.push(piece);
            }
        }
        at += 1;
    }
    all
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'))
        .filter(|w| !w.is_empty())
}

/// Cuts the text at functions with a body.
fn pieces(ptx: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = ptx;
    while let Some(brace) = rest.find("\n{") {
        let before = &rest[..brace];
        let body = &rest[brace + 2..];
        let end = length_of_block(body);
        let entry = before.rfind(".entry");
        let function = before.rfind(".func");
        let (start, is_entry) = match (entry, function) {
            (Some(e), f) if f.is_none_or(|f| f < e) => (e + ".entry".len(), true),
            (_, Some(f)) => (f + ".func".len(), false),
            _ => (0, false),
        };
        let mut head = before[start..].trim_start();
        if !is_entry && head.starts_with('(') {
            head = head
                .split_once(')')
                .map_or("", |(_, after)| after)
                .trim_start(); // the return value
        }
        let name_end = head
            .find(|c: char| c == '(' || c.is_whitespace())
            .unwrap_or(head.len());
        pieces.push(Piece {
            name: &head[..name_end],
            is_entry,
            head: &head[name_end..],
            body: &body[..end],
        });
        rest = &body[end..];
    }
    pieces
}

/// How long the block is whose opening brace stands just before `text`, its closing brace included. Inline assembly may have blocks of its
/// own, at the beginnings of lines, too, and braces in comments.
pub(crate) fn length_of_block(text: &str) -> usize {
    let mut depth = 1;
    let mut at = 0;
    while let Some(&byte) = text.as_bytes().get(at) {
        let rest = &text[at..];
        let skipped = match byte {
            b'/' if rest.starts_with("//") => rest.find('\n'),
            b'/' if rest.starts_with("/*") => rest.find("*/").map(|end| end + "*/".len()),
            b'"' => rest[1..].find('"').map(|end| end + 2),
            _ => Some(1),
        };
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        at += skipped.unwrap_or(rest.len());
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// The module-scope lines.
fn outside(ptx: &str, pieces: &[Piece<'_>]) -> String {
    let mut text = ptx.to_owned();
    for piece in pieces {
        text = text.replace(piece.body, "");
    }
    text
}

/// Shared objects that are declared in `text`: name and size (none: dynamic).
fn shared_objects(text: &str) -> BTreeMap<String, Option<u64>> {
    text.lines()
        .filter_map(|line| {
            let line = line.trim();
            let declaration = line
                .strip_prefix(".extern")
                .or_else(|| line.strip_prefix(".visible"))
                .unwrap_or(line)
                .trim_start();
            object(declaration.strip_prefix(".shared")?)
        })
        .collect()
}

/// Name and size of `.align 4 .b8 name[256];`.
fn object(declaration: &str) -> Option<(String, Option<u64>)> {
    let (type_and_name, length) = match declaration.split_once('[') {
        Some((left, right)) => (left, right.split(']').next()?.trim().parse::<u64>().ok()),
        None => (declaration.split([';', '=']).next()?, Some(1)),
    };
    let mut words = type_and_name.split_whitespace().rev();
    let name = words.next()?.to_owned();
    let size = type_size(words.next()?)?;
    Some((name, length.map(|l| l * size)))
}

fn parameter(line: &str) -> Option<ParameterSummary> {
    let mut words = line.trim().trim_end_matches(',').split_whitespace();
    if words.next()? != ".param" {
        return None;
    }
    let rest: Vec<&str> = words.collect();
    let ty = rest.iter().find(|w| type_size(w).is_some())?;
    let count = rest
        .last()?
        .split_once('[')
        .and_then(|(_, n)| n.trim_end_matches(']').parse().ok())
        .unwrap_or(1);
    Some(ParameterSummary {
        ty: ty[1..].into(),
        size: type_size(ty)? * count,
        pointer: rest.contains(&".ptr"),
    })
}

/// Size of `.u64`, `.f32`, `.b8` ...
fn type_size(word: &str) -> Option<u64> {
    let word = word.strip_prefix('.')?;
    let bits: u64 = word.strip_prefix(['u', 's', 'f', 'b'])?.parse().ok()?;
    Some(bits / 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
.version 8.0
.target sm_90
.shared .align 4 .b8 both[64];
.extern .shared .align 16 .b8 dynamic[];
.func  (.param .b32 func_retval0) helper(
	.param .b32 helper_param_0
)
;
.visible .entry one(
	.param .u64 .ptr .align 1 one_param_0,
	.param .align 8 .b8 one_param_1[24],
	.param .f32 one_param_2
)
.maxntid 256, 2, 1
.minnctapersm 4
{
	.local .align 8 .b8 	__local_depot0[40];
	// begin inline asm: } {
	{
.reg .pred set; /* }
} */
}
	// end inline asm
	.shared .align 4 .b8 own[128];
	call.uni (retval0), helper, (param0);
}
.visible .entry two(
)
.reqntid 64, 1, 1
.explicitcluster
.reqnctapercluster 2, 1, 1
{
	mov.b64 %rd1, dynamic;
}
.func  (.param .b32 func_retval0) helper(
	.param .b32 helper_param_0
)
{
	mov.b64 %rd1, both;
}
";

    #[test]
    fn tells_kernels_parameters_and_memory() {
        let kernels = summarise(TEXT);
        assert_eq!(kernels.len(), 2);
        let [one, two] = &kernels[..] else { panic!() };
        assert_eq!(one.name, "one");
        let shown: Vec<String> = one.parameters.iter().map(|p| p.to_string()).collect();
        assert_eq!(shown, ["pointer", "24 bytes", "f32"]);
        assert_eq!(
            (one.static_shared, one.dynamic_shared, one.local),
            (64 + 128, false, 40)
        );
        assert_eq!(
            (one.max_threads, one.exact, one.min_blocks),
            (Some([256, 2, 1]), false, Some(4))
        );
        assert_eq!((two.static_shared, two.dynamic_shared), (0, true));
        assert_eq!(
            (two.max_threads, two.exact, two.cluster),
            (Some([64, 1, 1]), true, Some([2, 1, 1]))
        );
    }
}
