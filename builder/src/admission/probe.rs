//! What must stand in the PTX of the probe kernels.

/// The probe kernels, one crate without dependencies.
pub(super) const SOURCE: &str = include_str!("kernels.rs");

/// One thing that every kernel relies on.
struct Check {
    /// What is wrong where it does not hold.
    wrong: &'static str,
    kernel: &'static str,
    holds: fn(&Kernel<'_>) -> bool,
}

const CHECKS: &[Check] = &[
    Check {
        wrong: "a shuffle moved behind a branch that some of its threads do not take",
        kernel: "probe_shuffle",
        holds: |kernel| kernel.count("shfl.sync") == 1 && kernel.is_before("shfl.sync", "bra"),
    },
    Check {
        wrong: "the barriers of two branches became one",
        kernel: "probe_barriers",
        holds: |kernel| kernel.count("bar.sync") == 2,
    },
    Check {
        wrong: "one barrier became several",
        kernel: "probe_barrier",
        holds: |kernel| kernel.count("bar.sync") == 1,
    },
    Check {
        wrong: "two votes on the two sides of a barrier became one",
        kernel: "probe_votes",
        holds: |kernel| {
            kernel.count("vote.sync") == 2
                && kernel.count("bar.sync") == 1
                && kernel.is_before("vote.sync", "bar.sync")
        },
    },
    Check {
        wrong: "a static of shared memory is not addressed as such",
        kernel: "probe_shared",
        holds: |kernel| {
            kernel.count("st.shared") == 1
                && kernel.count("ld.shared") == 1
                && kernel.is_before("st.shared", "bar.sync")
                && kernel.is_before("bar.sync", "ld.shared")
        },
    },
    Check {
        wrong: "an atomic operation lost its order or its scope",
        kernel: "probe_atomics",
        holds: |kernel| {
            kernel.count("atom.acq_rel.sys.global.add.u32") == 1
                && kernel.is_before("fence.sc.sys", "atom.acq_rel.sys.global.exch.b32")
        },
    },
    Check {
        wrong: "subnormal numbers are not flushed, or a product and a sum are not fused, where it was asked for",
        kernel: "probe_flush",
        holds: |kernel| kernel.count("fma.rn.ftz.f32") == 1,
    },
    Check {
        wrong: "a kernel's launch bounds are lost",
        kernel: "probe_record",
        holds: |kernel| kernel.head.contains(".maxntid 64, 2, 1"),
    },
    Check {
        wrong: "read-only memory is not read as such",
        kernel: "probe_record",
        holds: |kernel| kernel.count("ld.global.nc") == 1,
    },
    Check {
        wrong: "a struct by value is not a parameter of its size, or is copied before it is read",
        kernel: "probe_record",
        holds: |kernel| {
            kernel
                .head
                .contains(".param .align 8 .b8 probe_record_param_1[32]")
                && kernel.count("local") == 0
        },
    },
    Check {
        wrong: "instructions do not name their source lines",
        kernel: "probe_library",
        holds: |kernel| kernel.text.contains(".loc"),
    },
];

/// What is wrong with the PTX of the probe kernels; empty if nothing is.
pub(super) fn faults(ptx: &str) -> Vec<&'static str> {
    CHECKS
        .iter()
        .filter(|check| {
            !Kernel::find(ptx, check.kernel).is_some_and(|kernel| (check.holds)(&kernel))
        })
        .map(|check| check.wrong)
        .collect()
}

/// One kernel of a PTX module.
struct Kernel<'a> {
    /// Parameters and directives.
    head: &'a str,
    /// The body, with all that is in it.
    text: &'a str,
    /// The instructions.
    instructions: Vec<&'a str>,
}

impl<'a> Kernel<'a> {
    fn find(ptx: &'a str, name: &str) -> Option<Kernel<'a>> {
        let start = ptx.find(&format!(".entry {name}("))?;
        let (head, rest) = ptx[start..].split_once("\n{")?;
        let (text, _) = rest.split_once("\n}")?;
        let instructions = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with(['.', '/', '$']))
            .collect();
        Some(Kernel {
            head,
            text,
            instructions,
        })
    }

    /// How many instructions have `part` in them.
    fn count(&self, part: &str) -> usize {
        self.instructions
            .iter()
            .filter(|instruction| instruction.contains(part))
            .count()
    }

    /// Whether there is a `first`, and no `second` in front of it.
    fn is_before(&self, first: &str, second: &str) -> bool {
        let position = |part| self.instructions.iter().position(|i| i.contains(part));
        match (position(first), position(second)) {
            (Some(first), Some(second)) => first < second,
            (found, None) => found.is_some(),
            (None, Some(_)) => false,
        }
    }
}
