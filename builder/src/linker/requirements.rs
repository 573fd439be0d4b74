//! What a kernel's instructions need: the architecture and the PTX version of each.
//!
//! The default PTX version is the oldest that has everything, because a driver refuses PTX newer than itself.
//! LLVM only emits what the chosen version has; so what decides are the instructions in `asm!`, NVVM
//! intrinsics, and kernel attributes. The table is from the PTX ISA's "PTX ISA Notes" and "Target ISA Notes".

use crate::arch::{Arch, PtxVersion};
use crate::error::BuildError;
use crate::linker::convergence::instructions;
use crate::linker::spaces;
use crate::llvm::{Module, Value, ValueKind};

/// The need of one family of instructions.
struct Need {
    /// Beginning of the mnemonic; empty: any.
    start: &'static str,
    /// Must occur in the statement as well; empty: always.
    with: &'static str,
    ptx: (u32, u32),
    /// Lowest level; 0: any.
    level: u32,
    /// Not 0: only architectures of the kind `sm_XXa`, up to this level.
    specific_to: u32,
}

const fn need(start: &'static str, with: &'static str, ptx: (u32, u32), level: u32) -> Need {
    Need {
        start,
        with,
        ptx,
        level,
        specific_to: 0,
    }
}

const fn specific(
    start: &'static str,
    with: &'static str,
    ptx: (u32, u32),
    levels: (u32, u32),
) -> Need {
    Need {
        start,
        with,
        ptx,
        level: levels.0,
        specific_to: levels.1,
    }
}

