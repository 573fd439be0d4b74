//! What a kernel's instructions need: the architecture and the PTX version of each.
//!
//! The default PTX version is the oldest that has everything, because a driver refuses PTX newer than itself.
//! LLVM only emits what the chosen version has; so what decides are the instructions in `asm!`, NVVM
//! intrinsics, and kernel attributes. Since when an instruction exists is known to `warpsmith_isa`.

use std::path::PathBuf;

use crate::arch::{Arch, PtxVersion};
use crate::error::{ArchLacks, BuildError};
use crate::linker::spaces;
use crate::linker::template::{Statement, statements};
use crate::linker::user_code::{self, UserCode};
use crate::llvm::{Module, ValueKind};
use crate::source_location::SourceLocation;
use warpsmith_isa::{Since, Target, Targets, capability, nvvm, special_registers};

/// What an instruction, an attribute or an architecture asks for.
#[derive(Debug, Clone)]
pub(crate) struct Requirement {
    /// The instruction or attribute.
    pub what: String,
    /// The PTX version it came with.
    pub ptx: PtxVersion,
}

/// Checks every instruction against `arch`; returns what needs the newest PTX version. `libraries`: folders whose code is not
/// the user's.
pub(crate) fn check(
    module: &Module<'_>,
    arch: Arch,
    libraries: &[PathBuf],
) -> Result<Requirement, BuildError> {
    let around = |call| user_code::leading_to(module, call, libraries);
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
                    check_asm(&text, || around(call), arch, &mut highest)?
                }
                ValueKind::Function if callee.is_intrinsic() => {
                    check_intrinsic(&callee.name(), || around(call), arch, &mut highest)?
                }
                _ => {}
            }
        }
    }
    Ok(highest)
}

/// Counts a kernel's parameters by value in.
pub(crate) fn by_value(highest: &mut Requirement) {
    raise(highest, "grid_constant", PtxVersion::new(7, 7));
}

/// Counts the cluster dimensions of `kernel` in.
pub(crate) fn cluster(
    module: &Module<'_>,
    highest: &mut Requirement,
    arch: Arch,
    kernel: &str,
) -> Result<(), BuildError> {
    let what = "cluster dimensions";
    if let Some(capability) = capability::lacked_by_clusters(target(arch)) {
        let function = module.functions().into_iter().find(|f| f.name() == kernel);
        let location = function.and_then(|kernel| {
            let file = kernel.subprogram()?.file()?;
            Some(SourceLocation {
                file: file.to_string_lossy().into_owned(),
                ..kernel.location()?
            })
        });
        return Err(BuildError::ArchLacks(Box::new(ArchLacks {
            feature: what.into(),
            capability: Some(capability),
            called: None,
            needs: "sm_90".into(),
            arch,
            used_by: Some(kernel.into()),
            location,
        })));
    }
    raise(highest, what, PtxVersion::new(7, 8));
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
    around: impl Fn() -> UserCode,
    arch: Arch,
    highest: &mut Requirement,
) -> Result<(), BuildError> {
    for statement in statements(text) {
        for asked in needs(statement, target(arch)) {
            need(asked, &around, arch, highest)?;
        }
    }
    Ok(())
}

/// What an instruction, intrinsic or special register asks for.
struct Need<'t> {
    /// Its name.
    what: &'t str,
    /// Since when it exists.
    since: Since,
    /// What it is a part of, if the architecture lacks all of that.
    capability: Option<&'static str>,
}

/// Since when the instruction exists for `target`, and the special registers that it reads.
fn needs<'t>(statement: Statement<'t>, target: Target) -> impl Iterator<Item = Need<'t>> {
    let form = statement.form().map(|form| Need {
        what: statement.mnemonic,
        since: Since {
            ptx: form.first_version(target),
            ..form.since()
        },
        capability: form.lacked_capability(target),
    });
    let registers = statement.registers().filter_map(move |name| {
        let register = special_registers::find(name)?;
        Some(Need {
            what: name,
            since: Since::parse(register.since),
            capability: register.lacked_capability(target),
        })
    });
    form.into_iter().chain(registers)
}

