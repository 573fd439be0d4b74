//! Barriers of blocks, clusters and warps, and fences.

use crate::effect::{BarrierAction, Convergence};
use crate::form::{Form, form};

macro_rules! block {
    ($syntax:literal, $action:ident) => {
        form($syntax)
            .convergence(Convergence::Barrier)
            .barrier(BarrierAction::$action)
    };
}

pub(super) const FORMS: &[Form] = &[
    block!(
        "barrier{.cta}:.sync{.aligned} a:u32{, b:u32}",
        ArriveAndWait
    )
    .since("6.0 sm_30")
    .with(".cta", "cta@7.8+sm_30"),
    block!("barrier{.cta}.arrive:{.aligned} a:u32, b:u32", Arrive)
        .since("6.0 sm_30")
        .with(".cta", "cta@7.8+sm_30"),
    block!(
        "barrier{.cta}.red:.popc{.aligned}.u32 d, a:u32{, b:u32}, !c:pred",
        ArriveAndWait
    )
    .since("6.0 sm_30")
    .exchanges()
    .with(".cta", "cta@7.8+sm_30"),
    block!(
        "barrier{.cta}.red:.op{.aligned}.pred d, a:u32{, b:u32}, !c:pred",
        ArriveAndWait
    )
    .since("6.0 sm_30")
    .with(".op", "and or")
    .exchanges()
    .with(".cta", "cta@7.8+sm_30"),
    block!("bar{.cta}:.sync a:u32{, b:u32}", ArriveAndWait).with(".cta", "cta@7.8"),
    block!("bar{.cta}.arrive: a:u32, b:u32", Arrive).with(".cta", "cta@7.8"),
    block!(
        "bar{.cta}.red:.popc.u32 d, a:u32{, b:u32}, !c:pred",
        ArriveAndWait
    )
    .exchanges()
    .with(".cta", "cta@7.8"),
    block!(
        "bar{.cta}.red:.op.pred d, a:u32{, b:u32}, !c:pred",
        ArriveAndWait
    )
    .with(".op", "and or")
    .exchanges()
    .with(".cta", "cta@7.8"),
    form("bar.warp:.sync membermask:u32")
        .since("6.0 sm_30")
        .convergence(Convergence::MemberMask)
        .barrier(BarrierAction::ArriveAndWait),
    block!("barrier.cluster.arrive:{.sem}{.aligned}", Arrive)
        .since("7.8 sm_90")
        .with(".sem", "release@8.0+sm_90 relaxed@8.0+sm_90"),
    block!("barrier.cluster.wait:{.acquire}{.aligned}", Wait)
        .since("7.8 sm_90")
        .with(".acquire", "acquire@8.0+sm_90"),
    form("membar.level").with(".level", "cta gl sys").fence(),
    form("membar.proxy:.proxykind")
        .since("7.5 sm_60")
        .with(".proxykind", "alias")
        .fence(),
    form("fence{.sem}.scope")
        .since("6.0 sm_70")
        .with(".sem", "sc acq_rel acquire@8.6+sm_90 release@8.6+sm_90")
        .with(".scope", "cta cluster@7.8+sm_90 gpu sys")
        .fence(),
    form("fence.acquire.sync_restrict::shared::cluster.cluster")
        .since("8.6 sm_90")
        .fence(),
    form("fence.release.sync_restrict::shared::cta.cluster")
        .since("8.6 sm_90")
        .fence(),
    form("fence.op_restrict.release.cluster")
        .since("8.0 sm_90")
        .with(".op_restrict", "mbarrier_init")
        .fence(),
    form("fence.proxy:.proxykind")
        .since("7.5 sm_70")
        .with(".proxykind", "alias async@8.0+sm_90")
        .fence(),
    form("fence.proxy:.async.space")
        .since("8.0 sm_90")
        .with(".space", "global shared::cta shared::cluster")
        .fence(),
    form("fence.proxy:.to_proxy::from_proxy.release.scope")
        .since("8.3 sm_90")
        .with(".to_proxy::from_proxy", "tensormap::generic")
        .with(".scope", "cta cluster gpu sys")
        .fence(),
    form("fence.proxy:.to_proxy::from_proxy.acquire.scope [a], size:imm")
        .since("8.3 sm_90")
        .with(".to_proxy::from_proxy", "tensormap::generic")
        .with(".scope", "cta cluster gpu sys")
        .fence(),
    form("fence.proxy:.async::generic.acquire.sync_restrict::shared::cluster.cluster")
        .since("8.6 sm_90")
        .fence(),
    form("fence.proxy:.async::generic.release.sync_restrict::shared::cta.cluster")
        .since("8.6 sm_90")
        .fence(),
    form("griddepcontrol.action")
        .since("7.8 sm_90")
        .with(".action", "launch_dependents wait")
        .convergence(Convergence::Present),
];
