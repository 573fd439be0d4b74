//! Textures.

use crate::effect::Proxy;
use crate::form::{Access, Extent, Form, form, reads};

const FETCH: &[Access] = &[reads("a").by(Proxy::NonCoherent).of(Extent::Shape)];

macro_rules! fetch {
    ($syntax:literal) => {
        form($syntax).accesses(FETCH)
    };
}

const GEOMETRY: &str = "1d 2d 3d a1d a2d cube acube";

pub(super) const FORMS: &[Form] = &[
    fetch!("tex.geom.v4.dtype.ctype d:.dtype*4, [a, c]").since("3.1").with(".geom", "1d 2d 3d a1d a2d").with(".dtype", "u32 s32 f32").with(".ctype", "s32 f32"),
    fetch!("tex.geom.v4.dtype.f32 d:.dtype*4, [a, c]").since("3.1").with(".geom", "cube acube").with(".dtype", "u32 s32 f32"),
    fetch!("tex.geom.v4.dtype.s32 d:.dtype*4, [a, c]").since("3.2 sm_30").with(".geom", "2dms a2dms").with(".dtype", "u32 s32 f32"),
    fetch!("tex.geom.v2.f16x2.ctype d:f16x2*2, [a, c]").since("4.2 sm_53").with(".geom", "1d 2d 3d a1d a2d").with(".ctype", "s32 f32"),
    fetch!("tex.base:.geom.v4.dtype.f32 d:.dtype*4, [a, c]").since("3.1").with(".geom", GEOMETRY).with(".dtype", "u32 s32 f32"),
    fetch!("tex.level:.geom.v4.dtype.f32 d:.dtype*4, [a, c], lod:f32").since("3.1").with(".geom", GEOMETRY).with(".dtype", "u32 s32 f32"),
    fetch!("tex.grad:.geom.v4.dtype.f32 d:.dtype*4, [a, c], dPdx:f32*1, dPdy:f32*1").since("3.1").with(".geom", "1d a1d").with(".dtype", "u32 s32 f32"),
    fetch!("tex.grad:.geom.v4.dtype.f32 d:.dtype*4, [a, c], dPdx:f32*2, dPdy:f32*2").since("3.1").with(".geom", "2d a2d").with(".dtype", "u32 s32 f32"),
    fetch!("tex.grad:.geom.v4.dtype.f32 d:.dtype*4, [a, c], dPdx:f32*4, dPdy:f32*4").since("3.1").with(".geom", "3d cube@4.3 acube@4.3").with(".dtype", "u32 s32 f32"),
    fetch!("tld4.comp.geom.v4.dtype.f32 d:.dtype*4, [a, c]").since("3.1").with(".comp", "r g b a").with(".geom", "2d a2d@4.3+sm_30 cube@4.3+sm_30 acube@4.3+sm_30").with(".dtype", "u32 s32 f32"),
    form("txq.query.b32 d, [a]").since("3.1").with(".query", "width height depth channel_data_type channel_order normalized_coords array_size@4.1 num_mipmap_levels@4.1 num_samples@4.1+sm_30"),
    form("txq.level:.query.b32 d, [a], lod:u32").since("4.3 sm_30").with(".query", "width height depth"),
    form("txq.squery.b32 d, [a]").with(".squery", "force_unnormalized_coords filter_mode addr_mode_0 addr_mode_1 addr_mode_2")
        .unchecked("it needs a sampler reference"),
    form("istypep.type d:pred, a:any").with(".type", "texref samplerref surfref")
        .unchecked("it needs a reference variable"),
];
