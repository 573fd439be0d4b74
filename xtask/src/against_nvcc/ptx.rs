//! Reads the entries of PTX text, as LLVM and nvcc write them.

use super::flow::{Flow, Instruction};
use std::collections::HashMap;

/// Each entry's instructions, by its name.
pub fn entries(text: &str) -> HashMap<String, Vec<Instruction>> {
    let code: String = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .filter(|line| !is_about_lines(line))
        .flat_map(|line| [line, "\n"])
        .collect();
    let mut all = HashMap::new();
    for entry in code.split(".entry ").skip(1) {
        let Some((head, rest)) = entry.split_once('{') else {
            continue;
        };
        let name = head.split('(').next().unwrap_or_default().trim();
        all.insert(name.to_owned(), function(body(rest)));
    }
    all
}

/// Directives without a semicolon.
fn is_about_lines(line: &str) -> bool {
    [".loc", ".file"]
        .iter()
        .any(|directive| line.trim_start().starts_with(directive))
}

/// The text up to the brace that closes what is open.
fn body(text: &str) -> &str {
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[..at];
        }
    }
    text
}

fn function(body: &str) -> Vec<Instruction> {
    let mut labels = HashMap::new();
    let mut tables = HashMap::new();
    let mut statements = Vec::new();
    for statement in body.split(';') {
        let mut rest =
            statement.trim_start_matches(|c: char| c.is_whitespace() || "{}".contains(c));
        while let Some((label, after)) = rest.split_once(':')
            && label
                .chars()
                .all(|c| c.is_alphanumeric() || "_$%".contains(c))
        {
            rest = after.trim_start_matches(|c: char| c.is_whitespace() || "{}".contains(c));
            match rest.strip_prefix(".branchtargets") {
                Some(targets) => tables.insert(label, targets),
                None => labels.insert(label, statements.len()).map(|_| ""),
            };
        }
        let rest = rest.trim();
        if !rest.is_empty() && !rest.starts_with('.') {
            statements.push(rest);
        }
    }
    // A label may stand at the end.
    labels.retain(|_, at| *at < statements.len());
    let named = |text: &str| -> Vec<usize> {
        let words = text.split(|c: char| c.is_whitespace() || c == ',');
        words.filter_map(|word| labels.get(word).copied()).collect()
    };
    let instruction = |statement: &&str| {
        let (predicate, rest) = match statement.strip_prefix('@') {
            Some(rest) => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
            None => ("", *statement),
        };
        let (opcode, operands) = rest
            .trim_start()
            .split_once(char::is_whitespace)
            .unwrap_or((rest, ""));
        let base = opcode.split('.').next().unwrap_or_default();
        let is_predicated = !predicate.is_empty();
        Instruction {
            flow: match base {
                "bra" if is_predicated => Flow::Branch(named(operands)),
                "bra" => Flow::Jump(named(operands)),
                "brx" => {
                    let tables = operands
                        .split(',')
                        .filter_map(|name| tables.get(name.trim()));
                    Flow::Jump(tables.flat_map(|targets| named(targets)).collect())
                }
                "ret" | "exit" | "trap" if !is_predicated => Flow::End,
                _ => Flow::Next,
            },
            is_memory: is_memory(base, opcode),
        }
    };
    statements.iter().map(instruction).collect()
}

/// As in machine code: loads of parameters and constants do not count.
fn is_memory(base: &str, opcode: &str) -> bool {
    let accesses = [
        "ld", "ldu", "st", "atom", "red", "ldmatrix", "stmatrix", "tex", "tld4",
    ];
    let is_copy = opcode.starts_with("cp.async") && opcode.contains(".shared");
    let is_constant = opcode
        .split('.')
        .any(|part| part == "const" || part.starts_with("param"));
    (accesses.contains(&base) && !is_constant) || is_copy
}

#[cfg(test)]
mod tests {
    use super::super::flow::{Loop, innermost};
    use super::*;

    #[test]
    fn a_loop_with_all_that_stands_in_ptx() {
        let text = r#"
.visible .entry k(.param .u64 k_param_0) // a comment; with { and a
.maxntid 256, 1, 1
{
    .reg .pred %p<3>;
    .shared .align 4 .b8 tile[1024];
    ld.param.u64 %rd1, [k_param_0];
    .loc 1 2 3
$L__BB0_1: // %loop
    .pragma "nounroll";
    ld.global.v2.f32 {%f1, %f2}, [%rd1];
    { .reg .pred truth; setp.ne.u32 truth, %r1, 0; selp.b32 %r2, 1, 0, truth; }
    st.shared.f32 [%r2], %f1;
    @%p1 bra $L__BB0_3;
    bra.uni $L__BB0_1;
$L__BB0_3:
    ret;
}
.visible .entry other() { ret; }
"#;
        let all = entries(text);
        assert_eq!(all["other"].len(), 1);
        let expected = Loop {
            instructions: 6,
            memory: 2,
        };
        assert_eq!(innermost(&all["k"]), [expected]);
    }
}
