//! `wgmma`: matrix products of a warpgroup. `mma_async` only notes a product; [`super::wgmma_completion`] computes it when the warp
//! waits for it, so that a missing wait shows, and what is overwritten too early, too.

use super::family::Family;
use super::matrix_operands::{FragmentUse, fragment};
use super::warpgroup;
use super::wgmma_completion::complete;
use crate::engine::access::declared::Declared;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::group_queue::Completed;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar};
use crate::engine::exec::operand::{
    Encode, Encoded, FULL, Read, ReadList, ReadPredicate, WriteList, operands,
};
use crate::engine::exec::product::PendingProduct;
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::exec::warpgroup::Descriptors;
use crate::engine::fault::FaultKind;
use crate::engine::lower::modifiers::{Ty, unknown};
use crate::engine::lower::{Builder, Registers, Width};
use crate::numerics::matrix::accumulate::{Addend, IntegerOverflow};
use crate::numerics::matrix::descriptor::Major;
use crate::numerics::matrix::shape::{Element, Shape};
use crate::numerics::matrix::warpgroup::WarpgroupProduct;
use crate::ptx::ast::{Instruction, OperandKind};
use crate::ptx::{Error, Result};

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["wgmma"],
    lower,
};

/// Products that a warp has in flight at most: more than any program does. The oldest complete early then.
const MOST_IN_FLIGHT: usize = 256;

operands! {
    /// `d` and `c` are the same registers. A is in the four registers `a`, or, if there are none, where its descriptor says.
    /// `a_access`, `b_access`: the access words of the factors in shared memory.
    pub(crate) struct ProductOperands {
        d: WriteList<u32>,
        c: ReadList<u32>,
        a: ReadList<u32>,
        a_descriptor: Read<u64>,
        b_descriptor: Read<u64>,
        accumulates: ReadPredicate,
        product: Encoded<WarpgroupProduct>,
        a_access: u32,
        b_access: u32,
    }
    /// `keep`: groups that need not be done.
    pub(crate) struct WaitOperands { keep: u32 }
}

impl Encode for WarpgroupProduct {
    #[inline(always)]
    fn encode(self) -> u32 {
        self.to_bits()
    }

    #[inline(always)]
    fn decode(word: u32) -> Self {
        WarpgroupProduct::from_bits(word)
    }
}

/// `wgmma.fence`
struct Fence;

impl Op for Fence {
    type Operands = ();

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, (): ()) -> Flow {
        if let Some(flow) = warpgroup::prepare(warp, cluster) {
            return flow;
        }
        if let Err(flow) = warpgroup::step(warp, cluster, None) {
            return flow;
        }
        let own = warpgroup::number(warp);
        if let Some(group) = warpgroup::warpgroup(warp, cluster) {
            group.fence(own);
        }
        Flow::Next
    }
}

/// `wgmma.commit_group`
struct Commit;

impl Op for Commit {
    type Operands = ();

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, (): ()) -> Flow {
        if let Some(flow) = warpgroup::prepare(warp, cluster) {
            return flow;
        }
        if let Err(flow) = warpgroup::step(warp, cluster, None) {
            return flow;
        }
        warp.products.commit(0);
        Flow::Next
    }
}

/// `wgmma.wait_group`
struct WaitGroup;

impl Op for WaitGroup {
    type Operands = WaitOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        if let Some(flow) = warpgroup::prepare(warp, cluster) {
            return flow;
        }
        let flow = complete(warp, cluster, Completed::AllButGroups(o.keep));
        if flow != Flow::Next {
            return flow;
        }
        match warpgroup::step(warp, cluster, None) {
            Ok(_) => Flow::Next,
            Err(flow) => flow,
        }
    }
}

/// `wgmma.mma_async`
struct Product;

impl Op for Product {
    type Operands = ProductOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        if let Some(flow) = warpgroup::prepare(warp, cluster) {
            return flow;
        }
        if warp.products.len() >= MOST_IN_FLIGHT {
            let flow = complete(warp, cluster, Completed::All);
            if flow != Flow::Next {
                return flow;
            }
        }
        let (a, b) = (o.a_descriptor.lanes(warp), o.b_descriptor.lanes(warp));
        let accumulates = o.accumulates.bits(warp);
        for (same, what) in [
            (a.iter().all(|&lane| lane == a[0]), "the descriptor of A"),
            (b.iter().all(|&lane| lane == b[0]), "the descriptor of B"),
            (accumulates == 0 || accumulates == FULL, "scale-d"),
        ] {
            if !same {
                let message = format!("wgmma.mma_async with lanes that differ in {what}");
                return warp.fail(FaultKind::IllegalInstruction, 0, message);
            }
        }
        let descriptors = Descriptors {
            a: (o.a.len() == 0).then_some(a[0]),
            b: b[0],
        };
        let own = warpgroup::number(warp);
        if warpgroup::warpgroup(warp, cluster).is_some_and(|group| !group.is_fenced(own)) {
            let message = "wgmma.mma_async before any wgmma.fence";
            let note = "without it the registers need not have been written yet";
            return warp.fail_with(
                FaultKind::IllegalInstruction,
                0,
                message,
                vec![note.to_owned()],
            );
        }
        let number = match warpgroup::step(warp, cluster, Some(descriptors)) {
            Ok(number) => number,
            Err(flow) => return flow,
        };
        let product = PendingProduct {
            number,
            issuer: warp.issuer(),
            function: warp.function,
            frame: warp.frame,
            product: o.product.get(),
            addend: match accumulates {
                0 => Addend::None,
                _ => Addend::Accumulator,
            },
            descriptors,
            accesses: [o.a_access, o.b_access],
            d: o.d,
            c: o.c,
            a: o.a,
        };
        warp.products.issue(0, product);
        Flow::Next
    }
}

