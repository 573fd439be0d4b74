//! `mma.sync`, `wmma.mma`, `movmatrix`: matrix products on registers, through [`numerics::matrix`](crate::numerics::matrix).
//! What moves fragments to and from memory is in [`super::fragment`].

use super::family::Family;
use super::matrix_operands::{FragmentUse, FragmentWord, Table, fragment, whole_warp};
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar, vector};
use crate::engine::exec::operand::{LANES, ReadList, Unary, WriteList, operands};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::modifiers::{Kind, Modifiers, Ty, unknown};
use crate::engine::lower::{Builder, Width, expect_operands};
use crate::numerics::matrix::exchange;
use crate::numerics::matrix::multiply::{BitOperation, Multiply};
use crate::numerics::matrix::shape::Use;
use crate::numerics::matrix::shape::{Element, Shape, mma_exists, registers, wmma_exists};
use crate::ptx::ast::Instruction;
use crate::ptx::{Error, Result};

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["wmma", "mma", "movmatrix"],
    lower,
};

type ProductKey = (Shape, [Element; 4], bool, bool, BitOperation);
static PRODUCTS: Table<ProductKey, Multiply> = Table::new();

operands! {
    /// `product`: the number of the product in [`PRODUCTS`].
    pub(crate) struct ProductOperands<F: FragmentWord> {
        d: WriteList<F>, a: ReadList<F>, b: ReadList<F>, c: ReadList<F>, product: u32,
    }
}

/// The most registers of a fragment.
const MOST: usize = 16;

/// The lanes of a fragment's registers.
#[inline(always)]
fn read<F: FragmentWord>(warp: &Warp, list: ReadList<F>) -> [[u64; LANES]; MOST] {
    let mut fragment = [[0u64; LANES]; MOST];
    for index in 0..list.len() {
        let lanes = list.get(warp, index).lanes(warp);
        for lane in 0..LANES {
            fragment[index][lane] = lanes[lane].to_bits();
        }
    }
    fragment
}

/// A product on fragments of registers of type `F`.
struct Product<F>(std::marker::PhantomData<F>);

impl<F: FragmentWord> Op for Product<F> {
    type Operands = ProductOperands<F>;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        if let Some(flow) = whole_warp(warp, "a matrix product") {
            return flow;
        }
        let product = PRODUCTS.get(o.product);
        let (a, b, c) = (read(warp, o.a), read(warp, o.b), read(warp, o.c));
        let mut result = [[0u64; LANES]; MOST];
        product.apply(&a, &b, &c, &mut result[..o.d.len()]);
        for (index, lanes) in result.iter().enumerate().take(o.d.len()) {
            o.d.get(warp, index).put(warp, &lanes.map(F::from_bits));
        }
        Flow::Next
    }
}

/// `movmatrix.trans`
struct Transpose;

impl Op for Transpose {
    type Operands = Unary<u32, u32>;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        if let Some(flow) = whole_warp(warp, "movmatrix") {
            return flow;
        }
        let result = exchange::transpose(o.a.lanes(warp));
        o.d.put(warp, &result);
        Flow::Next
    }
}

/// Takes the shape.
fn shape(modifiers: &mut Modifiers) -> Option<Shape> {
    let name = modifiers
        .rest()
        .iter()
        .copied()
        .find(|m| Shape::parse(m).is_some())?;
    modifiers.flag(name);
    Shape::parse(name)
}

pub(crate) fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut modifiers = Modifiers::new(inst);
    match inst.opcode {
        "movmatrix" => {
            let form = ["sync", "aligned", "m8n8", "trans", "b16"];
            if !form.iter().all(|name| modifiers.flag(name)) {
                return Err(unknown(inst));
            }
            modifiers.finish(inst)?;
            expect_operands(inst, &[2])?;
            let d = cx.dst(&inst.operands[0], Width::W32)?;
            let a = cx.src(
                &inst.operands[1],
                Ty {
                    kind: Kind::Bits,
                    bits: 32,
                    packed: 1,
                },
            )?;
            cx.emit_fields(scalar::<Transpose>(), &[d, a]);
            Ok(())
        }
        "wmma" if !inst.modifiers.contains(&"mma") => super::fragment::lower_wmma(cx, inst),
        "wmma" => product(cx, inst, true),
        _ => product(cx, inst, false),
    }
}