/// Every entry that matches counts; the highest wins.
const NEEDS: &[Need] = &[
    // Warps.
    need("shfl.sync", "", (6, 0), 0),
    need("vote.sync", "", (6, 0), 0),
    need("match.", "", (6, 0), 70),
    need("activemask", "", (6, 2), 0),
    need("redux.sync", "", (7, 0), 80),
    specific("redux.sync", ".f32", (8, 6), (100, 103)),
    need("elect.sync", "", (8, 0), 90),
    need("nanosleep", "", (6, 3), 70),
    need("bmsk", "", (7, 6), 70),
    need("szext", "", (7, 6), 70),
    // Matrix units.
    need("wmma.", "", (6, 0), 70),
    need("wmma.", "m32n8k16", (6, 1), 70),
    need("wmma.", "m8n32k16", (6, 1), 70),
    need("wmma.", ".u8", (6, 3), 72),
    need("wmma.", ".s8", (6, 3), 72),
    need("wmma.", ".s32", (6, 3), 72),
    need("wmma.", ".u4", (6, 3), 75),
    need("wmma.", ".s4", (6, 3), 75),
    need("wmma.", ".b1", (6, 3), 75),
    need("wmma.", ".and.popc", (7, 1), 80),
    need("wmma.", ".bf16", (7, 0), 80),
    need("wmma.", ".tf32", (7, 0), 80),
    need("wmma.", ".f64", (7, 0), 80),
    need("mma.", "", (6, 4), 70),
    need("mma.", "m16n8k8", (6, 5), 75),
    need("mma.", "m8n8k16", (6, 5), 75),
    need("mma.", "m8n8k32", (6, 5), 75),
    need("mma.", "m16n8k16", (7, 0), 80),
    need("mma.", "m16n8k32", (7, 0), 80),
    need("mma.", "m16n8k4", (7, 0), 80),
    need("mma.", ".bf16", (7, 0), 80),
    need("mma.", ".tf32", (7, 0), 80),
    need("mma.", ".f64", (7, 0), 80),
    need("mma.sp", "", (7, 1), 80),
    need("mma.", ".e4m3", (8, 4), 89),
    need("mma.", ".e5m2", (8, 4), 89),
    need("ldmatrix", "", (6, 5), 75),
    need("stmatrix", "", (7, 8), 90),
    need("movmatrix", "", (7, 8), 75),
    specific("wgmma", "", (8, 0), (90, 90)),
    specific("setmaxnreg", "", (8, 0), (90, 999)),
    specific("tcgen05", "", (8, 6), (100, 103)),
    // Asynchronous copies and barriers.
    need("cp.async", "", (7, 0), 80),
    need("cp.async.bulk", "", (8, 0), 90),
    need("cp.reduce.async.bulk", "", (8, 0), 90),
    need("mbarrier.", "", (7, 0), 80),
    need("mbarrier.try_wait", "", (7, 8), 90),
    need("mbarrier.", "expect_tx", (8, 0), 90),
    need("mbarrier.", "complete_tx", (8, 0), 90),
    need("mbarrier.", ".cluster", (8, 0), 90),
    need("st.async", "", (8, 1), 90),
    need("st.bulk", "", (8, 6), 100),
    need("red.async", "", (8, 1), 90),
    need("multimem", "", (8, 1), 90),
    specific("tensormap.replace", "", (8, 3), (90, 999)),
    need("prefetch", "tensormap", (8, 0), 90),
    need("griddepcontrol", "", (7, 8), 90),
    need("clusterlaunchcontrol", "", (8, 6), 100),
    // Clusters.
    need("barrier.cluster", "", (7, 8), 90),
    need("barrier.cluster", ".release", (8, 0), 90),
    need("barrier.cluster", ".acquire", (8, 0), 90),
    need("barrier.cluster", ".relaxed", (8, 0), 90),
    need("mapa", "", (7, 8), 90),
    need("getctarank", "", (7, 8), 90),
    need("", ".shared::cluster", (7, 8), 90),
    need("", ".shared::cta", (7, 8), 0),
    need("", "%cluster", (7, 8), 90),
    need("", "%clusterid", (7, 8), 90),
    need("", "%ncluster", (7, 8), 90),
    need("", "%is_explicit_cluster", (7, 8), 90),
    need("fence.", ".cluster", (7, 8), 90),
    need("atom", ".cluster", (7, 8), 90),
    need("red.", ".cluster", (7, 8), 90),
    need("ld.", ".cluster", (7, 8), 90),
    need("st.", ".cluster", (7, 8), 90),
    need("", "%aggr_smem_size", (8, 1), 90),
    need("", "%current_graph_exec", (8, 0), 0),
    // Memory.
    need("fence", "", (6, 0), 70),
    need("fence.proxy", "", (7, 5), 70),
    need("fence.proxy.async", "", (8, 0), 90),
    need("fence.proxy.tensormap", "", (8, 3), 90),
    need("fence.mbarrier_init", "", (8, 0), 90),
    need("fence.acquire", "", (8, 6), 90),
    need("fence.release", "", (8, 6), 90),
    need("createpolicy", "", (7, 4), 80),
    need("discard", "", (7, 4), 80),
    need("applypriority", "", (7, 4), 80),
    need("", ".L2::cache_hint", (7, 4), 80),
    need("", ".L2::evict", (7, 4), 80),
    need("ld", ".L2::64B", (7, 4), 75),
    need("ld", ".L2::128B", (7, 4), 75),
    need("ld", ".L2::256B", (7, 4), 80),
    need("ld", ".L1::", (7, 4), 70),
    need("st", ".L1::", (7, 4), 70),
    need("ld", ".b128", (8, 3), 70),
    need("st", ".b128", (8, 3), 70),
    need("ld", ".v8.b32", (8, 8), 100),
    need("st", ".v8.b32", (8, 8), 100),
    need("atom", ".b128", (8, 3), 90),
    need("atom", ".f16", (6, 3), 70),
    need("red", ".f16", (6, 3), 70),
    need("atom", ".bf16", (7, 8), 90),
    need("red.", ".bf16", (7, 8), 90),
    need("atom", ".v2.", (8, 1), 90),
    need("atom", ".v4.", (8, 1), 90),
    need("red.", ".v2.", (8, 1), 90),
    need("red.", ".v4.", (8, 1), 90),
    need("alloca", "", (7, 3), 52),
    // Arithmetic.
    need("fma", ".bf16", (7, 0), 80),
    need("fma", ".relu", (7, 0), 80),
    need("fma", ".oob", (8, 1), 90),
    need("add", ".bf16", (7, 8), 90),
    need("sub", ".bf16", (7, 8), 90),
    need("mul", ".bf16", (7, 8), 90),
    need("neg", ".bf16", (7, 0), 80),
    need("abs", ".bf16", (7, 0), 80),
    need("abs", ".f16", (6, 5), 53),
    need("min", ".f16", (7, 0), 80),
    need("max", ".f16", (7, 0), 80),
    need("min", ".bf16", (7, 0), 80),
    need("max", ".bf16", (7, 0), 80),
    need("min", ".NaN", (7, 0), 80),
    need("max", ".NaN", (7, 0), 80),
    need("min", ".xorsign", (7, 2), 86),
    need("max", ".xorsign", (7, 2), 86),
    need("setp", ".bf16", (7, 8), 90),
    need("set.", ".bf16", (7, 8), 90),
    need("tanh.approx", "", (7, 0), 75),
    need("tanh.approx", ".bf16", (7, 8), 90),
    need("ex2.approx", ".f16", (7, 0), 75),
    need("ex2.approx", ".bf16", (7, 8), 90),
    need("cvt", ".bf16", (7, 0), 80),
    need("cvt", ".f16x2", (7, 0), 80),
    need("cvt", ".tf32", (7, 0), 80),
    need("cvt", ".relu", (7, 0), 80),
    need("cvt", ".e4m3x2", (8, 1), 89),
    need("cvt", ".e5m2x2", (8, 1), 89),
    need("cvt.pack", "", (6, 5), 72),
    specific("cvt", ".e2m1x2", (8, 6), (100, 999)),
    need("add", ".f32x2", (8, 6), 100),
    need("mul", ".f32x2", (8, 6), 100),
    need("fma", ".f32x2", (8, 6), 100),
    need("isspacep.param", "", (7, 7), 70),
];

