//! Loads, stores, prefetches and cache policies.

use crate::effect::{Completion, Order, Scope, Space};
use crate::form::{Extent, Form, Rule, form, reads, signals, writes};

const TYPES: &str = "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64 b128@8.3+sm_70";
const MMIO_TYPES: &str = "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64 b128@8.4+sm_70";
const TYPES_32: &str = "b32 u32 s32 f32";
const TYPES_64: &str = "b64 u64 s64 f64";
const VEC: &str = "v2 v4";
const STRONG_SPACES: &str = "global shared shared::cta@7.8+sm_70 shared::cluster@7.8+sm_90";
const SPACES: &str = "global local@9.1 shared shared::cta@7.8 shared::cluster@7.8+sm_90";
const LOAD_SPACES: &str = "const global local param param::entry@8.3 param::func@8.3 shared shared::cta@7.8 shared::cluster@7.8+sm_90";
const STORE_SPACES: &str =
    "global local param param::func@8.3 shared shared::cta@7.8 shared::cluster@7.8+sm_90";
const SCOPE: &str = "cta cluster@7.8+sm_90 gpu sys";
const L1: &str = "L1::evict_normal@7.4+sm_70 L1::evict_unchanged@7.4+sm_70 L1::evict_first@7.4+sm_70 L1::evict_last@7.4+sm_70 L1::no_allocate@7.4+sm_70";
const L2: &str = "L2::evict_normal L2::evict_first L2::evict_last";
const PREFETCH: &str = "L2::64B@7.4+sm_75 L2::128B@7.4+sm_75 L2::256B@7.4+sm_80";

/// Where no hints to the caches belong.
const UNCACHED: &str =
    ".const .local .param .param::entry .param::func .shared .shared::cta .shared::cluster";

/// What vectors there are, and where hints to the caches belong.
const ACCESS_RULES: &[Rule] = &[
    Rule::Excludes("type=b128", ".vec"),
    Rule::Excludes(".v4", "type=b64 type=u64 type=s64 type=f64"),
    Rule::Excludes(
        ".level1::eviction_priority .level::cache_hint .prefetch_size",
        UNCACHED,
    ),
];

macro_rules! load {
    ($syntax:literal) => {
        form($syntax)
            .with(".vec", VEC)
            .with(".type", TYPES)
            .rules(ACCESS_RULES)
            .accesses(&[reads("a")])
    };
}

macro_rules! store {
    ($syntax:literal) => {
        form($syntax)
            .with(".vec", VEC)
            .with(".type", TYPES)
            .rules(ACCESS_RULES)
            .accesses(&[writes("a")])
    };
}

/// Accesses of 32 bytes.
macro_rules! wide {
    ($syntax:literal, $vec:literal, $types:ident, $access:ident) => {
        form($syntax)
            .with(".ss", "global")
            .with(".level1::eviction_priority", L1)
            .with(".level2::eviction_priority", L2)
            .with(".level::cache_hint", "L2::cache_hint")
            .with(".vec", $vec)
            .with(".type", $types)
            .accesses(&[$access("a")])
    };
}

/// Stores that an mbarrier counts, in the shared memory of a block of the cluster.
macro_rules! store_async {
    ($syntax:literal) => {
        form($syntax)
            .with(".ss", "shared::cluster")
            .with(".completion_mechanism", "mbarrier::complete_tx::bytes")
            .with(".vec", VEC)
            .with(".type", "b32 b64 u32 u64 s32 s64 f32 f64 b128@9.2+sm_90")
            .rules(&[
                Rule::Excludes("type=b128", ".vec"),
                Rule::Excludes(".v4", "type=b64 type=u64 type=s64 type=f64"),
            ])
            .accesses(&[
                writes("a").until(Completion::Mbarrier),
                signals("mbar").until(Completion::Mbarrier),
            ])
    };
}

