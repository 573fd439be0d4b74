//! Single and double precision.

use crate::form::{Form, form};

const RND: &str = "rn rz rm rp";

pub(super) const FORMS: &[Form] = &[
    form("testp.op.type d:pred, a")
        .with(".op", "finite infinite number notanumber normal subnormal")
        .with(".type", "f32 f64"),
    // Beyond the manual: ptxas makes no code for a test of nothing, whose result stays unwritten.
    form("testp.type d:pred, a").with(".type", "f32 f64"),
    form("copysign.type d, a, b").with(".type", "f32 f64"),
    form("add{.rnd}{.ftz}{.sat}.f32 d, a, b").with(".rnd", RND),
    form("add{.rnd}.f64 d, a, b").with(".rnd", RND),
    form("add{.rnd}{.ftz}.f32x2 d, a, b")
        .since("8.6 sm_100")
        .with(".rnd", RND),
    form("add{.rnd}{.sat}.f32.atype d:f32, a, c:f32")
        .since("8.6 sm_100")
        .with(".rnd", RND)
        .with(".atype", "f16 bf16"),
    form("sub{.rnd}{.ftz}{.sat}.f32 d, a, b").with(".rnd", RND),
    form("sub{.rnd}.f64 d, a, b").with(".rnd", RND),
    form("sub{.rnd}{.ftz}.f32x2 d, a, b")
        .since("8.6 sm_100")
        .with(".rnd", RND),
    form("sub{.rnd}{.sat}.f32.atype d:f32, a, c:f32")
        .since("8.6 sm_100")
        .with(".rnd", RND)
        .with(".atype", "f16 bf16"),
    form("mul{.rnd}{.ftz}{.sat}.f32 d, a, b").with(".rnd", RND),
    form("mul{.rnd}.f64 d, a, b").with(".rnd", RND),
    form("mul{.rnd}{.ftz}.f32x2 d, a, b")
        .since("8.6 sm_100")
        .with(".rnd", RND),
    form("fma.rnd{.ftz}{.sat}.f32 d, a, b, c").with(".rnd", RND),
    form("fma.rnd.f64 d, a, b, c").with(".rnd", RND),
    form("fma.rnd{.ftz}.f32x2 d, a, b, c")
        .since("8.6 sm_100")
        .with(".rnd", RND),
    form("fma.rnd{.sat}.f32.abtype d:f32, a, b, c:f32")
        .since("8.6 sm_100")
        .with(".rnd", RND)
        .with(".abtype", "f16 bf16"),
    form("mad.rnd{.ftz}{.sat}.f32 d, a, b, c").with(".rnd", RND),
    form("mad.rnd.f64 d, a, b, c").with(".rnd", RND),
    form("div.approx{.ftz}.f32 d, a, b"),
    form("div.full:{.ftz}.f32 d, a, b"),
    form("div.rnd{.ftz}.f32 d, a, b").with(".rnd", RND),
    form("div.rnd.f64 d, a, b").with(".rnd", RND),
    form("abs{.ftz}.f32 d, a"),
    form("abs.f64 d, a"),
    form("neg{.ftz}.f32 d, a"),
    form("neg.f64 d, a"),
    form("min{.ftz}{.NaN}.f32 d, a, b").with(".NaN", "NaN@7.0+sm_80"),
    form("min{.ftz}{.NaN}.xorsign.abs.f32 d, a, b").since("7.2 sm_86"),
    form("min{.ftz}{.NaN}{.abs}.f32 d, a, b, c").since("8.8 sm_100"),
    form("min.f64 d, a, b"),
    form("max{.ftz}{.NaN}.f32 d, a, b").with(".NaN", "NaN@7.0+sm_80"),
    form("max{.ftz}{.NaN}.xorsign.abs.f32 d, a, b").since("7.2 sm_86"),
    form("max{.ftz}{.NaN}{.abs}.f32 d, a, b, c").since("8.8 sm_100"),
    form("max.f64 d, a, b"),
    form("rcp.approx{.ftz}.f32 d, a"),
    form("rcp.rnd{.ftz}.f32 d, a").with(".rnd", RND),
    form("rcp.rnd{.ftz}.f64 d, a").with(".rnd", RND),
    form("rcp.approx.ftz.f64 d, a"),
    form("sqrt.approx{.ftz}.f32 d, a"),
    form("sqrt.rnd{.ftz}.f32 d, a").with(".rnd", RND),
    form("sqrt.rnd.f64 d, a").with(".rnd", RND),
    form("rsqrt.approx{.ftz}.f32 d, a"),
    form("rsqrt.approx{.ftz}.f64 d, a").with(".ftz", "ftz@4.0"),
    form("sin.approx{.ftz}.f32 d, a"),
    form("cos.approx{.ftz}.f32 d, a"),
    form("lg2.approx{.ftz}.f32 d, a"),
    form("ex2.approx{.ftz}.f32 d, a"),
    form("tanh.approx.f32 d, a").since("7.0 sm_75"),
];
