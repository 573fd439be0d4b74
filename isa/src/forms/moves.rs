//! Moves, packing, and addresses.

use crate::effect::Convergence;
use crate::form::{Form, form};

pub(super) const FORMS: &[Form] = &[
    form("mov.type d, !a").with(".type", "pred b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64 b128@8.3+sm_70"),
    form("mov.b16 d, a:b8*2"),
    form("mov.b32 d, a:b8*4"),
    form("mov.b32 d, a:b16*2"),
    form("mov.b64 d, a:b16*4"),
    form("mov.b64 d, a:b32*2"),
    form("mov.b128 d, a:b32*4").since("8.3 sm_70"),
    form("mov.b128 d, a:b64*2").since("8.3 sm_70"),
    form("mov.b16 d:b8*2, a"),
    form("mov.b32 d:b8*4, a"),
    form("mov.b32 d:b16*2, a"),
    form("mov.b64 d:b16*4, a"),
    form("mov.b64 d:b32*2, a"),
    form("mov.b128 d:b32*4, a").since("8.3 sm_70"),
    form("mov.b128 d:b64*2, a").since("8.3 sm_70"),
    form("prmt.b32{.mode} d, a, b, c").with(".mode", "f4e b4e rc8 ecl ecr rc16"),
    form("cvta.space.size d, &a").with(".space", "global local shared const@3.1 shared::cta@7.8 shared::cluster@7.8+sm_90 param@7.7+sm_70 param::entry@8.3+sm_70").with(".size", "u64 u32"),
    form("cvta.to:.space.size d, a").with(".space", "global local shared const@3.1 shared::cta@7.8 shared::cluster@7.8+sm_90 param@7.7+sm_70 param::entry@8.3+sm_70").with(".size", "u64 u32"),
    form("isspacep.space d:pred, a:u64").with(".space", "global local shared const@3.1 shared::cta@7.8 shared::cluster@7.8+sm_90 param@7.7+sm_70 param::entry@8.3+sm_70"),
    form("mapa{.space}.type d, &a, b:u32").since("7.8 sm_90").with(".space", "shared::cluster").with(".type", "u32 u64 s32 s64"),
    form("getctarank{.space}.type d:u32, &a").since("7.8 sm_90").with(".space", "shared::cluster").with(".type", "u32 u64 s32 s64"),
    form("activemask.b32 d").since("6.2 sm_30").convergence(Convergence::Present),
];
