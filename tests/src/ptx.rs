//! The PTX of the test kernels, and what the snapshots show of it.

use warpsmith_host::ComputeCapability;

/// The kernels compiled for `sm_70`.
pub const SM_70: &str = include_str!(concat!(env!("OUT_DIR"), "/sm_70.ptx"));
/// The kernels compiled for `sm_80`.
pub const SM_80: &str = include_str!(concat!(env!("OUT_DIR"), "/sm_80.ptx"));
/// The kernels compiled for `sm_90`.
pub const SM_90: &str = include_str!(concat!(env!("OUT_DIR"), "/sm_90.ptx"));

/// The LLVM that made them: 22, 23, ...
pub fn llvm() -> u32 {
    let text = env!("WARPSMITH_TESTS_LLVM");
    text.parse().expect("the build script writes a number")
}

/// Those that a device of this compute capability takes, the oldest first, each with its architecture's name.
pub fn taken_by(
    capability: ComputeCapability,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    [
        (7, "sm_70", SM_70),
        (8, "sm_80", SM_80),
        (9, "sm_90", SM_90),
    ]
    .into_iter()
    .filter(move |(major, ..)| *major <= capability.major)
    .map(|(_, name, text)| (name, text))
}

/// The newest of them that a device of this compute capability takes.
pub fn for_capability(capability: ComputeCapability) -> &'static str {
    taken_by(capability).last().map_or(SM_70, |(_, text)| text)
}

/// The instructions of a kernel (or other function) in order: no directives, labels, comments; registers without their numbers, so
/// that only what is computed shows.
///
/// # Panics
/// If there is no such kernel.
pub fn instructions(ptx: &str, kernel: &str) -> Vec<String> {
    let head = [".visible .entry ", ".entry ", ".func "]
        .iter()
        .find_map(|kind| ptx.find(&format!("{kind}{kernel}(")))
        .unwrap_or_else(|| panic!("the PTX has no kernel `{kernel}`"));
    let body = &ptx[head..];
    let body = &body[body.find("\n{").expect("a kernel has a body") + 2..];
    let body = &body[..end_of_block(body)];
    body.split([';', '\n'])
        .map(|line| line.split("//").next().unwrap_or("").trim())
        .map(|line| line.trim_start_matches(['{', '}']).trim_start())
        .filter(|line| !line.is_empty() && !line.starts_with(['.', '$', '(', '}', ')']))
        .filter(|line| !line.ends_with(':'))
        .map(normalise)
        .collect()
}

/// Where the block that `text` is inside of ends. Blocks of inline assembly are nested in it.
fn end_of_block(text: &str) -> usize {
    let mut depth = 1;
    for (at, brace) in text.match_indices(['{', '}']) {
        depth += if brace == "{" { 1 } else { -1 };
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// Those instructions of a kernel whose mnemonic begins with one of `families` (a predicate before it aside).
pub fn selected(ptx: &str, kernel: &str, families: &[&str]) -> Vec<String> {
    instructions(ptx, kernel)
        .into_iter()
        .filter(|line| {
            let mnemonic = match line.split_once(' ') {
                Some((predicate, rest)) if predicate.starts_with('@') => rest,
                _ => line,
            };
            families.iter().any(|family| mnemonic.starts_with(family))
        })
        .collect()
}

/// A snapshot's text: each kernel's name, and the different ones of its selected instructions, sorted: which instructions an
/// intrinsic became does not depend on where the compiler has put or copied them.
pub fn report(ptx: &str, kernels: &[&str], families: &[&str]) -> String {
    text(ptx, kernels, families, |lines| {
        lines.sort();
        lines.dedup();
    })
}

/// [`report`] with every instruction in the program's order, for kernels that are about order.
pub fn report_in_order(ptx: &str, kernels: &[&str], families: &[&str]) -> String {
    text(ptx, kernels, families, |_| {})
}

fn text(
    ptx: &str,
    kernels: &[&str],
    families: &[&str],
    arrange: impl Fn(&mut Vec<String>),
) -> String {
    let mut out = String::new();
    for kernel in kernels {
        let mut lines = selected(ptx, kernel, families);
        arrange(&mut lines);
        out += &format!("{kernel}\n");
        for line in lines {
            out += &format!("    {line};\n");
        }
    }
    out
}

/// The names of the kernels that begin with `prefix`, sorted.
pub fn kernels<'p>(ptx: &'p str, prefix: &str) -> Vec<&'p str> {
    let mut names: Vec<_> = ptx
        .lines()
        .filter_map(|line| line.strip_prefix(".visible .entry "))
        .filter_map(|rest| rest.split('(').next())
        .filter(|name| name.starts_with(prefix))
        .collect();
    names.sort_unstable();
    names
}

