//! The instruction families: each file lists its opcodes, lowers them, and holds their operations. What exists is in the crate
//! `warpsmith-isa`; [`lower()`] asks it before a family reads the modifiers of what it finds there.

mod addresses;
pub(crate) mod approximate;
pub(crate) mod arithmetic;
mod async_store;
pub(crate) mod atomic;
pub(crate) mod barrier;
pub(crate) mod bits;
mod bulk;
pub(crate) mod call;
pub(crate) mod carry;
pub(crate) mod cluster_barrier;
pub(crate) mod compare;
mod comparison;
pub(crate) mod control;
pub(crate) mod convert;
pub(crate) mod convert_integer;
pub(crate) mod copy;
pub(crate) mod dot;
mod elements;
mod family;
pub(crate) mod fence;
pub(crate) mod float;
pub(crate) mod fragment;
mod geometry;
mod grid_dependency;
mod groups;
pub(crate) mod half;
pub(crate) mod integer;
pub(crate) mod logic;
pub(crate) mod lowering;
pub(crate) mod match_lanes;
pub(crate) mod matrix;
mod matrix_operands;
pub(crate) mod matrix_rows;
pub(crate) mod mbarrier;
pub(crate) mod memory;
pub(crate) mod moves;
pub(crate) mod multimem;
pub(crate) mod parameters;
mod query;
mod reduction;
pub(crate) mod redux;
mod scalar_video;
mod selection;
pub(crate) mod shuffle;
pub(crate) mod special;
pub(crate) mod stack;
pub(crate) mod surface;
pub(crate) mod texture;
mod tiles;
mod update;
pub(crate) mod variables;
pub(crate) mod vector_memory;
pub(crate) mod video;
pub(crate) mod vote;
pub(crate) mod warp_barrier;
mod warpgroup;
pub(crate) mod wgmma;
mod wgmma_completion;
mod wgmma_follow;

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use self::family::Family;
use super::lower::form::FormReader;
use super::lower::lowerings::{Lowering, Lowerings, ReadForm};
use super::lower::{Builder, accept};
use crate::ptx::Result;
use crate::ptx::ast::Instruction;

