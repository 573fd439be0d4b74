//! A block falls through into the one behind it where LLVM printed two branches, in PTX text.
//!
//! ```text
//! @%p1 bra  $L__BB0_2;                      @!%p1 bra  $L__BB0_3;
//! bra.uni   $L__BB0_3;                  $L__BB0_2:
//! $L__BB0_2:
//! ```
//!
//! LLVM puts the likelier successor behind a block, but its PTX target cannot reverse a condition: it branches there. `ptxas` takes the block of
//! the second branch for the one to place next, so panics and other code that hardly ever runs stand in the middle of a kernel, and each thread jumps over them.

/// The text with one branch instead of two wherever the block behind them is one of the targets.
pub(super) fn reverse_conditions(ptx: &str) -> String {
    let mut text = String::with_capacity(ptx.len());
    let mut lines = ptx.split_inclusive('\n');
    while let Some(line) = lines.next() {
        match reversed(line, &mut lines.clone()) {
            Some(branch) => {
                lines.next();
                text += &branch;
            }
            None => text += line,
        }
    }
    text
}

/// The one branch for the conditional branch `line`, the branch that follows, and the label behind both.
fn reversed<'a>(line: &str, following: &mut impl Iterator<Item = &'a str>) -> Option<String> {
    let (condition, target) = branch(line)?;
    let other = following.next()?.trim().strip_prefix("bra.uni")?;
    let label = following.next()?.trim_end().strip_suffix(':')?;
    let opposite = match condition.strip_prefix('!') {
        Some(predicate) => predicate.into(),
        None => format!("!{condition}"),
    };
    (label == target).then(|| format!("\t@{opposite} bra \t{}\n", other.trim_start()))
}

/// The condition of a conditional branch, `%p1` or `!%p1`, and its target.
fn branch(line: &str) -> Option<(&str, &str)> {
    let (condition, target) = line.trim().strip_prefix('@')?.split_once(" bra")?;
    Some((condition, target.trim_start().strip_suffix(';')?))
}

#[cfg(test)]
mod tests {
    use super::reverse_conditions;

    #[test]
    fn the_block_behind_two_branches_is_fallen_into() {
        let two = "\t@%p1 bra \t$L__BB0_2;\n\tbra.uni \t$L__BB0_3;\n$L__BB0_2:\n\tret;\n";
        let one = "\t@!%p1 bra \t$L__BB0_3;\n$L__BB0_2:\n\tret;\n";
        assert_eq!(reverse_conditions(two), one);
        let negated = two.replace("@%p1", "@!%p1");
        assert_eq!(reverse_conditions(&negated), one.replace("@!%p1", "@%p1"));
    }

    #[test]
    fn all_other_text_stays() {
        for text in [
            "",
            "\t@%p1 bra \t$L__BB0_2;",
            // Another block is behind them.
            "\t@%p1 bra \t$L__BB0_2;\n\tbra.uni \t$L__BB0_3;\n$L__BB0_4:\n",
            // It is named like the target's beginning.
            "\t@%p1 bra \t$L__BB0_21;\n\tbra.uni \t$L__BB0_3;\n$L__BB0_2:\n",
            // The second branch depends on the thread, too.
            "\t@%p1 bra \t$L__BB0_2;\n\t@%p2 bra \t$L__BB0_3;\n$L__BB0_2:\n",
            "\t@%p1 ret;\n\tbra.uni \t$L__BB0_3;\n$L__BB0_2:\n",
            "\t@%p1 bra.uni \t$L__BB0_2;\n\tbra.uni \t$L__BB0_3;\n$L__BB0_2:\n",
        ] {
            assert_eq!(reverse_conditions(text), text);
        }
    }
}