/// What an instruction, an attribute or an architecture asks for.
#[derive(Debug, Clone)]
pub(crate) struct Requirement {
    /// The instruction or attribute.
    pub what: String,
    /// The PTX version it came with.
    pub ptx: PtxVersion,
}

/// Checks every instruction against `arch`; returns what needs the newest PTX version.
pub(crate) fn check(module: &Module<'_>, arch: Arch) -> Result<Requirement, BuildError> {
    let mut highest = Requirement {
        what: format!("architecture {arch}"),
        ptx: arch.first_ptx(),
    };
    for function in module
        .functions()
        .into_iter()
        .filter(|f| !f.is_declaration())
    {
        for call in function.instructions().into_iter().filter(|i| i.is_call()) {
            let Some(callee) = call.callee() else {
                continue;
            };
            match callee.kind() {
                ValueKind::InlineAsm => {
                    let text = spaces::without_marks(&callee.asm_text());
                    check_asm(&text, call, arch, &mut highest)?
                }
                ValueKind::Function if callee.is_intrinsic() => {
                    check_intrinsic(&callee.name(), call, arch, &mut highest)?
                }
                _ => {}
            }
        }
    }
    Ok(highest)
}

/// Counts a kernel attribute in.
pub(crate) fn attribute(
    highest: &mut Requirement,
    arch: Arch,
    kernel: &str,
    what: &str,
    ptx: PtxVersion,
    level: u32,
) -> Result<(), BuildError> {
    if arch.level() < level {
        return Err(BuildError::ArchLacks {
            feature: what.into(),
            needs: format!("sm_{level}"),
            arch,
            used_by: Some(kernel.into()),
            location: None,
        });
    }
    raise(highest, what, ptx);
    Ok(())
}

fn raise(highest: &mut Requirement, what: &str, ptx: PtxVersion) {
    if ptx > highest.ptx {
        *highest = Requirement {
            what: format!("`{what}`"),
            ptx,
        };
    }
}

