//! Atomic operations and reductions on memory.

use crate::effect::{Completion, Order, Scope, Space};
use crate::form::{Access, Form, Rule, form, signals, updates};

const SCOPE: &str = "cta@5.0+sm_60 cluster@7.8+sm_90 gpu@5.0+sm_60 sys@5.0+sm_60";
const SEM: &str = "relaxed@6.0+sm_70 acquire@6.0+sm_70 release@6.0+sm_70 acq_rel@6.0+sm_70";
const SPACE: &str = "global shared shared::cta@7.8 shared::cluster@7.8+sm_90";

/// Where no hints to the caches belong.
const UNCACHED: &[Rule] = &[Rule::Excludes(
    ".level::cache_hint",
    ".shared .shared::cta .shared::cluster",
)];

macro_rules! atom {
    ($syntax:literal) => {
        form($syntax)
            .with(".sem", SEM)
            .with(".scope", SCOPE)
            .with(".space", SPACE)
            .with(".level::cache_hint", "L2::cache_hint@7.4+sm_80")
            .rules(UNCACHED)
            .accesses(&[updates("a")])
    };
}

macro_rules! red {
    ($syntax:literal) => {
        form($syntax)
            .with(".sem", "relaxed@6.0+sm_70 release@6.0+sm_70")
            .with(".scope", SCOPE)
            .with(".space", SPACE)
            .with(".level::cache_hint", "L2::cache_hint@7.4+sm_80")
            .rules(UNCACHED)
            .accesses(&[updates("a")])
    };
}

/// What an asynchronous reduction does, whose bytes an mbarrier counts.
const REDUCED: &[Access] = &[
    updates("a")
        .ordered(Order::Relaxed, Scope::Cluster)
        .until(Completion::Mbarrier),
    signals("mbar").until(Completion::Mbarrier),
];

