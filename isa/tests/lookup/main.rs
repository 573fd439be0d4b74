//! Looking instructions up: forms, effects, and refusals.

mod operands;

use warpsmith_isa::effect::{AccessKind, Completion, Convergence, Order, Scope, Space};
use warpsmith_isa::form::Extent;
use warpsmith_isa::{Match, MemoryEffect, PtxVersion, Target, check_special, find};

fn found(name: &str) -> Match {
    let mut parts = name.split('.');
    let opcode = parts.next().expect("an opcode");
    let modifiers: Vec<&str> = parts.collect();
    find(opcode, &modifiers).unwrap_or_else(|refusal| panic!("{name}: {refusal}"))
}

fn refused(name: &str) -> String {
    let mut parts = name.split('.');
    let opcode = parts.next().expect("an opcode");
    let modifiers: Vec<&str> = parts.collect();
    find(opcode, &modifiers).expect_err(name).to_string()
}

fn effects(name: &str) -> Vec<MemoryEffect> {
    found(name).effects().collect()
}

#[test]
fn an_acquiring_vector_load_says_so() {
    let [load] = effects("ld.acquire.gpu.global.v2.u32")[..] else {
        panic!("one access");
    };
    assert_eq!(load.operand, 1);
    assert_eq!(load.extent, Extent::Bytes(8));
    assert_eq!(
        (load.effect.kind, load.effect.space),
        (AccessKind::Read, Space::Global)
    );
    assert_eq!(
        (load.effect.order, load.effect.scope),
        (Order::Acquire, Scope::Device)
    );
}

#[test]
fn a_releasing_vector_store_says_so() {
    let [store] = effects("st.release.gpu.global.v2.u32")[..] else {
        panic!("one access");
    };
    assert_eq!(store.operand, 0);
    assert_eq!(
        (store.effect.kind, store.effect.order),
        (AccessKind::Write, Order::Release)
    );
}

#[test]
fn an_asynchronous_copy_writes_and_reads_later() {
    let [write, read] = effects("cp.async.ca.shared.global")[..] else {
        panic!("two accesses");
    };
    assert_eq!((write.operand, write.effect.space), (0, Space::Shared));
    assert_eq!((read.operand, read.effect.space), (1, Space::Global));
    assert_eq!(write.effect.completion, Completion::AsyncGroup);
    assert_eq!(write.extent, Extent::Operand("cp-size"));
}

#[test]
fn an_atomic_is_relaxed_unless_it_says_more() {
    let [plain] = effects("atom.global.add.u32")[..] else {
        panic!("one access");
    };
    assert_eq!(
        (plain.effect.kind, plain.effect.order),
        (AccessKind::Atomic, Order::Relaxed)
    );
    let [ordered] = effects("atom.acq_rel.sys.shared.cas.b64")[..] else {
        panic!("one access");
    };
    assert_eq!(
        (ordered.effect.order, ordered.effect.scope),
        (Order::AcquireRelease, Scope::System)
    );
    assert_eq!(
        (ordered.effect.space, ordered.extent),
        (Space::Shared, Extent::Bytes(8))
    );
}

#[test]
fn convergence_is_known() {
    assert_eq!(
        found("shfl.sync.idx.b32").convergence(),
        Convergence::MemberMask
    );
    assert_eq!(found("bar.sync").convergence(), Convergence::Barrier);
    assert_eq!(
        found("wgmma.fence.sync.aligned").convergence(),
        Convergence::Warpgroup
    );
    assert_eq!(found("add.f32").convergence(), Convergence::Independent);
}

#[test]
fn modifiers_come_in_any_order_but_types_do_not() {
    assert_eq!(found("add.s32.sat").form.syntax, "add.sat.s32 d, a, b");
    assert_eq!(
        refused("cvt.f16.f32"),
        "Rounding modifier required for instruction 'cvt'"
    );
    assert_eq!(
        found("cvt.f32.f16").type_of(&found("cvt.f32.f16").form.operands()[1]),
        "f16"
    );
}

