//! The scalar video instructions (`vadd`, `vset`, `vmad`, ...), through [`numerics::scalar_video`](crate::numerics::scalar_video).

use super::family::Family;
use super::lanewise_with;
use crate::engine::exec::op::scalar;
use crate::engine::exec::operand::Encode;
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::Lowering;
use crate::engine::lower::types::{ScalarKind, Ty};
use crate::engine::lower::{Builder, Field, Width};
use crate::numerics::compare::Comparison;
use crate::numerics::scalar_video::{
    Change, Count, Operation, Part, ScalarProduct, ScalarVideo, Source, Third,
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

// `c` is `a` where the instruction has none.
lanewise_with! {
    Apply(a: u32, b: u32, c: u32; video: ScalarVideo) -> u32 { video.apply(a, b, c) }
    Multiply(a: u32, b: u32, c: u32; product: ScalarProduct) -> u32 { product.apply(a, b, c) }
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

const PARTS: [Part; 7] = [
    Part::Word,
    Part::Byte(0),
    Part::Byte(1),
    Part::Byte(2),
    Part::Byte(3),
    Part::Half(0),
    Part::Half(1),
];

/// What is done with a third operand, but [`Third::Merge`], in the order of their numbers; behind them follow its parts.
const THIRDS: [Third; 4] = [Third::Unused, Third::Add, Third::Min, Third::Max];

const CHANGES: [Change; 4] = [
    Change::None,
    Change::PlusOne,
    Change::NegateProduct,
    Change::NegateAddend,
];

/// The number of a value in a table that has all of its kind.
fn number<T: PartialEq>(table: &[T], value: &T) -> u32 {
    let found = table.iter().position(|other| other == value);
    found.expect("the table has all of them") as u32
}

/// The bits of a source: the part's number above the sign.
fn source_bits(source: Source) -> u32 {
    number(&PARTS, &source.part) << 1 | u32::from(source.signed)
}

/// The source of these bits.
fn source_of(bits: u32) -> Source {
    Source {
        part: PARTS[(bits >> 1 & 7) as usize],
        signed: bits & 1 != 0,
    }
}

impl Encode for ScalarVideo {
    fn encode(self) -> u32 {
        let operation = match self.operation {
            Operation::Set(comparison) => OPERATIONS.len() as u32 + comparison as u32,
            other => number(&OPERATIONS, &other),
        };
        let third = match self.third {
            Third::Merge(part) => THIRDS.len() as u32 + number(&PARTS, &part),
            other => number(&THIRDS, &other),
        };
        source_bits(self.sources[0])
            | source_bits(self.sources[1]) << 4
            | u32::from(self.signed) << 8
            | u32::from(self.sat) << 9
            | third << 10
            | operation << 14
    }

    fn decode(word: u32) -> ScalarVideo {
        let operation = (word >> 14) as usize;
        let third = (word >> 10 & 15) as usize;
        ScalarVideo {
            operation: match OPERATIONS.get(operation) {
                Some(&operation) => operation,
                None => Operation::Set(Comparison::ALL[operation - OPERATIONS.len()]),
            },
            signed: word >> 8 & 1 != 0,
            sources: [source_of(word), source_of(word >> 4)],
            sat: word >> 9 & 1 != 0,
            third: match THIRDS.get(third) {
                Some(&third) => third,
                None => Third::Merge(PARTS[third - THIRDS.len()]),
            },
        }
    }
}

impl Encode for ScalarProduct {
    fn encode(self) -> u32 {
        source_bits(self.sources[0])
            | source_bits(self.sources[1]) << 4
            | u32::from(self.sat) << 8
            | number(&CHANGES, &self.change) << 9
            | self.shift << 11
    }

    fn decode(word: u32) -> ScalarProduct {
        ScalarProduct {
            sources: [source_of(word), source_of(word >> 4)],
            change: CHANGES[(word >> 9 & 3) as usize],
            sat: word >> 8 & 1 != 0,
            shift: word >> 11,
        }
    }
}

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    let signed = || form.ty().map(|ty| ty.kind == ScalarKind::Signed);
    if form.opcode() == "vmad" {
        // What is computed follows from the sources' types: the result's changes nothing.
        form.ty()?;
        let product = ScalarProduct {
            sources: [whole(signed()?), whole(signed()?)],
            change: match form.has("po") {
                true => Change::PlusOne,
                false => Change::None,
            },
            sat: form.has("sat"),
            shift: match form.slot("scale") {
                Some("shr7") => 7,
                Some(_) => 15,
                None => 0,
            },
        };
        return Some(Lowering::new(move |cx, inst| multiply(cx, inst, product)));
    }
    let result = match form.opcode() {
        "vset" => None,
        _ => Some(signed()?),
    };
    let sources = [whole(signed()?), whole(signed()?)];
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
    let video = ScalarVideo {
        operation,
        // What `vset` answers has no type: the second operation has that of the first source.
        signed: result.unwrap_or(sources[0].signed),
        sources,
        sat: form.has("sat"),
        third: match form.slot("op2") {
            Some("add") => Third::Add,
            Some("min") => Third::Min,
            Some(_) => Third::Max,
            None => Third::Unused,
        },
    };
    Some(Lowering::new(move |cx, inst| apply(cx, inst, video)))
}

/// A source that is all of its register.
fn whole(signed: bool) -> Source {
    Source {
        part: Part::Word,
        signed,
    }
}

/// Any of these instructions but `vmad`.
fn apply<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    mut video: ScalarVideo,
) -> Result<()> {
    let (target, part) = selected(&inst.operands[0])?;
    if part != Part::Word {
        let wrong = match (inst.operands.len(), video.third) {
            (3, _) => Some(format!(
                "Video selector is not allowed on destination for instruction '{}'",
                inst.opcode
            )),
            (_, Third::Unused) => None,
            _ => Some(
                "Video instruction cannot have destination selector and secondary operation".into(),
            ),
        };
        if let Some(message) = wrong {
            return Err(Error::new(inst.operands[0].at, message));
        }
        video.third = Third::Merge(part);
    }
    let fields = fields(cx, &target, &inst.operands[1..], &mut video.sources)?;
    cx.emit_fields_with(scalar::<Apply>(), &fields, &[video.encode()]);
    Ok(())
}