fn product<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>, wmma: bool) -> Result<()> {
    let mut modifiers = Modifiers::new(inst);
    if wmma {
        modifiers.flag("mma");
    }
    let sync = modifiers.flag("sync") & modifiers.flag("aligned");
    let bits = match modifiers.any(&["xor", "and"]) {
        Some("and") => BitOperation::And,
        _ => BitOperation::Xor,
    };
    let population = modifiers.flag("popc");
    let saturate = modifiers.flag("satfinite");
    modifiers.any(&["rn", "rz", "rm", "rp"]);
    let shape = shape(&mut modifiers)
        .filter(|_| sync)
        .ok_or_else(|| unknown(inst))?;
    let layouts = [modifiers.next_if(layout), modifiers.next_if(layout)];
    let mut types = Vec::new();
    while let Some(element) = modifiers.next_if(Element::parse) {
        types.push(element);
    }
    modifiers.finish(inst)?;
    // D, A, B, C; wmma on f16 names only D and C.
    let [d, a, b, c] = match types[..] {
        [d, a, b, c] => [d, a, b, c],
        [d, c] if wmma => [d, Element::F16, Element::F16, c],
        _ => return Err(unknown(inst)),
    };
    let exists = if wmma {
        a == b && wmma_exists(shape, a, c, d)
    } else {
        mma_exists(shape, a, b, c, d)
    };
    // mma.sync and the narrow types of wmma know only A by rows and B by columns.
    let any_layout = wmma && !matches!(a, Element::S4 | Element::U4 | Element::B1);
    let laid_out =
        layouts == [Some(true), Some(false)] || any_layout && layouts.iter().all(Option::is_some);
    let integers = c == Element::S32 && a != Element::B1;
    if !exists || !laid_out || population != (a == Element::B1) || saturate && !integers {
        return Err(unknown(inst));
    }
    expect_operands(inst, &[4])?;
    let key = (shape, [a, b, c, d], wmma, saturate, bits);
    let number = PRODUCTS.number(key, || {
        let mut product = Multiply::new(shape, [a, b, c, d], wmma);
        product.saturate = saturate;
        product.bits = bits;
        product
    });
    let number = number.ok_or_else(|| Error::new(inst.at, "too many kinds of matrix products"))?;
    let [d, a, b, c] = [
        (Use::Accumulator, d, FragmentUse::Written),
        (Use::A, a, FragmentUse::Read),
        (Use::B, b, FragmentUse::Read),
        (Use::Accumulator, c, FragmentUse::Read),
    ]
    .map(|(part, element, access)| (registers(shape, part, element, wmma), element, access));
    let mut operands = inst.operands.iter();
    let mut next = |cx: &mut Builder<'a, '_>, (count, element, access)| {
        let operand = operands.next().ok_or_else(|| unknown(inst))?;
        fragment(cx, operand, count, element, access)
    };
    let (d, a, b, c) = (next(cx, d)?, next(cx, a)?, next(cx, b)?, next(cx, c)?);
    macro_rules! emit {
        ($word:ty) => {{
            let operands = ProductOperands {
                d: cx.write_list::<$word>(&d),
                a: cx.read_list::<$word>(&a),
                b: cx.read_list::<$word>(&b),
                c: cx.read_list::<$word>(&c),
                product: number,
            };
            cx.emit(vector::<Product<$word>>(), operands)
        }};
    }
    // Only f64 has registers of 64 bits, and then all have.
    match types.last() {
        Some(Element::F64) => emit!(u64),
        _ => emit!(u32),
    };
    Ok(())
}

/// `row` (true) or `col`.
fn layout(name: &str) -> Option<bool> {
    match name {
        "row" => Some(true),
        "col" => Some(false),
        _ => None,
    }
}
