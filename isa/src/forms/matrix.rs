//! Matrices of a warp: `wmma`, `mma`, and the moves of their fragments.

use crate::effect::Convergence;
use crate::form::{Access, Extent, Form, Rule, form, reads, writes};

const FLOAT_SHAPES: &str = "m16n16k16 m8n32k16 m32n8k16";
const LAYOUT: &str = "row col";
const SPACE: &str = "global shared shared::cta@7.8+sm_70";

const LOAD: &[Access] = &[reads("a").of(Extent::Shape)];
const STORE: &[Access] = &[writes("a").of(Extent::Shape)];

macro_rules! load {
    ($syntax:literal) => {
        form($syntax)
            .with(".layout", LAYOUT)
            .with(".ss", SPACE)
            .convergence(Convergence::Warp)
            .accesses(LOAD)
    };
}

macro_rules! store {
    ($syntax:literal) => {
        form($syntax)
            .with(".layout", LAYOUT)
            .with(".ss", SPACE)
            .convergence(Convergence::Warp)
            .accesses(STORE)
    };
}

macro_rules! product {
    ($syntax:literal) => {
        form($syntax).convergence(Convergence::Warp).exchanges()
    };
}

pub(super) const FORMS: &[Form] = &[
    load!("wmma.load.ab:.sync.aligned.layout.shape{.ss}.f16 d:b32*8, [a]{, stride:u32}").since("6.3 sm_70").with(".ab", "a b").with(".shape", FLOAT_SHAPES),
    load!("wmma.load.c:.sync.aligned.layout.shape{.ss}.f16 d:b32*4, [a]{, stride:u32}").since("6.3 sm_70").with(".shape", FLOAT_SHAPES),
    load!("wmma.load.c:.sync.aligned.layout.shape{.ss}.f32 d:f32*8, [a]{, stride:u32}").since("6.3 sm_70").with(".shape", FLOAT_SHAPES),
    load!("wmma.load.ab:.sync.aligned.layout.shape{.ss}.bf16 d:b32*4, [a]{, stride:u32}").since("7.0 sm_80").with(".ab", "a b").with(".shape", "m16n16k16"),
    load!("wmma.load.a:.sync.aligned.layout.shape{.ss}.bf16 d:b32*2, [a]{, stride:u32}").since("7.0 sm_80").with(".shape", "m8n32k16"),
    load!("wmma.load.b:.sync.aligned.layout.shape{.ss}.bf16 d:b32*8, [a]{, stride:u32}").since("7.0 sm_80").with(".shape", "m8n32k16"),
    load!("wmma.load.a:.sync.aligned.layout.shape{.ss}.bf16 d:b32*8, [a]{, stride:u32}").since("7.0 sm_80").with(".shape", "m32n8k16"),
    load!("wmma.load.b:.sync.aligned.layout.shape{.ss}.bf16 d:b32*2, [a]{, stride:u32}").since("7.0 sm_80").with(".shape", "m32n8k16"),
    load!("wmma.load.ab:.sync.aligned.layout.m16n16k8{.ss}.tf32 d:b32*4, [a]{, stride:u32}").since("7.0 sm_80").with(".ab", "a b"),
    load!("wmma.load.c:.sync.aligned.layout.m16n16k8{.ss}.f32 d:f32*8, [a]{, stride:u32}").since("7.0 sm_80"),
    load!("wmma.load.ab:.sync.aligned.layout.m16n16k16{.ss}.type d:b32*2, [a]{, stride:u32}").since("6.3 sm_72").with(".ab", "a b").with(".type", "u8 s8"),
    load!("wmma.load.a:.sync.aligned.layout.m8n32k16{.ss}.type d:b32*1, [a]{, stride:u32}").since("6.3 sm_72").with(".type", "u8 s8"),
    load!("wmma.load.b:.sync.aligned.layout.m8n32k16{.ss}.type d:b32*4, [a]{, stride:u32}").since("6.3 sm_72").with(".type", "u8 s8"),
    load!("wmma.load.a:.sync.aligned.layout.m32n8k16{.ss}.type d:b32*4, [a]{, stride:u32}").since("6.3 sm_72").with(".type", "u8 s8"),
    load!("wmma.load.b:.sync.aligned.layout.m32n8k16{.ss}.type d:b32*1, [a]{, stride:u32}").since("6.3 sm_72").with(".type", "u8 s8"),
    load!("wmma.load.c:.sync.aligned.layout.shape{.ss}.s32 d:s32*8, [a]{, stride:u32}").since("6.3 sm_72").with(".shape", FLOAT_SHAPES),
    load!("wmma.load.ab:.sync.aligned.layout.m8n8k4{.ss}.f64 d:f64*1, [a]{, stride:u32}").since("7.0 sm_80").with(".ab", "a b"),
    load!("wmma.load.c:.sync.aligned.layout.m8n8k4{.ss}.f64 d:f64*2, [a]{, stride:u32}").since("7.0 sm_80"),
    load!("wmma.load.a:.sync.aligned.layout.m8n8k32{.ss}.type d:b32*1, [a]{, stride:u32}").since("6.3 sm_75").with(".layout", "row").with(".type", "u4 s4"),
    load!("wmma.load.b:.sync.aligned.layout.m8n8k32{.ss}.type d:b32*1, [a]{, stride:u32}").since("6.3 sm_75").with(".layout", "col").with(".type", "u4 s4"),
    // Beyond the manual: sums of `.f32`, which ptxas moves as it moves those of `.s32`.
    load!("wmma.load.c:.sync.aligned.layout.shape{.ss}.type d:.type*2, [a]{, stride:u32}").since("6.3 sm_75").with(".shape", "m8n8k32 m8n8k128").with(".type", "s32 f32"),
    load!("wmma.load.a:.sync.aligned.layout.m8n8k128{.ss}.b1 d:b32*1, [a]{, stride:u32}").since("6.3 sm_75").with(".layout", "row"),
    load!("wmma.load.b:.sync.aligned.layout.m8n8k128{.ss}.b1 d:b32*1, [a]{, stride:u32}").since("6.3 sm_75").with(".layout", "col"),
    store!("wmma.store.d:.sync.aligned.layout.shape{.ss}.f16 [a], b:b32*4{, stride:u32}").since("6.3 sm_70").with(".shape", FLOAT_SHAPES),
    store!("wmma.store.d:.sync.aligned.layout.shape{.ss}.f32 [a], b:f32*8{, stride:u32}").since("6.3 sm_70").with(".shape", FLOAT_SHAPES),
    store!("wmma.store.d:.sync.aligned.layout.m16n16k8{.ss}.f32 [a], b:f32*8{, stride:u32}").since("7.0 sm_80"),
    store!("wmma.store.d:.sync.aligned.layout.shape{.ss}.s32 [a], b:s32*8{, stride:u32}").since("6.3 sm_72").with(".shape", FLOAT_SHAPES),
    store!("wmma.store.d:.sync.aligned.layout.shape{.ss}.type [a], b:.type*2{, stride:u32}").since("6.3 sm_75").with(".shape", "m8n8k32 m8n8k128").with(".type", "s32 f32"),
    store!("wmma.store.d:.sync.aligned.layout.m8n8k4{.ss}.f64 [a], b:f64*2{, stride:u32}").since("7.0 sm_80"),
    product!("wmma.mma:.sync.aligned.alayout.blayout.shape.f16.f16x d:b32*4, a:b32*8, b:b32*8, c:b32*4").since("6.3 sm_70")
        .with(".alayout", LAYOUT).with(".blayout", LAYOUT).with(".shape", FLOAT_SHAPES).with(".f16x", "f16"),
    product!("wmma.mma:.sync.aligned.alayout.blayout.shape.f16.f32 d:b32*4, a:b32*8, b:b32*8, c:f32*8").since("6.3 sm_70")
        .with(".alayout", LAYOUT).with(".blayout", LAYOUT).with(".shape", FLOAT_SHAPES),
    product!("wmma.mma:.sync.aligned.alayout.blayout.shape.f32.f16 d:f32*8, a:b32*8, b:b32*8, c:b32*4").since("6.3 sm_70")
        .with(".alayout", LAYOUT).with(".blayout", LAYOUT).with(".shape", FLOAT_SHAPES),
    product!("wmma.mma:.sync.aligned.alayout.blayout.shape.f32.f32x d:f32*8, a:b32*8, b:b32*8, c:f32*8").since("6.3 sm_70")
        .with(".alayout", LAYOUT).with(".blayout", LAYOUT).with(".shape", FLOAT_SHAPES).with(".f32x", "f32"),
    product!("wmma.mma:.sync.aligned.alayout.blayout.shape.dtype.ctype.satfinite d:b32*n, a:b32*8, b:b32*8, c:b32*n")
        .with(".alayout", LAYOUT).with(".blayout", LAYOUT).with(".shape", FLOAT_SHAPES).with(".dtype", "f16 f32").with(".ctype", "f16 f32")
        .since("6.3 sm_70")
        .until("6.4", "Instruction ''wmma.mma' with floating point type' with '.satfinite' is not supported starting from PTX ISA version 6.5"),
    product!("wmma.mma:.sync.aligned.alayout.blayout.m16n16k16.f32.bf16.bf16x.f32x d:f32*8, a:b32*4, b:b32*4, c:f32*8").since("7.0 sm_80")
        .with(".alayout", LAYOUT).with(".blayout", LAYOUT).with(".bf16x", "bf16").with(".f32x", "f32"),
    product!("wmma.mma:.sync.aligned.alayout.blayout.m8n32k16.f32.bf16.bf16x.f32x d:f32*8, a:b32*2, b:b32*8, c:f32*8").since("7.0 sm_80")
        .with(".alayout", LAYOUT).with(".blayout", LAYOUT).with(".bf16x", "bf16").with(".f32x", "f32"),
    product!("wmma.mma:.sync.aligned.alayout.blayout.m32n8k16.f32.bf16.bf16x.f32x d:f32*8, a:b32*8, b:b32*2, c:f32*8").since("7.0 sm_80")
        .with(".alayout", LAYOUT).with(".blayout", LAYOUT).with(".bf16x", "bf16").with(".f32x", "f32"),
    product!("wmma.mma:.sync.aligned.alayout.blayout.m16n16k8.f32.tf32.tf32x.f32x d:f32*8, a:b32*4, b:b32*4, c:f32*8").since("7.0 sm_80")
        .with(".alayout", LAYOUT).with(".blayout", LAYOUT).with(".tf32x", "tf32").with(".f32x", "f32"),
    product!("wmma.mma:.sync.aligned.alayout.blayout.m8n8k4{.rnd}.f64.f64x.f64y.f64z d:f64*2, a:f64*1, b:f64*1, c:f64*2").since("7.0 sm_80")
        .with(".alayout", LAYOUT).with(".blayout", LAYOUT).with(".rnd", "rn rz rm rp")
        .with(".f64x", "f64").with(".f64y", "f64").with(".f64z", "f64"),
    product!("wmma.mma:.sync.aligned.alayout.blayout.m16n16k16.s32.type.typex.s32x{.satfinite} d:s32*8, a:b32*2, b:b32*2, c:s32*8").since("6.3 sm_72")
        .with(".alayout", LAYOUT).with(".blayout", LAYOUT).with(".type", "s8 u8").with(".typex", "s8 u8").with(".s32x", "s32")
        .rules(&[Rule::Excludes("type=s8", "typex=u8"), Rule::Excludes("type=u8", "typex=s8")]),
    product!("wmma.mma:.sync.aligned.alayout.blayout.m8n32k16.s32.type.typex.s32x{.satfinite} d:s32*8, a:b32*1, b:b32*4, c:s32*8").since("6.3 sm_72")
        .with(".alayout", LAYOUT).with(".blayout", LAYOUT).with(".type", "s8 u8").with(".typex", "s8 u8").with(".s32x", "s32")
        .rules(&[Rule::Excludes("type=s8", "typex=u8"), Rule::Excludes("type=u8", "typex=s8")]),
    product!("wmma.mma:.sync.aligned.alayout.blayout.m32n8k16.s32.type.typex.s32x{.satfinite} d:s32*8, a:b32*4, b:b32*1, c:s32*8").since("6.3 sm_72")
        .with(".alayout", LAYOUT).with(".blayout", LAYOUT).with(".type", "s8 u8").with(".typex", "s8 u8").with(".s32x", "s32")
        .rules(&[Rule::Excludes("type=s8", "typex=u8"), Rule::Excludes("type=u8", "typex=s8")]),
    product!("wmma.mma:.sync.aligned.row.col.m8n8k32.s32.type.typex.s32x{.satfinite} d:s32*2, a:b32*1, b:b32*1, c:s32*2").since("6.3 sm_75")
        .with(".type", "s4 u4").with(".typex", "s4 u4").with(".s32x", "s32")
        .rules(&[Rule::Excludes("type=s4", "typex=u4"), Rule::Excludes("type=u4", "typex=s4")]),
    product!("wmma.mma:.op.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1x.s32x d:s32*2, a:b32*1, b:b32*1, c:s32*2").since("6.3 sm_75")
        .with(".op", "xor and@7.1+sm_80").with(".b1x", "b1").with(".s32x", "s32"),
    // mma: the layouts but those of the oldest shape are fixed.
    product!("mma.sync.aligned.m8n8k4.alayout.blayout.f32.f16.f16x.f16y d:f32*8, a:b32*2, b:b32*2, c:b32*4").since("6.4 sm_70")
        .with(".alayout", LAYOUT).with(".blayout", LAYOUT).with(".f16x", "f16").with(".f16y", "f16"),
    product!("mma.sync.aligned.m8n8k4.alayout.blayout.f32.f16.f16x.f32x d:f32*8, a:b32*2, b:b32*2, c:f32*8").since("6.4 sm_70")
        .with(".alayout", LAYOUT).with(".blayout", LAYOUT).with(".f16x", "f16").with(".f32x", "f32"),
    product!("mma.sync.aligned.m8n8k4.alayout.blayout.f16.f16x.f16y.f16z d:b32*4, a:b32*2, b:b32*2, c:b32*4").since("6.4 sm_70")
        .with(".alayout", LAYOUT).with(".blayout", LAYOUT).with(".f16x", "f16").with(".f16y", "f16").with(".f16z", "f16"),
    product!("mma.sync.aligned.m16n8k8.row.col.f16.f16x.f16y.f16z d:b32*2, a:b32*2, b:b32*1, c:b32*2").since("6.5 sm_75")
        .with(".f16x", "f16").with(".f16y", "f16").with(".f16z", "f16"),
    product!("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16x.f32x d:f32*4, a:b32*2, b:b32*1, c:f32*4").since("6.5 sm_75").with(".f16x", "f16").with(".f32x", "f32"),
    product!("mma.sync.aligned.m16n8k16.row.col.f16.f16x.f16y.f16z d:b32*2, a:b32*4, b:b32*2, c:b32*2").since("7.0 sm_80")
        .with(".f16x", "f16").with(".f16y", "f16").with(".f16z", "f16"),
    product!("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16x.f32x d:f32*4, a:b32*4, b:b32*2, c:f32*4").since("7.0 sm_80").with(".f16x", "f16").with(".f32x", "f32"),
    product!("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16x.f32x d:f32*4, a:b32*2, b:b32*1, c:f32*4").since("7.0 sm_80").with(".bf16x", "bf16").with(".f32x", "f32"),
    product!("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16x.f32x d:f32*4, a:b32*4, b:b32*2, c:f32*4").since("7.0 sm_80").with(".bf16x", "bf16").with(".f32x", "f32"),
    product!("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32x.f32x d:f32*4, a:b32*2, b:b32*1, c:f32*4").since("7.0 sm_80").with(".tf32x", "tf32").with(".f32x", "f32"),
    product!("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32x.f32x d:f32*4, a:b32*4, b:b32*2, c:f32*4").since("7.0 sm_80").with(".tf32x", "tf32").with(".f32x", "f32"),
    product!("mma.sync.aligned.m16n8k16.row.col.dtype.atype.btype.ctype d:f32*4, a:b32*2, b:b32*1, c:f32*4").since("8.7 sm_89")
        .with(".dtype", "f32").with(".atype", "e4m3 e5m2").with(".btype", "e4m3 e5m2").with(".ctype", "f32"),
    product!("mma.sync.aligned.m16n8k16.row.col.dtype.atype.btype.ctype d:b32*2, a:b32*2, b:b32*1, c:b32*2").since("8.7 sm_89")
        .with(".dtype", "f16").with(".atype", "e4m3 e5m2").with(".btype", "e4m3 e5m2").with(".ctype", "f16"),
    product!("mma.sync.aligned.m16n8k32.row.col.dtype.atype.btype.ctype d:f32*4, a:b32*4, b:b32*2, c:f32*4").since("8.4 sm_89")
        .with(".dtype", "f32").with(".atype", "e4m3 e5m2").with(".btype", "e4m3 e5m2").with(".ctype", "f32"),
    product!("mma.sync.aligned.m16n8k32.row.col.dtype.atype.btype.ctype d:b32*2, a:b32*4, b:b32*2, c:b32*2").since("8.7 sm_89")
        .with(".dtype", "f16").with(".atype", "e4m3 e5m2").with(".btype", "e4m3 e5m2").with(".ctype", "f16"),
    product!("mma.sync.aligned.m16n8k32.row.col.kind.dtype.atype.btype.ctype d:f32*4, a:b32*4, b:b32*2, c:f32*4").since("8.6 sm_100f,sm_110f,sm_120f")
        .with(".kind", "kind::f8f6f4").with(".dtype", "f32").with(".atype", "e4m3 e5m2 e3m2@8.7+sm_120f e2m3@8.7+sm_120f e2m1@8.7+sm_120f")
        .with(".btype", "e4m3 e5m2 e3m2@8.7+sm_120f e2m3@8.7+sm_120f e2m1@8.7+sm_120f").with(".ctype", "f32"),
    product!("mma.sync.aligned.shape.row.col{.rnd}.f64.f64x.f64y.f64z d:f64*2, a:f64*1, b:f64*1, c:f64*2").since("7.0 sm_80")
        .with(".shape", "m8n8k4").with(".rnd", "rn rz rm rp").with(".f64x", "f64").with(".f64y", "f64").with(".f64z", "f64"),
    product!("mma.sync.aligned.shape.row.col{.rnd}.f64.f64x.f64y.f64z d:f64*4, a:f64*2, b:f64*1, c:f64*4").since("7.8 sm_90")
        .with(".shape", "m16n8k4").with(".rnd", "rn rz rm rp").with(".f64x", "f64").with(".f64y", "f64").with(".f64z", "f64"),
    product!("mma.sync.aligned.shape.row.col{.rnd}.f64.f64x.f64y.f64z d:f64*4, a:f64*4, b:f64*2, c:f64*4").since("7.8 sm_90")
        .with(".shape", "m16n8k8").with(".rnd", "rn rz rm rp").with(".f64x", "f64").with(".f64y", "f64").with(".f64z", "f64"),
    product!("mma.sync.aligned.shape.row.col{.rnd}.f64.f64x.f64y.f64z d:f64*4, a:f64*8, b:f64*4, c:f64*4").since("7.8 sm_90")
        .with(".shape", "m16n8k16").with(".rnd", "rn rz rm rp").with(".f64x", "f64").with(".f64y", "f64").with(".f64z", "f64"),
    product!("mma.sync.aligned.m8n8k16.row.col{.satfinite}.s32.atype.btype.s32x d:s32*2, a:b32*1, b:b32*1, c:s32*2").since("6.5 sm_75")
        .with(".atype", "u8 s8").with(".btype", "u8 s8").with(".s32x", "s32"),
    product!("mma.sync.aligned.m16n8k16.row.col{.satfinite}.s32.atype.btype.s32x d:s32*4, a:b32*2, b:b32*1, c:s32*4").since("7.0 sm_80")
        .with(".atype", "u8 s8").with(".btype", "u8 s8").with(".s32x", "s32"),
    product!("mma.sync.aligned.m16n8k32.row.col{.satfinite}.s32.atype.btype.s32x d:s32*4, a:b32*4, b:b32*2, c:s32*4").since("7.0 sm_80")
        .with(".atype", "u8 s8").with(".btype", "u8 s8").with(".s32x", "s32"),
    product!("mma.sync.aligned.m8n8k32.row.col{.satfinite}.s32.atype.btype.s32x d:s32*2, a:b32*1, b:b32*1, c:s32*2").since("6.5 sm_75")
        .with(".atype", "u4 s4").with(".btype", "u4 s4").with(".s32x", "s32"),
    product!("mma.sync.aligned.m16n8k32.row.col{.satfinite}.s32.atype.btype.s32x d:s32*4, a:b32*2, b:b32*1, c:s32*4").since("7.0 sm_80")
        .with(".atype", "u4 s4").with(".btype", "u4 s4").with(".s32x", "s32"),
    product!("mma.sync.aligned.m16n8k64.row.col{.satfinite}.s32.atype.btype.s32x d:s32*4, a:b32*4, b:b32*2, c:s32*4").since("7.0 sm_80")
        .with(".atype", "u4 s4").with(".btype", "u4 s4").with(".s32x", "s32"),
    product!("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1x.s32x.bitOp.popc d:s32*2, a:b32*1, b:b32*1, c:s32*2").since("7.0 sm_75")
        .with(".b1x", "b1").with(".s32x", "s32").with(".bitOp", "xor and@7.1+sm_80"),
    product!("mma.sync.aligned.m16n8k128.row.col.s32.b1.b1x.s32x.bitOp.popc d:s32*4, a:b32*2, b:b32*1, c:s32*4").since("7.0 sm_80")
        .with(".b1x", "b1").with(".s32x", "s32").with(".bitOp", "xor and@7.1+sm_80"),
    product!("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1x.s32x.bitOp.popc d:s32*4, a:b32*4, b:b32*2, c:s32*4").since("7.0 sm_80")
        .with(".b1x", "b1").with(".s32x", "s32").with(".bitOp", "xor and@7.1+sm_80"),
    // Sparse: `a` has half its elements, and the metadata say which.
    product!("mma.spvariant.sync.aligned.m16n8k16.row.col.f16.f16x.f16y.f16z d:b32*2, a:b32*2, b:b32*2, c:b32*2, e:b32@-, f:imm@0..3").since("7.1 sm_80")
        .with(".spvariant", "sp sp::ordered_metadata@8.5+sm_80").with(".f16x", "f16").with(".f16y", "f16").with(".f16z", "f16"),
    product!("mma.spvariant.sync.aligned.m16n8k32.row.col.f16.f16x.f16y.f16z d:b32*2, a:b32*4, b:b32*4, c:b32*2, e:b32@-, f:imm@0..1").since("7.1 sm_80")
        .with(".spvariant", "sp sp::ordered_metadata@8.5+sm_80").with(".f16x", "f16").with(".f16y", "f16").with(".f16z", "f16"),
    product!("mma.spvariant.sync.aligned.m16n8k16.row.col.f32.atype.btype.f32x d:f32*4, a:b32*2, b:b32*2, c:f32*4, e:b32@-, f:imm@0..3").since("7.1 sm_80")
        .with(".spvariant", "sp sp::ordered_metadata@8.5+sm_80").with(".atype", "f16 bf16").with(".btype", "f16 bf16").with(".f32x", "f32")
        .rules(&[Rule::Excludes("atype=f16", "btype=bf16"), Rule::Excludes("atype=bf16", "btype=f16")]),
    product!("mma.spvariant.sync.aligned.m16n8k32.row.col.f32.atype.btype.f32x d:f32*4, a:b32*4, b:b32*4, c:f32*4, e:b32@-, f:imm@0..3").since("7.1 sm_80")
        .with(".spvariant", "sp sp::ordered_metadata@8.5+sm_80").with(".atype", "f16 bf16").with(".btype", "f16 bf16").with(".f32x", "f32")
        .rules(&[Rule::Excludes("atype=f16", "btype=bf16"), Rule::Excludes("atype=bf16", "btype=f16")]),
    product!("mma.spvariant.sync.aligned.m16n8k8.row.col.f32.tf32.tf32x.f32x d:f32*4, a:b32*2, b:b32*2, c:f32*4, e:b32@-, f:imm@0..3").since("7.1 sm_80")
        .with(".spvariant", "sp sp::ordered_metadata@8.5+sm_80").with(".tf32x", "tf32").with(".f32x", "f32"),
    product!("mma.spvariant.sync.aligned.m16n8k16.row.col.f32.tf32.tf32x.f32x d:f32*4, a:b32*4, b:b32*4, c:f32*4, e:b32@-, f:imm@0..1").since("7.1 sm_80")
        .with(".spvariant", "sp sp::ordered_metadata@8.5+sm_80").with(".tf32x", "tf32").with(".f32x", "f32"),
    product!("mma.spvariant.sync.aligned.m16n8k32.row.col{.satfinite}.s32.atype.btype.s32x d:s32*4, a:b32*2, b:b32*2, c:s32*4, e:b32@-, f:imm@0..1").since("7.1 sm_80")
        .with(".spvariant", "sp sp::ordered_metadata@8.5+sm_80").with(".atype", "u8 s8").with(".btype", "u8 s8").with(".s32x", "s32"),
    product!("mma.spvariant.sync.aligned.m16n8k64.row.col{.satfinite}.s32.atype.btype.s32x d:s32*4, a:b32*4, b:b32*4, c:s32*4, e:b32@-, f:imm@0").since("7.1 sm_80")
        .with(".spvariant", "sp sp::ordered_metadata@8.5+sm_80").with(".atype", "u8 s8").with(".btype", "u8 s8").with(".s32x", "s32"),
    product!("mma.spvariant.sync.aligned.m16n8k64.row.col{.satfinite}.s32.atype.btype.s32x d:s32*4, a:b32*2, b:b32*2, c:s32*4, e:b32@-, f:imm@0..1").since("7.1 sm_80")
        .with(".spvariant", "sp sp::ordered_metadata@8.5+sm_80").with(".atype", "u4 s4").with(".btype", "u4 s4").with(".s32x", "s32"),
    product!("mma.spvariant.sync.aligned.m16n8k128.row.col{.satfinite}.s32.atype.btype.s32x d:s32*4, a:b32*4, b:b32*4, c:s32*4, e:b32@-, f:imm@0").since("7.1 sm_80")
        .with(".spvariant", "sp sp::ordered_metadata@8.5+sm_80").with(".atype", "u4 s4").with(".btype", "u4 s4").with(".s32x", "s32"),
    product!("mma.spvariant.sync.aligned.m16n8k64.row.col.f32.atype.btype.f32x d:f32*4, a:b32*4, b:b32*4, c:f32*4, e:b32@-, f:imm@0").since("8.4 sm_89")
        .with(".spvariant", "sp sp::ordered_metadata@8.5+sm_89").with(".atype", "e4m3 e5m2").with(".btype", "e4m3 e5m2").with(".f32x", "f32"),
    form("ldmatrix.sync.aligned.m8n8.x1{.trans}{.ss}.b16 d:b32*1, [a]").since("6.5 sm_75").with(".ss", "shared shared::cta@7.8+sm_75")
        .convergence(Convergence::Warp).accesses(&[reads("a").of(Extent::Bytes(16))]),
    form("ldmatrix.sync.aligned.m8n8.x2{.trans}{.ss}.b16 d:b32*2, [a]").since("6.5 sm_75").with(".ss", "shared shared::cta@7.8+sm_75")
        .convergence(Convergence::Warp).accesses(&[reads("a").of(Extent::Bytes(16))]),
    form("ldmatrix.sync.aligned.m8n8.x4{.trans}{.ss}.b16 d:b32*4, [a]").since("6.5 sm_75").with(".ss", "shared shared::cta@7.8+sm_75")
        .convergence(Convergence::Warp).accesses(&[reads("a").of(Extent::Bytes(16))]),
    form("ldmatrix.sync.aligned.m8n16.num{.ss}.dst_fmt.src_fmt d:b32*n, [a]").since("8.6 sm_100f,sm_110f,sm_120f")
        .with(".num", "x1 x2 x4").with(".ss", "shared shared::cta").with(".dst_fmt", "b8x16").with(".src_fmt", "b6x16_p32 b4x16_p64")
        .convergence(Convergence::Warp).accesses(&[reads("a").of(Extent::Bytes(16))]),
    form("ldmatrix.sync.aligned.m16n16.num.trans{.ss}.type d:b32*n, [a]").since("8.6 sm_100f,sm_110f,sm_120f")
        .with(".num", "x1 x2").with(".ss", "shared shared::cta").with(".type", "b8")
        .convergence(Convergence::Warp).accesses(&[reads("a").of(Extent::Bytes(16))]),
    form("ldmatrix.sync.aligned.m16n16.num.trans{.ss}.dst_fmt.src_fmt d:b32*n, [a]").since("8.6 sm_100f,sm_110f,sm_120f")
        .with(".num", "x1 x2").with(".ss", "shared shared::cta").with(".dst_fmt", "b8x16").with(".src_fmt", "b6x16_p32 b4x16_p64")
        .convergence(Convergence::Warp).accesses(&[reads("a").of(Extent::Bytes(16))]),
    form("stmatrix.sync.aligned.m8n8.x1{.trans}{.ss}.b16 [a], b:b32*1").since("7.8 sm_90").with(".ss", "shared shared::cta")
        .convergence(Convergence::Warp).accesses(&[writes("a").of(Extent::Bytes(16))]),
    form("stmatrix.sync.aligned.m8n8.x2{.trans}{.ss}.b16 [a], b:b32*2").since("7.8 sm_90").with(".ss", "shared shared::cta")
        .convergence(Convergence::Warp).accesses(&[writes("a").of(Extent::Bytes(16))]),
    form("stmatrix.sync.aligned.m8n8.x4{.trans}{.ss}.b16 [a], b:b32*4").since("7.8 sm_90").with(".ss", "shared shared::cta")
        .convergence(Convergence::Warp).accesses(&[writes("a").of(Extent::Bytes(16))]),
    form("stmatrix.sync.aligned.m16n8.num.trans{.ss}.b8 [a], b:b32*n").since("8.6 sm_100f,sm_110f,sm_120f")
        .with(".num", "x1 x2 x4").with(".ss", "shared shared::cta")
        .convergence(Convergence::Warp).accesses(&[writes("a").of(Extent::Bytes(16))]),
    product!("movmatrix.sync.aligned.m8n8.trans.b16 d:b32, a:b32@-").since("7.8 sm_75"),
];