pub(super) const FORMS: &[Form] = &[
    atom!("atom{.sem}{.scope}{.space}.op{.level::cache_hint}.type d, [a], b{, policy:b64 if .level::cache_hint}")
        .with(".op", "and or xor").with(".type", "b32 b64@3.1+sm_32"),
    atom!("atom{.sem}{.scope}{.space}.exch{.level::cache_hint}.type d, [a], b{, policy:b64 if .level::cache_hint}")
        .with(".type", "b32 b64 b128@8.3+sm_90"),
    form("atom{.sem}{.scope}{.space}.cas.type d, [a], b, c")
        .with(".sem", SEM).with(".scope", SCOPE).with(".space", SPACE).with(".type", "b32 b64 b16@6.3+sm_70 b128@8.3+sm_90")
        .accesses(&[updates("a")]),
    atom!("atom{.sem}{.scope}{.space}.add{.level::cache_hint}.type d, [a], b{, policy:b64 if .level::cache_hint}")
        .with(".type", "u32 s32 u64 f32 f64@5.0+sm_60"),
    atom!("atom{.sem}{.scope}{.space}.add.noftz{.level::cache_hint}.type d, [a], b{, policy:b64 if .level::cache_hint}").since("6.2 sm_60")
        .with(".type", "f16x2 f16@6.3+sm_70 bf16@7.8+sm_90 bf16x2@7.8+sm_90 f32@9.4+sm_90"),
    atom!("atom{.sem}{.scope}{.space}.op{.level::cache_hint}.u32 d, [a], b{, policy:b64 if .level::cache_hint}")
        .with(".op", "inc dec"),
    atom!("atom{.sem}{.scope}{.space}.op{.level::cache_hint}.type d, [a], b{, policy:b64 if .level::cache_hint}")
        .with(".op", "min max").with(".type", "u32 s32 u64@3.1+sm_32 s64@3.1+sm_32"),
    form("atom{.sem}{.scope}{.global}.add{.noftz}{.level::cache_hint}.vec.f32 d*v, [a], b*v{, policy:b64 if .level::cache_hint}").since("8.1 sm_90")
        .with(".sem", SEM).with(".scope", SCOPE).with(".level::cache_hint", "L2::cache_hint").with(".vec", "v2 v4").with(".noftz", "noftz@9.4+sm_90")
        .accesses(&[updates("a")]),
    form("atom{.sem}{.scope}{.global}.op.noftz{.level::cache_hint}.vec.type d*v, [a], b*v{, policy:b64 if .level::cache_hint}").since("8.1 sm_90")
        .with(".sem", SEM).with(".scope", SCOPE).with(".level::cache_hint", "L2::cache_hint")
        .with(".op", "add min max").with(".vec", "v2 v4 v8").with(".type", "f16 bf16 f16x2 bf16x2")
        .rules(&[Rule::Excludes(".v8", ".f16x2 .bf16x2")])
        .accesses(&[updates("a")]),
    red!("red{.sem}{.scope}{.space}.op{.level::cache_hint}.type [a], b{, policy:b64 if .level::cache_hint}")
        .with(".op", "and or xor").with(".type", "b32 b64@3.1+sm_32"),
    red!("red{.sem}{.scope}{.space}.add{.level::cache_hint}.type [a], b{, policy:b64 if .level::cache_hint}")
        .with(".type", "u32 s32 u64 f32 f64@5.0+sm_60"),
    red!("red{.sem}{.scope}{.space}.add.noftz{.level::cache_hint}.type [a], b{, policy:b64 if .level::cache_hint}").since("6.2 sm_60")
        .with(".type", "f16x2 f16@6.3+sm_70 bf16@7.8+sm_90 bf16x2@7.8+sm_90 f32@9.4+sm_90"),
    red!("red{.sem}{.scope}{.space}.op{.level::cache_hint}.u32 [a], b{, policy:b64 if .level::cache_hint}")
        .with(".op", "inc dec"),
    red!("red{.sem}{.scope}{.space}.op{.level::cache_hint}.type [a], b{, policy:b64 if .level::cache_hint}")
        .with(".op", "min max").with(".type", "u32 s32 u64@3.1+sm_32 s64@3.1+sm_32"),
    form("red{.sem}{.scope}{.global}.add{.noftz}{.level::cache_hint}.vec.f32 [a], b*v{, policy:b64 if .level::cache_hint}").since("8.1 sm_90")
        .with(".sem", "relaxed release").with(".scope", SCOPE).with(".level::cache_hint", "L2::cache_hint").with(".vec", "v2 v4").with(".noftz", "noftz@9.4+sm_90")
        .accesses(&[updates("a")]),
    form("red{.sem}{.scope}{.global}.op.noftz{.level::cache_hint}.vec.type [a], b*v{, policy:b64 if .level::cache_hint}").since("8.1 sm_90")
        .with(".sem", "relaxed release").with(".scope", SCOPE).with(".level::cache_hint", "L2::cache_hint")
        .with(".op", "add min max").with(".vec", "v2 v4 v8").with(".type", "f16 bf16 f16x2 bf16x2")
        .rules(&[Rule::Excludes(".v8", ".f16x2 .bf16x2")])
        .accesses(&[updates("a")]),
    form("red.async:.sem.scope{.ss}.completion_mechanism.op.type [a], b, [mbar]").since("8.1 sm_90")
        .with(".sem", "relaxed").with(".scope", "cluster").with(".ss", "shared::cluster")
        .with(".completion_mechanism", "mbarrier::complete_tx::bytes")
        .with(".op", "inc dec").with(".type", "u32")
        .accesses(REDUCED),
    form("red.async:.sem.scope{.ss}.completion_mechanism.op.type [a], b, [mbar]").since("8.1 sm_90")
        .with(".sem", "relaxed").with(".scope", "cluster").with(".ss", "shared::cluster")
        .with(".completion_mechanism", "mbarrier::complete_tx::bytes")
        .with(".op", "min max").with(".type", "u32 s32")
        .accesses(REDUCED),
    form("red.async:.sem.scope{.ss}.completion_mechanism.op.type [a], b, [mbar]").since("8.1 sm_90")
        .with(".sem", "relaxed").with(".scope", "cluster").with(".ss", "shared::cluster")
        .with(".completion_mechanism", "mbarrier::complete_tx::bytes")
        .with(".op", "and or xor").with(".type", "b32")
        .accesses(REDUCED),
    form("red.async:.sem.scope{.ss}.completion_mechanism.add.type [a], b, [mbar]").since("8.1 sm_90")
        .with(".sem", "relaxed").with(".scope", "cluster").with(".ss", "shared::cluster")
        .with(".completion_mechanism", "mbarrier::complete_tx::bytes")
        .with(".type", "u32 s32 u64")
        .accesses(REDUCED),
    form("red.async:{.mmio}.release.scope{.ss}.add.type [a], b").since("8.7 sm_100")
        .with(".scope", "gpu sys").with(".ss", "global").with(".type", "u32 s32 u64 s64")
        .rules(&[Rule::Needs(".mmio", ".sys")])
        .accesses(&[updates("a").to(Space::Global)]),
];
