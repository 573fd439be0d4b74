//! Moves, packing, and addresses.

use crate::effect::Convergence;
use crate::form::{Form, form};

pub(super) const FORMS: &[Form] = &[
    form("mov.type d, a").with(".type", "pred b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64 b128"),
    form("mov.b16 d, a:b8*2"),
    form("mov.b32 d, a:b8*4"),
    form("mov.b32 d, a:b16*2"),
    form("mov.b64 d, a:b16*4"),
    form("mov.b64 d, a:b32*2"),
    form("mov.b128 d, a:b32*4"),
    form("mov.b128 d, a:b64*2"),
    form("mov.b16 d:b8*2, a"),
    form("mov.b32 d:b8*4, a"),
    form("mov.b32 d:b16*2, a"),
    form("mov.b64 d:b16*4, a"),
    form("mov.b64 d:b32*2, a"),
    form("mov.b128 d:b32*4, a"),
    form("mov.b128 d:b64*2, a"),
    form("mov.type d*n, a*n").with(".type", "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64"),
    form("prmt.b32{.mode} d, a, b, c").with(".mode", "f4e b4e rc8 ecl ecr rc16"),
    form("cvta.space.size d, a").with(".space", "const global local shared shared::cta shared::cluster param param::entry").with(".size", "u32 u64"),
    form("cvta.to.space.size d, a").with(".space", "const global local shared shared::cta shared::cluster param param::entry").with(".size", "u32 u64"),
    form("isspacep.space d:pred, a:u64").with(".space", "const global local shared shared::cta shared::cluster param param::entry"),
    form("mapa{.space}.type d, a, b:u32").with(".space", "shared::cluster").with(".type", "u32 u64"),
    form("getctarank{.space}.type d:u32, a").with(".space", "shared::cluster").with(".type", "u32 u64"),
    form("activemask.b32 d").convergence(Convergence::Present),
];
