//! Reductions and broadcasts over the memory of several devices.

use crate::effect::{Order, Proxy, Scope};
use crate::form::{Access, Form, ORDERED, Rule, form, reads, updates, writes};

const SCOPE: &str = "cta cluster gpu sys";

const LOAD: &[Access] = &[reads("a").by(Proxy::Multimem)];
const STORE: &[Access] = &[writes("a").by(Proxy::Multimem)];
const REDUCE: &[Access] = &[updates("a")
    .by(Proxy::Multimem)
    .ordered(Order::Relaxed, Scope::System)];

macro_rules! load {
    ($syntax:literal) => {
        form($syntax).with(".ss", "global").accesses(LOAD)
    };
}

macro_rules! reduce {
    ($syntax:literal) => {
        form($syntax)
            .with(".sem", "relaxed release")
            .with(".scope", SCOPE)
            .with(".ss", "global")
            .rules(ORDERED)
            .accesses(REDUCE)
    };
}

pub(super) const FORMS: &[Form] = &[
    load!("multimem.ld_reduce:{.weak}{.ss}.op.type d, [a]")
        .since("8.1 sm_90")
        .with(".op", "min max")
        .with(".type", "u32 s32 u64 s64"),
    load!("multimem.ld_reduce:{.weak}{.ss}.add.type d, [a]")
        .since("8.1 sm_90")
        .with(".type", "u32 s32 u64 f32 f64"),
    load!("multimem.ld_reduce:{.weak}{.ss}.op.type d, [a]")
        .since("8.1 sm_90")
        .with(".op", "and or xor")
        .with(".type", "b32 b64"),
    load!("multimem.ld_reduce:.sem.scope{.ss}.op.type d, [a]")
        .since("8.1 sm_90")
        .with(".sem", "relaxed acquire")
        .with(".scope", SCOPE)
        .with(".op", "min max")
        .with(".type", "u32 s32 u64 s64"),
    load!("multimem.ld_reduce:.sem.scope{.ss}.add.type d, [a]")
        .since("8.1 sm_90")
        .with(".sem", "relaxed acquire")
        .with(".scope", SCOPE)
        .with(".type", "u32 s32 u64 f32 f64"),
    load!("multimem.ld_reduce:.sem.scope{.ss}.op.type d, [a]")
        .since("8.1 sm_90")
        .with(".sem", "relaxed acquire")
        .with(".scope", SCOPE)
        .with(".op", "and or xor")
        .with(".type", "b32 b64"),
    load!("multimem.ld_reduce:{.weak}{.ss}.add{.acc}{.vec}.type d*v, [a]")
        .since("8.1 sm_90")
        .with(".acc", "acc::f32@8.2+sm_90")
        .with(".vec", "v2 v4")
        .with(".type", "f16x2 bf16x2"),
    load!("multimem.ld_reduce:{.weak}{.ss}.add{.acc}.vec.type d*v, [a]")
        .since("8.1 sm_90")
        .with(".acc", "acc::f32@8.2+sm_90")
        .with(".vec", "v2 v4 v8")
        .with(".type", "f16 bf16"),
    load!("multimem.ld_reduce:{.weak}{.ss}.op{.vec}.type d*v, [a]")
        .since("8.1 sm_90")
        .with(".op", "min max")
        .with(".vec", "v2 v4")
        .with(".type", "f16x2 bf16x2"),
    load!("multimem.ld_reduce:{.weak}{.ss}.op.vec.type d*v, [a]")
        .since("8.1 sm_90")
        .with(".op", "min max")
        .with(".vec", "v2 v4 v8")
        .with(".type", "f16 bf16"),
    load!("multimem.ld_reduce:{.weak}{.ss}.add.vec.f32 d*v, [a]")
        .since("8.1 sm_90")
        .with(".vec", "v2 v4"),
    load!("multimem.ld_reduce:.sem.scope{.ss}.add{.acc}{.vec}.type d*v, [a]")
        .since("8.1 sm_90")
        .with(".sem", "relaxed acquire")
        .with(".scope", SCOPE)
        .with(".acc", "acc::f32@8.2+sm_90")
        .with(".vec", "v2 v4")
        .with(".type", "f16x2 bf16x2"),
    load!("multimem.ld_reduce:.sem.scope{.ss}.add{.acc}.vec.type d*v, [a]")
        .since("8.1 sm_90")
        .with(".sem", "relaxed acquire")
        .with(".scope", SCOPE)
        .with(".acc", "acc::f32@8.2+sm_90")
        .with(".vec", "v2 v4 v8")
        .with(".type", "f16 bf16"),
    load!("multimem.ld_reduce:.sem.scope{.ss}.op{.vec}.type d*v, [a]")
        .since("8.1 sm_90")
        .with(".sem", "relaxed acquire")
        .with(".scope", SCOPE)
        .with(".op", "min max")
        .with(".vec", "v2 v4")
        .with(".type", "f16x2 bf16x2"),
    load!("multimem.ld_reduce:.sem.scope{.ss}.op.vec.type d*v, [a]")
        .since("8.1 sm_90")
        .with(".sem", "relaxed acquire")
        .with(".scope", SCOPE)
        .with(".op", "min max")
        .with(".vec", "v2 v4 v8")
        .with(".type", "f16 bf16"),
    load!("multimem.ld_reduce:.sem.scope{.ss}.add.vec.f32 d*v, [a]")
        .since("8.1 sm_90")
        .with(".sem", "relaxed acquire")
        .with(".scope", SCOPE)
        .with(".vec", "v2 v4"),
    form("multimem.st:{.weak}{.ss}.type [a], b")
        .since("8.1 sm_90")
        .with(".ss", "global")
        .with(".type", "b32 b64 u32 u64 s32 s64 f32 f64 f16x2 bf16x2")
        .accesses(STORE),
    form("multimem.st:.sem.scope{.ss}.type [a], b")
        .since("8.1 sm_90")
        .with(".sem", "relaxed release")
        .with(".scope", SCOPE)
        .with(".ss", "global")
        .with(".type", "b32 b64 u32 u64 s32 s64 f32 f64 f16x2 bf16x2")
        .accesses(STORE),
    form("multimem.st:{.weak}{.ss}.vec.type [a], b*v")
        .since("8.1 sm_90")
        .with(".ss", "global")
        .with(".vec", "v2 v4 v8")
        .with(".type", "f16 f16x2 bf16 bf16x2")
        .rules(&[Rule::Excludes(".v8", ".f16x2 .bf16x2")])
        .accesses(STORE),
    form("multimem.st:{.weak}{.ss}.vec.f32 [a], b*v")
        .since("8.1 sm_90")
        .with(".ss", "global")
        .with(".vec", "v2 v4")
        .accesses(STORE),
    reduce!("multimem.red:{.sem}{.scope}{.ss}.op.type [a], b")
        .since("8.1 sm_90")
        .with(".op", "min max")
        .with(".type", "u32 s32 u64 s64"),
    reduce!("multimem.red:{.sem}{.scope}{.ss}.add.type [a], b")
        .since("8.1 sm_90")
        .with(".type", "u32 s32 u64 f32 f64"),
    reduce!("multimem.red:{.sem}{.scope}{.ss}.op.type [a], b")
        .since("8.1 sm_90")
        .with(".op", "and or xor")
        .with(".type", "b32 b64"),
    reduce!("multimem.red:{.sem}{.scope}{.ss}.op.vec.type [a], b*v")
        .since("8.1 sm_90")
        .with(".op", "min max")
        .with(".vec", "v2 v4")
        .with(".type", "f16x2 bf16x2"),
    reduce!("multimem.red:{.sem}{.scope}{.ss}.add{.vec}.type [a], b*v")
        .since("8.1 sm_90")
        .with(".vec", "v2 v4")
        .with(".type", "f16x2 bf16x2"),
    reduce!("multimem.red:{.sem}{.scope}{.ss}.op.vec.type [a], b*v")
        .since("8.1 sm_90")
        .with(".op", "add min max")
        .with(".vec", "v2 v4 v8")
        .with(".type", "f16 bf16"),
    reduce!("multimem.red:{.sem}{.scope}{.ss}.add.vec.f32 [a], b*v")
        .since("8.1 sm_90")
        .with(".vec", "v2 v4"),
];
