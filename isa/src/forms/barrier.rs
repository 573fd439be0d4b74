//! Barriers of blocks, clusters and warps, and fences.

use crate::effect::{BarrierAction, Convergence};
use crate::form::{Form, form};

macro_rules! block {
    ($syntax:literal, $action:ident) => {
        form($syntax).convergence(Convergence::Barrier).barrier(BarrierAction::$action)
    };
}

pub(super) const FORMS: &[Form] = &[
    block!("barrier{.cta}.sync{.aligned} a:u32{, b:u32}", ArriveAndWait),
    block!("barrier{.cta}.arrive{.aligned} a:u32, b:u32", Arrive),
    block!("barrier{.cta}.red.popc{.aligned}.u32 d, a:u32{, b:u32}, !c:pred", ArriveAndWait).exchanges(),
    block!("barrier{.cta}.red.op{.aligned}.pred d, a:u32{, b:u32}, !c:pred", ArriveAndWait).with(".op", "and or").exchanges(),
    block!("bar{.cta}.sync a:u32{, b:u32}", ArriveAndWait),
    block!("bar{.cta}.arrive a:u32, b:u32", Arrive),
    block!("bar{.cta}.red.popc.u32 d, a:u32{, b:u32}, !c:pred", ArriveAndWait).exchanges(),
    block!("bar{.cta}.red.op.pred d, a:u32{, b:u32}, !c:pred", ArriveAndWait).with(".op", "and or").exchanges(),
    form("bar.warp.sync membermask:u32")
        .named("bar.warp").convergence(Convergence::MemberMask).barrier(BarrierAction::ArriveAndWait),
    block!("barrier.cluster.arrive{.sem}{.aligned}", Arrive).with(".sem", "release relaxed").named("barrier.cluster.arrive"),
    block!("barrier.cluster.wait{.acquire}{.aligned}", Wait).named("barrier.cluster.wait"),
    form("membar.level").with(".level", "cta gl sys").fence(),
    form("membar.proxy.proxykind").with(".proxykind", "alias").named("membar.proxy").fence(),
    form("fence{.sem}.scope").with(".sem", "sc acq_rel acquire release").with(".scope", "cta cluster gpu sys").fence(),
    form("fence.acquire.sync_restrict::shared::cluster.cluster").fence(),
    form("fence.release.sync_restrict::shared::cta.cluster").fence(),
    form("fence.op_restrict.release.cluster").with(".op_restrict", "mbarrier_init").fence(),
    form("fence.proxy.proxykind")
        .with(".proxykind", "alias async async.global async.shared::cta async.shared::cluster").named("fence.proxy").fence(),
    form("fence.proxy.to_proxy::from_proxy.release.scope")
        .with(".to_proxy::from_proxy", "tensormap::generic").with(".scope", "cta cluster gpu sys").named("fence.proxy").fence(),
    form("fence.proxy.to_proxy::from_proxy.acquire.scope [a], size:imm")
        .with(".to_proxy::from_proxy", "tensormap::generic").with(".scope", "cta cluster gpu sys").named("fence.proxy").fence(),
    form("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster").named("fence.proxy").fence(),
    form("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster").named("fence.proxy").fence(),
    form("griddepcontrol.action").with(".action", "launch_dependents wait").convergence(Convergence::Present),
];
