//! `mma.sync`, `wmma.mma`, `movmatrix`: matrix products on registers, through [`numerics::matrix`](crate::numerics::matrix).
//! What moves fragments to and from memory is in [`super::fragment`].

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::engine::exec::level::{Level, scalar, vector};
use crate::engine::exec::lanes::{FULL, LANES, dst, put, src};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::fault::FaultKind;
use crate::engine::lower::modifiers::{Kind, Modifiers, Ty, unknown};
use crate::engine::lower::{Builder, Field, Link, Width, expect_operands};
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

/// A product: `x` is the list of registers (D, A, B, C), `a` the product's number.
struct Product;

impl WordsOp for Product {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        if let Some(flow) = whole_warp(warp, "a matrix product") {
            return flow;
        }
        let product = PRODUCTS.get(inst.a);
        let counts =
            [product.d, product.a, product.b, product.c].map(|layout| layout.registers() as usize);
        // SAFETY: the lowering made the list from registers of these widths, as many as the layouts have.
        unsafe {
            let list = warp.list(inst.x, counts.iter().sum());
            let (d, rest) = list.split_at(counts[0]);
            let (a, rest) = rest.split_at(counts[1]);
            let (b, c) = rest.split_at(counts[2]);
            let read = |operands: &[u32], element: Element| {
                let mut fragment = [[0u64; LANES]; 16];
                for (lanes, &operand) in fragment.iter_mut().zip(operands) {
                    *lanes = match element {
                        Element::F64 => *src::<u64>(warp, operand),
                        _ => src::<u32>(warp, operand).map(u64::from),
                    };
                }
                fragment
            };
            let (a, b) = (read(a, product.a.element()), read(b, product.b.element()));
            let c = read(c, product.c.element());
            let mut result = [[0u64; LANES]; 16];
            product.apply(&a, &b, &c, &mut result[..counts[0]]);
            for (lanes, &operand) in result.iter().zip(d) {
                match product.d.element() {
                    Element::F64 => *dst::<u64>(warp, operand) = *lanes,
                    _ => *dst::<u32>(warp, operand) = lanes.map(|v| v as u32),
                }
            }
        }
        Flow::Next
    }
}

/// `movmatrix.trans`
struct Transpose;

impl WordsOp for Transpose {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        if let Some(flow) = whole_warp(warp, "movmatrix") {
            return flow;
        }
        // SAFETY: the lowering gave the operands 32 bits.
        unsafe {
            let result = exchange::transpose(src::<u32>(warp, inst.a));
            put(warp, inst.d, &result);
        }
        Flow::Next
    }
}

/// The registers of a fragment operand.
pub(crate) fn fragment<'a>(
    cx: &mut Builder<'a, '_>,
    operand: &Operand<'a>,
    count: u32,
    element: Element,
    written: bool,
) -> Result<Vec<(Field, bool)>> {
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
        let mut field = if written {
            cx.dst(part, Width::of(ty))?
        } else {
            cx.src(part, ty)?
        };
        if field == Field::Sink {
            field = Field::Register(cx.new_register(Width::of(ty)));
        }
        fields.push((field, written));
    }
    Ok(fields)
}

/// Takes the shape.
pub(crate) fn shape(modifiers: &mut Modifiers) -> Option<Shape> {
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
            cx.emit_untyped(scalar::<Transpose>(), d, a, Field::NONE, Field::NONE);
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
    let mut fields = Vec::new();
    let parts = [
        (Use::Accumulator, d),
        (Use::A, a),
        (Use::B, b),
        (Use::Accumulator, c),
    ];
    for (index, (part, element)) in parts.into_iter().enumerate() {
        let count = registers(shape, part, element, wmma);
        fields.extend(fragment(
            cx,
            &inst.operands[index],
            count,
            element,
            index == 0,
        )?);
    }
    let list = cx.list(&fields);
    let lowered = cx.emit_untyped(
        vector::<Product>(),
        Field::NONE,
        Field::Raw(number),
        Field::NONE,
        Field::NONE,
    );
    lowered.x = Link::List(list.0);
    lowered.list = list;
    lowered.writes_d = false;
    Ok(())
}

/// `row` (true) or `col`.
pub(crate) fn layout(name: &str) -> Option<bool> {
    match name {
        "row" => Some(true),
        "col" => Some(false),
        _ => None,
    }
}