/// One space between words; `%rd12` becomes `%rd`, but `%tid.x` and `%envreg1` stay. Labels lose their numbers too, and so do shared
/// objects, which are numbered over all kernels. A parameter's space is called `.param`, as before PTX 8.3.
fn normalise(line: &str) -> String {
    let line = line
        .replace(".param::entry.", ".param.")
        .replace(".param::func.", ".param.");
    let mut out = String::new();
    for word in line.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        if word.starts_with("$L") {
            out += "$L";
            continue;
        }
        if let Some(mangled) = word.strip_prefix("_R") {
            out += "_R";
            out += &without_crate_hash(mangled);
            continue;
        }
        let mut rest = word;
        while let Some(at) = rest.find('%') {
            out += &rest[..=at];
            rest = &rest[at + 1..];
            let letters = rest
                .find(|c: char| !c.is_ascii_lowercase())
                .unwrap_or(rest.len());
            let (name, after) = rest.split_at(letters);
            out += name;
            rest = after;
            if ["r", "rd", "rs", "p", "f", "fd", "rq"].contains(&name) {
                rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            }
        }
        out += rest;
    }
    unnumbered(&out, "shared_")
}

/// `text` without the numbers that end names with this beginning.
fn unnumbered(text: &str, beginning: &str) -> String {
    let mut parts = text.split(beginning);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let after = part.trim_start_matches(|c: char| c.is_ascii_digit());
        out += match after.len() == part.len() {
            true => beginning,
            false => beginning.trim_end_matches('_'),
        };
        out += after;
    }
    out
}

/// A mangled name without the hash of its crate (`Cs...._`), which differs from build to build.
fn without_crate_hash(mangled: &str) -> String {
    let Some((before, rest)) = mangled.split_once("Cs") else {
        return mangled.to_owned();
    };
    match rest.split_once('_') {
        Some((hash, after)) if hash.chars().all(|c| c.is_ascii_alphanumeric()) => {
            format!("{before}C{after}")
        }
        _ => mangled.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = "\
.visible .entry two(
\t.param .u64 p
)
{
\t.reg .b32 \t%r<3>;
$L__BB0_1:
\t// begin inline asm
\tatom.relaxed.gpu.add.u32 %r1, [%rd12+4], %r2;
\t{
.reg .pred q;
setp.ne.u32 q, %r1, 0;
}
\t@%p1 bra \t$L__BB0_1;
\tmov.u32 \t%r7, %tid.x;
\tld.param::entry.b64 \t%rd1, [two_param_0];
\tret;
}
";

    #[test]
    fn instructions_are_found_and_made_comparable() {
        assert_eq!(
            instructions(PTX, "two"),
            [
                "atom.relaxed.gpu.add.u32 %r, [%rd+4], %r",
                "setp.ne.u32 q, %r, 0",
                "@%p bra $L",
                "mov.u32 %r, %tid.x",
                "ld.param.b64 %rd, [two_param_0]",
                "ret"
            ]
        );
        assert_eq!(selected(PTX, "two", &["bra", "ret"]), ["@%p bra $L", "ret"]);
        assert_eq!(kernels(PTX, "t"), ["two"]);
    }
}
