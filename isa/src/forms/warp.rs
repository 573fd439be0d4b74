//! Communication within a warp.

use crate::effect::Convergence;
use crate::form::{Form, form};

macro_rules! exchange {
    ($syntax:literal) => {
        form($syntax)
            .convergence(Convergence::MemberMask)
            .exchanges()
    };
}

pub(super) const FORMS: &[Form] = &[
    form("shfl.mode.b32 d{|p}, a, b:u32, c:u32")
        .since("3.0 sm_30")
        .with(".mode", "up down bfly idx")
        .convergence(Convergence::Present)
        .exchanges()
        .until("6.3 sm_70", "Instruction 'shfl' without '.sync' is not supported on .target sm_70 and higher from PTX ISA version 6.4"),
    exchange!("shfl.sync.mode.b32 d{|p}, a, b:u32, c:u32, membermask:u32")
        .since("6.0 sm_30")
        .with(".mode", "up down bfly idx")
        .called("shfl.sync"),
    form("vote.mode.pred d, !a:pred")
        .with(".mode", "all any uni")
        .convergence(Convergence::Present)
        .exchanges()
        .until("6.3 sm_70", "Instruction 'vote' without '.sync' is not supported on .target sm_70 and higher from PTX ISA version 6.4"),
    form("vote.ballot.b32 d, !a:pred")
        .convergence(Convergence::Present)
        .exchanges()
        .until("6.3 sm_70", "Instruction 'vote' without '.sync' is not supported on .target sm_70 and higher from PTX ISA version 6.4"),
    exchange!("vote.sync.mode.pred d, !a:pred, membermask:u32")
        .since("6.0 sm_30")
        .with(".mode", "all any uni")
        .called("vote.sync"),
    exchange!("vote.sync.ballot.b32 d, !a:pred, membermask:u32")
        .since("6.0 sm_30")
        .called("vote.sync"),
    exchange!("match.any.sync.type d:b32, a, membermask:u32")
        .since("6.0 sm_70")
        .with(".type", "b32 b64"),
    exchange!("match.all.sync.type d:b32{|p}, a, membermask:u32")
        .since("6.0 sm_70")
        .with(".type", "b32 b64"),
    exchange!("redux.sync.op.type d, a, membermask:u32")
        .since("7.0 sm_80")
        .with(".op", "add min max")
        .with(".type", "u32 s32"),
    exchange!("redux.sync.op.b32 d, a, membermask:u32")
        .since("7.0 sm_80")
        .with(".op", "and or xor"),
    exchange!("redux.sync.op{.abs}{.NaN}.f32 d, a, membermask:u32")
        .since("8.6 sm_100f")
        .with(".op", "min max"),
    exchange!("elect.sync d:u32|p, membermask:u32").since("8.0 sm_90"),
];
