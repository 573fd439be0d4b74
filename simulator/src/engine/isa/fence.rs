//! `membar fence`.

use warpsmith_isa::effect::Scope;

use super::family::Family;
use crate::check::ProxyFence;
use crate::engine::access::check;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::Lowering;

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["membar", "fence"],
    read,
};

/// `membar` and `fence`: for threads of other blocks too if it goes `BEYOND` its own.
struct Fence<const BEYOND: bool>;

impl<const BEYOND: bool> Op for Fence<BEYOND> {
    type Operands = ();

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, (): ()) -> Flow {
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        let scope = if BEYOND { Scope::System } else { Scope::Block };
        check::fence(warp, cluster, scope);
        Flow::Next
    }
}

/// `fence.proxy.async`: memory is the same for both proxies, so only the checks are told.
struct FenceAsyncProxy;

impl Op for FenceAsyncProxy {
    type Operands = ();

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, (): ()) -> Flow {
        check::proxy_fence(warp, cluster, ProxyFence::Async);
        Flow::Next
    }
}

/// A release at the scope of the cluster for both proxies: `fence.proxy.async::generic.release`, or `fence.mbarrier_init` if it is
/// of `MBARRIERS` alone.
struct FenceBothProxies<const MBARRIERS: bool>;

impl<const MBARRIERS: bool> Op for FenceBothProxies<MBARRIERS> {
    type Operands = ();

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, (): ()) -> Flow {
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        let fence = if MBARRIERS {
            ProxyFence::MbarrierInit
        } else {
            ProxyFence::Async
        };
        check::proxy_fence(warp, cluster, fence);
        check::fence(warp, cluster, Scope::Cluster);
        Flow::Next
    }
}

/// A fence that orders nothing in shared memory: of a proxy that does not reach it.
struct FenceElsewhere;

impl Op for FenceElsewhere {
    type Operands = ();

    #[inline(always)]
    fn run<L: Level>(_: &mut Warp, _: &mut Cluster<'_>, (): ()) -> Flow {
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        Flow::Next
    }
}

/// `fence.proxy.alias`: of accesses by several virtual addresses of the same memory, which are one memory here.
struct FenceAliases;

impl Op for FenceAliases {
    type Operands = ();

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, (): ()) -> Flow {
        if let Some(touches) = cluster.touches.as_deref_mut() {
            touches.fence_aliases();
        }
        FenceElsewhere::run::<L>(warp, cluster, ())
    }
}

/// `membar.level` and `fence`. Of the proxies only the asynchronous one reaches shared memory.
fn read(form: &FormReader<'_>) -> Option<Lowering> {
    let scope = form.fence().map_or(Scope::System, |fence| fence.scope);
    if form.has("async::generic") && form.has("acq_rel") {
        return None;
    }
    let op = if form.has("mbarrier_init") {
        scalar::<FenceBothProxies<true>>()
    } else if form.has("async::generic") && form.has("release") {
        scalar::<FenceBothProxies<false>>()
    } else if form.has("async") && !form.has("global") {
        scalar::<FenceAsyncProxy>()
    } else if form.has("alias") {
        scalar::<FenceAliases>()
    } else if form.has("async") {
        scalar::<FenceElsewhere>()
    } else if scope == Scope::Block {
        scalar::<Fence<false>>()
    } else {
        scalar::<Fence<true>>()
    };
    // Of a proxy; and what restricts the order to some memory: all is ordered.
    form.has("proxy");
    form.ignore(&[
        "proxykind",
        "to_proxy::from_proxy",
        "space",
        "sync_restrict",
        "sync_restrict::shared::cluster",
        "sync_restrict::shared::cta",
    ]);
    Some(Lowering::new(move |cx, _| {
        cx.emit(op, ());
        Ok(())
    }))
}