/// The architecture as the instruction tables write it.
fn target(arch: Arch) -> Target {
    Target::parse(arch.name()).expect("every architecture has a name of its form")
}

/// The first of these architectures.
fn first_name(targets: Targets) -> String {
    match targets {
        Targets::AtLeast(level) => format!("sm_{level}"),
        Targets::Named(names) => names.split(',').next().unwrap_or(names).to_owned(),
    }
}

/// NVVM intrinsics, for those who declare them with `#[link_name = "llvm.nvvm..."]`.
fn check_intrinsic(
    name: &str,
    around: impl Fn() -> UserCode,
    arch: Arch,
    highest: &mut Requirement,
) -> Result<(), BuildError> {
    let Some(lowered) = nvvm::find(name) else {
        return Ok(());
    };
    let asked = Need {
        what: name,
        since: lowered.since(target(arch)),
        capability: lowered.lacked_capability(target(arch)),
    };
    need(asked, around, arch, highest)
}

/// Counts it in.
fn need(
    Need {
        what,
        since,
        capability,
    }: Need<'_>,
    around: impl Fn() -> UserCode,
    arch: Arch,
    highest: &mut Requirement,
) -> Result<(), BuildError> {
    if !since.targets.contain(target(arch)) {
        let UserCode {
            function,
            location,
            calls,
            ..
        } = around();
        return Err(BuildError::ArchLacks(Box::new(ArchLacks {
            feature: what.into(),
            capability,
            called: calls,
            needs: first_name(since.targets),
            arch,
            used_by: function,
            location,
        })));
    }
    let ptx = PtxVersion::new(since.ptx.major.into(), since.ptx.minor.into());
    raise(highest, what, ptx);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpsmith_isa::forms::FAMILIES;

    /// Since when the only instruction of a template exists.
    fn since(template: &str) -> (PtxVersion, String) {
        let all: Vec<Since> = statements(template)
            .flat_map(|statement| needs(statement, target(Arch::Sm89)))
            .map(|need| need.since)
            .collect();
        let newest = all.iter().max_by_key(|since| since.ptx).expect(template);
        let ptx = PtxVersion::new(newest.ptx.major.into(), newest.ptx.minor.into());
        (ptx, first_name(newest.targets))
    }

    #[test]
    fn modifiers_are_whole_words() {
        let at = |major, minor, arch: &str| (PtxVersion::new(major, minor), arch.to_owned());
        for (template, expected) in [
            ("atom.add.noftz.f16 $0, [$1], $2;", at(6, 3, "sm_70")),
            ("cvt.rn.f16x2.f32 $0, $1, $2;", at(7, 0, "sm_80")),
            ("mov.u32 $0, %cluster_ctarank;", at(7, 8, "sm_90")),
            (
                "wmma.load.a.sync.aligned.row.m32n8k16.f16 {$0, $1, $2, $3, $4, $5, $6, $7}, [$8];",
                // The shape came with 6.1, `.aligned` with 6.3.
                at(6, 3, "sm_70"),
            ),
        ] {
            assert_eq!(since(template), expected, "{template}");
        }
    }

    /// What the tables must say of instructions that kernels use in `asm!`, by the manual's notes.
    #[test]
    fn instructions_are_known() {
        let at = |major, minor, arch: &str| (PtxVersion::new(major, minor), arch.to_owned());
        for (template, expected) in [
            ("shfl.sync.idx.b32 $0, $1, $2, 31, -1;", at(6, 0, "sm_30")),
            ("match.any.sync.b32 $0, $1, $2;", at(6, 0, "sm_70")),
            ("activemask.b32 $0;", at(6, 2, "sm_30")),
            ("redux.sync.add.s32 $0, $1, $2;", at(7, 0, "sm_80")),
            ("elect.sync _|p, -1;", at(8, 0, "sm_90")),
            ("nanosleep.u32 $0;", at(6, 2, "sm_70")),
            ("bmsk.clamp.b32 $0, $1, $2;", at(7, 6, "sm_70")),
            (
                "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0, $1, $2, $3}, [$4];",
                at(6, 5, "sm_75"),
            ),
            (
                "stmatrix.sync.aligned.m8n8.x1.shared.b16 [$0], {$1};",
                at(7, 8, "sm_90"),
            ),
            (
                "movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;",
                at(7, 8, "sm_75"),
            ),
            ("wgmma.fence.sync.aligned;", at(8, 0, "sm_90a")),
            ("setmaxnreg.inc.sync.aligned.u32 64;", at(8, 0, "sm_90a")),
            (
                "cp.async.ca.shared.global [$0], [$1], 16;",
                at(7, 0, "sm_80"),
            ),
            ("cp.async.bulk.commit_group;", at(8, 0, "sm_90")),
            (
                "mbarrier.try_wait.shared.b64 p, [$0], $1;",
                at(7, 8, "sm_90"),
            ),
            ("mbarrier.expect_tx.shared.b64 [$0], $1;", at(8, 0, "sm_90")),
            ("prefetch.tensormap [$0];", at(8, 0, "sm_90")),
            ("griddepcontrol.wait;", at(7, 8, "sm_90")),
            ("barrier.cluster.wait;", at(7, 8, "sm_90")),
            ("barrier.cluster.arrive.release;", at(8, 0, "sm_90")),
            ("mapa.u64 $0, $1, $2;", at(7, 8, "sm_90")),
            ("fence.acq_rel.cluster;", at(7, 8, "sm_90")),
            ("fence.proxy.alias;", at(7, 5, "sm_70")),
            ("fence.proxy.async;", at(8, 0, "sm_90")),
            ("ld.global.L1::no_allocate.u32 $0, [$1];", at(7, 4, "sm_70")),
            ("ld.global.L2::128B.u32 $0, [$1];", at(7, 4, "sm_75")),
            (
                "ld.global.L2::cache_hint.u32 $0, [$1], $2;",
                at(7, 4, "sm_80"),
            ),
            ("ld.global.b128 $0, [$1];", at(8, 3, "sm_70")),
            ("atom.global.cas.b128 $0, [$1], $2, $3;", at(8, 3, "sm_90")),
            ("red.global.add.v2.f32 [$0], {$1, $2};", at(8, 1, "sm_90")),
            ("fma.rn.bf16 $0, $1, $2, $3;", at(7, 0, "sm_80")),
            ("add.bf16 $0, $1, $2;", at(7, 8, "sm_90")),
            ("min.NaN.f32 $0, $1, $2;", at(7, 0, "sm_80")),
            ("min.xorsign.abs.f32 $0, $1, $2;", at(7, 2, "sm_86")),
            ("tanh.approx.f32 $0, $1;", at(7, 0, "sm_75")),
            ("ex2.approx.f16 $0, $1;", at(7, 0, "sm_75")),
            ("cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;", at(8, 1, "sm_89")),
            ("mov.u64 $0, %current_graph_exec;", at(8, 0, "sm_50")),
            ("mov.u32 $0, %aggr_smem_size;", at(8, 1, "sm_90")),
        ] {
            assert_eq!(since(template), expected, "{template}");
        }
    }

    #[test]
    fn needs_are_sane() {
        for form in FAMILIES.iter().flat_map(|family| family.forms) {
            let since = form.since;
            let ptx = PtxVersion::new(since.ptx.major.into(), since.ptx.minor.into());
            // An architecture that has the instruction exists, if its PTX version is one that the builder knows.
            assert!(
                ptx > PtxVersion::NEWEST
                    || Arch::ALL
                        .iter()
                        .any(|&arch| since.targets.contain(target(arch))),
                "{}",
                form.syntax
            );
        }
    }
}
