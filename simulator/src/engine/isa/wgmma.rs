//! `wgmma`: matrix products of a warpgroup. `mma_async` only notes a product; [`super::wgmma_completion`] computes it when the warp
//! waits for it, so that a missing wait shows, and what is overwritten too early, too.

use warpsmith_isa::effect::Effect;

use super::family::Family;
use super::matrix_operands::{FragmentUse, fragment};
use super::warpgroup;
use super::wgmma_completion::{complete, rows, watch};
use super::wgmma_follow::hold;
use crate::check::DecisionKind;
use crate::engine::access::declared::Declared;
use crate::engine::dataflow::Dataflow;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::group_queue::Completed;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar, vector};
use crate::engine::exec::operand::{
    Encode, Encoded, FULL, Read, ReadList, ReadPredicate, WriteList, operands,
};
use crate::engine::exec::product::PendingProduct;
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::exec::warpgroup::Descriptors;
use crate::engine::fault::FaultKind;
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::Lowering;
use crate::engine::lower::types::Ty;
use crate::engine::lower::{Builder, Registers, Width};
use crate::numerics::matrix::accumulate::{Addend, IntegerOverflow};
use crate::numerics::matrix::descriptor::Major;
use crate::numerics::matrix::shape::{Element, Shape};
use crate::numerics::matrix::sparse::Sparse;
use crate::numerics::matrix::warpgroup::WarpgroupProduct;
use crate::ptx::ast::{Instruction, OperandKind};
use crate::ptx::{Error, Result};

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["wgmma"],
    read,
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
        metadata: Read<u32>,
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
        if let Err(flow) = warpgroup::execute(warp, cluster) {
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
        if let Err(flow) = warpgroup::execute(warp, cluster) {
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
    const DATAFLOW: Dataflow = Dataflow::Exchange;

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
        if warp.poison.is_some() {
            for word in [o.a_descriptor.word(), o.b_descriptor.word()] {
                warp.decides_by(cluster, DecisionKind::Address, word);
            }
            let word = o.accumulates.word();
            warp.decides_by(cluster, DecisionKind::Operand, word);
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
            rows: rows::<L>,
            addend: match accumulates {
                0 => Addend::None,
                _ => Addend::Accumulator,
            },
            descriptors,
            metadata: *o.metadata.lanes(warp),
            metadata_marks: warp.marks_of(o.metadata.word()),
            accesses: [o.a_access, o.b_access],
            d: o.d,
            c: o.c,
            a: o.a,
        };
        warp.products.issue(0, product);
        if cluster.checker.is_some() {
            hold(warp, cluster, &product);
        }
        match watch(warp, cluster, &product) {
            Ok(()) => Flow::Next,
            Err(flow) => flow,
        }
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

/// What ptxas calls a product.
fn name(product: WarpgroupProduct, is_sparse: bool) -> String {
    let types = match (product.a, product.b) {
        (Element::E4m3 | Element::E5m2, _) => "FP8",
        (Element::S8, Element::U8) | (Element::U8, Element::S8) => "mixed integer",
        (Element::S8 | Element::U8, _) => "integer",
        _ => "floating point",
    };
    let sparse = if is_sparse { "Sparse " } else { "" };
    format!("{sparse}wgmma.mma_async with {types} types")
}

/// The operand of this number, which is one of two constants: whether it is the second.
fn choice(
    inst: &Instruction<'_>,
    number: usize,
    values: [i128; 2],
    name: impl Fn() -> String,
) -> Result<bool> {
    let value = match inst.operands[number].kind {
        OperandKind::Int(value) => Some(value),
        _ => None,
    };
    match values.iter().position(|&other| Some(other) == value) {
        Some(found) => Ok(found == 1),
        None => {
            let [low, high] = [values[0].min(values[1]), values[0].max(values[1])];
            Err(unexpected(
                inst,
                number,
                &name(),
                &format!("{low} or {high}"),
            ))
        }
    }
}

/// The operand of this number, which says which lanes of four have the metadata of a sparse A: of 8-bit elements all
/// have.
fn selector(
    inst: &Instruction<'_>,
    number: usize,
    element: Element,
    name: impl Fn() -> String,
) -> Result<Sparse> {
    if element.bits() > 8 {
        let selector = u8::from(choice(inst, number, [0, 1], name)?);
        return Ok(Sparse { selector });
    }
    match inst.operands[number].kind {
        OperandKind::Int(0) => Ok(Sparse { selector: 0 }),
        _ => Err(unexpected(inst, number, &name(), "0")),
    }
}

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    (form.has("sync") && form.has("aligned")).then_some(())?;
    if form.has("fence") {
        return Some(Lowering::new(|cx, _| {
            cx.emit(scalar::<Fence>(), ());
            Ok(())
        }));
    }
    if form.has("commit_group") {
        return Some(Lowering::new(|cx, _| {
            cx.emit(scalar::<Commit>(), ());
            Ok(())
        }));
    }
    if form.has("wait_group") {
        return Some(Lowering::new(wait_group));
    }
    form.has("mma_async").then_some(())?;
    let shape = form.next(Shape::parse)?;
    let overflow = match form.has("satfinite") {
        true => IntegerOverflow::Saturate,
        false => IntegerOverflow::Wrap,
    };
    let d = form.next(Element::parse)?;
    let a = form.next(Element::parse)?;
    let b = form.next(Element::parse)?;
    if a == Element::B1 && !(form.has("and") && form.has("popc")) {
        return None;
    }
    let metadata = form.has("sp").then_some(3);
    // The constants stand behind D, A, B, the metadata and their selector, and scale-d.
    let scale_d = metadata.map_or(3, |metadata| metadata + 2);
    let mut next = scale_d + 1;
    let mut constant = |name| {
        let number = form.takes(name).then_some(next);
        next += usize::from(number.is_some());
        number
    };
    let product = FormProduct {
        product: WarpgroupProduct {
            a,
            b,
            d,
            columns: shape.n as u16,
            a_major: Major::K,
            b_major: Major::K,
            negate: false,
            overflow,
            sparse: None,
        },
        metadata,
        scale_d,
        scales: [constant("imm-scale-a"), constant("imm-scale-b")],
        transposes: [constant("imm-trans-a"), constant("imm-trans-b")],
        a: form.takes("a-desc").then(|| form.effect(1)),
        b: form.effect(2),
    };
    Some(Lowering::new(move |cx, inst| {
        lower_product(cx, inst, product)
    }))
}

/// A product as its form says.
#[derive(Clone, Copy)]
struct FormProduct {
    /// What its modifiers say.
    product: WarpgroupProduct,
    /// The operand with the metadata of a sparse A: their selector follows.
    metadata: Option<usize>,
    /// The operand that says whether D is added.
    scale_d: usize,
    /// The operands that change signs: of A, of B.
    scales: [Option<usize>; 2],
    /// The operands that say which elements follow one another: of A, of B.
    transposes: [Option<usize>; 2],
    /// How A is read from shared memory; `None` if it is in registers.
    a: Option<Effect>,
    b: Effect,
}

fn wait_group<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
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
    Ok(())
}

