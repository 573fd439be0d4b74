//! Integer arithmetic, extended-precision arithmetic and bit fields.

use crate::form::{Form, form};

const INT: &str = "u16 u32 u64 s16 s32 s64";

pub(super) const FORMS: &[Form] = &[
    form("add.type d, a, b").with(
        ".type",
        "u16 u32 u64 s16 s32 s64 u16x2@8.0+sm_90 s16x2@8.0+sm_90",
    ),
    form("add.sat.s32 d, a, b"),
    form("add.sat.type d, a, b")
        .since("9.2 sm_120f")
        .with(".type", "u16x2 s16x2 u32"),
    form("add.cc.type d, a, b").with(".type", "u32 s32 u64@4.3 s64@4.3"),
    form("addc{.cc}.type d, a, b").with(".type", "u32 s32 u64 s64"),
    form("sub.type d, a, b").with(".type", INT),
    form("sub.sat.s32 d, a, b"),
    form("sub.cc.type d, a, b").with(".type", "u32 s32 u64@4.3 s64@4.3"),
    form("subc{.cc}.type d, a, b").with(".type", "u32 s32 u64 s64"),
    form("mul.mode:.type d, a, b")
        .with(".mode", "lo hi")
        .with(".type", INT),
    form("mul.wide:.type d:2x, a, b").with(".type", "u16 u32 s16 s32"),
    form("mad.mode:.type d, a, b, c")
        .with(".mode", "lo hi")
        .with(".type", INT),
    form("mad.wide:.type d:2x, a, b, c:2x").with(".type", "u16 u32 s16 s32"),
    form("mad.hi:.sat.s32 d, a, b, c"),
    form("mad.mode:.cc.type d, a, b, c")
        .since("3.0")
        .with(".mode", "lo hi")
        .with(".type", "u32 s32 u64@4.3 s64@4.3"),
    form("madc.mode:{.cc}.type d, a, b, c")
        .since("3.0")
        .with(".mode", "lo hi")
        .with(".type", "u32 s32 u64 s64"),
    form("mul24.mode:.type d, a, b")
        .with(".mode", "lo hi")
        .with(".type", "u32 s32"),
    form("mad24.mode:.type d, a, b, c")
        .with(".mode", "lo hi")
        .with(".type", "u32 s32"),
    form("mad24.hi:.sat.s32 d, a, b, c"),
    form("sad.type d, a, b, c").with(".type", INT),
    form("div.type d, a, b").with(".type", INT),
    form("rem.type d, a, b").with(".type", INT),
    form("abs.type d, a").with(".type", "s16 s32 s64"),
    form("neg.type d, a").with(".type", "s16 s32 s64"),
    form("min.type d, a, b").with(".type", "u16 u32 u64 u16x2@8.0+sm_90 s16 s64"),
    form("min{.relu}.type d, a, b")
        .with(".type", "s32 s16x2@8.0+sm_90")
        .with(".relu", "relu@8.0+sm_90"),
    form("max.type d, a, b").with(".type", "u16 u32 u64 u16x2@8.0+sm_90 s16 s64"),
    form("max{.relu}.type d, a, b")
        .with(".type", "s32 s16x2@8.0+sm_90")
        .with(".relu", "relu@8.0+sm_90"),
    form("popc.type d:u32, a").with(".type", "b32 b64"),
    form("clz.type d:u32, a").with(".type", "b32 b64"),
    form("bfind{.shiftamt}.type d:u32, a").with(".type", "u32 u64 s32 s64"),
    form("fns.b32 d, mask, base, offset:s32").since("6.0 sm_30"),
    form("brev.type d, a").with(".type", "b32 b64"),
    form("bfe.type d, a, b:u32, c:u32").with(".type", "u32 u64 s32 s64"),
    form("bfi.type d, a, b, c:u32, e:u32").with(".type", "b32 b64"),
    form("szext.mode.type d, a, b:u32")
        .since("7.6 sm_70")
        .with(".mode", "clamp wrap")
        .with(".type", "u32 s32"),
    form("bmsk.mode.b32 d, a, b")
        .since("7.6 sm_70")
        .with(".mode", "clamp wrap"),
    form("dp4a.atype.btype d, a:.atype, b:.btype, c")
        .since("5.0 sm_61")
        .with(".atype", "u32 s32")
        .with(".btype", "u32 s32"),
    form("dp2a.mode:.atype.btype d, a:.atype, b:.btype, c")
        .since("5.0 sm_61")
        .with(".mode", "lo hi")
        .with(".atype", "u32 s32")
        .with(".btype", "u32 s32"),
];
