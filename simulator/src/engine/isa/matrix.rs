//! `mma.sync`, `wmma.mma`, `movmatrix`: matrix products on registers, through [`numerics::matrix`](crate::numerics::matrix).
//! What moves fragments to and from memory is in [`super::fragment`].

use super::family::Family;
use super::lowering::emit;
use super::matrix_operands::{FragmentUse, FragmentWord, Table, fragment, whole_warp};
use crate::check::Marks;
use crate::engine::dataflow::Dataflow;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar, vector};
use crate::engine::exec::operand::{LANES, Operands, Read, ReadList, Unary, WriteList, operands};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::Builder;
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::{Lowering, unsupported};
use crate::engine::lower::types::Ty;
use crate::engine::program::Program;
use crate::numerics::Rounding;
use crate::numerics::matrix::accumulate::SumFormat;
use crate::numerics::matrix::exchange;
use crate::numerics::matrix::multiply::{BitOperation, Multiply};
use crate::numerics::matrix::quads::Quads;
use crate::numerics::matrix::shape::{Element, Shape, Use, registers};
use crate::numerics::matrix::sparse::Sparse;
use crate::ptx::ast::{Instruction, Operand, OperandKind};
use crate::ptx::{Error, Result};

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["wmma", "mma", "movmatrix"],
    read,
};

/// A product as its instruction spells it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Spelling {
    shape: Shape,
    /// The types of A, B, C and D.
    types: [Element; 4],
    /// Whether A and B are stored by rows.
    by_rows: [bool; 2],
    wmma: bool,
    saturate: bool,
    bits: BitOperation,
    rounding: Rounding,
    /// Where A is sparse; the selector is an operand.
    sparse: Option<Sparse>,
}

/// A product with what is prepared for it.
enum Prepared {
    Fragments(Multiply),
    Quads(Quads),
}

static PRODUCTS: Table<Spelling, Prepared> = Table::new();

operands! {
    /// `product`: the number of the product in [`PRODUCTS`].
    pub(crate) struct ProductOperands<F: FragmentWord> {
        d: WriteList<F>, a: ReadList<F>, b: ReadList<F>, c: ReadList<F>, product: u32,
    }
    /// The same with the metadata of a sparse A.
    pub(crate) struct SparseOperands {
        d: WriteList<u32>, a: ReadList<u32>, b: ReadList<u32>, c: ReadList<u32>, metadata: Read<u32>, product: u32,
    }
}

/// The most registers of a fragment.
const MOST: usize = 16;

/// Reads the lanes of a fragment's registers.
#[inline(always)]
fn read_registers<F: FragmentWord>(
    warp: &Warp,
    list: ReadList<F>,
    fragment: &mut [[u64; LANES]; MOST],
) {
    for index in 0..list.len() {
        let lanes = list.get(warp, index).lanes(warp);
        for lane in 0..LANES {
            fragment[index][lane] = lanes[lane].to_bits();
        }
    }
}

/// Computes a product of fragments.
#[inline(always)]
fn multiply<F: FragmentWord>(
    warp: &mut Warp,
    o: ProductOperands<F>,
    metadata: Option<&[u32; LANES]>,
) {
    // Read in place: they are too large to be moved.
    let mut fragments = [[[0u64; LANES]; MOST]; 3];
    for (fragment, list) in fragments.iter_mut().zip([o.a, o.b, o.c]) {
        read_registers(warp, list, fragment);
    }
    let mut result = [[0u64; LANES]; MOST];
    let written = &mut result[..o.d.len()];
    match PRODUCTS.get(o.product) {
        Prepared::Fragments(product) => product.apply(
            fragments.each_ref().map(|part| &part[..]),
            metadata,
            written,
        ),
        Prepared::Quads(product) => {
            product.apply(fragments.each_ref().map(|part| &part[..]), written)
        }
    }
    for (index, lanes) in written.iter().enumerate() {
        o.d.get(warp, index).put(warp, &lanes.map(F::from_bits));
    }
}

