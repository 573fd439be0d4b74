//! Barriers in shared memory: `mbarrier`.

use crate::effect::{BarrierAction, ObjectUse, Order, Scope};
use crate::form::{Access, Extent, Form, ORDERED, Rule, form, updates, writes};

const SPACE: &str = "shared shared::cta@7.8+sm_80";
const ANY_SPACE: &str = "shared shared::cta shared::cluster";

const OBJECT: Access = updates("a")
    .of(Extent::Bytes(8))
    .taken_for(ObjectUse::Mbarrier);
// The manual says that a missing scope is `.cta`. CUTLASS arrives at the mbarriers of other blocks without one, and relies on the
// order: so only a scope that is written narrows it.
const ARRIVAL: &[Access] = &[OBJECT.ordered(Order::Release, Scope::Cluster)];
const WAIT: &[Access] = &[OBJECT.ordered(Order::Acquire, Scope::Cluster)];
const COUNT: &[Access] = &[OBJECT.ordered(Order::Relaxed, Scope::Cluster)];

pub(super) const FORMS: &[Form] = &[
    form("mbarrier.init:{.space}.b64 [a], count:u32").since("7.0 sm_80")
        .with(".space", SPACE)
        .barrier(BarrierAction::Setup).accesses(&[writes("a").of(Extent::Bytes(8)).taken_for(ObjectUse::MbarrierInit)]),
    form("mbarrier.inval:{.space}.b64 [a]").since("7.0 sm_80")
        .with(".space", SPACE)
        .barrier(BarrierAction::Setup).accesses(&[writes("a").of(Extent::Bytes(8)).taken_for(ObjectUse::MbarrierInval)]),
    form("mbarrier.expect_tx:{.sem}{.scope}{.space}.b64 [a], tx:u32").since("8.0 sm_90")
        .with(".sem", "relaxed").rules(ORDERED).with(".scope", "cta cluster").with(".space", ANY_SPACE)
        .accesses(COUNT),
    form("mbarrier.complete_tx:{.sem}{.scope}{.space}.b64 [a], tx:u32").since("8.0 sm_90")
        .with(".sem", "relaxed").rules(ORDERED).with(".scope", "cta cluster").with(".space", ANY_SPACE)
        .accesses(COUNT),
    form("mbarrier.arrive:{.sem}{.scope}{.space}.b64 d, [a]").since("7.0 sm_80")
        .with(".sem", "release@8.0+sm_80 relaxed@8.6+sm_90").rules(ORDERED).with(".scope", "cta@8.0+sm_80 cluster@8.0+sm_90").with(".space", SPACE)
        .barrier(BarrierAction::Arrive).accesses(ARRIVAL),
    form("mbarrier.arrive:{.sem}{.scope}{.space}.b64 d, [a], count:u32").since("7.8 sm_90")
        .with(".sem", "release@8.0+sm_90 relaxed@8.6+sm_90").rules(ORDERED).with(".scope", "cta@8.0+sm_90 cluster@8.0+sm_90").with(".space", SPACE)
        .barrier(BarrierAction::Arrive).accesses(ARRIVAL),
    form("mbarrier.arrive:{.sem}{.scope}.shared::cluster.b64 _, [a]{, count:u32}").since("8.0 sm_90")
        .with(".sem", "release relaxed@8.6+sm_90").rules(ORDERED).with(".scope", "cta cluster")
        .barrier(BarrierAction::Arrive).accesses(ARRIVAL),
    form("mbarrier.arrive.expect_tx:{.sem}{.scope}{.space}.b64 d, [a], tx:u32").since("8.0 sm_90")
        .with(".sem", "release relaxed@8.6+sm_90").rules(ORDERED).with(".scope", "cta cluster").with(".space", SPACE)
        .barrier(BarrierAction::Arrive).accesses(ARRIVAL),
    form("mbarrier.arrive.expect_tx:{.sem}{.scope}.shared::cluster.b64 _, [a], tx:u32").since("8.0 sm_90")
        .with(".sem", "release relaxed@8.6+sm_90").rules(ORDERED).with(".scope", "cta cluster")
        .barrier(BarrierAction::Arrive).accesses(ARRIVAL),
    form("mbarrier.arrive:.noComplete{.release}{.cta}{.space}.b64 d, [a], count:u32").since("7.0 sm_80")
        .rules(&[Rule::Needs(".release", ".cta"), Rule::Needs(".cta", ".release")])
        .with(".space", SPACE)
        .barrier(BarrierAction::Arrive).accesses(ARRIVAL).with(".release", "release@8.0+sm_80").with(".cta", "cta@8.0+sm_80"),
    form("mbarrier.arrive_drop:{.sem}{.scope}{.space}.b64 d, [a]").since("7.0 sm_80")
        .with(".sem", "release@8.0+sm_80 relaxed@8.6+sm_90").rules(ORDERED).with(".scope", "cta@8.0+sm_80 cluster@8.0+sm_90").with(".space", SPACE)
        .barrier(BarrierAction::Arrive).accesses(ARRIVAL),
    form("mbarrier.arrive_drop:{.sem}{.scope}{.space}.b64 d, [a], count:u32").since("7.8 sm_90")
        .with(".sem", "release@8.0+sm_90 relaxed@8.6+sm_90").rules(ORDERED).with(".scope", "cta@8.0+sm_90 cluster@8.0+sm_90").with(".space", SPACE)
        .barrier(BarrierAction::Arrive).accesses(ARRIVAL),
    form("mbarrier.arrive_drop:{.sem}{.scope}.shared::cluster.b64 _, [a]{, count:u32}").since("8.0 sm_90")
        .with(".sem", "release relaxed@8.6+sm_90").rules(ORDERED).with(".scope", "cta cluster")
        .barrier(BarrierAction::Arrive).accesses(ARRIVAL),
    form("mbarrier.arrive_drop.expect_tx:{.sem}{.scope}{.space}.b64 d, [a], tx:u32").since("8.0 sm_90")
        .with(".sem", "release relaxed@8.6+sm_90").rules(ORDERED).with(".scope", "cta cluster").with(".space", SPACE)
        .barrier(BarrierAction::Arrive).accesses(ARRIVAL),
    form("mbarrier.arrive_drop.expect_tx:{.sem}{.scope}.shared::cluster.b64 _, [a], tx:u32").since("8.0 sm_90")
        .with(".sem", "release relaxed@8.6+sm_90").rules(ORDERED).with(".scope", "cta cluster")
        .barrier(BarrierAction::Arrive).accesses(ARRIVAL),
    form("mbarrier.arrive_drop:.noComplete{.release}{.cta}{.space}.b64 d, [a], count:u32").since("7.0 sm_80")
        .rules(&[Rule::Needs(".release", ".cta"), Rule::Needs(".cta", ".release")])
        .with(".space", SPACE)
        .barrier(BarrierAction::Arrive).accesses(ARRIVAL).with(".release", "release@8.0+sm_80").with(".cta", "cta@8.0+sm_80"),
    form("mbarrier.test_wait:{.sem}{.scope}{.space}.b64 d:pred, [a], state:b64").since("7.0 sm_80")
        .with(".sem", "acquire@8.0+sm_80 relaxed@8.6+sm_90").rules(ORDERED).with(".scope", "cta@8.0+sm_80 cluster@8.0+sm_90").with(".space", SPACE)
        .barrier(BarrierAction::Test).accesses(WAIT),
    form("mbarrier.test_wait.parity:{.sem}{.scope}{.space}.b64 d:pred, [a], phaseParity:u32").since("7.1 sm_80")
        .with(".sem", "acquire@8.0+sm_80 relaxed@8.6+sm_90").rules(ORDERED).with(".scope", "cta@8.0+sm_80 cluster@8.0+sm_90").with(".space", SPACE)
        .barrier(BarrierAction::Test).accesses(WAIT),
    form("mbarrier.try_wait:{.sem}{.scope}{.space}.b64 d:pred, [a], state:b64{, suspendTimeHint:u32}").since("7.8 sm_90")
        .with(".sem", "acquire@8.0+sm_90 relaxed@8.6+sm_90").rules(ORDERED).with(".scope", "cta@8.0+sm_90 cluster@8.0+sm_90").with(".space", SPACE)
        .barrier(BarrierAction::Wait).accesses(WAIT),
    form("mbarrier.try_wait.parity:{.sem}{.scope}{.space}.b64 d:pred, [a], phaseParity:u32{, suspendTimeHint:u32}").since("7.8 sm_90")
        .with(".sem", "acquire@8.0+sm_90 relaxed@8.6+sm_90").rules(ORDERED).with(".scope", "cta@8.0+sm_90 cluster@8.0+sm_90").with(".space", SPACE)
        .barrier(BarrierAction::Wait).accesses(WAIT),
    form("mbarrier.pending_count:.b64 d:u32, state:b64").since("7.0 sm_80"),
];
