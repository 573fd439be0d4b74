//! Loads, stores, prefetches and cache policies.

use crate::effect::{Completion, Order, Scope, Space};
use crate::form::{Extent, Form, Rule, form, reads, writes};

const TYPES: &str = "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64 b128";
const VEC: &str = "v2 v4 v8";
const SPACES: &str = "global local shared shared::cta shared::cluster";
const LOAD_SPACES: &str = "const global local param param::entry param::func shared shared::cta shared::cluster";
const STORE_SPACES: &str = "global local param param::func shared shared::cta shared::cluster";
const SCOPE: &str = "cta cluster gpu sys";
const L1: &str = "L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate";
const L2: &str = "L2::evict_normal L2::evict_first L2::evict_last";
const PREFETCH: &str = "L2::64B L2::128B L2::256B";

/// What vectors there are, and where hints to the caches belong.
const ACCESS_RULES: &[Rule] = &[
    Rule::Excludes("type=b128", ".vec"),
    Rule::Excludes(".v4", "type=b64 type=u64 type=s64 type=f64"),
    Rule::Excludes(".v8", "type=b8 type=u8 type=s8 type=b16 type=u16 type=s16 type=b64 type=u64 type=s64 type=f64"),
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

pub(super) const FORMS: &[Form] = &[
    load!("ld{.weak}{.ss}{.cop}{.level::cache_hint}{.prefetch_size}{.vec}.type d:.type+*v, [a]{, policy:b64 if .level::cache_hint}")
        .with(".ss", LOAD_SPACES)
        .with(".cop", "ca cg cs lu cv")
        .with(".level::cache_hint", "L2::cache_hint")
        .with(".prefetch_size", PREFETCH),
    load!("ld{.weak}{.ss}{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}{.prefetch_size}{.vec}.type d:.type+*v, [a]{, policy:b64 if .level::cache_hint}")
        .with(".ss", LOAD_SPACES)
        .with(".level1::eviction_priority", L1)
        .with(".level2::eviction_priority", L2)
        .with(".level::cache_hint", "L2::cache_hint")
        .with(".prefetch_size", PREFETCH),
    load!("ld.volatile{.ss}{.prefetch_size}{.vec}.type d:.type+*v, [a]")
        .with(".ss", LOAD_SPACES)
        .with(".prefetch_size", PREFETCH),
    load!("ld.sem.scope{.ss}{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}{.prefetch_size}{.vec}.type d:.type+*v, [a]{, policy:b64 if .level::cache_hint}")
        .with(".sem", "relaxed acquire")
        .with(".scope", SCOPE)
        .with(".ss", SPACES)
        .with(".level1::eviction_priority", L1)
        .with(".level2::eviction_priority", L2)
        .with(".level::cache_hint", "L2::cache_hint")
        .with(".prefetch_size", PREFETCH),
    form("ld.mmio.sem.sys{.global}.type d:.type+, [a]")
        .with(".sem", "relaxed acquire")
        .with(".type", TYPES)
        .accesses(&[reads("a")]),
    load!("ld.global{.cop}.nc{.level::cache_hint}{.prefetch_size}{.vec}.type d:.type+*v, [a]{, policy:b64 if .level::cache_hint}")
        .with(".cop", "ca cg cs")
        .with(".level::cache_hint", "L2::cache_hint")
        .with(".prefetch_size", PREFETCH),
    load!("ld.global.nc{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}{.prefetch_size}{.vec}.type d:.type+*v, [a]{, policy:b64 if .level::cache_hint}")
        .with(".level1::eviction_priority", L1)
        .with(".level2::eviction_priority", L2)
        .with(".level::cache_hint", "L2::cache_hint")
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
        .with(".level::cache_hint", "L2::cache_hint"),
    store!("st{.weak}{.ss}{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}{.vec}.type [a], b:.type+*v{, policy:b64 if .level::cache_hint}")
        .with(".ss", STORE_SPACES)
        .with(".level1::eviction_priority", L1)
        .with(".level2::eviction_priority", L2)
        .with(".level::cache_hint", "L2::cache_hint"),
    store!("st.volatile{.ss}{.vec}.type [a], b:.type+*v").with(".ss", STORE_SPACES),
    store!("st.sem.scope{.ss}{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}{.vec}.type [a], b:.type+*v{, policy:b64 if .level::cache_hint}")
        .with(".sem", "relaxed release")
        .with(".scope", SCOPE)
        .with(".ss", SPACES)
        .with(".level1::eviction_priority", L1)
        .with(".level2::eviction_priority", L2)
        .with(".level::cache_hint", "L2::cache_hint"),
    form("st.mmio.sem.sys{.global}.type [a], b:.type+")
        .with(".sem", "relaxed release")
        .with(".type", TYPES)
        .accesses(&[writes("a")]),
    form("st.async{.weak}{.ss}{.completion_mechanism}{.vec}.type [a], b*v, [mbar]")
        .with(".ss", "shared::cluster")
        .with(".completion_mechanism", "mbarrier::complete_tx::bytes")
        .with(".vec", "v2 v4")
        .with(".type", "b32 b64 u32 u64 s32 s64 f32 f64")
        .rules(&[Rule::Excludes(".v4", "type=b64 type=u64 type=s64 type=f64")])
        .accesses(&[writes("a").to(Space::SharedCluster).until(Completion::Mbarrier)]),
    form("st.async{.mmio}.release.scope{.ss}.type [a], b")
        .with(".scope", "gpu sys")
        .with(".ss", "global")
        .with(".type", "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64")
        .accesses(&[writes("a").ordered(Order::Release, Scope::System)]),
    form("st.bulk{.weak}{.shared::cta} [a], size:u64, initval:imm")
        .accesses(&[writes("a").to(Space::Shared).of(Extent::Operand("size"))]),
    form("prefetch{.space}.level [a]").with(".space", "global local").with(".level", "L1 L2"),
    form("prefetch.global.level::eviction_priority [a]").with(".level::eviction_priority", "L2::evict_last L2::evict_normal"),
    form("prefetch{.tensormap_space}.tensormap [a]").with(".tensormap_space", "const param"),
    form("prefetchu.L1 [a]"),
    form("applypriority{.global}.L2::evict_normal [a], size:imm"),
    form("discard{.global}.L2 [a], size:imm").accesses(&[writes("a").of(Extent::Operand("size"))]),
    form("createpolicy.fractional.primary{.secondary}.b64 d{, fraction:f32}")
        .with(".primary", "L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged")
        .with(".secondary", "L2::evict_first L2::evict_unchanged"),
    form("createpolicy.range{.global}.primary{.secondary}.b64 d, [a], primary-size:u32, total-size:u32")
        .with(".primary", "L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged")
        .with(".secondary", "L2::evict_first L2::evict_unchanged"),
    form("createpolicy.cvt.L2.b64 d, access-property:b64"),
];