/// `vmad`
fn multiply<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    mut product: ScalarProduct,
) -> Result<()> {
    let mut sources = Vec::with_capacity(3);
    let mut negated = Vec::with_capacity(3);
    for operand in &inst.operands[1..] {
        let (source, is_negated) = match &operand.kind {
            OperandKind::Negated(source) => (&**source, true),
            _ => (operand, false),
        };
        sources.push(source.clone());
        negated.push(is_negated);
    }
    let change = match (negated[0] != negated[1], negated[2]) {
        (false, false) => Change::None,
        (true, false) => Change::NegateProduct,
        (false, true) => Change::NegateAddend,
        (true, true) => {
            let message = "Operand negation limited to either (source A xor source B) or source C";
            return Err(Error::new(inst.at, message));
        }
    };
    product.change = match (product.change, change) {
        (given, Change::None) => given,
        (Change::None, change) => change,
        _ => {
            let message = "Conflicting use of '.po' modifier with operand negation";
            return Err(Error::new(inst.at, message));
        }
    };
    let fields = fields(cx, &inst.operands[0], &sources, &mut product.sources)?;
    cx.emit_fields_with(scalar::<Multiply>(), &fields, &[product.encode()]);
    Ok(())
}

/// The registers of an instruction, `c` being `a` where it has none, and which parts `a` and `b` are.
fn fields<'a>(
    cx: &mut Builder<'a, '_>,
    target: &Operand<'a>,
    operands: &[Operand<'a>],
    sources: &mut [Source; 2],
) -> Result<[Field; 4]> {
    let mut fields = [cx.dst(target, Width::W32)?; 4];
    for (number, source) in sources.iter_mut().enumerate() {
        let (operand, part) = selected(&operands[number])?;
        source.part = part;
        fields[number + 1] = cx.src(&operand, Ty::B32)?;
    }
    fields[3] = match operands.get(2) {
        Some(c) if matches!(c.kind, OperandKind::Component(..)) => {
            let message = "Video selector is not allowed on 'source C' operand";
            return Err(Error::new(c.at, message));
        }
        Some(c) => cx.src(c, Ty::B32)?,
        None => fields[1],
    };
    Ok(fields)
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
    fn instructions_survive_encoding() {
        let comparisons = Comparison::ALL.map(Operation::Set);
        let merges = PARTS.map(Third::Merge);
        let parts = PARTS.into_iter().cycle();
        let sources = parts.clone().zip(parts.skip(3)).enumerate();
        let sources = sources.map(|(number, (a, b))| {
            [(a, number & 1 != 0), (b, number & 2 != 0)]
                .map(|(part, signed)| Source { part, signed })
        });
        let mut sources = sources.cycle();
        let mut next = || sources.next().expect("they repeat");
        for operation in OPERATIONS.into_iter().chain(comparisons) {
            for third in THIRDS.into_iter().chain(merges) {
                for (signed, sat) in [(false, true), (true, false)] {
                    let video = ScalarVideo {
                        operation,
                        signed,
                        sources: next(),
                        sat,
                        third,
                    };
                    assert_eq!(ScalarVideo::decode(video.encode()), video);
                }
            }
        }
        for change in CHANGES {
            for (shift, sat) in [(0, true), (7, false), (15, true)] {
                let product = ScalarProduct {
                    sources: next(),
                    change,
                    sat,
                    shift,
                };
                assert_eq!(ScalarProduct::decode(product.encode()), product);
            }
        }
    }
}
