//! `mma.sync`, `wmma.mma`, `movmatrix`: matrix products on registers, through [`numerics::matrix`](crate::numerics::matrix).
//! What moves fragments to and from memory is in [`super::fragment`].

use super::family::Family;
use super::lowering::emit;
use super::matrix_operands::{FragmentUse, FragmentWord, Table, fragment, whole_warp};
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar, vector};
use crate::engine::exec::operand::{LANES, ReadList, Unary, WriteList, operands};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::Builder;
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::{Lowering, unsupported};
use crate::engine::lower::types::Ty;
use crate::numerics::matrix::exchange;
use crate::numerics::matrix::multiply::{BitOperation, Multiply};
use crate::numerics::matrix::shape::Use;
use crate::numerics::matrix::shape::{Element, Shape, registers};
use crate::ptx::ast::Instruction;
use crate::ptx::{Error, Result};

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["wmma", "mma", "movmatrix"],
    read,
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
fn read_registers<F: FragmentWord>(warp: &Warp, list: ReadList<F>) -> [[u64; LANES]; MOST] {
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
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        if let Some(flow) = whole_warp(warp, cluster, "a matrix product") {
            return flow;
        }
        let product = PRODUCTS.get(o.product);
        let (a, b, c) = (
            read_registers(warp, o.a),
            read_registers(warp, o.b),
            read_registers(warp, o.c),
        );
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
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        if let Some(flow) = whole_warp(warp, cluster, "movmatrix") {
            return flow;
        }
        let result = exchange::transpose(o.a.lanes(warp));
        o.d.put(warp, &result);
        Flow::Next
    }
}

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    if form.opcode() == "movmatrix" {
        let all = ["sync", "aligned", "m8n8", "trans", "b16"];
        let known = all.iter().all(|word| form.has(word));
        return known.then(|| emit(scalar::<Transpose>(), Ty::B32, &[Ty::B32]));
    }
    let wmma = form.opcode() == "wmma";
    if wmma && !form.has("mma") {
        return super::fragment::read_wmma(form);
    }
    let sync = form.has("sync") && form.has("aligned");
    let bits = match form.one_of(&["xor", "and"]) {
        Some("and") => BitOperation::And,
        _ => BitOperation::Xor,
    };
    let population = form.has("popc");
    let saturate = form.has("satfinite");
    let shape = form.next(Shape::parse).filter(|_| sync)?;
    let layouts = [form.next(layout), form.next(layout)];
    let types: Vec<Element> = std::iter::from_fn(|| form.next(Element::parse)).collect();
    // Products of f64 are rounded to nearest: another direction stays unread.
    form.has("rn");
    // D, A, B, C; wmma on f16 names only D and C.
    let [d, a, b, c] = match types[..] {
        [d, a, b, c] => [d, a, b, c],
        [d, c] if wmma => [d, Element::F16, Element::F16, c],
        _ => return None,
    };
    // Its layout belongs to the quads of sm_70.
    let quads = !wmma && a == Element::F16 && (shape.m, shape.n, shape.k) == (8, 8, 4);
    // mma.sync and the narrow types of wmma know only A by rows and B by columns.
    let any_layout = wmma && !matches!(a, Element::S4 | Element::U4 | Element::B1);
    let laid_out =
        layouts == [Some(true), Some(false)] || any_layout && layouts.iter().all(Option::is_some);
    let integers = c == Element::S32 && a != Element::B1;
    if quads || !laid_out || population != (a == Element::B1) || saturate && !integers {
        return None;
    }
    let key = (shape, [a, b, c, d], wmma, saturate, bits);
    Some(Lowering::new(move |cx, inst| lower_product(cx, inst, key)))
}

fn lower_product<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    key: ProductKey,
) -> Result<()> {
    let (shape, [a, b, c, d], wmma, saturate, bits) = key;
    let number = PRODUCTS.number(key, || {
        let mut product = Multiply::new(shape, [a, b, c, d], wmma);
        product.saturate = saturate;
        product.bits = bits;
        product
    });

    let number = number.ok_or_else(|| Error::new(inst.at, "too many kinds of matrix products"))?;
    // Only f64 has registers of 64 bits, and then all have.
    let wide = c == Element::F64;
    let mut operands = inst.operands.iter();
    let [d, a, b, c] = [
        (Use::Accumulator, d, FragmentUse::Written),
        (Use::A, a, FragmentUse::Read),
        (Use::B, b, FragmentUse::Read),
        (Use::Accumulator, c, FragmentUse::Read),
    ]
    .map(|(part, element, access)| {
        let operand = operands.next().ok_or_else(|| unsupported(inst))?;
        let count = registers(shape, part, element, wmma);
        fragment(cx, operand, count, element, access)
    });
    let (d, a, b, c) = (d?, a?, b?, c?);
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
    match wide {
        true => emit!(u64),
        false => emit!(u32),
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
