//! Barriers of blocks, clusters and warps, and fences.

use crate::effect::{BarrierAction, Convergence};
use crate::form::{Form, form};

/// To which memory a fence is restricted. Where the manual has no such restriction, ptxas makes the same code with and without it.
const RESTRICTED: &str =
    "sync_restrict::shared::cta@8.6+sm_90 sync_restrict::shared::cluster@8.6+sm_90";
/// State spaces that change nothing of a fence.
const SPACES: &str = "global shared shared::cta shared::cluster";

macro_rules! block {
    ($syntax:literal, $action:ident) => {
        form($syntax)
            .convergence(Convergence::Barrier)
            .barrier(BarrierAction::$action)
    };
}

pub(super) const FORMS: &[Form] = &[
    block!(
        "barrier{.cta}:.sync{.aligned} a:u32@0..15{, b:u32@0..4294967296%32}",
        ArriveAndWait
    )
    .since("6.0 sm_30")
    .with(".cta", "cta@7.8+sm_30"),
    block!(
        "barrier{.cta}.arrive:{.aligned} a:u32@0..15, b:u32@32..4294967296%32",
        Arrive
    )
    .since("6.0 sm_30")
    .with(".cta", "cta@7.8+sm_30"),
    block!(
        "barrier{.cta}.red:.popc{.aligned}.u32 d, a:u32@0..15{, b:u32@0..4294967296%32}, !c:pred",
        ArriveAndWait
    )
    .since("6.0 sm_30")
    .exchanges()
    .with(".cta", "cta@7.8+sm_30"),
    block!(
        "barrier{.cta}.red:.op{.aligned}.pred d, a:u32@0..15{, b:u32@0..4294967296%32}, !c:pred",
        ArriveAndWait
    )
    .since("6.0 sm_30")
    .with(".op", "and or")
    .exchanges()
    .with(".cta", "cta@7.8+sm_30"),
    block!(
        "bar{.cta}:.sync a:u32@0..15{, b:u32@0..4294967296%32}",
        ArriveAndWait
    )
    .with(".cta", "cta@7.8"),
    block!(
        "bar{.cta}.arrive: a:u32@0..15, b:u32@32..4294967296%32",
        Arrive
    )
    .with(".cta", "cta@7.8"),
    block!(
        "bar{.cta}.red:.popc.u32 d, a:u32@0..15{, b:u32@0..4294967296%32}, !c:pred",
        ArriveAndWait
    )
    .exchanges()
    .with(".cta", "cta@7.8"),
    block!(
        "bar{.cta}.red:.op.pred d, a:u32@0..15{, b:u32@0..4294967296%32}, !c:pred",
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
        .with(".proxykind", "alias async@8.0+sm_90")
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
    form("fence.op_restrict.release{.sync_restrict}.cluster")
        .since("8.0 sm_90")
        .with(".sync_restrict", RESTRICTED)
        .with(".op_restrict", "mbarrier_init")
        .fence(),
    form("fence.proxy:.proxykind{.sync_restrict}")
        .since("7.5 sm_70")
        .with(".sync_restrict", RESTRICTED)
        .with(".proxykind", "alias async@8.0+sm_90")
        .fence(),
    form("fence.proxy:.async.space{.sync_restrict}")
        .since("8.0 sm_90")
        .with(".sync_restrict", RESTRICTED)
        .with(".space", "global shared::cta shared::cluster")
        .fence(),
    form("fence.proxy:.to_proxy::from_proxy.sem{.space}{.sync_restrict}.scope")
        .since("8.3 sm_90")
        .with(".sem", "release acq_rel")
        .with(".space", SPACES)
        .with(".sync_restrict", RESTRICTED)
        .with(".to_proxy::from_proxy", "tensormap::generic")
        .with(".scope", "cta cluster gpu sys")
        .fence(),
    form("fence.proxy:.to_proxy::from_proxy.sem.scope [a], size:imm@128")
        .since("8.3 sm_90")
        .with(".sem", "acquire acq_rel")
        .with(".to_proxy::from_proxy", "tensormap::generic")
        .with(".scope", "cta cluster gpu sys")
        .fence(),
    form("fence.proxy:.async::generic.acquire{.space}.sync_restrict::shared::cluster.cluster")
        .since("8.6 sm_90")
        .with(".space", SPACES)
        .fence(),
    form("fence.proxy:.async::generic.release{.space}.sync_restrict::shared::cta.cluster")
        .since("8.6 sm_90")
        .with(".space", SPACES)
        .fence(),
    form("fence.proxy:.async::generic.acq_rel{.space}{.sync_restrict}.scope")
        .since("8.3 sm_90")
        .with(".space", SPACES)
        .with(".sync_restrict", RESTRICTED)
        .with(".scope", "cta cluster gpu sys")
        .fence(),
    form("griddepcontrol.action")
        .since("7.8 sm_90")
        .with(".action", "launch_dependents wait")
        .convergence(Convergence::Present),
];