fn lower_product<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    form: FormProduct,
) -> Result<()> {
    let name = || name(form.product, form.metadata.is_some());
    let chosen = |number: Option<usize>, values| match number {
        Some(number) => choice(inst, number, values, name),
        None => Ok(false),
    };
    let major = |number| {
        Ok(match chosen(number, [0, 1])? {
            false => Major::K,
            true => Major::Lines,
        })
    };
    let [scale_a, scale_b] = form.scales;
    let sparse = form
        .metadata
        .map(|metadata| selector(inst, metadata + 1, form.product.a, name));
    let product = WarpgroupProduct {
        a_major: major(form.transposes[0])?,
        b_major: major(form.transposes[1])?,
        negate: chosen(scale_a, [1, -1])? != chosen(scale_b, [1, -1])?,
        sparse: sparse.transpose()?,
        ..form.product
    };
    let count = product.registers() as u32;
    let registers = fragment(
        cx,
        &inst.operands[0],
        count,
        product.d,
        FragmentUse::Written,
    )?;
    let (a_registers, a_descriptor) = match form.a {
        None => {
            let registers = fragment(cx, &inst.operands[1], 4, product.a, FragmentUse::Read)?;
            (registers, cx.constant(0, Width::W64))
        }
        Some(_) => (Vec::new(), cx.src(&inst.operands[1], Ty::B64)?),
    };
    let b_descriptor = cx.src(&inst.operands[2], Ty::B64)?;
    let metadata = match form.metadata {
        Some(number) => cx.src(&inst.operands[number], Ty::B32)?,
        None => cx.constant(0, Width::W32),
    };
    let accumulates = cx.src(&inst.operands[form.scale_d], Ty::PRED)?;
    let access = |effect: Effect| Declared::new(effect, true, 0).word();
    let operands = ProductOperands {
        d: cx.write_list(&registers),
        c: cx.read_list(&registers),
        a: cx.read_list(&a_registers),
        a_descriptor: a_descriptor.into(),
        b_descriptor: b_descriptor.into(),
        metadata: metadata.into(),
        accumulates: accumulates.into(),
        product: product.into(),
        a_access: form.a.map_or(0, access),
        b_access: access(form.b),
    };
    cx.emit(vector::<Product>(), operands).registers = Registers::Held;
    Ok(())
}
