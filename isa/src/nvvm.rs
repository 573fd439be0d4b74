//! LLVM's intrinsics for NVIDIA devices, as the instructions that LLVM makes of them.
//!
//! Their names are those of PTX but for a few habits, which `JOINED` undoes; what is left stands in `ROWS`. A test of the
//! builder compiles every intrinsic that LLVM and this table know, and compares.

use crate::matched::Match;
use crate::special_registers::{self, SpecialRegister};
use crate::target::{PtxVersion, Since, Target};

/// What an intrinsic becomes.
#[allow(
    clippy::large_enum_variant,
    reason = "there is one at a time, on the stack"
)]
#[derive(Clone, Copy, Debug)]
pub enum Lowered {
    /// An instruction.
    Instruction {
        /// Its form.
        form: Match,
        /// Whether it has exactly these modifiers, or maybe more, which depend on operands.
        exact: bool,
    },
    /// The reading of a special register.
    Register(&'static SpecialRegister),
}

impl Lowered {
    /// Since when it exists for this architecture.
    pub fn since(&self, target: Target) -> Since {
        match self {
            Lowered::Instruction { form, .. } => Since {
                ptx: form.first_version(target),
                ..form.since()
            },
            Lowered::Register(register) => Since::parse(register.since),
        }
    }

    /// The first PTX version that has it for this architecture.
    pub fn first_version(&self, target: Target) -> PtxVersion {
        self.since(target).ptx
    }
}

/// Words that belong together, and what PTX writes for them.
const JOINED: &[(&[&str], &str)] = &[
    (&["arrive", "drop"], "arrive_drop"),
    (&["expect", "tx"], "expect_tx"),
    (&["complete", "tx"], "complete_tx"),
    (&["test", "wait"], "test_wait"),
    (&["try", "wait"], "try_wait"),
    (&["commit", "group"], "commit_group"),
    (&["wait", "group"], "wait_group"),
    (&["wait", "all"], "wait_all"),
    (&["pending", "count"], "pending_count"),
    (&["launch", "dependents"], "launch_dependents"),
    (&["shared", "cluster"], "shared::cluster"),
    (&["shared", "cta"], "shared::cta"),
    (&["space", "cluster"], "shared::cluster"),
    (&["space", "cta"], "shared"),
    (&["L2", "evict", "normal"], "L2::evict_normal"),
    (&["L2", "evict", "last"], "L2::evict_last"),
    // With a time limit: an operand.
    (&["tl"], ""),
];

/// An intrinsic's words and its instruction; the first row that matches counts. `*` is any word, `$1` the first of these in
/// the instruction. After `**` the intrinsic says more, which adds modifiers or none. `/3`: with three operands. Without an
/// instruction it is one of sm_120 that the tables lack.
const ROWS: &[(&str, &str)] = &[
    ("activemask", "activemask.b32"),
    ("nanosleep", "nanosleep.u32"),
    ("fns", "fns.b32"),
    ("shfl.sync.*.*", "shfl.sync.$1.b32"),
    ("vote.ballot.sync", "vote.sync.ballot.b32"),
    ("vote.*.sync", "vote.sync.$1.pred"),
    ("match.*.sync.*", "match.$1.sync.$2"),
    ("redux.sync.umin", "redux.sync.min.u32"),
    ("redux.sync.umax", "redux.sync.max.u32"),
    ("redux.sync.add", "redux.sync.add.s32"),
    ("redux.sync.min", "redux.sync.min.s32"),
    ("redux.sync.max", "redux.sync.max.s32"),
    ("redux.sync.fmin.**", "redux.sync.min.f32"),
    ("redux.sync.fmax.**", "redux.sync.max.f32"),
    ("redux.sync.*", "redux.sync.$1.b32"),
    ("mapa", "mapa.u64"),
    ("mapa.*", "mapa.$1.u64"),
    ("getctarank", "getctarank.u64"),
    ("getctarank.*", "getctarank.$1.u64"),
    ("idp4a.**", "dp4a.u32.u32"),
    ("idp2a.**", "dp2a.lo.u32.u32"),
    ("sext.*", "szext.$1.s32"),
    ("zext.*", "szext.$1.u32"),
    ("bmsk.*", "bmsk.$1.b32"),
    (
        "clusterlaunchcontrol.query_cancel.get_first_ctaid.**",
        "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128",
    ),
    (
        "clusterlaunchcontrol.query_cancel.is_canceled",
        "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128",
    ),
    (
        "clusterlaunchcontrol.try_cancel.**",
        "clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b128",
    ),
    // Barriers in memory. The scoped arrivals have a count, or a number of bytes.
    ("mbarrier.arrive.scope.cta.*", "mbarrier.arrive.$1.b64/3"),
    (
        "mbarrier.arrive.scope.cluster.*",
        "mbarrier.arrive.release.cluster.$1.b64/3",
    ),
    (
        "mbarrier.arrive.relaxed.scope.*.*",
        "mbarrier.arrive.relaxed.$1.$2.b64/3",
    ),
    (
        "mbarrier.arrive_drop.scope.cta.*",
        "mbarrier.arrive_drop.$1.b64/3",
    ),
    (
        "mbarrier.arrive_drop.scope.cluster.*",
        "mbarrier.arrive_drop.release.cluster.$1.b64/3",
    ),
    (
        "mbarrier.arrive_drop.relaxed.scope.*.*",
        "mbarrier.arrive_drop.relaxed.$1.$2.b64/3",
    ),
    (
        "mbarrier.expect_tx.scope.*.*",
        "mbarrier.expect_tx.relaxed.$1.$2.b64",
    ),
    (
        "mbarrier.complete_tx.scope.*.*",
        "mbarrier.complete_tx.relaxed.$1.$2.b64",
    ),
    (
        "mbarrier.test_wait.scope.cluster.*",
        "mbarrier.test_wait.acquire.cluster.$1.b64",
    ),
    (
        "mbarrier.try_wait.scope.cluster.*",
        "mbarrier.try_wait.acquire.cluster.$1.b64",
    ),
    ("mbarrier.*.scope.cta.*", "mbarrier.$1.$2.b64"),
    (
        "mbarrier.*.relaxed.scope.*.*",
        "mbarrier.$1.relaxed.$2.$3.b64",
    ),
    (
        "mbarrier.*.expect_tx.scope.cluster.*",
        "mbarrier.$1.expect_tx.release.cluster.$2.b64",
    ),
    (
        "mbarrier.*.parity.scope.cluster.*",
        "mbarrier.$1.parity.acquire.cluster.$2.b64",
    ),
    ("mbarrier.*.*.scope.cta.*", "mbarrier.$1.$2.$3.b64"),
    (
        "mbarrier.*.*.relaxed.scope.*.*",
        "mbarrier.$1.$2.relaxed.$3.$4.b64",
    ),
    ("mbarrier.*", "mbarrier.$1.b64"),
    ("mbarrier.*.*", "mbarrier.$1.$2.b64"),
    ("mbarrier.*.*.*", "mbarrier.$1.$2.$3.b64"),
    // Copies.
    ("cp.async.ca.shared.global.**", "cp.async.ca.shared.global"),
    ("cp.async.cg.shared.global.**", "cp.async.cg.shared.global"),
    ("cp.async.mbarrier.arrive", "cp.async.mbarrier.arrive.b64"),
    (
        "cp.async.mbarrier.arrive.*",
        "cp.async.mbarrier.arrive.$1.b64",
    ),
    (
        "cp.async.mbarrier.arrive.*.*",
        "cp.async.mbarrier.arrive.$1.$2.b64",
    ),
    (
        "cp.async.bulk.global.to.*",
        "cp.async.bulk.$1.global.mbarrier::complete_tx::bytes",
    ),
    (
        "cp.async.bulk.shared::cta.to.cluster",
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes",
    ),
    (
        "cp.async.bulk.shared::cta.to.global",
        "cp.async.bulk.global.shared::cta.bulk_group",
    ),
    (
        "cp.async.bulk.shared::cta.to.global.bytemask",
        "cp.async.bulk.global.shared::cta.bulk_group.cp_mask",
    ),
    (
        "cp.async.bulk.prefetch.L2",
        "cp.async.bulk.prefetch.L2.global",
    ),
    (
        "cp.async.bulk.tensor.g2s.cta.**",
        "cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes",
    ),
    (
        "cp.async.bulk.tensor.g2s.**",
        "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes",
    ),
    (
        "cp.async.bulk.tensor.s2g.**",
        "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group",
    ),
    (
        "cp.async.bulk.tensor.prefetch.**",
        "cp.async.bulk.prefetch.tensor.1d.L2.global",
    ),
    (
        "cp.async.bulk.tensor.reduce.**",
        "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.bulk_group",
    ),
    // Fences.
    (
        "fence.acquire.sync_restrict.shared::cluster.scope.cluster",
        "fence.acquire.sync_restrict::shared::cluster.cluster",
    ),
    (
        "fence.release.sync_restrict.shared.scope.cluster",
        "fence.release.sync_restrict::shared::cta.cluster",
    ),
    (
        "fence.proxy.async_generic.acquire.**",
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster",
    ),
    (
        "fence.proxy.async_generic.release.**",
        "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster",
    ),
    (
        "fence.proxy.tensormap_generic.*.*",
        "fence.proxy.tensormap::generic.$1.$2",
    ),
    (
        "fence.proxy.async.shared_cluster",
        "fence.proxy.async.shared::cluster",
    ),
    (
        "fence.proxy.async.shared_cta",
        "fence.proxy.async.shared::cta",
    ),
    // Conversions.
    ("e4m3x2.to.f16x2.**", "cvt.rn.f16x2.e4m3x2"),
    ("e5m2x2.to.f16x2.**", "cvt.rn.f16x2.e5m2x2"),
    ("f16x2.to.e4m3x2.**", "cvt.rn.satfinite.e4m3x2.f16x2"),
    ("f16x2.to.e5m2x2.**", "cvt.rn.satfinite.e5m2x2.f16x2"),
    ("ff.to.e4m3x2.**", "cvt.rn.satfinite.e4m3x2.f32"),
    ("ff.to.e5m2x2.**", "cvt.rn.satfinite.e5m2x2.f32"),
    ("ff.to.e2m1x2.**", "cvt.rn.satfinite.e2m1x2.f32"),
    ("ff.to.e2m3x2.**", "cvt.rn.satfinite.e2m3x2.f32"),
    ("ff.to.e3m2x2.**", "cvt.rn.satfinite.e3m2x2.f32"),
    ("ff2bf16x2.**", "cvt.rn.bf16x2.f32"),
    ("ff2f16x2.**", "cvt.rn.f16x2.f32"),
    ("f2bf16.**", "cvt.rn.bf16.f32"),
    ("f2tf32.rna.**", "cvt.rna.tf32.f32"),
    ("f2tf32.**", "cvt.rn.tf32.f32"),
    // Minimum and maximum of half precision, and with NaN.
    ("fmin.*", "min.$1"),
    ("fmin.ftz.*", "min.ftz.$1"),
    ("fmin.nan.*", "min.NaN.$1"),
    ("fmin.ftz.nan.*", "min.ftz.NaN.$1"),
    ("fmin.xorsign.abs.*", "min.xorsign.abs.$1"),
    ("fmin.ftz.xorsign.abs.*", "min.ftz.xorsign.abs.$1"),
    ("fmin.nan.xorsign.abs.*", "min.NaN.xorsign.abs.$1"),
    ("fmin.ftz.nan.xorsign.abs.*", "min.ftz.NaN.xorsign.abs.$1"),
    ("fmax.*", "max.$1"),
    ("fmax.ftz.*", "max.ftz.$1"),
    ("fmax.nan.*", "max.NaN.$1"),
    ("fmax.ftz.nan.*", "max.ftz.NaN.$1"),
    ("fmax.xorsign.abs.*", "max.xorsign.abs.$1"),
    ("fmax.ftz.xorsign.abs.*", "max.ftz.xorsign.abs.$1"),
    ("fmax.nan.xorsign.abs.*", "max.NaN.xorsign.abs.$1"),
    ("fmax.ftz.nan.xorsign.abs.*", "max.ftz.NaN.xorsign.abs.$1"),
    // Matrices: their types and shapes are the compiler's to know.
    (
        "wmma.*.mma.**",
        "wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16",
    ),
    ("wmma.**", "wmma.load.a.sync.aligned.row.m16n16k16.f16"),
    ("mma.block.**", ""),
    ("mma.*.row.col.kind.**", ""),
    ("mma.sp.block.**", ""),
    ("mma.sp.ordered.**", ""),
    ("mma.**", "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32"),
];

/// More words than an intrinsic or an instruction has.
const MAX_WORDS: usize = 24;

/// A name's words.
struct Words<'t> {
    all: [&'t str; MAX_WORDS],
    count: usize,
}

impl<'t> Words<'t> {
    const fn new() -> Words<'t> {
        Words {
            all: [""; MAX_WORDS],
            count: 0,
        }
    }