/// Follows uninitialised values through a product: `counts` are the registers of D, A, B and C.
#[cold]
fn follow<O: Operands>(
    warp: &mut Warp,
    program: &Program,
    operands: &O,
    counts: [usize; 4],
    product: u32,
    metadata: Option<&[u32; LANES]>,
) {
    warp.follow_together(program, operands, |sources| {
        let [d, a, b, _] = counts;
        if sources.iter().all(|marks| marks.lanes() == 0) {
            return vec![Marks::NONE; d];
        }
        let from = |first: usize| {
            move |register: usize, lane: usize| sources[first + register].origin(lane)
        };
        // The metadata stand behind the fragments.
        let (a, b, c, e) = (from(0), from(a), from(a + b), from(sources.len() - 1));
        let registers = match PRODUCTS.get(product) {
            Prepared::Fragments(product) => product.trace([&a, &b, &c, &e], metadata),
            Prepared::Quads(product) => product.trace([&a, &b, &c]),
        };
        registers.iter().map(Marks::of).collect()
    });
}

/// A product on fragments of registers of type `F`.
struct Product<F>(std::marker::PhantomData<F>);

impl<F: FragmentWord> Op for Product<F> {
    type Operands = ProductOperands<F>;
    const DATAFLOW: Dataflow = Dataflow::Exchange;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        if let Some(flow) = whole_warp(warp, cluster, "a matrix product") {
            return flow;
        }
        if warp.poison.is_some() {
            let counts = [o.d.len(), o.a.len(), o.b.len(), o.c.len()];
            follow(warp, cluster.grid.program, &o, counts, o.product, None);
        }
        multiply(warp, o, None);
        Flow::Next
    }
}

/// A product with a sparse A.
struct SparseProduct;

impl Op for SparseProduct {
    type Operands = SparseOperands;
    const DATAFLOW: Dataflow = Dataflow::Exchange;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        if let Some(flow) = whole_warp(warp, cluster, "a matrix product") {
            return flow;
        }
        let metadata = *o.metadata.lanes(warp);
        if warp.poison.is_some() {
            let counts = [o.d.len(), o.a.len(), o.b.len(), o.c.len()];
            let program = cluster.grid.program;
            follow(warp, program, &o, counts, o.product, Some(&metadata));
        }
        let SparseOperands {
            d,
            a,
            b,
            c,
            product,
            ..
        } = o;
        multiply(
            warp,
            ProductOperands {
                d,
                a,
                b,
                c,
                product,
            },
            Some(&metadata),
        );
        Flow::Next
    }
}

/// `movmatrix.trans`
struct Transpose;

impl Op for Transpose {
    type Operands = Unary<u32, u32>;
    const DATAFLOW: Dataflow = Dataflow::Exchange;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        if let Some(flow) = whole_warp(warp, cluster, "movmatrix") {
            return flow;
        }
        if warp.poison.is_some() {
            warp.follow_together(cluster.grid.program, &o, |sources| {
                let origin = |lane| {
                    let mut holders = exchange::elements(lane, true)
                        .into_iter()
                        .map(|(row, column)| exchange::holder(row, column));
                    holders.find_map(|holder| sources[0].origin(holder))
                };
                vec![Marks::of(&std::array::from_fn(origin))]
            });
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
    // Metadata in ascending order are the same for both.
    let sparse = form.one_of(&["sp", "sp::ordered_metadata"]);
    let shape = form.next(Shape::parse).filter(|_| sync)?;
    let by_rows = [form.next(layout)?, form.next(layout)?];
    let types: Vec<Element> = std::iter::from_fn(|| form.next(Element::parse)).collect();
    let rounding = form.next(rounding).unwrap_or(Rounding::NearestEven);
    // D, A, B, C; wmma on f16 names only D and C.
    let [d, a, b, c] = match types[..] {
        [d, a, b, c] => [d, a, b, c],
        [d, c] if wmma => [d, Element::F16, Element::F16, c],
        _ => return None,
    };
    let integers = c == Element::S32 && a != Element::B1;
    if population != (a == Element::B1) || saturate && !integers {
        return None;
    }
    let spelling = Spelling {
        shape,
        types: [a, b, c, d],
        by_rows,
        wmma,
        saturate,
        bits,
        rounding,
        sparse: sparse.map(|_| Sparse { selector: 0 }),
    };
    Some(Lowering::new(move |cx, inst| {
        lower_product(cx, inst, spelling)
    }))
}

impl Spelling {
    /// Whether this is the oldest product, of four quads of lanes.
    fn has_quads(&self) -> bool {
        let Shape { m, n, k } = self.shape;
        !self.wmma && self.types[0] == Element::F16 && (m, n, k) == (8, 8, 4)
    }

