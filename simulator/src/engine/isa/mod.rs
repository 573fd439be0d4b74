//! The instruction families: each file lowers its instructions (checking every modifier) and holds their operations.

pub(crate) mod approximate;
pub(crate) mod arithmetic;
pub(crate) mod atomic;
pub(crate) mod barrier;
pub(crate) mod bits;
pub(crate) mod call;
pub(crate) mod carry;
pub(crate) mod compare;
pub(crate) mod control;
pub(crate) mod convert;
pub(crate) mod convert_integer;
pub(crate) mod copy;
pub(crate) mod dot;
pub(crate) mod float;
pub(crate) mod fragment;
pub(crate) mod half;
pub(crate) mod integer;
pub(crate) mod logic;
pub(crate) mod lowering;
pub(crate) mod match_lanes;
pub(crate) mod matrix;
pub(crate) mod mbarrier;
pub(crate) mod memory;
pub(crate) mod moves;
pub(crate) mod parameters;
pub(crate) mod redux;
pub(crate) mod shuffle;
pub(crate) mod special;
pub(crate) mod stack;
pub(crate) mod variables;
pub(crate) mod video;
pub(crate) mod vote;

use super::lower::Builder;
use super::lower::modifiers::unknown;
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
        impl<$($generics)*> $crate::engine::exec::level::Op for $name {
            type Operands = $crate::engine::exec::operand::Unary<$ta, $ret>;
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
        impl<$($generics)*> $crate::engine::exec::level::Op for $name {
            type Operands = $crate::engine::exec::operand::Binary<$ta, $tb, $ret>;
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
        impl<$($generics)*> $crate::engine::exec::level::Op for $name {
            type Operands = $crate::engine::exec::operand::Ternary<$ta, $tb, $tc, $ret>;
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
        impl$(<$($t: $bound),+>)? $crate::engine::exec::level::Op for $name$(<$($t),+>)? {
            type Operands = $crate::engine::isa::lanewise_with! { @operands $ret, $option_ty, $($ty),+ };
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

/// Lowers one instruction.
pub(crate) fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    crate::engine::lower::accept::check(cx, inst)?;
    match inst.opcode {
        "add" | "sub" | "mul" | "mad" | "fma" | "div" | "rem" | "min" | "max" | "abs" | "neg" => {
            arithmetic::lower(cx, inst)
        }
        "and" | "or" | "xor" | "not" | "cnot" | "shl" | "shr" => logic::lower(cx, inst),
        "mul24" | "mad24" | "sad" => integer::lower(cx, inst),
        "addc" | "subc" | "madc" => carry::lower(cx, inst),
        "dp4a" | "dp2a" => dot::lower(cx, inst),
        "popc" | "clz" | "bfind" | "brev" | "bfe" | "bfi" | "bmsk" | "szext" | "fns" | "lop3"
        | "shf" | "prmt" => bits::lower(cx, inst),
        "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh" | "copysign"
        | "testp" => approximate::lower(cx, inst),
        "setp" | "set" | "selp" | "slct" => compare::lower(cx, inst),
        "cvt" => convert::lower(cx, inst),
        "mov" => moves::lower(cx, inst),
        "cvta" | "isspacep" | "mapa" | "getctarank" => variables::lower(cx, inst),
        "ld" | "ldu" | "st" | "prefetch" | "prefetchu" | "applypriority" | "discard" => {
            memory::lower(cx, inst)
        }
        "atom" | "red" => atomic::lower(cx, inst),
        "membar" | "fence" => barrier::fence(cx, inst),
        "bar" | "barrier" => barrier::lower(cx, inst),
        "shfl" => shuffle::lower(cx, inst),
        "vote" | "activemask" | "elect" => vote::lower(cx, inst),
        "match" => match_lanes::lower(cx, inst),
        "redux" => redux::lower(cx, inst),
        "bra" | "brx" | "ret" | "exit" | "trap" | "brkpt" | "nanosleep" | "pmevent" => {
            control::lower(cx, inst)
        }
        "call" => call::lower(cx, inst),
        "mbarrier" => mbarrier::lower(cx, inst),
        "cp" => copy::lower(cx, inst),
        "alloca" | "stacksave" | "stackrestore" | "setmaxnreg" | "griddepcontrol"
        | "createpolicy" => stack::lower(cx, inst),
        "wmma" | "mma" | "movmatrix" => matrix::lower(cx, inst),
        "ldmatrix" | "stmatrix" => fragment::lower_rows(cx, inst),
        opcode if video::is_video(opcode) => video::lower(cx, inst),
        _ => Err(unknown(inst)),
    }
}
