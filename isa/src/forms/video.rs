//! Video instructions: arithmetic of bytes and half-words, alone and side by side.
//!
//! Operands may select a part (`a.b1`), which the syntax lines leave out; the part that a result is put into (`d.b0`) takes its rest from
//! the third source. Sources of `vmad` may be negated.

use crate::form::{Form, Rule, form};

const INT: &str = "u32 s32";
const OP2: &str = "add min max";

macro_rules! video {
    ($syntax:literal) => {
        form($syntax)
            .with(".dtype", INT)
            .with(".atype", INT)
            .with(".btype", INT)
    };
}

/// Several values side by side: their sum is not saturated.
macro_rules! side_by_side {
    ($syntax:literal) => {
        video!($syntax)
            .since("3.0 sm_30")
            .rules(&[Rule::Excludes(".sat", ".add")])
    };
}

pub(super) const FORMS: &[Form] = &[
    video!("vadd.dtype.atype.btype{.sat} d:.dtype, a:.atype, b:.btype"),
    video!("vadd.dtype.atype.btype{.sat} d:.dtype, a:.atype, b:.btype, c:.dtype"),
    video!("vadd.dtype.atype.btype{.sat}.op2 d:.dtype, a:.atype, b:.btype, c:.dtype")
        .with(".op2", OP2),
    video!("vsub.dtype.atype.btype{.sat} d:.dtype, a:.atype, b:.btype"),
    video!("vsub.dtype.atype.btype{.sat} d:.dtype, a:.atype, b:.btype, c:.dtype"),
    video!("vsub.dtype.atype.btype{.sat}.op2 d:.dtype, a:.atype, b:.btype, c:.dtype")
        .with(".op2", OP2),
    video!("vabsdiff.dtype.atype.btype{.sat} d:.dtype, a:.atype, b:.btype"),
    video!("vabsdiff.dtype.atype.btype{.sat} d:.dtype, a:.atype, b:.btype, c:.dtype"),
    video!("vabsdiff.dtype.atype.btype{.sat}.op2 d:.dtype, a:.atype, b:.btype, c:.dtype")
        .with(".op2", OP2),
    video!("vmin.dtype.atype.btype{.sat} d:.dtype, a:.atype, b:.btype"),
    video!("vmin.dtype.atype.btype{.sat} d:.dtype, a:.atype, b:.btype, c:.dtype"),
    video!("vmin.dtype.atype.btype{.sat}.op2 d:.dtype, a:.atype, b:.btype, c:.dtype")
        .with(".op2", OP2),
    video!("vmax.dtype.atype.btype{.sat} d:.dtype, a:.atype, b:.btype"),
    video!("vmax.dtype.atype.btype{.sat} d:.dtype, a:.atype, b:.btype, c:.dtype"),
    video!("vmax.dtype.atype.btype{.sat}.op2 d:.dtype, a:.atype, b:.btype, c:.dtype")
        .with(".op2", OP2),
    video!("vshl.dtype.atype.btype{.sat}.mode d:.dtype, a:.atype, b:.btype")
        .with(".mode", "clamp wrap")
        .with(".btype", "u32"),
    video!("vshl.dtype.atype.btype{.sat}.mode d:.dtype, a:.atype, b:.btype, c:.dtype")
        .with(".mode", "clamp wrap")
        .with(".btype", "u32"),
    video!("vshl.dtype.atype.btype{.sat}.mode.op2 d:.dtype, a:.atype, b:.btype, c:.dtype")
        .with(".mode", "clamp wrap")
        .with(".btype", "u32")
        .with(".op2", OP2),
    video!("vshr.dtype.atype.btype{.sat}.mode d:.dtype, a:.atype, b:.btype")
        .with(".mode", "clamp wrap")
        .with(".btype", "u32"),
    video!("vshr.dtype.atype.btype{.sat}.mode d:.dtype, a:.atype, b:.btype, c:.dtype")
        .with(".mode", "clamp wrap")
        .with(".btype", "u32"),
    video!("vshr.dtype.atype.btype{.sat}.mode.op2 d:.dtype, a:.atype, b:.btype, c:.dtype")
        .with(".mode", "clamp wrap")
        .with(".btype", "u32")
        .with(".op2", OP2),
    video!("vmad.dtype.atype.btype{.sat}{.scale} d:.dtype, a:.atype, b:.btype, c:.dtype")
        .with(".scale", "shr7 shr15"),
    video!("vmad.dtype.atype.btype.po{.sat}{.scale} d:.dtype, a:.atype, b:.btype, c:.dtype")
        .with(".scale", "shr7 shr15"),
    form("vset.atype.btype.cmp d:u32, a:.atype, b:.btype")
        .with(".atype", INT)
        .with(".btype", INT)
        .with(".cmp", "eq ne lt le gt ge"),
    form("vset.atype.btype.cmp d:u32, a:.atype, b:.btype, c:u32")
        .with(".atype", INT)
        .with(".btype", INT)
        .with(".cmp", "eq ne lt le gt ge"),
    form("vset.atype.btype.cmp.op2 d:u32, a:.atype, b:.btype, c:u32")
        .with(".atype", INT)
        .with(".btype", INT)
        .with(".cmp", "eq ne lt le gt ge")
        .with(".op2", OP2),
    side_by_side!(
        "vadd2.dtype.atype.btype{.sat}{.add} d:.dtype, a:.atype@-, b:.btype@-, c:.dtype@-"
    ),
    side_by_side!(
        "vsub2.dtype.atype.btype{.sat}{.add} d:.dtype, a:.atype@-, b:.btype@-, c:.dtype@-"
    ),
    side_by_side!(
        "vavrg2.dtype.atype.btype{.sat}{.add} d:.dtype, a:.atype@-, b:.btype@-, c:.dtype@-"
    ),
    side_by_side!(
        "vabsdiff2.dtype.atype.btype{.sat}{.add} d:.dtype, a:.atype@-, b:.btype@-, c:.dtype@-"
    ),
    side_by_side!(
        "vmin2.dtype.atype.btype{.sat}{.add} d:.dtype, a:.atype@-, b:.btype@-, c:.dtype@-"
    ),
    side_by_side!(
        "vmax2.dtype.atype.btype{.sat}{.add} d:.dtype, a:.atype@-, b:.btype@-, c:.dtype@-"
    ),
    form("vset2.atype.btype.cmp{.add} d:u32, a:.atype@-, b:.btype@-, c:u32@-")
        .since("3.0 sm_30")
        .with(".atype", INT)
        .with(".btype", INT)
        .with(".cmp", "eq ne lt le gt ge"),
    side_by_side!(
        "vadd4.dtype.atype.btype{.sat}{.add} d:.dtype, a:.atype@-, b:.btype@-, c:.dtype@-"
    ),
    side_by_side!(
        "vsub4.dtype.atype.btype{.sat}{.add} d:.dtype, a:.atype@-, b:.btype@-, c:.dtype@-"
    ),
    side_by_side!(
        "vavrg4.dtype.atype.btype{.sat}{.add} d:.dtype, a:.atype@-, b:.btype@-, c:.dtype@-"
    ),
    side_by_side!(
        "vabsdiff4.dtype.atype.btype{.sat}{.add} d:.dtype, a:.atype@-, b:.btype@-, c:.dtype@-"
    ),
    side_by_side!(
        "vmin4.dtype.atype.btype{.sat}{.add} d:.dtype, a:.atype@-, b:.btype@-, c:.dtype@-"
    ),
    side_by_side!(
        "vmax4.dtype.atype.btype{.sat}{.add} d:.dtype, a:.atype@-, b:.btype@-, c:.dtype@-"
    ),
    form("vset4.atype.btype.cmp{.add} d:u32, a:.atype@-, b:.btype@-, c:u32@-")
        .since("3.0 sm_30")
        .with(".atype", INT)
        .with(".btype", INT)
        .with(".cmp", "eq ne lt le gt ge"),
];
