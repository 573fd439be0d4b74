//! Control flow.

use crate::effect::Convergence;
use crate::form::{Form, form};

pub(super) const FORMS: &[Form] = &[
    form("bra{.uni} target:label"),
    form("brx.idx:{.uni} index:u32, tlist:symbol").since("6.0 sm_30"),
    form("call{.uni} d:list, func:symbol, a:list"),
    form("call{.uni} func:symbol"),
    form("call{.uni} func:symbol, a:list"),
    form("call{.uni} d:list, func:b64, a:list, proto:symbol"),
    form("call{.uni} func:b64, a:list, proto:symbol"),
    form("call{.uni} func:b64, proto:symbol"),
    form("ret{.uni}"),
    form("exit").convergence(Convergence::Present),
    form("trap").convergence(Convergence::Present),
    form("brkpt").convergence(Convergence::Present),
    form("nanosleep.u32 t").since("6.2 sm_70"),
    form("pmevent a:imm"),
    form("pmevent.mask: a:imm").since("3.0"),
];
