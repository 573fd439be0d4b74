//! Logic and shifts.

use crate::form::{Form, form};

pub(super) const FORMS: &[Form] = &[
    form("and.type d, a, b").with(".type", "pred b16 b32 b64"),
    form("or.type d, a, b").with(".type", "pred b16 b32 b64"),
    form("xor.type d, a, b").with(".type", "pred b16 b32 b64"),
    form("not.type d, a").with(".type", "pred b16 b32 b64"),
    form("cnot.type d, a").with(".type", "b16 b32 b64"),
    form("lop3.b32 d, a, b, c, immLut:imm").since("4.3 sm_50"),
    form("lop3.BoolOp.b32 d|p, a, b, c, immLut:imm, !q:pred")
        .since("8.2 sm_70")
        .with(".BoolOp", "or and"),
    form("shf.l:.mode.b32 d, a, b, c")
        .since("3.1 sm_32")
        .with(".mode", "clamp wrap"),
    form("shf.r:.mode.b32 d, a, b, c")
        .since("3.1 sm_32")
        .with(".mode", "clamp wrap"),
    form("shl.type d, a, b:u32").with(".type", "b16 b32 b64"),
    form("shr.type d, a, b:u32").with(".type", "b16 b32 b64 u16 u32 u64 s16 s32 s64"),
];
