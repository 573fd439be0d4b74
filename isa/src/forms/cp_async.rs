//! Asynchronous copies of a thread: `cp.async`.

use crate::effect::{BarrierAction, Completion, Order, Scope};
use crate::form::{Extent, Form, form, reads, signals, writes};

macro_rules! copy {
    ($syntax:literal) => {
        form($syntax)
            .with(".state", "shared shared::cta")
            .with(".level::cache_hint", "L2::cache_hint@7.4+sm_80")
            .with(
                ".prefetch_size",
                "L2::64B@7.4+sm_80 L2::128B@7.4+sm_80 L2::256B@7.4+sm_80",
            )
            .accesses(&[
                writes("dst")
                    .nth_space(0)
                    .until(Completion::AsyncGroup)
                    .of(Extent::Operand("cp-size")),
                reads("src")
                    .nth_space(1)
                    .until(Completion::AsyncGroup)
                    .of(Extent::Operand("cp-size")),
            ])
    };
}

pub(super) const FORMS: &[Form] = &[
    copy!("cp.async:.ca.state.global{.level::cache_hint}{.prefetch_size} [dst], [src], cp-size:imm{, src-size:u32}{, policy:b64 if .level::cache_hint}").since("7.0 sm_80"),
    copy!("cp.async:.cg.state.global{.level::cache_hint}{.prefetch_size} [dst], [src], cp-size:imm{, src-size:u32}{, policy:b64 if .level::cache_hint}").since("7.0 sm_80"),
    copy!("cp.async:.ca.state.global{.level::cache_hint}{.prefetch_size} [dst], [src], cp-size:imm, !ignore-src:pred{, policy:b64 if .level::cache_hint}").since("7.5 sm_80"),
    copy!("cp.async:.cg.state.global{.level::cache_hint}{.prefetch_size} [dst], [src], cp-size:imm, !ignore-src:pred{, policy:b64 if .level::cache_hint}").since("7.5 sm_80"),
    form("cp.async.commit_group:").since("7.0 sm_80"),
    form("cp.async.wait_group: n:imm").since("7.0 sm_80"),
    form("cp.async.wait_all:").since("7.0 sm_80"),
    form("cp.async.mbarrier.arrive:{.noinc}{.state}.b64 [a]").since("7.0 sm_80")
        .with(".state", "shared shared::cta@7.8+sm_80")
        .barrier(BarrierAction::Arrive)
        // It arrives when the copies are done, and what it releases is their bytes.
        .accesses(&[signals("a").ordered(Order::Release, Scope::Block).until(Completion::AsyncGroup)]),
];