#[test]
fn the_words_of_a_name_keep_their_order() {
    let copy = found("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes");
    assert_eq!(copy.name().to_string(), "cp.async.bulk");
    assert_eq!(found("mul.wide.u32").name().to_string(), "mul.wide");
    assert_eq!(found("mul.f32").name().to_string(), "mul");
    for (name, expected) in [
        (
            "cp.async.global.bulk.commit_group",
            "Unknown modifier '.bulk'",
        ),
        (
            "wmma.sync.load.a.aligned.row.m16n16k16.f16",
            "Unknown modifier '.load'",
        ),
        (
            "mul24.u32.lo",
            "Not a name of any known instruction: 'mul24'",
        ),
        ("shf.clamp.l.b32", "Unknown modifier '.l'"),
    ] {
        assert_eq!(refused(name), expected, "{name}");
    }
}

#[test]
fn spaces_and_layouts_keep_the_order_of_the_line() {
    for name in [
        "cp.async.cg.global.shared",
        "mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32",
    ] {
        refused(name);
    }
}

#[test]
fn some_modifiers_may_be_repeated() {
    assert_eq!(found("add.sat.sat.s32").form.syntax, "add.sat.s32 d, a, b");
    found("shfl.sync.sync.idx.b32");
    for (name, expected) in [
        ("add.rn.rn.f32", "Multiple rounding modifiers specified"),
        (
            "ld.relaxed.gpu.sys.u32",
            "Multiple scope modifiers specified",
        ),
        ("ld.v2.v4.u32", "Multiple vector modifiers specified"),
        ("setp.eq.ne.u32", "Multiple comparisons set"),
        (
            "prefetch.global.L1.L2",
            "Multiple cache operation modifiers specified",
        ),
    ] {
        assert_eq!(refused(name), expected, "{name}");
    }
}

#[test]
fn modifiers_without_a_meaning_are_passed_over() {
    assert_eq!(found("add.rank.s32").form.syntax, "add.type d, a, b");
    assert_eq!(
        refused("add.rank.rank.s32"),
        "Multiple .rank modifiers specified"
    );
    assert_eq!(found("testp.finite.f32").slot("op"), Some("finite"));
}

#[test]
fn versions_and_architectures_are_those_that_exist() {
    for (major, minor, exists) in [
        (7, 8, true),
        (7, 9, false),
        (0, 9, false),
        (9, 5, true),
        (10, 0, false),
    ] {
        assert_eq!(
            PtxVersion::new(major, minor).exists(),
            exists,
            "{major}.{minor}"
        );
    }
    let first = |name| Target::parse(name).and_then(Target::first_version);
    for (name, version) in [
        ("sm_90", Some(PtxVersion::new(7, 8))),
        ("sm_90a", Some(PtxVersion::new(8, 0))),
        ("sm_90f", None),
        ("sm_100f", Some(PtxVersion::new(8, 8))),
        ("sm_80a", None),
        ("sm_91", None),
    ] {
        assert_eq!(first(name), version, "{name}");
    }
}

#[test]
fn refusals_are_those_of_ptxas() {
    for (name, expected) in [
        ("frob.u32", "Not a name of any known instruction: 'frob'"),
        ("prefetch.banana.v9", "Unknown modifier '.banana'"),
        (
            "add.rn.u32",
            "Illegal rounding modifier for instruction 'add'",
        ),
        (
            "add.ftz.u32",
            "Illegal modifier '.ftz' for instruction 'add'",
        ),
        (
            "add.global.u32",
            "No state space qualifier expected for instruction 'add'",
        ),
        (
            "add.v2.u32",
            "Vector qualifier is not allowed for instruction 'add'",
        ),
        (
            "add.b32",
            "Unexpected instruction types specified for 'add'",
        ),
        ("add", "Unexpected instruction types specified for 'add'"),
        (
            "mul.u32",
            "Unexpected instruction types specified for 'mul'",
        ),
        (
            "setp.u32",
            "Comparison modifier required for instruction 'setp'",
        ),
        ("st.const.u32", "State space incorrect for instruction 'st'"),
        (
            "ld.acquire.global.u32",
            "Modifier '.acquire' requires scope with 'ld' instruction",
        ),
        (
            "div.f32",
            "Rounding modifier or '.approx' modifier required for instruction 'div'",
        ),
        ("add.ftz.ftz.f32", "Duplicate .ftz modifier"),
    ] {
        assert_eq!(refused(name), expected, "{name}");
    }
}

