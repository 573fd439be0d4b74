//! What an architecture has as a whole, as the CUDA C++ Programming Guide lists it (§16.2, table 20): of which such capability an
//! instruction is a part, for an error that is understood without the PTX manual.

use crate::matched::Match;
use crate::nvvm::Lowered;
use crate::special_registers::SpecialRegister;
use crate::target::{Features, Target};

/// A capability, and the instructions that are a part of it.
struct Row {
    /// The opcodes, separated by spaces; empty: any.
    opcodes: &'static str,
    /// The modifiers, in the words of [`Match::holds_all`].
    when: &'static str,
    /// The first architecture that has it.
    since: Target,
    /// Its name.
    name: &'static str,
}

const fn row(
    opcodes: &'static str,
    when: &'static str,
    since: &'static str,
    name: &'static str,
) -> Row {
    match Target::parse(since) {
        Some(since) => Row {
            opcodes,
            when,
            since,
            name,
        },
        None => panic!("no architecture"),
    }
}

const CLUSTERS: &str = "thread block clusters";
const DISTRIBUTED: &str = "distributed shared memory";
const TMA: &str = "bulk asynchronous copies, TMA";

/// The first row that matches counts.
const ROWS: &[Row] = &[
    row("tensormap", "", "sm_90", TMA),
    row("prefetch", "tensormap", "sm_90", TMA),
    row("cp", "bulk", "sm_90", TMA),
    row(
        "cp",
        "async",
        "sm_80",
        "asynchronous copies to shared memory",
    ),
    row("st red", "async", "sm_90", DISTRIBUTED),
    row("mapa getctarank", "", "sm_90", DISTRIBUTED),
    row("", "shared::cluster", "sm_90", DISTRIBUTED),
    row(
        "mbarrier",
        "",
        "sm_80",
        "split arrive/wait barriers in shared memory",
    ),
    row("atom red", "b128", "sm_90", "128-bit atomics"),
    row("atom red", "vec f32", "sm_90", "float2 and float4 atomics"),
    row("atom red", "vec", "sm_90", "atomics on vectors"),
    row("add min max", "s16x2/u16x2", "sm_90", "DPX"),
    row("min max", "relu s32", "sm_90", "DPX"),
    row("barrier", "cluster", "sm_90", CLUSTERS),
    row("", "cluster", "sm_90", CLUSTERS),
    row("wgmma", "", "sm_90a", "matrix products of a warpgroup"),
    row(
        "setmaxnreg",
        "",
        "sm_90a",
        "register reallocation between warpgroups",
    ),
    row(
        "griddepcontrol",
        "",
        "sm_90",
        "programmatic dependent launch",
    ),
    row("redux", "", "sm_80", "reductions of a warp in hardware"),
    row(
        "",
        "bf16/bf16x2",
        "sm_80",
        "bfloat16-precision floating point",
    ),
];

impl Row {
    /// Its name, if the architecture lacks it.
    fn lacked_by(&self, target: Target) -> Option<&'static str> {
        let has = match self.since.features {
            Features::Baseline => target.level >= self.since.level,
            // Of exactly this architecture.
            _ => target == self.since,
        };
        (!has).then_some(self.name)
    }
}

impl Match {
    /// The capability of which the instruction is a part and which the architecture lacks as a whole; `None` also where it has that, and
    /// lacks the instruction alone.
    pub fn lacked_capability(&self, target: Target) -> Option<&'static str> {
        ROWS.iter()
            .find(|row| {
                let is_of =
                    row.opcodes.is_empty() || row.opcodes.split(' ').any(|o| o == self.form.opcode);
                is_of && self.holds_all(row.when)
            })?
            .lacked_by(target)
    }
}

impl SpecialRegister {
    /// As of [`Match::lacked_capability`].
    pub fn lacked_capability(&self, target: Target) -> Option<&'static str> {
        self.name
            .contains("cluster")
            .then(|| lacked_by_clusters(target))
            .flatten()
    }
}

impl Lowered {
    /// As of [`Match::lacked_capability`].
    pub fn lacked_capability(&self, target: Target) -> Option<&'static str> {
        match self {
            Lowered::Instruction { form, .. } => form.lacked_capability(target),
            Lowered::Register(register) => register.lacked_capability(target),
        }
    }
}

/// What kernels of clusters lack on this architecture; `None` if nothing.
pub fn lacked_by_clusters(target: Target) -> Option<&'static str> {
    (target.level < 90).then_some(CLUSTERS)
}
