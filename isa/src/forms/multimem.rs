//! Reductions and broadcasts over the memory of several devices.

use crate::effect::{Order, Proxy, Scope};
use crate::form::{Access, Form, form, reads, updates, writes};

const SCOPE: &str = "cta cluster gpu sys";

const LOAD: &[Access] = &[reads("a").by(Proxy::Multimem)];
const STORE: &[Access] = &[writes("a").by(Proxy::Multimem)];
const REDUCE: &[Access] = &[updates("a").by(Proxy::Multimem).ordered(Order::Relaxed, Scope::Device)];

macro_rules! load {
    ($syntax:literal) => {
        form($syntax).with(".ss", "global").named("multimem.ld_reduce").accesses(LOAD)
    };
}

macro_rules! reduce {
    ($syntax:literal) => {
        form($syntax)
            .with(".sem", "relaxed release")
            .with(".scope", SCOPE)
            .with(".ss", "global")
            .named("multimem.red")
            .accesses(REDUCE)
    };
}

pub(super) const FORMS: &[Form] = &[
    load!("multimem.ld_reduce{.weak}{.ss}.op.type d, [a]").with(".op", "min max").with(".type", "u32 s32 u64 s64"),
    load!("multimem.ld_reduce{.weak}{.ss}.add.type d, [a]").with(".type", "u32 s32 u64 f32 f64"),
    load!("multimem.ld_reduce{.weak}{.ss}.op.type d, [a]").with(".op", "and or xor").with(".type", "b32 b64"),
    load!("multimem.ld_reduce.sem.scope{.ss}.op.type d, [a]")
        .with(".sem", "relaxed acquire").with(".scope", SCOPE).with(".op", "min max").with(".type", "u32 s32 u64 s64"),
    load!("multimem.ld_reduce.sem.scope{.ss}.add.type d, [a]")
        .with(".sem", "relaxed acquire").with(".scope", SCOPE).with(".type", "u32 s32 u64 f32 f64"),
    load!("multimem.ld_reduce.sem.scope{.ss}.op.type d, [a]")
        .with(".sem", "relaxed acquire").with(".scope", SCOPE).with(".op", "and or xor").with(".type", "b32 b64"),
    load!("multimem.ld_reduce{.weak}{.ss}.add{.acc}{.vec}.type d*v, [a]")
        .with(".acc", "acc::f32").with(".vec", "v2 v4 v8").with(".type", "f16 f16x2 bf16 bf16x2"),
    load!("multimem.ld_reduce{.weak}{.ss}.op{.vec}.type d*v, [a]")
        .with(".op", "min max").with(".vec", "v2 v4 v8").with(".type", "f16 f16x2 bf16 bf16x2"),
    load!("multimem.ld_reduce{.weak}{.ss}.add.vec.f32 d*v, [a]").with(".vec", "v2 v4"),
    form("multimem.st{.weak}{.ss}.type [a], b")
        .with(".ss", "global").with(".type", "b32 b64 u32 u64 s32 s64 f32 f64").named("multimem.st").accesses(STORE),
    form("multimem.st.sem.scope{.ss}.type [a], b")
        .with(".sem", "relaxed release").with(".scope", SCOPE).with(".ss", "global")
        .with(".type", "b32 b64 u32 u64 s32 s64 f32 f64").named("multimem.st").accesses(STORE),
    form("multimem.st{.weak}{.ss}.vec.type [a], b*v")
        .with(".ss", "global").with(".vec", "v2 v4 v8").with(".type", "f16 f16x2 bf16 bf16x2").named("multimem.st")
        .accesses(STORE),
    form("multimem.st{.weak}{.ss}.vec.f32 [a], b*v").with(".ss", "global").with(".vec", "v2 v4").named("multimem.st").accesses(STORE),
    reduce!("multimem.red{.sem}{.scope}{.ss}.op.type [a], b").with(".op", "min max").with(".type", "u32 s32 u64 s64"),
    reduce!("multimem.red{.sem}{.scope}{.ss}.add.type [a], b").with(".type", "u32 s32 u64 f32 f64"),
    reduce!("multimem.red{.sem}{.scope}{.ss}.op.type [a], b").with(".op", "and or xor").with(".type", "b32 b64"),
    reduce!("multimem.red{.sem}{.scope}{.ss}.op{.vec}.type [a], b*v")
        .with(".op", "add min max").with(".vec", "v2 v4 v8").with(".type", "f16 f16x2 bf16 bf16x2"),
    reduce!("multimem.red{.sem}{.scope}{.ss}.add.vec.f32 [a], b*v").with(".vec", "v2 v4"),
];
