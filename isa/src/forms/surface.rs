//! Surfaces.

use crate::effect::Proxy;
use crate::form::{Access, Extent, Form, Rule, form, reads, updates, writes};

const LOAD: &[Access] = &[reads("a").by(Proxy::NonCoherent).of(Extent::Shape)];
const STORE: &[Access] = &[writes("a").by(Proxy::NonCoherent).of(Extent::Shape)];
const REDUCE: &[Access] = &[updates("a").by(Proxy::NonCoherent).of(Extent::Shape)];

const GEOMETRY: &str = "1d 2d 3d a1d a2d";
const CLAMP: &str = "trap clamp zero";

pub(super) const FORMS: &[Form] = &[
    form("suld.b:.geom{.cop}{.vec}.dtype.clamp d:.dtype+*v, [a, c]")
        .since("3.1")
        .with(".geom", GEOMETRY)
        .with(".cop", "ca cg cs cv")
        .with(".vec", "v2 v4")
        .with(".dtype", "b8 b16 b32 b64")
        .with(".clamp", CLAMP)
        .rules(&[Rule::Excludes(".v4", ".b64")])
        .accesses(LOAD),
    form("sust.b:.geom{.cop}{.vec}.ctype.clamp [a, c], b:.ctype+*v")
        .since("3.1")
        .with(".geom", GEOMETRY)
        .with(".cop", "wb cg cs wt")
        .with(".vec", "v2 v4")
        .with(".ctype", "b8 b16 b32 b64")
        .with(".clamp", CLAMP)
        .rules(&[Rule::Excludes(".v4", ".b64")])
        .accesses(STORE),
    form("sust.p:.geom{.cop}{.vec}.ctype.clamp [a, c], b*v")
        .since("3.1")
        .with(".geom", "1d 2d 3d a1d@4.1+sm_30 a2d@4.1+sm_30")
        .with(".cop", "wb cg cs wt")
        .with(".vec", "v2 v4")
        .with(".ctype", "b32")
        .with(".clamp", CLAMP)
        .accesses(STORE),
    form("sured.b:.op.geom.ctype.clamp [a, c], b")
        .since("3.1")
        .with(".op", "add min max")
        .with(".geom", "1d 2d 3d")
        .with(".ctype", "u32 s32 u64")
        .with(".clamp", CLAMP)
        .accesses(REDUCE),
    form("sured.b:.op.geom.ctype.clamp [a, c], b")
        .since("3.1")
        .with(".op", "and or")
        .with(".geom", "1d 2d 3d")
        .with(".ctype", "b32")
        .with(".clamp", CLAMP)
        .accesses(REDUCE),
    form("sured.p:.op.geom.ctype.clamp [a, c], b")
        .since("3.1")
        .with(".op", "add min max and or")
        .with(".geom", "1d 2d 3d")
        .with(".ctype", "b32")
        .with(".clamp", CLAMP)
        .accesses(REDUCE),
    form("suq.query.b32 d, [a]").since("3.1").with(
        ".query",
        "width height depth channel_data_type channel_order array_size@4.1 memory_layout@4.2",
    ),
];