    fn get(&self) -> &[&'t str] {
        &self.all[..self.count]
    }

    fn push(&mut self, word: &'t str) {
        if self.count < MAX_WORDS {
            self.all[self.count] = word;
            self.count += 1;
        }
    }

    /// The words of an intrinsic, joined as PTX has them; without the address space of an overloaded one.
    fn of(name: &'t str) -> Words<'t> {
        let mut words = Words::new();
        for word in name.split('.') {
            words.push(word);
            for (parts, joined) in JOINED {
                if words.get().ends_with(parts) {
                    words.count -= parts.len();
                    if !joined.is_empty() {
                        words.push(joined);
                    }
                    break;
                }
            }
        }
        let space = |word: &str| {
            let number = word.strip_prefix('p');
            number.is_some_and(|digits| {
                !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
            })
        };
        if words.get().last().is_some_and(|last| space(last)) {
            words.count -= 1;
        }
        words
    }
}

/// What the intrinsic of this name becomes; `None` if the table does not know.
pub fn find(name: &str) -> Option<Lowered> {
    let name = name.strip_prefix("llvm.nvvm.")?;
    let register = name.strip_prefix("read.ptx.sreg.");
    if let Some(register) = register.or((name == "is_explicit_cluster").then_some(name)) {
        return register_named(register).map(Lowered::Register);
    }
    let words = Words::of(name);
    for (pattern, template) in ROWS {
        let mut captures = Words::new();
        if let Some(exact) = matches(pattern, words.get(), &mut captures) {
            return instruction(template, &captures, exact);
        }
    }
    let (opcode, modifiers) = words.get().split_first()?;
    let form = crate::find(opcode, modifiers).ok()?;
    Some(Lowered::Instruction { form, exact: true })
}

/// Whether a row's pattern matches, and whether to the end.
fn matches<'t>(pattern: &str, words: &[&'t str], captures: &mut Words<'t>) -> Option<bool> {
    let mut words = words.iter();
    for expected in pattern.split('.') {
        if expected == "**" {
            return Some(false);
        }
        let word = words.next()?;
        if expected == "*" {
            captures.push(word);
        } else if expected != *word {
            return None;
        }
    }
    words.next().is_none().then_some(true)
}