#[test]
fn versions_and_architectures_are_checked() {
    let target = |name| Target::parse(name).expect("an architecture");
    let elect = found("elect.sync");
    assert!(
        elect
            .check_target(PtxVersion::new(8, 0), target("sm_90"))
            .is_ok()
    );
    let old = elect
        .check_target(PtxVersion::new(8, 0), target("sm_89"))
        .expect_err("too old");
    assert_eq!(
        old.to_string(),
        "Feature 'elect' requires .target sm_90 or higher"
    );
    let old = elect
        .check_target(PtxVersion::new(7, 8), target("sm_90"))
        .expect_err("too old");
    assert_eq!(
        old.to_string(),
        "Feature 'elect' requires PTX ISA .version 8.0 or later"
    );
    let fence = found("wgmma.fence.sync.aligned");
    assert!(
        fence
            .check_target(PtxVersion::new(8, 0), target("sm_90a"))
            .is_ok()
    );
    assert!(
        fence
            .check_target(PtxVersion::new(8, 6), target("sm_100a"))
            .is_err()
    );
    let newest = PtxVersion::NEWEST;
    assert!(check_special("%envreg31", newest, target("sm_70")).is_ok());
    assert!(check_special("%envreg32", newest, target("sm_70")).is_err());
    assert!(check_special("%laneid.x", newest, target("sm_70")).is_err());
}

#[test]
fn what_is_wrong_with_modifiers_is_said_in_ptxas_s_order() {
    for (name, expected) in [
        (
            "mma.sync.aligned.m64n8k16.row.col.f32.f16.f16.f32",
            "Illegal matrix shape '.m64n8k16' for instruction 'mma'",
        ),
        (
            "mma.sync.aligned.m16n8k64.row.col.s32.u8.u8.s32",
            "Incorrect instruction type specified for mma with shape '.m16n8k64'",
        ),
        (
            "mma.sp.sync.aligned.m16n8k4.row.col.s32.u4.u4.s32",
            "Illegal matrix shape '.m16n8k4' for instruction 'Sparse MMA with integer types'",
        ),
        (
            "wgmma.mma_async.sync.aligned.m64n8k64.f16.e4m3.e4m3",
            "Illegal matrix shape '.m64n8k64' for instruction 'wgmma.mma_async with FP8 types'",
        ),
        (
            "wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.f16.f16",
            "Illegal instruction types specified for 'Sparse wgmma.mma_async with floating point types' with shape '.m64n8k16'",
        ),
        (
            "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.popc",
            "Unexpected number of operations specified for wgmma.mma_async with boolean type with shape '.m64n8k256'",
        ),
        (
            "mma.exch.sync.aligned.m8n8k32.row.col.s32.u4.u4.s32",
            "Illegal reduction operation for instruction 'mma.s32.s32'",
        ),
        (
            "mma.add.sync.aligned.m8n8k32.row.col.satfinite.s32.u4.u4.s32",
            "Illegal modifier '.satfinite' for instruction 'mma'",
        ),
        (
            "stmatrix.sync.aligned.m16n8.x1.shared.b8",
            "Modifier '.trans' require for instruction stmatrix with shape '.m16n8'",
        ),
        (
            "cvt.rn.e4m3x2.f16x2",
            "'.satfinite' modifier required for instruction 'cvt' with destination type '.e4m3x2'",
        ),
        (
            "mma.sync.aligned.m16n8k16.row.f16.f16.f16.f16",
            "'.blayout' modifier required for instruction 'mma'",
        ),
        (
            "suld.b.b8.trap",
            "Geometry modifier required for instruction 'suld.b'",
        ),
        (
            "cp.async.bulk.global.shared::cta",
            ".completion_mechanism modifier required for instruction 'cp.async.bulk'",
        ),
    ] {
        assert_eq!(refused(name), expected, "{name}");
    }
}
