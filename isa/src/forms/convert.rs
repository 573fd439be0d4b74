//! Conversion between types.

use crate::form::{Form, Rule, form};

const INT: &str = "u8 u16 u32 u64 s8 s16 s32 s64";
const TO_INT: &str = "rni rzi rmi rpi";
const RND: &str = "rn rz rm rp";

pub(super) const FORMS: &[Form] = &[
    form("cvt.dtype.atype d:.dtype+, a:.atype+")
        .with(".dtype", INT)
        .with(".atype", INT),
    // Saturation is for values that the result's type may lack.
    form("cvt.sat.dtype.atype d:.dtype+, a:.atype+")
        .with(".dtype", "u8 u16 u32 u64")
        .with(".atype", "s8 s16 s32 s64"),
    form("cvt.sat.dtype.atype d:.dtype+, a:.atype+")
        .with(".dtype", "u8 s8")
        .with(".atype", "u16 u32 u64 s16 s32 s64"),
    form("cvt.sat.dtype.atype d:.dtype+, a:.atype+")
        .with(".dtype", "u16 s16")
        .with(".atype", "u32 u64 s32 s64"),
    form("cvt.sat.dtype.atype d:.dtype+, a:.atype+")
        .with(".dtype", "u32 s32")
        .with(".atype", "u64 s64"),
    form("cvt.sat.s8.u8 d:.s8+, a:.u8+"),
    form("cvt.sat.s16.u16 d:.s16+, a:.u16+"),
    form("cvt.sat.s32.u32 d:.s32+, a:.u32+"),
    form("cvt.sat.s64.u64 d:.s64+, a:.u64+"),
    form("cvt.irnd{.ftz}{.sat}.dtype.f32 d:.dtype+, a")
        .with(".irnd", TO_INT)
        .with(".dtype", INT),
    form("cvt.irnd{.sat}.dtype.atype d:.dtype+, a:.atype")
        .with(".irnd", TO_INT)
        .with(".dtype", INT)
        .with(".atype", "f16 f64"),
    form("cvt.irnd.dtype.bf16 d:.dtype, a")
        .since("7.8 sm_90")
        .with(".irnd", TO_INT)
        .with(".dtype", "u16 u32 u64 s16 s32 s64"),
    form("cvt.frnd{.ftz}{.sat}.f32.atype d:f32, a:.atype+")
        .with(".frnd", RND)
        .with(".atype", INT),
    form("cvt.frnd{.sat}.dtype.atype d:.dtype, a:.atype+")
        .with(".frnd", RND)
        .with(".dtype", "f16 f64")
        .with(".atype", INT),
    form("cvt.frnd.bf16.atype d:bf16, a:.atype")
        .since("7.8 sm_90")
        .with(".frnd", RND)
        .with(".atype", "u16 u32 u64 s16 s32 s64"),
    // Between floating-point types: narrower, wider, and to whole numbers of the same type.
    form("cvt.frnd{.ftz}{.sat}.f16.f32 d:f16, a").with(".frnd", RND),
    form("cvt.frnd{.sat}.f16.f64 d:f16, a").with(".frnd", RND),
    form("cvt.frnd{.ftz}{.sat}.f32.f64 d:f32, a").with(".frnd", RND),
    form("cvt{.ftz}{.sat}.f32.f16 d:f32, a"),
    form("cvt{.sat}.f64.f16 d:f64, a"),
    form("cvt{.ftz}{.sat}.f64.f32 d:f64, a"),
    form("cvt{.irnd}{.sat}.f16.f16x d:f16, a:f16")
        .with(".irnd", TO_INT)
        .with(".f16x", "f16"),
    form("cvt{.irnd}{.ftz}{.sat}.f32.f32x d:f32, a:f32")
        .with(".irnd", TO_INT)
        .with(".f32x", "f32"),
    form("cvt{.irnd}{.sat}.f64.f64x d:f64, a:f64")
        .with(".irnd", TO_INT)
        .with(".f64x", "f64"),
    form("cvt.frnd{.relu}{.satfinite}.f16.f32 d:f16, a")
        .with(".frnd", "rn rz")
        .with(".relu", "relu@7.0+sm_80")
        .with(".satfinite", "satfinite@8.1+sm_70"),
    form("cvt.frnd{.relu}{.satfinite}.bf16.f32 d:bf16, a")
        .since("7.0 sm_80")
        .with(".frnd", "rn rz")
        .with(".satfinite", "satfinite@8.1+sm_80"),
    form("cvt.frnd.bf16.f32 d:bf16, a")
        .since("7.0 sm_80")
        .with(".frnd", "rm rp"),
    form("cvt.frnd.ftz.bf16.f32 d:bf16, a")
        .since("7.0 sm_80")
        .with(".frnd", RND),
    form("cvt.frnd.bf16.atype d:bf16, a:.atype")
        .since("7.8 sm_90")
        .with(".frnd", RND)
        .with(".atype", "f16 f64"),
    form("cvt{.irnd}.bf16.bf16x d:bf16, a:bf16")
        .since("7.8 sm_90")
        .with(".irnd", TO_INT)
        .with(".bf16x", "bf16"),
    // Without a rounding, as with `.rn`.
    form("cvt.bf16.f16 d:bf16, a:f16").since("7.8 sm_90"),
    form("cvt{.frnd}.f16.bf16 d:f16, a:bf16")
        .since("7.8 sm_90")
        .with(".frnd", RND),
    form("cvt{.rnd}.f32.bf16 d:f32, a:bf16")
        .since("7.1 sm_80")
        .with(".rnd", RND),
    form("cvt{.rnd}.ftz.f32.bf16 d:f32, a:bf16")
        .since("7.8 sm_90")
        .with(".rnd", RND),
    form("cvt{.frnd}.f64.bf16 d:f64, a:bf16")
        .since("7.8 sm_90")
        .with(".frnd", RND),
    form("cvt.frnd{.relu}{.satfinite}.f16x2.f32 d:f16x2, a:f32, b:f32")
        .since("7.0 sm_80")
        .with(".frnd", "rn rz")
        .with(".satfinite", "satfinite@8.1+sm_80"),
    form("cvt.frnd{.relu}{.satfinite}.bf16x2.f32 d:bf16x2, a:f32, b:f32")
        .since("7.0 sm_80")
        .with(".frnd", "rn rz")
        .with(".satfinite", "satfinite@8.1+sm_80"),
    form("cvt.rs{.relu}{.satfinite}.dtype.f32 d:.dtype, a:f32, b:f32, rbits:b32@-")
        .since("8.7 sm_100a,sm_103a")
        .with(".dtype", "f16x2 bf16x2"),
    form("cvt.rna{.satfinite}.tf32.f32 d:b32, a:f32")
        .since("7.0 sm_80")
        .with(".satfinite", "satfinite@8.1+sm_80"),
    form("cvt.frnd{.relu}{.satfinite}.tf32.f32 d:b32, a:f32")
        .since("7.8 sm_90")
        .with(".frnd", "rn rz")
        .with(".satfinite", "satfinite@8.6+sm_100"),
    form("cvt.rn.satfinite{.relu}.f8x2type.f32 d:b16, a:f32, b:f32")
        .since("7.8 sm_89")
        .with(".f8x2type", "e4m3x2 e5m2x2")
        .rules(&[Rule::Before(90, "8.1")]),
    form("cvt.rn.satfinite{.relu}.f8x2type.f16x2 d:b16, a:f16x2")
        .since("7.8 sm_89")
        .with(".f8x2type", "e4m3x2 e5m2x2")
        .rules(&[Rule::Before(90, "8.1")]),
    form("cvt.rn{.relu}.f16x2.f8x2type d:f16x2, a:b16@-")
        .since("7.8 sm_89")
        .with(".f8x2type", "e4m3x2 e5m2x2")
        .rules(&[Rule::Before(90, "8.1")]),
    form("cvt.rs{.relu}.satfinite.f8x4type.f32 d:b32, a:f32*4, rbits:b32@-")
        .since("8.7 sm_100a,sm_103a")
        .with(".f8x4type", "e4m3x4 e5m2x4 e2m3x4 e3m2x4"),
    form("cvt.rs{.relu}.satfinite.e2m1x4.f32 d:b16, a:f32*4, rbits:b32@-")
        .since("8.7 sm_100a,sm_103a"),
    form("cvt.rn.satfinite{.relu}.e2m1x2.f32 d:b8, a:f32, b:f32")
        .since("8.6 sm_100f,sm_110f,sm_120f"),
    form("cvt.rn{.relu}.f16x2.e2m1x2 d:f16x2, a:b8").since("8.6 sm_100f,sm_110f,sm_120f"),
    form("cvt.rn{.relu}{.satfinite}.bf16x2.e2m1x2 d:bf16x2, a:b8")
        .since("9.2 sm_100f,sm_110f,sm_120f"),
    form("cvt.rn{.relu}{.satfinite}.bf16x2.narrow d:bf16x2, a:b16@-")
        .since("9.2 sm_100f,sm_110f,sm_120f")
        .with(".narrow", "e4m3x2 e5m2x2 e2m3x2 e3m2x2"),
    form("cvt.rn.satfinite{.relu}.f6x2type.f32 d:b16, a:f32, b:f32")
        .since("8.6 sm_100f,sm_110f,sm_120f")
        .with(".f6x2type", "e2m3x2 e3m2x2"),
    form("cvt.rn{.relu}.f16x2.f6x2type d:f16x2, a:b16@-")
        .since("8.6 sm_100f,sm_110f,sm_120f")
        .with(".f6x2type", "e2m3x2 e3m2x2"),
    form("cvt.frnd{.satfinite}.ue8m0x2.f32 d:b16, a:f32, b:f32")
        .since("8.6 sm_100f,sm_110f,sm_120f")
        .with(".frnd", "rz rp"),
    form("cvt.frnd{.satfinite}.ue8m0x2.bf16x2 d:b16, a:bf16x2")
        .since("8.6 sm_100f,sm_110f,sm_120f")
        .with(".frnd", "rz rp"),
    form("cvt.rn.bf16x2.ue8m0x2 d:bf16x2, a:b16@-").since("8.6 sm_100f,sm_110f,sm_120f"),
    form("cvt.pack:.sat.convertType.abType d:b32, a:.abType, b:.abType")
        .since("6.5 sm_72")
        .with(".convertType", "u16 s16")
        .with(".abType", "s32"),
    form("cvt.pack:.sat.convertType.abType.cType d:b32, a:.abType, b:.abType, c:b32")
        .since("6.5 sm_72")
        .with(
            ".convertType",
            "u8 s8 u4@6.5+sm_75 s4@6.5+sm_75 u2@6.5+sm_75 s2@6.5+sm_75",
        )
        .with(".abType", "s32")
        .with(".cType", "b32"),
];
