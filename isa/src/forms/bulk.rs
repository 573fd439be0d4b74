//! Bulk and tensor copies by the asynchronous proxy: `cp.async.bulk`, `cp.reduce.async.bulk`, tensor maps.

use crate::effect::{Completion, Proxy, Space};
use crate::form::{Access, Extent, Form, Rule, form, reads, signals, updates, writes};

const BYTES: &str = "mbarrier::complete_tx::bytes";
const DIM: &str = "1d 2d 3d 4d 5d";

const fn from(space: Space, completion: Completion, extent: Extent) -> Access {
    reads("src")
        .to(space)
        .by(Proxy::Async)
        .until(completion)
        .of(extent)
}

const fn into(space: Space, completion: Completion, extent: Extent) -> Access {
    writes("dst")
        .to(space)
        .by(Proxy::Async)
        .until(completion)
        .of(extent)
}

const fn reduce(space: Space, completion: Completion, extent: Extent) -> Access {
    updates("dst")
        .to(space)
        .by(Proxy::Async)
        .until(completion)
        .of(extent)
}

/// The mbarrier that counts the bytes.
const fn counted(space: Space) -> Access {
    signals("mbar").to(space).by(Proxy::Async).until(MBARRIER)
}

const SIZE: Extent = Extent::Operand("size");
const MBARRIER: Completion = Completion::Mbarrier;
const GROUP: Completion = Completion::BulkGroup;

/// Of the type that a copy may name, though it says nothing, none is weak.
const WEAK: &[Rule] = &[Rule::Excludes(".type", ".weak")];