pub(super) const FORMS: &[Form] = &[
    load!("ld{.weak}{.ss}{.cop}{.level::cache_hint}{.prefetch_size}{.vec}.type d:.type+*v, [a]{, policy:b64 if .level::cache_hint}")
        .with(".ss", LOAD_SPACES)
        .with(".cop", "ca cg cs lu cv")
        .with(".level::cache_hint", "L2::cache_hint@7.4+sm_80")
        .with(".prefetch_size", PREFETCH).with(".weak", "weak@6.0+sm_70"),
    load!("ld{.weak}{.ss}{.level1::eviction_priority}{.level::cache_hint}{.prefetch_size}{.vec}.type d:.type+*v, [a]{, policy:b64 if .level::cache_hint}")
        .with(".ss", LOAD_SPACES)
        .with(".level1::eviction_priority", L1)
        .with(".level::cache_hint", "L2::cache_hint@7.4+sm_80")
        .with(".prefetch_size", PREFETCH).with(".weak", "weak@6.0+sm_70"),
    wide!("ld{.weak}{.ss}{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}{.prefetch_size}.vec.type d*v, [a]{, policy:b64 if .level::cache_hint}", "v8", TYPES_32, reads).since("8.8 sm_100").with(".prefetch_size", PREFETCH),
    wide!("ld{.weak}{.ss}{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}{.prefetch_size}.vec.type d*v, [a]{, policy:b64 if .level::cache_hint}", "v4", TYPES_64, reads).since("8.8 sm_100").with(".prefetch_size", PREFETCH),
    wide!("ld.sem.scope{.ss}{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}{.prefetch_size}.vec.type d*v, [a]{, policy:b64 if .level::cache_hint}", "v8", TYPES_32, reads).since("8.8 sm_100").with(".prefetch_size", PREFETCH)
        .with(".sem", "relaxed acquire")
        .with(".scope", SCOPE),
    wide!("ld.sem.scope{.ss}{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}{.prefetch_size}.vec.type d*v, [a]{, policy:b64 if .level::cache_hint}", "v4", TYPES_64, reads).since("8.8 sm_100").with(".prefetch_size", PREFETCH)
        .with(".sem", "relaxed acquire")
        .with(".scope", SCOPE),
    wide!("ld.ss.nc{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}{.prefetch_size}.vec.type d*v, [a]{, policy:b64 if .level::cache_hint}", "v8", TYPES_32, reads).since("8.8 sm_100").with(".prefetch_size", PREFETCH),
    wide!("ld.ss.nc{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}{.prefetch_size}.vec.type d*v, [a]{, policy:b64 if .level::cache_hint}", "v4", TYPES_64, reads).since("8.8 sm_100").with(".prefetch_size", PREFETCH),
    load!("ld.volatile{.ss}{.prefetch_size}{.vec}.type d:.type+*v, [a]")
        .with(".ss", SPACES)
        .with(".prefetch_size", PREFETCH),
    load!("ld.sem.scope{.ss}{.level1::eviction_priority}{.level::cache_hint}{.prefetch_size}{.vec}.type d:.type+*v, [a]{, policy:b64 if .level::cache_hint}").since("6.0 sm_70")
        .with(".sem", "relaxed acquire")
        .with(".scope", SCOPE)
        .with(".ss", STRONG_SPACES)
        .with(".level1::eviction_priority", L1)
        .with(".level::cache_hint", "L2::cache_hint@7.4+sm_80")
        .with(".prefetch_size", PREFETCH),
    form("ld.mmio.sem.sys{.global}.type d:.type+, [a]").since("8.2 sm_70")
        .with(".sem", "relaxed acquire@9.3+sm_70")
        .with(".type", MMIO_TYPES)
        .accesses(&[reads("a")]),
    load!("ld.global{.cop}.nc{.level::cache_hint}{.prefetch_size}{.vec}.type d:.type+*v, [a]{, policy:b64 if .level::cache_hint}").since("3.1 sm_32")
        .with(".cop", "ca cg cs")
        .with(".level::cache_hint", "L2::cache_hint@7.4+sm_80")
        .with(".prefetch_size", PREFETCH),
    load!("ld.global.nc{.level1::eviction_priority}{.level::cache_hint}{.prefetch_size}{.vec}.type d:.type+*v, [a]{, policy:b64 if .level::cache_hint}").since("3.1 sm_32")
        .with(".level1::eviction_priority", L1)
        .with(".level::cache_hint", "L2::cache_hint@7.4+sm_80")
        .with(".prefetch_size", PREFETCH),
    form("ldu{.ss}{.vec}.type d:.type+*v, [a]")
        .with(".ss", "global")
        .with(".vec", "v2 v4")
        .with(".type", TYPES)
        .rules(ACCESS_RULES)
        .accesses(&[reads("a")]),
    store!("st{.weak}{.ss}{.cop}{.level::cache_hint}{.vec}.type [a], b:.type+*v{, policy:b64 if .level::cache_hint}")
        .with(".ss", STORE_SPACES)
        .with(".cop", "wb cg cs wt")
        .with(".level::cache_hint", "L2::cache_hint@7.4+sm_80").with(".weak", "weak@6.0+sm_70"),
    store!("st{.weak}{.ss}{.level1::eviction_priority}{.level::cache_hint}{.vec}.type [a], b:.type+*v{, policy:b64 if .level::cache_hint}")
        .with(".ss", STORE_SPACES)
        .with(".level1::eviction_priority", L1)
        .with(".level::cache_hint", "L2::cache_hint@7.4+sm_80").with(".weak", "weak@6.0+sm_70"),
    wide!("st{.weak}{.ss}{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}.vec.type [a], b*v{, policy:b64 if .level::cache_hint}", "v8", TYPES_32, writes).since("8.8 sm_100"),
    wide!("st{.weak}{.ss}{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}.vec.type [a], b*v{, policy:b64 if .level::cache_hint}", "v4", TYPES_64, writes).since("8.8 sm_100"),
    wide!("st.sem.scope{.ss}{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}.vec.type [a], b*v{, policy:b64 if .level::cache_hint}", "v8", TYPES_32, writes).since("8.8 sm_100")
        .with(".sem", "relaxed release")
        .with(".scope", SCOPE),
    wide!("st.sem.scope{.ss}{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}.vec.type [a], b*v{, policy:b64 if .level::cache_hint}", "v4", TYPES_64, writes).since("8.8 sm_100")
        .with(".sem", "relaxed release")
        .with(".scope", SCOPE),
    store!("st.volatile{.ss}{.vec}.type [a], b:.type+*v").with(".ss", SPACES),
    store!("st.sem.scope{.ss}{.level1::eviction_priority}{.level::cache_hint}{.vec}.type [a], b:.type+*v{, policy:b64 if .level::cache_hint}").since("6.0 sm_70")
        .with(".sem", "relaxed release")
        .with(".scope", SCOPE)
        .with(".ss", STRONG_SPACES)
        .with(".level1::eviction_priority", L1)
        .with(".level::cache_hint", "L2::cache_hint@7.4+sm_80"),
    form("st.mmio.sem.sys{.global}.type [a], b:.type+").since("8.2 sm_70")
        .with(".sem", "relaxed release@9.3+sm_70")
        .with(".type", MMIO_TYPES)
        .accesses(&[writes("a")]),
    store_async!("st.async:{.weak}{.ss}.completion_mechanism{.vec}.type [a], b*v, [mbar]").since("8.1 sm_90"),
    store_async!("st.async:.scope{.ss}.completion_mechanism{.vec}.type [a], b*v, [mbar]").since("8.1 sm_90")
        .with(".scope", "cluster"),
    form("st.async:{.mmio}.release.scope{.ss}.type [a], b").since("8.7 sm_100")
        .with(".scope", "gpu sys")
        .with(".ss", "global")
        .with(".type", "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64")
        .rules(&[Rule::Needs(".mmio", ".sys")])
        .accesses(&[writes("a").ordered(Order::Release, Scope::System)]),
    form("st.bulk:{.weak}{.shared::cta} [a], size:u64@0..16777216%8, initval:imm@0").since("8.6 sm_100")
        .accesses(&[writes("a").to(Space::Shared).of(Extent::Operand("size"))]),
    form("prefetch{.space}.level [a]").with(".space", "global local").with(".level", "L1 L2"),
    form("prefetch{.global}.level::eviction_priority [a]").since("7.4 sm_80").with(".level::eviction_priority", "L2::evict_last L2::evict_normal"),
    form("prefetch{.tensormap_space}.tensormap [a]").since("8.0 sm_90").with(".tensormap_space", "const param"),
    form("prefetchu.L1 [a]"),
    form("applypriority{.global}.L2::evict_normal [a], size:imm@128").since("7.4 sm_80"),
    form("discard{.global}.L2 [a], size:imm@128").since("7.4 sm_80").accesses(&[writes("a").of(Extent::Operand("size"))]),
    form("createpolicy.fractional:.primary{.secondary}.b64 d{, fraction:f32}").since("7.4 sm_80")
        .with(".primary", "L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged")
        .with(".secondary", "L2::evict_first L2::evict_unchanged"),
    form("createpolicy.range:{.global}.primary{.secondary}.b64 d, [a], primary-size:u32, total-size:u32").since("7.4 sm_80")
        .with(".primary", "L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged")
        .with(".secondary", "L2::evict_first L2::evict_unchanged"),
    form("createpolicy.cvt:.L2.b64 d, access-property:b64").since("7.4 sm_80"),
];