/// Declares operations that work lane by lane: `Name<T: Bound>(a: T, b: T) -> T { .. }`. Constants of type `bool` may follow in
/// brackets: `Name<T: Bound>[SIGNED, HIGH](a: T, b: T) -> T { .. }`.
macro_rules! lanewise {
    ($(
        $name:ident $(<$t:ident: $bound:path>)? $([$($flag:ident),+])? ($($arg:ident: $ty:ty),+) -> $ret:ty $body:block
    )*) => { $(
        pub(crate) struct $name<$($t,)? $($(const $flag: bool),+)?>(std::marker::PhantomData<($($t,)?)>);
        $crate::engine::isa::lanewise! {
            @op [$($t: $bound,)? $($(const $flag: bool),+)?] [$name<$($t,)? $($($flag),+)?>] $ret, $body, $($arg: $ty),+
        }
    )* };
    (@op [$($generics:tt)*] [$name:ty] $ret:ty, $body:block, $a:ident: $ta:ty) => {
        impl<$($generics)*> $crate::engine::exec::op::Op for $name {
            type Operands = $crate::engine::exec::operand::Unary<$ta, $ret>;
            const DATAFLOW: $crate::engine::dataflow::Dataflow = $crate::engine::dataflow::Dataflow::Lanewise;
            #[inline(always)]
            fn run<L: $crate::engine::exec::level::Level>(
                warp: &mut $crate::engine::exec::warp::Warp,
                _: &mut $crate::engine::exec::cluster::Cluster<'_>,
                o: Self::Operands,
            ) -> $crate::engine::exec::warp::Flow {
                $crate::engine::exec::lanes::unary(warp, o, #[inline(always)] |$a: $ta| -> $ret { $body })
            }
        }
    };
    (@op [$($generics:tt)*] [$name:ty] $ret:ty, $body:block, $a:ident: $ta:ty, $b:ident: $tb:ty) => {
        impl<$($generics)*> $crate::engine::exec::op::Op for $name {
            type Operands = $crate::engine::exec::operand::Binary<$ta, $tb, $ret>;
            const DATAFLOW: $crate::engine::dataflow::Dataflow = $crate::engine::dataflow::Dataflow::Lanewise;
            #[inline(always)]
            fn run<L: $crate::engine::exec::level::Level>(
                warp: &mut $crate::engine::exec::warp::Warp,
                _: &mut $crate::engine::exec::cluster::Cluster<'_>,
                o: Self::Operands,
            ) -> $crate::engine::exec::warp::Flow {
                $crate::engine::exec::lanes::binary(warp, o, #[inline(always)] |$a: $ta, $b: $tb| -> $ret { $body })
            }
        }
    };
    (@op [$($generics:tt)*] [$name:ty] $ret:ty, $body:block, $a:ident: $ta:ty, $b:ident: $tb:ty, $c:ident: $tc:ty) => {
        impl<$($generics)*> $crate::engine::exec::op::Op for $name {
            type Operands = $crate::engine::exec::operand::Ternary<$ta, $tb, $tc, $ret>;
            const DATAFLOW: $crate::engine::dataflow::Dataflow = $crate::engine::dataflow::Dataflow::Lanewise;
            #[inline(always)]
            fn run<L: $crate::engine::exec::level::Level>(
                warp: &mut $crate::engine::exec::warp::Warp,
                _: &mut $crate::engine::exec::cluster::Cluster<'_>,
                o: Self::Operands,
            ) -> $crate::engine::exec::warp::Flow {
                $crate::engine::exec::lanes::ternary(
                    warp, o, #[inline(always)] |$a: $ta, $b: $tb, $c: $tc| -> $ret { $body },
                )
            }
        }
    };
}
pub(crate) use lanewise;

/// Declares operations that go through [`numerics`](crate::numerics) for each lane that executes, with an option of the
/// instruction: `Name<T: Bound>(a: T, b: T; option: O) -> T { .. }`. The operands are called `a`, `b` and `c`.
macro_rules! lanewise_with {
    ($(
        $name:ident $(<$($t:ident: $bound:path),+>)? ($($arg:ident: $ty:ty),+; $option:ident: $option_ty:ty) -> $ret:ty $body:block
    )*) => { $(
        pub(crate) struct $name$(<$($t),+>)?(std::marker::PhantomData<($($($t,)+)?)>);
        impl$(<$($t: $bound),+>)? $crate::engine::exec::op::Op for $name$(<$($t),+>)? {
            type Operands = $crate::engine::isa::lanewise_with! { @operands $ret, $option_ty, $($ty),+ };
            const DATAFLOW: $crate::engine::dataflow::Dataflow = $crate::engine::dataflow::Dataflow::Lanewise;
            #[inline(always)]
            fn run<L: $crate::engine::exec::level::Level>(
                warp: &mut $crate::engine::exec::warp::Warp,
                _: &mut $crate::engine::exec::cluster::Cluster<'_>,
                o: Self::Operands,
            ) -> $crate::engine::exec::warp::Flow {
                let $option = o.option.get();
                let ($($arg,)+) = ($(o.$arg.lanes(warp),)+);
                let mut result = [<$ret>::default(); $crate::engine::exec::operand::LANES];
                for lane in $crate::engine::exec::operand::lanes_of(warp.mask) {
                    let ($($arg,)+) = ($($arg[lane],)+);
                    result[lane] = $body;
                }
                o.d.put(warp, &result);
                $crate::engine::exec::warp::Flow::Next
            }
        }
    )* };
    (@operands $ret:ty, $option:ty, $a:ty) => {
        $crate::engine::exec::operand::UnaryWith<$a, $ret, $option>
    };
    (@operands $ret:ty, $option:ty, $a:ty, $b:ty) => {
        $crate::engine::exec::operand::BinaryWith<$a, $b, $ret, $option>
    };
    (@operands $ret:ty, $option:ty, $a:ty, $b:ty, $c:ty) => {
        $crate::engine::exec::operand::TernaryWith<$a, $b, $c, $ret, $option>
    };
}
pub(crate) use lanewise_with;

/// All families.
const FAMILIES: &[Family] = &[
    arithmetic::FAMILY,
    logic::FAMILY,
    integer::FAMILY,
    carry::FAMILY,
    dot::FAMILY,
    bits::FAMILY,
    approximate::FAMILY,
    comparison::FAMILY,
    compare::FAMILY,
    convert::FAMILY,
    moves::FAMILY,
    variables::FAMILY,
    memory::FAMILY,
    atomic::FAMILY,
    multimem::FAMILY,
    barrier::FAMILY,
    fence::FAMILY,
    grid_dependency::FAMILY,
    shuffle::FAMILY,
    vote::FAMILY,
    match_lanes::FAMILY,
    redux::FAMILY,
    control::FAMILY,
    call::FAMILY,
    mbarrier::FAMILY,
    copy::FAMILY,
    stack::FAMILY,
    matrix::FAMILY,
    matrix_rows::FAMILY,
    wgmma::FAMILY,
    scalar_video::FAMILY,
    video::FAMILY,
    texture::FAMILY,
    surface::FAMILY,
];

/// What reads the forms of an opcode.
fn reading(opcode: &str) -> Option<ReadForm> {
    static READINGS: OnceLock<FxHashMap<&str, ReadForm>> = OnceLock::new();
    let readings = READINGS.get_or_init(|| {
        let families = FAMILIES.iter();
        let opcodes = families.flat_map(|family| family.opcodes.iter().map(|&o| (o, family.read)));
        opcodes.collect()
    });
    readings.get(opcode).copied()
}

/// Reads a form's modifiers; `None` if no family lowers it.
fn read(form: &FormReader<'_>) -> Option<Lowering> {
    reading(form.opcode())?(form)
}

/// Lowers one instruction.
pub(crate) fn lower<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    lowerings: &mut Lowerings,
) -> Result<()> {
    let form = accept::check(cx, inst)?;
    cx.uses |= form.uses;
    lowerings.lower(cx, inst, &form, read)
}
