//! Reads machine code as `nvdisasm --print-code` writes it.

use super::flow::{Flow, Instruction};
use std::collections::HashMap;

/// Each function's instructions, by its name.
pub fn functions(text: &str) -> HashMap<String, Vec<Instruction>> {
    let mut all = HashMap::new();
    for section in text.split("\n.text.").skip(1) {
        if let Some((name, body)) = section.split_once(':') {
            all.insert(name.to_owned(), function(body));
        }
    }
    all
}

/// An instruction's text, without its address.
struct Line<'a> {
    /// Whether a predicate decides if it is executed.
    is_predicated: bool,
    opcode: &'a str,
    operands: &'a str,
}

fn function(body: &str) -> Vec<Instruction> {
    let mut labels = HashMap::new();
    let mut lines = Vec::new();
    for line in body.lines() {
        let line = line.trim();
        if let Some(label) = line.strip_suffix(':') {
            labels.insert(label, lines.len());
        } else if let Some(rest) = line.strip_prefix("/*")
            && let Some((_address, text)) = rest.split_once("*/")
            && let Some((text, _)) = text.rsplit_once(';')
        {
            let line = parse(text.trim());
            // A function's end is filled up with them.
            if line.base() != "NOP" {
                lines.push(line);
            }
        } else if line.starts_with(".section") {
            break;
        }
    }
    // The function's unreachable end has a label with nothing behind it.
    labels.retain(|_, at| *at < lines.len());
    let targets = |line: &Line| -> Vec<usize> {
        let words = line
            .operands
            .split(|c: char| !(c.is_alphanumeric() || "._$".contains(c)));
        words.filter_map(|word| labels.get(word).copied()).collect()
    };
    let regions: Vec<(&str, usize, usize)> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.base() == "BSSY")
        .filter_map(|(at, line)| Some((line.first_operand(), at, *targets(line).first()?)))
        .collect();
    let flow = |at: usize, line: &Line| match line.base() {
        "BRA" | "BRX" | "JMP" | "JMX" => match (line.is_conditional(), targets(line)) {
            (_, targets) if targets.is_empty() => Flow::End,
            // What stands behind a trap, and at each function's end.
            (false, targets) if targets == [at] => Flow::End,
            (true, targets) => Flow::Branch(targets),
            (false, targets) => Flow::Jump(targets),
        },
        "EXIT" | "RET" | "KILL" if !line.is_predicated => Flow::End,
        "BSYNC" => match reconvergence(&regions, line.first_operand(), at) {
            Some(target) if target != at + 1 => Flow::Jump(vec![target]),
            _ => Flow::Next,
        },
        _ => Flow::Next,
    };
    lines
        .iter()
        .enumerate()
        .map(|(at, line)| Instruction {
            flow: flow(at, line),
            is_memory: MEMORY.contains(&line.base()),
        })
        .collect()
}

/// Where `BSYNC` of a barrier leads: the target of the region that it ends, which is the last to begin before it, or the first of all where
/// the code lies behind the function's end.
fn reconvergence(regions: &[(&str, usize, usize)], barrier: &str, at: usize) -> Option<usize> {
    let mut of_barrier = regions.iter().filter(|(name, ..)| *name == barrier);
    if of_barrier.clone().any(|&(.., target)| target == at + 1) {
        return Some(at + 1);
    }
    of_barrier
        .rfind(|&&(_, begin, _)| begin < at)
        .map(|&(.., target)| target)
}

/// Loads, stores and atomic operations of memory other than constants; copies between global and shared memory.
const MEMORY: [&str; 19] = [
    "LD", "LDG", "LDS", "LDL", "ST", "STG", "STS", "STL", "ATOM", "ATOMG", "ATOMS", "RED", "REDG",
    "LDSM", "STSM", "LDGSTS", "TEX", "TLD", "TLD4",
];

impl<'a> Line<'a> {
    /// The opcode without modifiers.
    fn base(&self) -> &'a str {
        self.opcode.split('.').next().unwrap_or_default()
    }

    fn first_operand(&self) -> &'a str {
        self.operands.split(',').next().unwrap_or_default().trim()
    }

    /// Whether a branch may go on to the next instruction: a predicate stands before it or among its operands, before the label.
    fn is_conditional(&self) -> bool {
        let before_label = self.operands.split('`').next().unwrap_or_default();
        let by_operand = self.base() == "BRA" && !before_label.trim().is_empty();
        self.is_predicated || by_operand
    }
}

fn parse(text: &str) -> Line<'_> {
    let (predicate, rest) = match text.strip_prefix('@') {
        Some(rest) => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
        None => ("", text),
    };
    let rest = rest.trim_start();
    let (opcode, operands) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    Line {
        is_predicated: !predicate.is_empty(),
        opcode,
        operands: operands.trim(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::flow::{Loop, innermost};
    use super::*;

    /// nvdisasm 13.5 of a sum of each row by a warp, from nvcc 13.5.
    const ROW_SUM: &str = include_str!("row_sum.sass");

    #[test]
    fn loops_of_a_recorded_kernel() {
        let functions = functions(ROW_SUM);
        assert_eq!(functions.keys().collect::<Vec<_>>(), ["row_sum"]);
        let code = &functions["row_sum"];
        let found = innermost(code);
        let l = |instructions, memory| Loop {
            instructions,
            memory,
        };
        assert_eq!(found, [l(10, 1), l(54, 16)]);
    }

    #[test]
    fn predicates_and_targets_are_told_apart() {
        let text = "\n.text.k:\n.L_x_0:\n /*0000*/ @!P0 BRA `(.L_x_1) ;\n /*0010*/ BRA.U UP0, `(.L_x_0) ;\n /*0020*/ @P1 EXIT ;\n\
                    .L_x_1:\n /*0030*/ BRX R4 -0x30 (*\"BRANCH_TARGETS .L_x_0,.L_x_1\"*) ;\n /*0040*/ EXIT ;\n\
                    .L_x_2:\n /*0050*/ BRA `(.L_x_2) ;\n /*0060*/ NOP ;\n";
        let flows: Vec<Flow> = functions(text)["k"]
            .iter()
            .map(|instruction| instruction.flow.clone())
            .collect();
        assert_eq!(
            flows,
            [
                Flow::Branch(vec![3]),
                Flow::Branch(vec![0]),
                Flow::Next,
                Flow::Jump(vec![0, 3]),
                Flow::End,
                Flow::End
            ]
        );
    }
}
