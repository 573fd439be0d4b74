//! The scalar video instructions (`vadd`, `vset`, `vmad`, ...), through [`numerics::scalar_video`](crate::numerics::scalar_video).

use super::family::Family;
use crate::engine::dataflow::Dataflow;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar};
use crate::engine::exec::operand::{Encode, Encoded, Read, Write, operands};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::Lowering;
use crate::engine::lower::types::{ScalarKind, Ty};
use crate::engine::lower::{Builder, Width};
use crate::numerics::compare::Comparison;
use crate::numerics::scalar_video::{
    Count, Operation, Part, ScalarProduct, ScalarVideo, Second, Source,
};
use crate::ptx::ast::{Instruction, Operand, OperandKind};
use crate::ptx::{Error, Result};

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &[
        "vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset", "vmad",
    ],
    read,
};

operands! {
    /// Of a [`ScalarVideo`]; `c` is `a` where it is not read.
    pub(crate) struct VideoOperands {
        d: Write<u32>, a: Read<u32>, b: Read<u32>, c: Read<u32>,
        operation: Encoded<Operation>,
        signed: Encoded<bool>,
        a_source: Encoded<Source>,
        b_source: Encoded<Source>,
        sat: Encoded<bool>,
        second: Encoded<Second>,
    }
    /// Of a [`ScalarProduct`].
    pub(crate) struct ProductOperands {
        d: Write<u32>, a: Read<u32>, b: Read<u32>, c: Read<u32>,
        a_source: Encoded<Source>,
        b_source: Encoded<Source>,
        plus_one: Encoded<bool>,
        sat: Encoded<bool>,
        shift: u32,
    }
}

/// The operations but [`Operation::Set`], in the order of their numbers; behind them follow its comparisons.
const OPERATIONS: [Operation; 9] = [
    Operation::Add,
    Operation::Sub,
    Operation::AbsoluteDifference,
    Operation::Min,
    Operation::Max,
    Operation::ShiftLeft(Count::Clamp),
    Operation::ShiftLeft(Count::Wrap),
    Operation::ShiftRight(Count::Clamp),
    Operation::ShiftRight(Count::Wrap),
];

impl Encode for Operation {
    fn encode(self) -> u32 {
        let number = match self {
            Operation::Set(comparison) => OPERATIONS.len() + comparison as usize,
            other => OPERATIONS
                .iter()
                .position(|operation| *operation == other)
                .expect("the table has all of them"),
        };
        number as u32
    }

    fn decode(word: u32) -> Operation {
        let number = word as usize;
        match OPERATIONS.get(number) {
            Some(&operation) => operation,
            None => Operation::Set(Comparison::ALL[number - OPERATIONS.len()]),
        }
    }
}

const PARTS: [Part; 7] = [
    Part::Word,
    Part::Byte(0),
    Part::Byte(1),
    Part::Byte(2),
    Part::Byte(3),
    Part::Half(0),
    Part::Half(1),
];

impl Encode for Source {
    fn encode(self) -> u32 {
        let part = PARTS.iter().position(|part| *part == self.part);
        let part = part.expect("the table has all of them") as u32;
        part << 1 | u32::from(self.signed)
    }

    fn decode(word: u32) -> Source {
        Source {
            part: PARTS[(word >> 1) as usize],
            signed: word & 1 != 0,
        }
    }
}

impl Encode for Second {
    fn encode(self) -> u32 {
        self as u32
    }

    fn decode(word: u32) -> Second {
        [Second::None, Second::Add, Second::Min, Second::Max][word as usize]
    }
}

/// Any of these instructions but `vmad`.
struct Apply;

impl Op for Apply {
    type Operands = VideoOperands;
    const DATAFLOW: Dataflow = Dataflow::Lanewise;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let video = ScalarVideo {
            operation: o.operation.get(),
            signed: o.signed.get(),
            sources: [o.a_source.get(), o.b_source.get()],
            sat: o.sat.get(),
            second: o.second.get(),
        };
        let (a, b, c) = (o.a.lanes(warp), o.b.lanes(warp), o.c.lanes(warp));
        let result = std::array::from_fn(|lane: usize| video.apply(a[lane], b[lane], c[lane]));
        o.d.put(warp, &result);
        Flow::Next
    }
}

/// `vmad`
struct Multiply;

