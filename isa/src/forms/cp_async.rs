//! Asynchronous copies of a thread: `cp.async`.

use crate::effect::{BarrierAction, Completion};
use crate::form::{Extent, Form, form, reads, updates, writes};

macro_rules! copy {
    ($syntax:literal) => {
        form($syntax)
            .with(".state", "shared shared::cta")
            .with(".level::cache_hint", "L2::cache_hint")
            .with(".prefetch_size", "L2::64B L2::128B L2::256B")
            .accesses(&[
                writes("dst").nth_space(0).until(Completion::AsyncGroup).of(Extent::Operand("cp-size")),
                reads("src").nth_space(1).until(Completion::AsyncGroup).of(Extent::Operand("cp-size")),
            ])
    };
}

pub(super) const FORMS: &[Form] = &[
    copy!("cp.async.ca.state.global{.level::cache_hint}{.prefetch_size} [dst], [src], cp-size:imm{, src-size:u32}{, policy:b64 if .level::cache_hint}").named("cp.async"),
    copy!("cp.async.cg.state.global{.level::cache_hint}{.prefetch_size} [dst], [src], cp-size:imm{, src-size:u32}{, policy:b64 if .level::cache_hint}").named("cp.async"),
    copy!("cp.async.ca.state.global{.level::cache_hint}{.prefetch_size} [dst], [src], cp-size:imm, !ignore-src:pred{, policy:b64 if .level::cache_hint}").named("cp.async"),
    copy!("cp.async.cg.state.global{.level::cache_hint}{.prefetch_size} [dst], [src], cp-size:imm, !ignore-src:pred{, policy:b64 if .level::cache_hint}").named("cp.async"),
    form("cp.async.commit_group").named("cp.async.commit_group"),
    form("cp.async.wait_group n:imm").named("cp.async.wait_group"),
    form("cp.async.wait_all").named("cp.async.wait_all"),
    form("cp.async.mbarrier.arrive{.noinc}{.state}.b64 [a]")
        .with(".state", "shared shared::cta")
        .named("cp.async.mbarrier.arrive")
        .barrier(BarrierAction::Arrive)
        .accesses(&[updates("a").until(Completion::AsyncGroup).of(Extent::Bytes(8))]),
];
