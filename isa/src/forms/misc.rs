//! Stack, registers of a warp, clusters to come.

use crate::effect::{Completion, Convergence, Proxy, Space};
use crate::form::{Extent, Form, form, writes};

pub(super) const FORMS: &[Form] = &[
    form("alloca.type d, size{, align:imm}").with(".type", "u32 u64 b32 b64"),
    form("stacksave.type d").with(".type", "u32 u64 b32 b64"),
    form("stackrestore.type a").with(".type", "u32 u64 b32 b64"),
    form("setmaxnreg.action.sync.aligned.u32 count:imm")
        .with(".action", "inc dec").named("setmaxnreg").convergence(Convergence::Warp),
    form("clusterlaunchcontrol.try_cancel.async{.space}.completion{.multicast}.b128 [a], [mbar]")
        .with(".space", "shared::cta").with(".completion", "mbarrier::complete_tx::bytes")
        .with(".multicast", "multicast::cluster::all")
        .named("clusterlaunchcontrol.try_cancel")
        .accesses(&[writes("a").to(Space::Shared).by(Proxy::Async).until(Completion::Mbarrier).of(Extent::Bytes(16))]),
    form("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 d:pred, a:b128").named("clusterlaunchcontrol.query_cancel"),
    form("clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 d:b32*4, a:b128").named("clusterlaunchcontrol.query_cancel"),
    form("clusterlaunchcontrol.query_cancel.get_first_ctaid::dimension.b32.b128 d:b32, a:b128")
        .with(".get_first_ctaid::dimension", "get_first_ctaid::x get_first_ctaid::y get_first_ctaid::z")
        .named("clusterlaunchcontrol.query_cancel"),
];