fn check_asm(
    text: &str,
    call: Value<'_>,
    arch: Arch,
    highest: &mut Requirement,
) -> Result<(), BuildError> {
    for statement in text.split([';', '\n', '{', '}']) {
        let Some(mnemonic) = instructions(statement).next() else {
            continue;
        };
        for need in NEEDS {
            if !mnemonic.starts_with(need.start) || !contains_modifier(statement, need.with) {
                continue;
            }
            let specific = need.specific_to != 0;
            let met = arch.level() >= need.level
                && (!specific || arch.is_specific() && arch.level() <= need.specific_to);
            if !met {
                return Err(BuildError::ArchLacks {
                    feature: mnemonic.into(),
                    needs: format!("sm_{}{}", need.level, if specific { "a" } else { "" }),
                    arch,
                    used_by: call.function().map(|f| super::symbols::demangle(&f.name())),
                    location: call.location(),
                });
            }
            raise(highest, mnemonic, PtxVersion::new(need.ptx.0, need.ptx.1));
        }
    }
    Ok(())
}

/// `with` as a whole modifier: `.f16` is not in `.f16x2`.
fn contains_modifier(statement: &str, with: &str) -> bool {
    if with.is_empty() {
        return true;
    }
    statement.match_indices(with).any(|(at, _)| {
        let after = statement[at + with.len()..].chars().next();
        let word_end = with.ends_with(|c: char| c.is_ascii_digit()) && with.starts_with('.');
        !word_end || !after.is_some_and(|c| c.is_ascii_alphanumeric())
    })
}

/// NVVM intrinsics, for those who declare them with `#[link_name = "llvm.nvvm..."]`.
fn check_intrinsic(
    name: &str,
    call: Value<'_>,
    arch: Arch,
    highest: &mut Requirement,
) -> Result<(), BuildError> {
    const NEEDS: &[(&str, (u32, u32), u32)] = &[
        ("cluster", (7, 8), 90),
        ("mapa", (7, 8), 90),
        ("getctarank", (7, 8), 90),
        ("redux", (7, 0), 80),
        ("mbarrier", (7, 0), 80),
        ("cp.async", (7, 0), 80),
        ("cp.async.bulk", (8, 0), 90),
        ("fence.proxy", (8, 3), 90),
        ("elect.sync", (8, 0), 90),
        ("wgmma", (8, 0), 90),
        ("match", (6, 0), 70),
        ("activemask", (6, 2), 0),
        ("nanosleep", (6, 3), 70),
        ("ldmatrix", (6, 5), 75),
        ("stmatrix", (7, 8), 90),
    ];
    let Some(rest) = name.strip_prefix("llvm.nvvm.") else {
        return Ok(());
    };
    for (part, ptx, level) in NEEDS {
        if !rest.contains(part) {
            continue;
        }
        if arch.level() < *level {
            return Err(BuildError::ArchLacks {
                feature: name.into(),
                needs: format!("sm_{level}"),
                arch,
                used_by: call.function().map(|f| super::symbols::demangle(&f.name())),
                location: call.location(),
            });
        }
        raise(highest, name, PtxVersion::new(ptx.0, ptx.1));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modifiers_are_whole_words() {
        assert!(contains_modifier("atom.add.noftz.f16 $0, [$1], $2", ".f16"));
        assert!(!contains_modifier("cvt.rn.f16x2.f32 $0, $1, $2", ".f16"));
        assert!(contains_modifier(
            "mov.u32 $0, %cluster_ctarank",
            "%cluster"
        ));
        assert!(contains_modifier(
            "wmma.load.a.sync.aligned.row.m8n32k16.f16",
            "m8n32k16"
        ));
    }

    #[test]
    fn needs_are_sane() {
        for need in NEEDS {
            let ptx = PtxVersion::new(need.ptx.0, need.ptx.1);
            assert!(
                ptx <= PtxVersion::NEWEST && ptx >= PtxVersion::new(6, 0),
                "{}",
                need.start
            );
            // An architecture that has the instruction exists, and the version that first knows the instruction
            // is not older than the one that first knows the architecture.
            let first = Arch::ALL
                .iter()
                .find(|a| a.level() >= need.level && a.is_specific() == (need.specific_to != 0));
            assert!(first.is_some(), "{}", need.start);
        }
    }
}
