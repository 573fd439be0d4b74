//! Half precision: `.f16`, `.bf16` and pairs of them.

use crate::form::{Form, form};

const HALF: &str = "f16 f16x2";
const BRAIN: &str = "bf16 bf16x2";

pub(super) const FORMS: &[Form] = &[
    form("add{.rn}{.ftz}{.sat}.type d, a, b")
        .since("4.2 sm_53")
        .with(".type", HALF),
    form("add{.rn}.type d, a, b")
        .since("7.8 sm_90")
        .with(".type", BRAIN),
    form("sub{.rn}{.ftz}{.sat}.type d, a, b")
        .since("4.2 sm_53")
        .with(".type", HALF),
    form("sub{.rn}.type d, a, b")
        .since("7.8 sm_90")
        .with(".type", BRAIN),
    form("mul{.rn}{.ftz}{.sat}.type d, a, b")
        .since("4.2 sm_53")
        .with(".type", HALF),
    form("mul{.rn}.type d, a, b")
        .since("7.8 sm_90")
        .with(".type", BRAIN),
    form("fma.rn{.ftz}{.sat}.type d, a, b, c")
        .since("4.2 sm_53")
        .with(".type", HALF),
    form("fma.rn{.ftz}.relu.type d, a, b, c")
        .since("7.0 sm_80")
        .with(".type", HALF),
    form("fma.rn{.relu}.type d, a, b, c")
        .since("7.0 sm_80")
        .with(".type", BRAIN),
    // Beyond the manual, and never of use: with these roundings ptxas (13.0 and 13.5) reads `.bf16` operands as `.f16`, and leaves
    // the rounding of `.bf16x2` out.
    form("fma.rnd{.relu}.type d, a, b, c")
        .since("7.0 sm_80")
        .with(".rnd", "rz rm rp")
        .with(".type", BRAIN),
    form("fma.rnd.oob{.relu}.type d, a, b, c")
        .since("8.1 sm_90")
        .with(".rnd", "rz rm rp")
        .with(".type", BRAIN),
    form("fma.rn.oob.sat.type d, a, b, c")
        .since("8.1 sm_90")
        .with(".type", HALF),
    form("fma.rn.oob{.relu}.type d, a, b, c")
        .since("8.1 sm_90")
        .with(".type", "f16 f16x2 bf16 bf16x2"),
    form("neg{.ftz}.type d, a")
        .since("6.0 sm_53")
        .with(".type", HALF),
    form("neg.type d, a")
        .since("7.0 sm_80")
        .with(".type", BRAIN),
    form("abs{.ftz}.type d, a")
        .since("6.5 sm_53")
        .with(".type", HALF),
    form("abs.type d, a")
        .since("7.0 sm_80")
        .with(".type", BRAIN),
    form("min{.ftz}{.NaN}.type d, a, b")
        .since("7.0 sm_80")
        .with(".type", HALF),
    form("min{.ftz}{.NaN}.xorsign.abs.type d, a, b")
        .since("7.2 sm_86")
        .with(".type", HALF),
    form("min{.NaN}.type d, a, b")
        .since("7.0 sm_80")
        .with(".type", BRAIN),
    form("min{.NaN}.xorsign.abs.type d, a, b")
        .since("7.2 sm_86")
        .with(".type", BRAIN),
    form("max{.ftz}{.NaN}.type d, a, b")
        .since("7.0 sm_80")
        .with(".type", HALF),
    form("max{.ftz}{.NaN}.xorsign.abs.type d, a, b")
        .since("7.2 sm_86")
        .with(".type", HALF),
    form("max{.NaN}.type d, a, b")
        .since("7.0 sm_80")
        .with(".type", BRAIN),
    form("max{.NaN}.xorsign.abs.type d, a, b")
        .since("7.2 sm_86")
        .with(".type", BRAIN),
    form("tanh.approx.type d, a")
        .since("7.0 sm_75")
        .with(".type", "f16 f16x2 bf16@7.8+sm_90 bf16x2@7.8+sm_90"),
    form("ex2.approx.type d, a")
        .since("7.0 sm_75")
        .with(".type", HALF),
    form("ex2.approx.ftz.type d, a")
        .since("7.8 sm_90")
        .with(".type", BRAIN),
];