    /// The registers of a fragment.
    fn registers(&self, part: Use, element: Element) -> u32 {
        let shape = match (self.sparse, part) {
            (Some(_), Use::A) => Sparse::stored(self.shape),
            _ => self.shape,
        };
        match self.has_quads() {
            true => Quads::registers(part, element),
            false => registers(shape, part, element, self.wmma),
        }
    }

    fn prepare(self) -> Prepared {
        let [_, _, c, d] = self.types;
        if self.has_quads() {
            return Prepared::Quads(Quads {
                by_rows: self.by_rows,
                formats: [c, d].map(SumFormat::of),
            });
        }
        let mut product = Multiply::new(self.shape, self.types, self.wmma, self.sparse);
        product.saturate = self.saturate;
        product.bits = self.bits;
        product.rounding = self.rounding;
        Prepared::Fragments(product)
    }
}

fn lower_product<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    mut spelling: Spelling,
) -> Result<()> {
    let operand = |number: usize| inst.operands.get(number).ok_or_else(|| unsupported(inst));
    if spelling.sparse.is_some() {
        let selector = selector(operand(5)?, spelling)?;
        spelling.sparse = Some(Sparse { selector });
    }
    let number = PRODUCTS.number(spelling, || spelling.prepare());
    let product = number.ok_or_else(|| Error::new(inst.at, "too many kinds of matrix products"))?;
    let [a, b, c, d] = spelling.types;
    let mut part = |number, part, element, access| {
        let count = spelling.registers(part, element);
        fragment(cx, operand(number)?, count, element, access)
    };
    let d = part(0, Use::Accumulator, d, FragmentUse::Written)?;
    let a = part(1, Use::A, a, FragmentUse::Read)?;
    let b = part(2, Use::B, b, FragmentUse::Read)?;
    let wide = c == Element::F64;
    let c = part(3, Use::Accumulator, c, FragmentUse::Read)?;
    macro_rules! lists {
        ($operands:ident, $word:ty $(, $metadata:ident)?) => {
            $operands {
                d: cx.write_list::<$word>(&d),
                a: cx.read_list::<$word>(&a),
                b: cx.read_list::<$word>(&b),
                c: cx.read_list::<$word>(&c),
                $($metadata,)?
                product,
            }
        };
    }
    // Only f64 has registers of 64 bits, and then all have.
    if spelling.sparse.is_some() {
        let metadata = cx.src(operand(4)?, Ty::B32)?;
        let metadata = metadata.into();
        let operands = lists!(SparseOperands, u32, metadata);
        cx.emit(vector::<SparseProduct>(), operands);
    } else if wide {
        let operands = lists!(ProductOperands, u64);
        cx.emit(vector::<Product<u64>>(), operands);
    } else {
        let operands = lists!(ProductOperands, u32);
        cx.emit(vector::<Product<u32>>(), operands);
    }
    Ok(())
}

/// Which lanes of four have the metadata of a sparse A.
fn selector(operand: &Operand<'_>, spelling: Spelling) -> Result<u8> {
    let limit = Sparse::selectors(spelling.types[0], spelling.shape);
    match operand.kind {
        OperandKind::Int(number) if (0..i128::from(limit)).contains(&number) => Ok(number as u8),
        _ => {
            let message = format!("the sparsity selector of this shape is a number below {limit}");
            Err(Error::new(operand.at, message))
        }
    }
}

/// `row` (true) or `col`.
fn layout(name: &str) -> Option<bool> {
    match name {
        "row" => Some(true),
        "col" => Some(false),
        _ => None,
    }
}

/// The direction in which sums of f64 are rounded.
fn rounding(name: &str) -> Option<Rounding> {
    match name {
        "rn" => Some(Rounding::NearestEven),
        "rz" => Some(Rounding::Zero),
        "rm" => Some(Rounding::Down),
        "rp" => Some(Rounding::Up),
        _ => None,
    }
}
