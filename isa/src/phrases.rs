//! What ptxas calls the things that an instruction needs, found by asking it.
//!
//! The first row that matches counts. `cargo xtask isa --check` compares each refusal with what ptxas says.

use crate::matched::Match;
use crate::phrase::{Phrase, Subject, Subject::*};

/// That `of` (empty: the form) of these opcodes is called so, under the conditions of [`Phrase::when`].
const fn row(opcodes: &'static str, of: &'static str, when: &'static str, name: Subject) -> Phrase {
    Phrase {
        opcodes,
        of,
        when,
        version: name,
        target: name,
        unsupported: false,
    }
}

const HALF: Subject = Feature("f16 arithemetic and compare instructions");
const INTEGER_SET: Subject =
    Feature("half precision floating point set instruction with integer result");
const WIDE: Subject = Feature("256 bit wide load/store");
const B128: Subject = Feature("Instruction type .b128 for instruction {opcode}");
const GENERIC: Subject = Instruction("{opcode}.{op|exch|cas|add}.{1} with generic state space");
const IN_SPACE: Subject = Instruction("{opcode}.{op|exch|cas|add}.{1}.{space}");
const RELEASE: Subject = Feature("st.async/red.async with .release modifier");
const ONE_WAY: Subject = Feature("fence.proxy with unidirection proxy fence");
const COUNT: Subject = Feature("{name} with count argument and without '.noComplete' modifier");
const PARAM: Subject = Feature("cvta/isspacep with .param state space");
const INDIRECT_TEXTURE: Subject = Feature("indirect texture access");
const INDIRECT_SURFACE: Subject = Feature("indirect surface access");
const FP8: Subject = Feature("mma with FP8 floating point type");