impl Op for Multiply {
    type Operands = ProductOperands;
    const DATAFLOW: Dataflow = Dataflow::Lanewise;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let product = ScalarProduct {
            sources: [o.a_source.get(), o.b_source.get()],
            plus_one: o.plus_one.get(),
            sat: o.sat.get(),
            shift: o.shift,
        };
        let (a, b, c) = (o.a.lanes(warp), o.b.lanes(warp), o.c.lanes(warp));
        let result = std::array::from_fn(|lane: usize| product.apply(a[lane], b[lane], c[lane]));
        o.d.put(warp, &result);
        Flow::Next
    }
}

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    let signed = || form.ty().map(|ty| ty.kind == ScalarKind::Signed);
    if form.opcode() == "vmad" {
        // What is computed follows from the sources' types: the result's changes nothing.
        form.ty()?;
        let types = [signed()?, signed()?];
        let plus_one = form.has("po");
        let sat = form.has("sat");
        let shift = match form.slot("scale") {
            Some("shr7") => 7,
            Some(_) => 15,
            None => 0,
        };
        return Some(Lowering::new(move |cx, inst| {
            let Registers {
                d,
                a,
                b,
                c,
                sources,
            } = registers(cx, inst, types)?;
            let operands = ProductOperands {
                d,
                a,
                b,
                c,
                a_source: sources[0].into(),
                b_source: sources[1].into(),
                plus_one: plus_one.into(),
                sat: sat.into(),
                shift,
            };
            cx.emit(scalar::<Multiply>(), operands);
            Ok(())
        }));
    }
    let result = match form.opcode() {
        "vset" => None,
        _ => Some(signed()?),
    };
    let types = [signed()?, signed()?];
    // What `vset` answers has no type: the second operation has that of the first source.
    let result = result.unwrap_or(types[0]);
    let count = |form: &FormReader<'_>| match form.slot("mode")? {
        "clamp" => Some(Count::Clamp),
        _ => Some(Count::Wrap),
    };
    let operation = match form.opcode() {
        "vadd" => Operation::Add,
        "vsub" => Operation::Sub,
        "vabsdiff" => Operation::AbsoluteDifference,
        "vmin" => Operation::Min,
        "vmax" => Operation::Max,
        "vshl" => Operation::ShiftLeft(count(form)?),
        "vshr" => Operation::ShiftRight(count(form)?),
        _ => Operation::Set(form.next(Comparison::parse)?),
    };
    let sat = form.has("sat");
    let second = match form.slot("op2") {
        Some("add") => Second::Add,
        Some("min") => Second::Min,
        Some(_) => Second::Max,
        None => Second::None,
    };
    Some(Lowering::new(move |cx, inst| {
        let Registers {
            d,
            a,
            b,
            c,
            sources,
        } = registers(cx, inst, types)?;
        let operands = VideoOperands {
            d,
            a,
            b,
            c,
            operation: operation.into(),
            signed: result.into(),
            a_source: sources[0].into(),
            b_source: sources[1].into(),
            sat: sat.into(),
            second: second.into(),
        };
        cx.emit(scalar::<Apply>(), operands);
        Ok(())
    }))
}

/// What an instruction names: `c` is `a` again where there is none; the sources are those of `a` and `b`.
struct Registers {
    d: Write<u32>,
    a: Read<u32>,
    b: Read<u32>,
    c: Read<u32>,
    sources: [Source; 2],
}

/// The operands of an instruction whose `.atype` and `.btype` are signed or not.
fn registers<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    signed: [bool; 2],
) -> Result<Registers> {
    let [d, a, b, rest @ ..] = &inst.operands[..] else {
        let text = format!("`{}` takes three operands at least", inst.opcode);
        return Err(Error::new(inst.at, text));
    };
    let ((a, a_part), (b, b_part)) = (selected(a)?, selected(b)?);
    let d = cx.dst(d, Width::W32)?;
    let (a, b) = (cx.src(&a, Ty::B32)?, cx.src(&b, Ty::B32)?);
    let c = match rest.first() {
        Some(c) => cx.src(c, Ty::B32)?,
        None => a,
    };
    let sources = [(a_part, signed[0]), (b_part, signed[1])];
    let sources = sources.map(|(part, signed)| Source { part, signed });
    Ok(Registers {
        d: d.into(),
        a: a.into(),
        b: b.into(),
        c: c.into(),
        sources,
    })
}

/// An operand without its selector, and the part that this selects.
fn selected<'a>(operand: &Operand<'a>) -> Result<(Operand<'a>, Part)> {
    let OperandKind::Component(name, selector) = operand.kind else {
        return Ok((operand.clone(), Part::Word));
    };
    let part = Part::parse(selector).ok_or_else(|| {
        Error::new(
            operand.at,
            format!("`.{selector}` does not select a part of a register here: `.b0` to `.b3`, `.h0` and `.h1` do"),
        )
    })?;
    let register = Operand {
        at: operand.at,
        kind: OperandKind::Name(name),
    };
    Ok((register, part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_register_survives_encoding() {
        let comparisons = Comparison::ALL.map(Operation::Set);
        for operation in OPERATIONS.into_iter().chain(comparisons) {
            assert_eq!(Operation::decode(operation.encode()), operation);
        }
        for part in PARTS {
            for signed in [false, true] {
                let source = Source { part, signed };
                assert_eq!(Source::decode(source.encode()), source);
            }
        }
        for second in [Second::None, Second::Add, Second::Min, Second::Max] {
            assert_eq!(Second::decode(second.encode()), second);
        }
    }
}