pub(super) const FORMS: &[Form] = &[
    form("cp.async.bulk:{.weak}.dst.src.completion{.multicast}{.level::cache_hint}{.type} [dst], [src], size:u32@0..1048560%16, [mbar]{, mask:u16@0..65535 if .multicast}{, policy:b64 if .level::cache_hint}").since("8.0 sm_90").with(".weak", "weak@9.3+sm_90").with(".type", "b128").rules(WEAK)
        .with(".dst", "shared::cluster").with(".src", "global").with(".completion", BYTES)
        .with(".multicast", "multicast::cluster").with(".level::cache_hint", "L2::cache_hint")
        .accesses(&[into(Space::SharedCluster, MBARRIER, SIZE), from(Space::Global, MBARRIER, SIZE), counted(Space::SharedCluster)]),
    form("cp.async.bulk:{.weak}.dst.src.completion{.level::cache_hint}{.type} [dst], [src], size:u32@0..1048560%16, [mbar]{, policy:b64 if .level::cache_hint}").since("8.6 sm_90").with(".weak", "weak@9.3+sm_90").with(".type", "b128").rules(WEAK)
        .with(".dst", "shared::cta").with(".src", "global").with(".completion", BYTES)
        .with(".level::cache_hint", "L2::cache_hint")
        .accesses(&[into(Space::Shared, MBARRIER, SIZE), from(Space::Global, MBARRIER, SIZE), counted(Space::Shared)]),
    form("cp.async.bulk:{.weak}.dst.src.completion{.type} [dst], [src], size:u32@0..1048560%16, [mbar]").since("8.0 sm_90").with(".weak", "weak@9.3+sm_90").with(".type", "b128").rules(WEAK)
        .with(".dst", "shared::cluster").with(".src", "shared::cta").with(".completion", BYTES)
        .accesses(&[into(Space::SharedCluster, MBARRIER, SIZE), from(Space::Shared, MBARRIER, SIZE), counted(Space::SharedCluster)]),
    form("cp.async.bulk:{.weak}.dst.src.completion{.level::cache_hint}{.cp_mask}{.type} [dst], [src], size:u32@0..1048560%16{, policy:b64 if .level::cache_hint}{, byteMask:b16 if .cp_mask}").since("8.0 sm_90").with(".weak", "weak@9.3+sm_90").with(".type", "b128").rules(WEAK)
        .with(".dst", "global").with(".src", "shared::cta").with(".completion", "bulk_group")
        .with(".level::cache_hint", "L2::cache_hint")
        .accesses(&[into(Space::Global, GROUP, SIZE), from(Space::Shared, GROUP, SIZE)]).with(".cp_mask", "cp_mask@8.6+sm_100"),
    form("cp.async.bulk.prefetch:.L2.src{.level::cache_hint} [src], size:u32@0..1048560%16{, policy:b64 if .level::cache_hint}").since("8.0 sm_90")
        .with(".src", "global").with(".level::cache_hint", "L2::cache_hint"),
    form("cp.async.bulk.commit_group:").since("8.0 sm_90"),
    form("cp.async.bulk.wait_group:{.read} n:imm").since("8.0 sm_90"),
    form("cp.reduce.async.bulk:.dst.src.completion.redOp.type [dst], [src], size:u32@0..1048560%16, [mbar]").since("8.0 sm_90")
        .with(".dst", "shared::cluster").with(".src", "shared::cta").with(".completion", BYTES)
        .with(".redOp", "and or xor").with(".type", "b32")
        .accesses(&[reduce(Space::SharedCluster, MBARRIER, SIZE), from(Space::Shared, MBARRIER, SIZE), counted(Space::SharedCluster)]),
    form("cp.reduce.async.bulk:.dst.src.completion.redOp.type [dst], [src], size:u32@0..1048560%16, [mbar]").since("8.0 sm_90")
        .with(".dst", "shared::cluster").with(".src", "shared::cta").with(".completion", BYTES)
        .with(".redOp", "add").with(".type", "u32 s32 u64")
        .accesses(&[reduce(Space::SharedCluster, MBARRIER, SIZE), from(Space::Shared, MBARRIER, SIZE), counted(Space::SharedCluster)]),
    form("cp.reduce.async.bulk:.dst.src.completion.redOp.type [dst], [src], size:u32@0..1048560%16, [mbar]").since("8.0 sm_90")
        .with(".dst", "shared::cluster").with(".src", "shared::cta").with(".completion", BYTES)
        .with(".redOp", "min max").with(".type", "u32 s32")
        .accesses(&[reduce(Space::SharedCluster, MBARRIER, SIZE), from(Space::Shared, MBARRIER, SIZE), counted(Space::SharedCluster)]),
    form("cp.reduce.async.bulk:.dst.src.completion.redOp.type [dst], [src], size:u32@0..1048560%16, [mbar]").since("8.0 sm_90")
        .with(".dst", "shared::cluster").with(".src", "shared::cta").with(".completion", BYTES)
        .with(".redOp", "inc dec").with(".type", "u32")
        .accesses(&[reduce(Space::SharedCluster, MBARRIER, SIZE), from(Space::Shared, MBARRIER, SIZE), counted(Space::SharedCluster)]),
    form("cp.reduce.async.bulk:.dst.src.completion{.level::cache_hint}.redOp.type [dst], [src], size:u32@0..1048560%16{, policy:b64 if .level::cache_hint}").since("8.0 sm_90")
        .with(".dst", "global").with(".src", "shared::cta").with(".completion", "bulk_group")
        .with(".level::cache_hint", "L2::cache_hint")
        .with(".redOp", "and or xor").with(".type", "b32 b64")
        .accesses(&[reduce(Space::Global, GROUP, SIZE), from(Space::Shared, GROUP, SIZE)]),
    form("cp.reduce.async.bulk:.dst.src.completion{.level::cache_hint}.redOp.type [dst], [src], size:u32@0..1048560%16{, policy:b64 if .level::cache_hint}").since("8.0 sm_90")
        .with(".dst", "global").with(".src", "shared::cta").with(".completion", "bulk_group")
        .with(".level::cache_hint", "L2::cache_hint")
        .with(".redOp", "add").with(".type", "u32 s32 u64 f32 f64")
        .accesses(&[reduce(Space::Global, GROUP, SIZE), from(Space::Shared, GROUP, SIZE)]),
    form("cp.reduce.async.bulk:.dst.src.completion{.level::cache_hint}.redOp.type [dst], [src], size:u32@0..1048560%16{, policy:b64 if .level::cache_hint}").since("8.0 sm_90")
        .with(".dst", "global").with(".src", "shared::cta").with(".completion", "bulk_group")
        .with(".level::cache_hint", "L2::cache_hint")
        .with(".redOp", "inc dec").with(".type", "u32")
        .accesses(&[reduce(Space::Global, GROUP, SIZE), from(Space::Shared, GROUP, SIZE)]),
    form("cp.reduce.async.bulk:.dst.src.completion{.level::cache_hint}.redOp.type [dst], [src], size:u32@0..1048560%16{, policy:b64 if .level::cache_hint}").since("8.0 sm_90")
        .with(".dst", "global").with(".src", "shared::cta").with(".completion", "bulk_group")
        .with(".level::cache_hint", "L2::cache_hint")
        .with(".redOp", "min max").with(".type", "u32 s32 u64 s64 f16 bf16")
        .accesses(&[reduce(Space::Global, GROUP, SIZE), from(Space::Shared, GROUP, SIZE)]),
    form("cp.reduce.async.bulk:.dst.src.completion{.level::cache_hint}.add.noftz.type [dst], [src], size:u32@0..1048560%16{, policy:b64 if .level::cache_hint}").since("8.0 sm_90")
        .with(".dst", "global").with(".src", "shared::cta").with(".completion", "bulk_group")
        .with(".level::cache_hint", "L2::cache_hint").with(".type", "f16 bf16 f32@9.4+sm_90")
        .accesses(&[reduce(Space::Global, GROUP, SIZE), from(Space::Shared, GROUP, SIZE)]),
    // Tensors: the address has the map and the coordinates.
    form("cp.async.bulk.tensor:.dim.dst.src{.tile}.completion{.multicast}{.cta_group}{.level::cache_hint} [dst], [src, coordinates], [mbar]{, mask:u16@0..65535 if .multicast}{, policy:b64 if .level::cache_hint}").since("8.0 sm_90")
        .with(".dim", DIM).with(".dst", "shared::cluster").with(".src", "global").with(".completion", BYTES)
        .with(".multicast", "multicast::cluster").with(".cta_group", "cta_group::1@8.6+sm_100f,sm_110f cta_group::2@8.6+sm_100f,sm_110f")
        .with(".level::cache_hint", "L2::cache_hint")
        .accesses(&[into(Space::SharedCluster, MBARRIER, Extent::Shape), from(Space::Global, MBARRIER, Extent::Shape), counted(Space::SharedCluster)]),
    form("cp.async.bulk.tensor:.dim.dst.src.im2col.completion{.multicast}{.cta_group}{.level::cache_hint} [dst], [src, coordinates], [mbar], im2colInfo:b16*n{, mask:u16@0..65535 if .multicast}{, policy:b64 if .level::cache_hint}").since("8.0 sm_90")
        .with(".dim", "3d 4d 5d").with(".dst", "shared::cluster").with(".src", "global").with(".completion", BYTES)
        .with(".multicast", "multicast::cluster").with(".cta_group", "cta_group::1@8.6+sm_100f,sm_110f cta_group::2@8.6+sm_100f,sm_110f")
        .with(".level::cache_hint", "L2::cache_hint")
        .accesses(&[into(Space::SharedCluster, MBARRIER, Extent::Shape), from(Space::Global, MBARRIER, Extent::Shape), counted(Space::SharedCluster)]),
    form("cp.async.bulk.tensor:.dim.dst.src{.tile}.completion{.cta_group}{.level::cache_hint} [dst], [src, coordinates], [mbar]{, policy:b64 if .level::cache_hint}").since("8.6 sm_90")
        .with(".dim", DIM).with(".dst", "shared::cta").with(".src", "global").with(".completion", BYTES)
        .with(".cta_group", "cta_group::1@8.6+sm_100f,sm_110f cta_group::2@8.6+sm_100f,sm_110f")
        .with(".level::cache_hint", "L2::cache_hint")
        .accesses(&[into(Space::Shared, MBARRIER, Extent::Shape), from(Space::Global, MBARRIER, Extent::Shape), counted(Space::Shared)]),
    form("cp.async.bulk.tensor:.dim.dst.src.im2col.completion{.cta_group}{.level::cache_hint} [dst], [src, coordinates], [mbar], im2colInfo:b16*n{, policy:b64 if .level::cache_hint}").since("8.6 sm_90")
        .with(".dim", "3d 4d 5d").with(".dst", "shared::cta").with(".src", "global").with(".completion", BYTES)
        .with(".cta_group", "cta_group::1@8.6+sm_100f,sm_110f cta_group::2@8.6+sm_100f,sm_110f")
        .with(".level::cache_hint", "L2::cache_hint")
        .accesses(&[into(Space::Shared, MBARRIER, Extent::Shape), from(Space::Global, MBARRIER, Extent::Shape), counted(Space::Shared)]),
    form("cp.async.bulk.tensor:.dim.dst.src{.mode}.completion{.level::cache_hint} [dst, coordinates], [src]{, policy:b64 if .level::cache_hint}").since("8.0 sm_90")
        .with(".dim", DIM).with(".dst", "global").with(".src", "shared::cta").with(".mode", "tile im2col_no_offs")
        .with(".completion", "bulk_group").with(".level::cache_hint", "L2::cache_hint")
        .rules(&[Rule::Excludes(".im2col_no_offs", ".1d .2d")])
        .accesses(&[into(Space::Global, GROUP, Extent::Shape), from(Space::Shared, GROUP, Extent::Shape)]),
    form("cp.reduce.async.bulk.tensor:.dim.dst.src.redOp{.mode}.completion{.level::cache_hint} [dst, coordinates], [src]{, policy:b64 if .level::cache_hint}").since("8.0 sm_90")
        .with(".dim", DIM).with(".dst", "global").with(".src", "shared::cta")
        .with(".redOp", "add min max inc dec and or xor").with(".mode", "tile im2col_no_offs")
        .with(".completion", "bulk_group").with(".level::cache_hint", "L2::cache_hint")
        .rules(&[Rule::Excludes(".im2col_no_offs", ".1d .2d")])
        .accesses(&[reduce(Space::Global, GROUP, Extent::Shape), from(Space::Shared, GROUP, Extent::Shape)]),
    form("cp.async.bulk.prefetch.tensor:.dim.L2.src{.tile}{.level::cache_hint} [src, coordinates]{, policy:b64 if .level::cache_hint}").since("8.0 sm_90")
        .with(".dim", DIM).with(".src", "global").with(".level::cache_hint", "L2::cache_hint"),
    form("cp.async.bulk.prefetch.tensor:.dim.L2.src.im2col{.level::cache_hint} [src, coordinates], im2colInfo:b16*n{, policy:b64 if .level::cache_hint}").since("8.0 sm_90")
        .with(".dim", "3d 4d 5d").with(".src", "global").with(".level::cache_hint", "L2::cache_hint"),
    form("tensormap.replace:.mode.field{.ss}.b1024.type [a], b").since("8.3 sm_90a,sm_100f,sm_110f,sm_120f")
        .with(".mode", "tile").with(".field", "global_address").with(".ss", "global shared::cta").with(".type", "b64")
        .accesses(&[writes("a").of(Extent::Bytes(128))]),
    form("tensormap.replace:.mode.field{.ss}.b1024.type [a], b").since("8.3 sm_90a,sm_100f,sm_110f,sm_120f")
        .with(".mode", "tile").with(".field", "rank").with(".ss", "global shared::cta").with(".type", "b32")
        .accesses(&[writes("a").of(Extent::Bytes(128))]),
    form("tensormap.replace:.mode.field{.ss}.b1024.type [a], ordinal:imm@0..4, b").since("8.3 sm_90a,sm_100f,sm_110f,sm_120f")
        .with(".mode", "tile").with(".field", "box_dim global_dim element_stride").with(".ss", "global shared::cta").with(".type", "b32")
        .accesses(&[writes("a").of(Extent::Bytes(128))]),
    form("tensormap.replace:.mode.field{.ss}.b1024.type [a], ordinal:imm@0..4, b").since("8.3 sm_90a,sm_100f,sm_110f,sm_120f")
        .with(".mode", "tile").with(".field", "global_stride").with(".ss", "global shared::cta").with(".type", "b64")
        .accesses(&[writes("a").of(Extent::Bytes(128))]),
    form("tensormap.replace:.mode.field{.ss}.b1024.type [a], b:imm").since("8.3 sm_90a,sm_100f,sm_110f,sm_120f")
        .with(".mode", "tile").with(".field", "elemtype interleave_layout swizzle_mode fill_mode swizzle_atomicity@8.6+sm_100f,sm_110f,sm_120f")
        .with(".ss", "global shared::cta").with(".type", "b32")
        .accesses(&[writes("a").of(Extent::Bytes(128))]),
    form("tensormap.cp_fenceproxy:.global.shared::cta.tensormap::generic.sem.scope.sync.aligned [dst], [src], size:imm@128").since("8.3 sm_90")
        .with(".sem", "release").with(".scope", "cta cluster gpu sys")
        .convergence(crate::effect::Convergence::Warp)
        .fence()
        .accesses(&[
            writes("dst").to(Space::Global).of(Extent::Bytes(128)),
            reads("src").to(Space::Shared).of(Extent::Bytes(128)),
        ]),
];
