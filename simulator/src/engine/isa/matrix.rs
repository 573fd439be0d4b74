//! `mma.sync`, `wmma.mma`, `movmatrix`: matrix products on registers, through [`numerics::matrix`](crate::numerics::matrix).
//! What moves fragments to and from memory is in [`super::fragment`].

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::{Level, Op, scalar, vector};
use crate::engine::exec::operand::{FULL, LANES, ReadList, Unary, Value, WriteList, operands};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::fault::FaultKind;
use crate::engine::lower::modifiers::{Kind, Modifiers, Ty, unknown};
use crate::engine::lower::{Builder, Field, Width, expect_operands};
use crate::numerics::matrix::exchange;
use crate::numerics::matrix::multiply::{BitOperation, Multiply};
use crate::numerics::matrix::shape::Use;
use crate::numerics::matrix::shape::{Element, Shape, mma_exists, registers, wmma_exists};
use crate::ptx::ast::{Instruction, Operand};
use crate::ptx::{Error, Result};

/// Things that instructions refer to by a small number, made once for the whole process.
pub(crate) struct Table<K, T: 'static> {
    numbers: OnceLock<Mutex<HashMap<K, u32>>>,
    entries: [OnceLock<T>; 512],
}

impl<K: std::hash::Hash + Eq, T> Table<K, T> {
    pub const fn new() -> Table<K, T> {
        Table {
            numbers: OnceLock::new(),
            entries: [const { OnceLock::new() }; 512],
        }
    }

    /// The number of the thing with this key; `None` if the table is full.
    pub fn number(&self, key: K, make: impl FnOnce() -> T) -> Option<u32> {
        let numbers = self.numbers.get_or_init(Mutex::default);
        let mut numbers = numbers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&number) = numbers.get(&key) {
            return Some(number);
        }
        let number = numbers.len() as u32;
        self.entries.get(number as usize)?.get_or_init(make);
        numbers.insert(key, number);
        Some(number)
    }

    /// The thing of a number that [`number`](Table::number) gave.
    #[inline(always)]
    pub fn get(&self, number: u32) -> &T {
        self.entries[number as usize]
            .get()
            .expect("numbers are given out with their entry")
    }
}

type ProductKey = (Shape, [Element; 4], bool, bool, BitOperation);
static PRODUCTS: Table<ProductKey, Multiply> = Table::new();

/// Waits for the whole warp: these instructions are executed by all 32 lanes or not at all. `Some` if the instruction cannot
/// be executed now.
#[inline(always)]
pub(crate) fn whole_warp(warp: &mut Warp, what: &str) -> Option<Flow> {
    if !warp.gather(FULL) {
        return Some(Flow::Leave);
    }
    if warp.mask == FULL {
        return None;
    }
    Some(incomplete(warp, what))
}

#[cold]
fn incomplete(warp: &mut Warp, what: &str) -> Flow {
    let (mask, exists) = (warp.mask, warp.exists);
    let lane = mask.trailing_zeros() as usize;
    let why = match exists {
        FULL => format!("lanes {:#010x} have exited", FULL & !mask),
        _ => format!("this warp has only {} threads", exists.count_ones()),
    };
    let message = format!("{what} needs all 32 lanes of the warp");
    warp.fail_with(FaultKind::IllegalInstruction, lane, message, vec![why])
}

/// A register of a fragment, as the numerics take it.
pub(crate) trait FragmentWord: Value + Default {
    fn to_bits(self) -> u64;
    fn from_bits(bits: u64) -> Self;
}
impl FragmentWord for u32 {
    fn to_bits(self) -> u64 {
        self.into()
    }
    fn from_bits(bits: u64) -> u32 {
        bits as u32
    }
}
impl FragmentWord for u64 {
    fn to_bits(self) -> u64 {
        self
    }
    fn from_bits(bits: u64) -> u64 {
        bits
    }
}

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

/// What becomes of a fragment's registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FragmentUse {
    Read,
    Written,
}

/// The registers of a fragment operand.
pub(crate) fn fragment<'a>(
    cx: &mut Builder<'a, '_>,
    operand: &Operand<'a>,
    count: u32,
    element: Element,
    access: FragmentUse,
) -> Result<Vec<Field>> {
    let parts: Vec<_> = cx
        .parts(operand)
        .into_iter()
        .map(std::borrow::Cow::into_owned)
        .collect();
    if parts.len() != count as usize {
        let message = format!("this fragment has {count} registers, found {}", parts.len());
        return Err(Error::new(operand.at, message));
    }
    let ty = match element {
        Element::F64 => Ty {
            kind: Kind::Float,
            bits: 64,
            packed: 1,
        },
        Element::F32 => Ty {
            kind: Kind::Float,
            bits: 32,
            packed: 1,
        },
        _ => Ty {
            kind: Kind::Bits,
            bits: 32,
            packed: 1,
        },
    };
    let mut fields = Vec::new();
    for part in &parts {
        fields.push(match access {
            FragmentUse::Written => cx.dst(part, Width::of(ty))?,
            FragmentUse::Read => cx.src(part, ty)?,
        });
    }
    Ok(fields)
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