/// The rows.
pub static PHRASES: &[Phrase] = &[
    // Integer arithmetic.
    row("add sub mad", "u64 s64", "cc", Feature(".cc with 64bit type")),
    row("mad", "", "cc", Feature("mad.cc")),
    row("madc", "", "", Feature("madc")),
    row("add min max", "u16x2 s16x2", "", Feature("{opcode}.{word}")),
    row("min max", "relu", "s32/s16x2", Feature("{opcode}.relu")),
    row("add", "", "sat u16x2/s16x2/u32", Feature("add.sat")),
    row("dp2a", "", "", Feature("dp2a.{mode}")).on(Instruction("dp2a.{mode}")),
    row("lop3", "", "BoolOp", Feature("lop3.<BoolOp>")).on(Instruction("lop3.<BoolOp>")),
    row("shf", "", "", Feature("shf.{l|r}")).on(Instruction("shf.{l|r}")),
    // Floating point.
    row("add sub mul fma", "", "f32x2", Feature("{opcode}.f32x2")),
    row("add sub fma", "", "atype/abtype", Feature("{opcode}.f32.{atype|abtype}")),
    row("min max", "", "xorsign", Feature(".xorsign")).on(Modifier(".xorsign")),
    row("min max", "", "f32", Feature("{opcode}.f32 with 3 input operands")),
    row("rsqrt", "ftz", "", Feature("rsqrt.approx.ftz.f64")),
    row("fma", "", "oob", Feature(".oob")).on(Modifier(".oob")),
    row("fma", "", "relu f16/f16x2", Feature(".relu")).on(Modifier(".relu")),
    row("fma neg abs min max", "", "bf16/bf16x2", Feature(".{1}")),
    row("neg abs", "", "", Feature("{opcode}.f16 or {opcode}.f16x2")).on(HALF),
    row("min max", "", "", Feature("{opcode}.f16 or {opcode}.f16x2")),
    row("ex2", "", "f16/f16x2", Feature("ex2.f16/f16x2")),
    row("tanh", "bf16 bf16x2", "", Feature("tanh.{word}")),
    row("set", "u16 s16 u32 s32", "f16/f16x2", INTEGER_SET),
    row("set", "f16", "", HALF),
    row("set", "bf16", "", Feature("set.bf16")),
    row("set", "", "u16/s16/u32/s32 f16/f16x2", INTEGER_SET),
    row("add sub mul fma set setp tex", "", "f16/f16x2", HALF),
    row("set setp", "", "bf16x2", Feature("{opcode}.bf16x2")),
    row("set setp", "", "bf16", Feature("{opcode}.bf16")),
    row("add sub mul ex2", "", "bf16/bf16x2", Feature("{opcode}.{1}")),
    row("", "NaN relu", "", Feature(".{word}")).on(Modifier(".{word}")),
    // Conversion.
    row("cvt", "satfinite", "f16", ModifierOn(".satfinite", "cvt.{1}.{2}")).on(Feature(".satfinite")),
    row("cvt", "satfinite", "tf32", ModifierOn(".satfinite", "cvt.tf32.f32.{frnd|rna}")),
    row("cvt", "satfinite", "", ModifierOn(".satfinite", "cvt.{1}.{2}")),
    row("cvt", "before", "", Feature("cvt.{1}.{2} on sm_89")),
    row("cvt", "", "rs", Feature(".rs")),
    row("cvt", "", "tf32 rna", Feature(".tf32")),
    row("cvt", "", "tf32", Feature("cvt with .tf32.f32.{frnd}")),
    row("cvt", "", "ue8m0x2/f8x2type=ue8m0x2", Feature("cvt with .ue8m0x2")).on(Instruction("cvt with .ue8m0x2")),
    row("cvt", "u4 s4 u2 s2", "", Feature("cvt.pack with sub-byte type")),
    row("cvt", "", "pack", Feature("cvt.pack")),
    row("cvt", "", "bf16 f32 frnd", Feature("cvt.bf16.f32")),
    row("cvt", "", "bf16 ftz", Feature("cvt with .{1}.{2}.ftz")),
    row("cvt", "", "bf16", Feature("cvt with .{1}.{2}")),
    row("cvt", "", "", Feature("cvt.{1}.{2}")),
    // Moves and addresses.
    row("mov", "", "b128", B128),
    row("mov ldu", "b128", "", B128),
    row("cvta isspacep", "const", "", Feature("cvta/isspacep with .const state space")),
    row("cvta isspacep", "param", "", PARAM),
    row("cvta isspacep", "param::entry", "", Feature("::entry")).on(PARAM),
    row("", "shared::cta", "", Feature("::cta")),
    row("", "shared::cluster", "", Feature("::cluster")),
    row("", "param::entry", "", Feature("::entry")),
    row("", "param::func", "", Feature("::func")),
    // Loads and stores.
    row("st", "b128", "async", Feature("st.async.b128")),
    row("ld st", "b128", "mmio", Feature(".b128 with .sys")).on(B128),
    row("ld st", "b128", "", B128),
    row("ld st", "local", "volatile", Feature("ld/st with .local.volatile")),
    row("ld st", "L1::evict_normal", "", ModifierOn(".evict_normal", "{opcode}")),
    row("ld st", "L1::evict_unchanged", "", ModifierOn(".evict_unchanged", "{opcode}")),
    row("ld st", "L1::evict_first", "", ModifierOn(".evict_first", "{opcode}")),
    row("ld st", "L1::evict_last", "", ModifierOn(".evict_last", "{opcode}")),
    row("ld st", "L1::no_allocate", "", ModifierOn(".no_allocate", "{opcode}")),
    row("", "L2::cache_hint", "", Modifier(".L2::cache_hint")),
    row("", "L2::64B L2::128B", "", Feature("cache prefetching")),
    row("", "L2::256B", "", Feature("cache prefetching")).on(Modifier(".L2::256B")),
    row("ld st", "", "v8", WIDE),
    row("ld st", "", "v4 b64/u64/s64/f64", WIDE),
    row("st", "", "async release", RELEASE),
    row("st", "", "async", Feature("st.async")),
    row("st", "", "bulk", Feature("st.bulk")),
    row("ld st", "", "mmio", Feature(".mmio")),
    row("ld st", "", "sem", Feature(".{sem}")),
    row("ld", "", "nc", Feature(".nc")).on(Instruction("ld.nc")),
    row("prefetch", "", "tensormap", Modifier(".tensormap")),
    row("prefetch", "", "", ModifierOn("cache eviction priority", "prefetch")),
    row("createpolicy", "", "", Feature("createpolicy.{fractional|range|cvt}")),
    // Atomics.
    row("atom red cp", "f32 noftz", "f32 noftz", Feature("{name} with .noftz and .f32")),
    row("atom red", "cta gpu sys", "", Feature("scopes on atomic operations")),
    row("red", "", "async completion_mechanism", Feature("red.async")),
    row("red", "", "async", RELEASE),
    row("atom red", "", "vec", Feature("{opcode} instruction with vector types")),
    row("atom red", "b64 u64 s64 f64 b16 b128 f16 bf16 bf16x2", "space", IN_SPACE),
    row("atom red", "b64 u64 s64 f64 b16 b128 f16 bf16 bf16x2", "", GENERIC),
    row("atom red", "", "space", IN_SPACE),
    row("atom red", "", "", GENERIC),
    // Asynchronous copies.
    row("cp", "", "operand:ignore-src", Feature("igonre-src on cp.async")).on(Feature("cp.async")),
    row("cp", "", "dst=shared::cta", Feature("{name} with destination state space as .shared::cta")).on(Feature("{name}")),
    row("tensormap", "swizzle_atomicity", "", Feature("{name}.swizzle_atomicity")).on(Instruction("{name}.swizzle_atomicity")),
    row("tensormap", "", "swizzle_atomicity", Feature("{name}")).on(Instruction("{name}.swizzle_atomicity")),
    row("tensormap", "", "", Feature("{name}")).on(Instruction("{name}")).unsupported(),
    row("multimem", "acc::f32", "", Modifier(".acc::f32")),
    row("cp", "weak", "", Feature("cp.async.bulk.weak")),
    // Barriers and fences.
    row("mbarrier", "release relaxed acquire", "", ModifierOn(".{word}", "{name}")),
    row("mbarrier", "cluster", "", Feature("scopes on mbarrier operations")).on(Feature(".cluster scope")),
    row("mbarrier", "", "shared::cluster arrive/arrive_drop", Feature(".shared::cluster")),
    row("mbarrier", "", "noComplete", Feature("{name}")),
    row("mbarrier", "", "operand:count arrive/arrive_drop", COUNT),
    row("bar barrier", "cta", "arrive", Feature("{opcode}.cta.arrive")),
    row("bar barrier", "cta", "red", Feature("{opcode}.cta.red")),
    row("bar barrier", "cta", "", Feature("{opcode}.cta")),
    row("barrier", "release relaxed acquire", "", ModifierOn(".{word}", "{name}")),
    row("barrier", "", "cluster", Feature("{name}")),
    row("barrier", "", "cta arrive", Feature("barrier.arrive")).on(Instruction("barrier.cta.arrive")),
    row("barrier", "", "cta red", Feature("barrier.red")).on(Instruction("barrier.cta.red")),
    row("barrier", "", "cta", Feature("barrier")).on(Instruction("barrier.cta")),
    row("barrier", "", "arrive", Feature("barrier.arrive")).on(Instruction("barrier.arrive")),
    row("barrier", "", "red", Feature("barrier.red")).on(Instruction("barrier.red")),
    row("fence", "acquire release", "", ModifierOn(".{word}", "fence")),
    row("fence membar", "async", "", Modifier(".async")),
    row("fence", "sync_restrict::shared::cta sync_restrict::shared::cluster", "", Feature(".sync_restrict")),
    row("fence", "", "to_proxy::from_proxy", ONE_WAY).on(Instruction("fence.proxy with unidirection proxy fence")).unsupported(),
    row("fence", "", "async::generic acq_rel", ONE_WAY).on(Instruction("fence.proxy with unidirection proxy fence")).unsupported(),
    row("fence", "", "op_restrict", Feature(".op_restrict")),
    row("fence", "", "sync_restrict::shared::cluster/sync_restrict::shared::cta", Feature(".sync_restrict")),
    row("fence", "", "async", Modifier(".async")),
    row("fence", "", "proxy", Feature("fence.proxy")),
    row("fence", "", "", Feature("fence instruction")),
    row("", "cluster", "", Feature(".cluster scope")),
    // Warps.
    row("shfl", "", "", Feature("{name}")).on(Instruction("shfl")),
    row("redux", "", "f32", Feature("redux.f32")).on(Instruction("redux.f32")),
    row("fns szext bmsk dp4a lop3 bar barrier griddepcontrol vote match brx nanosleep", "", "", Feature("{name}"))
        .on(Instruction("{name}")),
    row("setmaxnreg", "", "", Feature("setmaxnreg.{action}")).on(Instruction("setmaxnreg.{action}")),
    row("pmevent", "", "", Feature("pmevent.mask")),
    row("vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2 vset2 vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4 vset4", "", "", Feature("3.0"))
        .on(Instruction("{name}")),
    // Matrices of a warp.
    row("wmma", "and", "", ModifierOn(".and", "wmma.mma")),
    row("wmma", "", "bf16/tf32 load", Feature("WMMA with .bf16/.tf32 FP types")),
    row("wmma", "", "bf16/tf32", Feature(".{2}")),
    row("wmma", "", "m16n16k8", Feature(".m16n16k8")).on(Modifier(".m16n16k8")),
    row("wmma", "", "f64", Feature("WMMA with fp64 types")),
    row("wmma", "", "b1", Feature("WMMA with bit types")),
    row("wmma", "", "u4/s4", Feature("WMMA with sub-byte integer types")),
    row("wmma", "", "m8n8k32/m8n8k128", Feature("WMMA with integer types")).on(Modifier(".{shape}")),
    row("wmma", "", "s32/u8/s8", Feature("WMMA with integer types")),
    row("wmma", "", "", Feature(".aligned modifier for wmma")).on(Feature("WMMA with floating point types")),
    row("mma", "and", "", ModifierOn(".and", "mma")),
    row("mma", "e3m2 e2m3 e2m1", "", Feature("mma with with FP6/FP4 floating point type"))
        .on(Instruction("mma with with FP6/FP4 floating point type")),
    row("mma", "", "kind::f8f6f4", Feature(".kind::f8f6f4")),
    row("mma", "", "spvariant e4m3/e5m2", FP8),
    row("mma", "", "spvariant", Feature("Sparse MMA")),
    row("mma", "", "e4m3/e5m2 m16n8k16", Feature("mma with FP8 floating point type and .m16n8k16 shape")).on(FP8),
    row("mma", "", "e4m3/e5m2 f16", Feature("mma with FP8 floating point type and FP16 accumulation")).on(FP8),
    row("mma", "", "e4m3/e5m2", FP8),
    row("mma", "", "m8n8k4 f16", Feature("mma")),
    row("mma", "", "f64", Feature(".{shape|m8n8k4} with double types")),
    row("mma", "", "", Feature(".{shape|m16n8k4|m16n8k8|m16n8k16|m16n8k32|m16n8k64|m16n8k128|m16n8k256|m8n8k16|m8n8k32|m8n8k128}")),
    row("ldmatrix", "", "m16n16", Modifier(".m16n16")).on(Feature(".m16n16")),
    row("ldmatrix", "", "m8n16", ModifierOn(".m8n16", "ldmatrix")).on(Feature("ldmatrix with format conversion")),
    row("stmatrix", "", "m16n8", Modifier(".m16n8")).on(Feature(".m16n8")),
    // Matrices of a warpgroup.
    row("wgmma", "u8", "sp", Feature("Sparse WGMMA with mixed integer types")).on(Instruction("Sparse wgmma.mma_async with mixed integer types")),
    row("wgmma", "u8", "", Feature("WGMMA with mixed integer types")).on(Instruction("wgmma.mma_async with mixed integer types")),
    row("wgmma", "", "sp u8", Feature("Sparse WGMMA with integer types")).on(Instruction("Sparse wgmma.mma_async with mixed integer types")),
    row("wgmma", "", "u8", Feature("WGMMA with integer types")).on(Instruction("wgmma.mma_async with mixed integer types")),
    row("wgmma", "", "sp s32", Feature("Sparse WGMMA with integer types")).on(Instruction("Sparse wgmma.mma_async with integer types")),
    row("wgmma", "", "sp e4m3/e5m2", Feature("Sparse WGMMA with FP8 types")).on(Instruction("Sparse wgmma.mma_async with FP8 types")),
    row("wgmma", "", "sp", Feature("Sparse WGMMA with floating point types")).on(Instruction("Sparse wgmma.mma_async with floating point types")),
    row("wgmma", "", "b1", Feature("WGMMA with boolean type")).on(Instruction("wgmma.mma_async with boolean type")),
    row("wgmma", "", "s32", Feature("WGMMA with integer types")).on(Instruction("wgmma.mma_async with integer types")),
    row("wgmma", "", "e4m3/e5m2", Feature("WGMMA with FP8 types")).on(Instruction("wgmma.mma_async with FP8 types")),
    row("wgmma", "", "mma_async", Feature("WGMMA with floating point types")).on(Instruction("wgmma.mma_async with floating point types")),
    row("wgmma", "", "", Feature("WGMMA")).on(Instruction("wgmma.{fence|commit_group|wait_group}")),
    row("tcgen05", "", "when", Feature("tcgen05.fence")).on(Instruction("tcgen05.fence")),
    row("tcgen05", "", "op", Feature("tcgen05.wait")).on(Instruction("tcgen05.wait")),
    row("tcgen05", "", "", Feature("tcgen05.{alloc|dealloc|relinquish_alloc_permit}"))
        .on(Instruction("tcgen05.{alloc|dealloc|relinquish_alloc_permit}")),
    // Textures and surfaces.
    row("tex", "", "2dms/a2dms", Feature("multi-sample textures")),
    row("tex", "cube acube", "grad", Feature("tex.grad with cube geometry")),
    row("tld4", "a2d cube acube", "", Feature("tld4 instruction with .{word}")),
    row("txq suq", "array_size num_mipmap_levels num_samples memory_layout", "", Feature("{word} attribute")),
    row("txq", "", "level", Feature("txq.level")).on(Instruction("txq.level")),
    row("tex tld4 txq", "", "", INDIRECT_TEXTURE),
    row("sust", "a1d a2d", "", Feature("sust.p with array geometry")),
    row("suld sust sured suq", "", "", INDIRECT_SURFACE),
    // All others by their own name.
    row("", "*", "", Feature(".{word}")),
    row("", "", "", Feature("{name}")),
];

/// The row for what a form asks (`word` empty) or one of its modifiers.
pub fn phrase(found: &Match, word: &str) -> &'static Phrase {
    PHRASES
        .iter()
        .find(|phrase| phrase.names(found, word))
        .expect("the table ends with a row for any form and one for any modifier")
}
