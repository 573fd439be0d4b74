//! Comparison and selection.

use crate::form::{Form, Rule, form};

const EQUALITY: &str = "eq ne";
const SIGNED: &str = "eq ne lt le gt ge";
const UNSIGNED: &str = "eq ne lt le gt ge lo ls hi hs";
const FLOATING: &str = "eq ne lt le gt ge equ neu ltu leu gtu geu num nan";
const BOOL: &str = "and or xor";
/// There is no comparison with zeros for subnormal numbers whose result is a brain half.
const KEEPS_SUBNORMALS: &[Rule] = &[Rule::Excludes("dtype=bf16", ".ftz")];
const RESULT: &str = "u32 s32 f32 f16@4.2+sm_53 bf16@7.8+sm_90";

pub(super) const FORMS: &[Form] = &[
    form("set.CmpOp.dtype.stype d:.dtype, a, b")
        .with(".CmpOp", EQUALITY)
        .with(".dtype", RESULT)
        .with(".stype", "b16 b32 b64"),
    form("set.CmpOp.dtype.stype d:.dtype, a, b")
        .with(".CmpOp", UNSIGNED)
        .with(".dtype", RESULT)
        .with(".stype", "u16 u32 u64"),
    form("set.CmpOp.dtype.stype d:.dtype, a, b")
        .with(".CmpOp", SIGNED)
        .with(".dtype", RESULT)
        .with(".stype", "s16 s32 s64"),
    form("set.CmpOp{.ftz}.dtype.f32 d:.dtype, a, b")
        .with(".CmpOp", FLOATING)
        .with(".dtype", RESULT)
        .rules(KEEPS_SUBNORMALS),
    form("set.CmpOp.dtype.f64 d:.dtype, a, b")
        .with(".CmpOp", FLOATING)
        .with(".dtype", RESULT),
    form("set.CmpOp.BoolOp.dtype.stype d:.dtype, a, b, !c:pred")
        .with(".CmpOp", EQUALITY)
        .with(".BoolOp", BOOL)
        .with(".dtype", RESULT)
        .with(".stype", "b16 b32 b64"),
    form("set.CmpOp.BoolOp.dtype.stype d:.dtype, a, b, !c:pred")
        .with(".CmpOp", UNSIGNED)
        .with(".BoolOp", BOOL)
        .with(".dtype", RESULT)
        .with(".stype", "u16 u32 u64"),
    form("set.CmpOp.BoolOp.dtype.stype d:.dtype, a, b, !c:pred")
        .with(".CmpOp", SIGNED)
        .with(".BoolOp", BOOL)
        .with(".dtype", RESULT)
        .with(".stype", "s16 s32 s64"),
    form("set.CmpOp.BoolOp{.ftz}.dtype.f32 d:.dtype, a, b, !c:pred")
        .with(".CmpOp", FLOATING)
        .with(".BoolOp", BOOL)
        .with(".dtype", RESULT)
        .rules(KEEPS_SUBNORMALS),
    form("set.CmpOp.BoolOp.dtype.f64 d:.dtype, a, b, !c:pred")
        .with(".CmpOp", FLOATING)
        .with(".BoolOp", BOOL)
        .with(".dtype", RESULT),
    // The results of comparisons of half precision, and results in half precision.
    form("set.CmpOp{.ftz}.dtype.f16 d:.dtype, a, b")
        .since("4.2 sm_53")
        .with(".CmpOp", FLOATING)
        .with(
            ".dtype",
            "f16 bf16@7.8+sm_90 u16@6.5+sm_53 s16@6.5+sm_53 u32@6.5+sm_53 s32@6.5+sm_53",
        )
        .rules(KEEPS_SUBNORMALS),
    form("set.CmpOp.BoolOp{.ftz}.dtype.f16 d:.dtype, a, b, !c:pred")
        .since("4.2 sm_53")
        .with(".CmpOp", FLOATING)
        .with(".BoolOp", BOOL)
        .with(
            ".dtype",
            "f16 bf16@7.8+sm_90 u16@6.5+sm_53 s16@6.5+sm_53 u32@6.5+sm_53 s32@6.5+sm_53",
        )
        .rules(KEEPS_SUBNORMALS),
    form("set.CmpOp.dtype.bf16 d:.dtype, a, b")
        .since("7.8 sm_90")
        .with(".CmpOp", FLOATING)
        .with(".dtype", "bf16 u16 s16 u32 s32"),
    form("set.CmpOp.BoolOp.dtype.bf16 d:.dtype, a, b, !c:pred")
        .since("7.8 sm_90")
        .with(".CmpOp", FLOATING)
        .with(".BoolOp", BOOL)
        .with(".dtype", "bf16 u16 s16 u32 s32"),
    form("set.CmpOp{.ftz}.dtype.f16x2 d:.dtype, a, b")
        .since("4.2 sm_53")
        .with(".CmpOp", FLOATING)
        .with(".dtype", "f16x2 u32@6.5+sm_53 s32@6.5+sm_53"),
    form("set.CmpOp.BoolOp{.ftz}.dtype.f16x2 d:.dtype, a, b, !c:pred")
        .since("4.2 sm_53")
        .with(".CmpOp", FLOATING)
        .with(".BoolOp", BOOL)
        .with(".dtype", "f16x2 u32@6.5+sm_53 s32@6.5+sm_53"),
    form("set.CmpOp.dtype.bf16x2 d:.dtype, a, b")
        .since("7.8 sm_90")
        .with(".CmpOp", FLOATING)
        .with(".dtype", "bf16x2 u32 s32"),
    form("set.CmpOp.BoolOp.dtype.bf16x2 d:.dtype, a, b, !c:pred")
        .since("7.8 sm_90")
        .with(".CmpOp", FLOATING)
        .with(".BoolOp", BOOL)
        .with(".dtype", "bf16x2 u32 s32"),
    form("setp.CmpOp.type d:pred{|q}, a, b")
        .with(".CmpOp", EQUALITY)
        .with(".type", "b16 b32 b64"),
    form("setp.CmpOp.type d:pred{|q}, a, b")
        .with(".CmpOp", UNSIGNED)
        .with(".type", "u16 u32 u64"),
    form("setp.CmpOp.type d:pred{|q}, a, b")
        .with(".CmpOp", SIGNED)
        .with(".type", "s16 s32 s64"),
    form("setp.CmpOp{.ftz}.f32 d:pred{|q}, a, b").with(".CmpOp", FLOATING),
    form("setp.CmpOp.f64 d:pred{|q}, a, b").with(".CmpOp", FLOATING),
    form("setp.CmpOp.BoolOp.type d:pred{|q}, a, b, !c:pred")
        .with(".CmpOp", EQUALITY)
        .with(".BoolOp", BOOL)
        .with(".type", "b16 b32 b64"),
    form("setp.CmpOp.BoolOp.type d:pred{|q}, a, b, !c:pred")
        .with(".CmpOp", UNSIGNED)
        .with(".BoolOp", BOOL)
        .with(".type", "u16 u32 u64"),
    form("setp.CmpOp.BoolOp.type d:pred{|q}, a, b, !c:pred")
        .with(".CmpOp", SIGNED)
        .with(".BoolOp", BOOL)
        .with(".type", "s16 s32 s64"),
    form("setp.CmpOp.BoolOp{.ftz}.f32 d:pred{|q}, a, b, !c:pred")
        .with(".CmpOp", FLOATING)
        .with(".BoolOp", BOOL),
    form("setp.CmpOp.BoolOp.f64 d:pred{|q}, a, b, !c:pred")
        .with(".CmpOp", FLOATING)
        .with(".BoolOp", BOOL),
    form("setp.CmpOp{.ftz}.f16 d:pred, a, b")
        .since("4.2 sm_53")
        .with(".CmpOp", FLOATING),
    form("setp.CmpOp.BoolOp{.ftz}.f16 d:pred, a, b, !c:pred")
        .since("4.2 sm_53")
        .with(".CmpOp", FLOATING)
        .with(".BoolOp", BOOL),
    form("setp.CmpOp{.ftz}.f16x2 d:pred|q, a, b")
        .since("4.2 sm_53")
        .with(".CmpOp", FLOATING),
    form("setp.CmpOp.BoolOp{.ftz}.f16x2 d:pred|q, a, b, !c:pred")
        .since("4.2 sm_53")
        .with(".CmpOp", FLOATING)
        .with(".BoolOp", BOOL),
    form("setp.CmpOp.bf16 d:pred, a, b")
        .since("7.8 sm_90")
        .with(".CmpOp", FLOATING),
    form("setp.CmpOp.BoolOp.bf16 d:pred, a, b, !c:pred")
        .since("7.8 sm_90")
        .with(".CmpOp", FLOATING)
        .with(".BoolOp", BOOL),
    form("setp.CmpOp.bf16x2 d:pred|q, a, b")
        .since("7.8 sm_90")
        .with(".CmpOp", FLOATING),
    form("setp.CmpOp.BoolOp.bf16x2 d:pred|q, a, b, !c:pred")
        .since("7.8 sm_90")
        .with(".CmpOp", FLOATING)
        .with(".BoolOp", BOOL),
    form("selp.type d, a, b, !c:pred").with(".type", "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64"),
    form("slct.dtype.s32 d:.dtype, a:.dtype, b:.dtype, c:s32")
        .with(".dtype", "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64"),
    form("slct{.ftz}.dtype.f32 d:.dtype, a:.dtype, b:.dtype, c:f32")
        .with(".dtype", "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64"),
];