fn instruction(template: &'static str, captures: &Words<'_>, exact: bool) -> Option<Lowered> {
    let (name, operands) = match template.split_once('/') {
        Some((name, operands)) => (name, operands.parse().ok()),
        None => (template, None),
    };
    let mut words = Words::new();
    for word in name.split('.') {
        words.push(match word.strip_prefix('$') {
            Some(number) => in_ptx(captures.get().get(number.parse::<usize>().ok()? - 1)?),
            None => word,
        });
    }
    let (opcode, modifiers) = words.get().split_first()?;
    let form = crate::accept(opcode, modifiers, |found| {
        operands.is_none_or(|count: usize| {
            let required = |operand: &&crate::operand::Operand| {
                operand.presence == crate::operand::Presence::Required
            };
            (found.operands().filter(required).count()..=found.operands().count()).contains(&count)
        })
    });
    let form = form.ok()?;
    Some(Lowered::Instruction { form, exact })
}

/// A type in PTX's words.
fn in_ptx(word: &str) -> &str {
    match word {
        "f" => "f32",
        "d" => "f64",
        "i32" | "i32p" => "b32",
        "i64" | "i64p" => "b64",
        other => other,
    }
}

/// The special register with this name, where dots stand for PTX's underscores as well.
fn register_named(name: &str) -> Option<&'static SpecialRegister> {
    let (base, component) = match name.rsplit_once('.') {
        Some((base, component @ ("x" | "y" | "z" | "w"))) => (base, Some(component)),
        _ => (name, None),
    };
    special_registers::SPECIAL_REGISTERS
        .iter()
        .find(|register| {
            let same = |ours: u8, theirs: u8| ours == theirs || ours == b'_' && theirs == b'.';
            let plain = register.name.trim_start_matches('%');
            let named = plain.len() == base.len()
                && plain.bytes().zip(base.bytes()).all(|(a, b)| same(a, b));
            let numbered = plain.split_once('<').is_some_and(|(start, _)| {
                let number = base.strip_prefix(start);
                number.is_some_and(|number| number.bytes().all(|digit| digit.is_ascii_digit()))
            });
            (named || numbered) && register.vector == component.is_some()
        })
}