/// The refusal of a constant, as ptxas words it.
fn unexpected(inst: &Instruction<'_>, number: usize, name: &str, expected: &str) -> Error {
    let operand = &inst.operands[number];
    let found = match operand.kind {
        OperandKind::Int(value) => value.to_string(),
        _ => "no constant".to_owned(),
    };
    let message = format!(
        "Argument {number} of instruction '{name}': unexpected value '{found}', expected to be {expected}"
    );
    Error::new(operand.at, message)
}

/// The operand of this number, which is one of two constants: whether it is the second.
fn choice(inst: &Instruction<'_>, number: usize, values: [i128; 2]) -> Result<bool> {
    let value = match inst.operands[number].kind {
        OperandKind::Int(value) => Some(value),
        _ => None,
    };
    match values.iter().position(|&other| Some(other) == value) {
        Some(found) => Ok(found == 1),
        None => {
            let [low, high] = [values[0].min(values[1]), values[0].max(values[1])];
            let name = "wgmma.mma_async with floating point types";
            Err(unexpected(inst, number, name, &format!("{low} or {high}")))
        }
    }
}

pub(crate) fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let form = *cx.form();
    if form.has("sp") {
        return Err(unknown(inst));
    }
    if form.has("fence") {
        cx.emit(scalar::<Fence>(), ());
    } else if form.has("commit_group") {
        cx.emit(scalar::<Commit>(), ());
    } else if form.has("wait_group") {
        let keep = match inst.operands[0].kind {
            OperandKind::Int(number) => u32::try_from(number).ok(),
            _ => None,
        };
        let Some(keep) = keep else {
            let expected = "non-negative integer";
            return Err(unexpected(inst, 0, "wgmma.wait_group", expected));
        };
        let lowered = cx.emit(scalar::<WaitGroup>(), WaitOperands { keep });
        if keep == 0 {
            lowered.registers = Registers::Released;
        }
    } else {
        product(cx, inst)?;
    }
    Ok(())
}

fn product<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let form = *cx.form();
    let shape = form.words().find_map(Shape::parse);
    let types: Vec<Element> = form.words().filter_map(Element::parse).collect();
    let (Some(shape), &[d, a, b]) = (shape, &types[..]) else {
        return Err(unknown(inst));
    };
    let place = |name: &str| form.operands().position(|operand| operand.name == name);
    let named = |name: &str, values: [i128; 2]| match place(name) {
        Some(number) => choice(inst, number, values),
        None => Ok(false),
    };
    let major = |name: &str| {
        Ok(match named(name, [0, 1])? {
            false => Major::K,
            true => Major::Lines,
        })
    };
    let product = WarpgroupProduct {
        a,
        b,
        d,
        columns: shape.n as u16,
        a_major: major("imm-trans-a")?,
        b_major: major("imm-trans-b")?,
        negate: named("imm-scale-a", [1, -1])? != named("imm-scale-b", [1, -1])?,
        overflow: match form.has("satfinite") {
            true => IntegerOverflow::Saturate,
            false => IntegerOverflow::Wrap,
        },
    };
    let count = product.registers() as u32;
    let registers = fragment(cx, &inst.operands[0], count, d, FragmentUse::Written)?;
    let in_registers = place("a-desc").is_none();
    let (a_registers, a_descriptor) = match in_registers {
        true => {
            let registers = fragment(cx, &inst.operands[1], 4, a, FragmentUse::Read)?;
            (registers, cx.constant(0, Width::W64))
        }
        false => (Vec::new(), cx.src(&inst.operands[1], Ty::B64)?),
    };
    let b_descriptor = cx.src(&inst.operands[2], Ty::B64)?;
    let accumulates = cx.src(&inst.operands[3], Ty::PRED)?;
    // The factors are read, and seen by the checks, when the product completes.
    let access = |cx: &Builder<'_, '_>, operand: usize| {
        Declared::new(cx.effect(operand), true, 0)
            .completed()
            .word()
    };
    let operands = ProductOperands {
        d: cx.write_list(&registers),
        c: cx.read_list(&registers),
        a: cx.read_list(&a_registers),
        a_descriptor: a_descriptor.into(),
        b_descriptor: b_descriptor.into(),
        accumulates: accumulates.into(),
        product: product.into(),
        a_access: if in_registers { 0 } else { access(cx, 1) },
        b_access: access(cx, 2),
    };
    cx.emit(scalar::<Product>(), operands).registers = Registers::Held;
    Ok(())
}
