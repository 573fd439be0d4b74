//! Mutants that do what the kernel does: nothing can catch them.

use super::Mutant;

/// Mutants of a kernel by one operator.
struct Equivalent {
    kernel: &'static str,
    operator: &'static str,
    /// The line without its operands.
    instruction: &'static str,
    /// Which of the kernel's mutants by the operator that have this instruction, from 0.
    numbers: &'static [usize],
}

/// All that are known, each with the reason.
const EQUIVALENT: &[Equivalent] = &[
    // `over_block` begins with a barrier, for those who still read the sums of the one before: there is none before the first; and behind
    // the grid's barrier all have read. The grid's barrier begins with one of the block, for what its threads have stored: only
    // thread 0 has since the last barrier of `over_block`.
    Equivalent {
        kernel: "conjugate_gradient",
        operator: "no-barrier",
        instruction: "bar.sync",
        numbers: &[0, 2, 4, 10, 12, 16, 18],
    },
    // A tile's own sum, and later its prefix, are published so that others need not add up those of more tiles: either will do.
    Equivalent {
        kernel: "scan",
        operator: "no-store",
        instruction: "st.relaxed.gpu.global.b64",
        numbers: &[0, 1],
    },
];

impl Equivalent {
    fn has(&self, mutant: &Mutant) -> bool {
        self.kernel == mutant.kernel
            && self.operator == mutant.operator.name
            && self.instruction == mutant.instruction()
            && self.numbers.contains(&mutant.number)
    }
}

/// Whether a mutant is known to do what its kernel does.
pub fn is_equivalent(mutant: &Mutant) -> bool {
    EQUIVALENT.iter().any(|known| known.has(mutant))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suite_has_what_is_known() {
        let mutants = super::super::all();
        for known in EQUIVALENT {
            let found = mutants.iter().filter(|mutant| known.has(mutant)).count();
            assert_eq!(
                found,
                known.numbers.len(),
                "{} of {}",
                known.operator,
                known.kernel
            );
        }
    }
}
