//! The SIMD video instructions (`vadd2`, `vabsdiff4`, ...), through [`numerics::video`](crate::numerics::video).

use super::family::Family;
use crate::engine::dataflow::Dataflow;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar};
use crate::engine::exec::operand::{Read, Write, operands};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::Lowering;
use crate::engine::lower::types::{ScalarKind, Ty};
use crate::engine::lower::{Builder, Width};
use crate::numerics::compare::Comparison;
use crate::numerics::video::{Operation, Video};
use crate::ptx::ast::{Instruction, Operand, OperandKind};
use crate::ptx::{Error, Result};

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &[
        "vadd2",
        "vadd4",
        "vsub2",
        "vsub4",
        "vavrg2",
        "vavrg4",
        "vabsdiff2",
        "vabsdiff4",
        "vmin2",
        "vmin4",
        "vmax2",
        "vmax4",
        "vset2",
        "vset4",
    ],
    read,
};

operands! {
    /// Behind the registers the decoded instruction: the fields of [`Video`] as numbers, booleans as 0 and 1.
    pub(crate) struct VideoOperands {
        d: Write<u32>, a: Read<u32>, b: Read<u32>, c: Read<u32>,
        /// See [`operation`].
        operation: u32,
        lanes: u32,
        signed: u32,
        a_signed: u32,
        b_signed: u32,
        /// The lanes that the selectors choose, a byte each, the lowest first.
        a_selectors: u32,
        b_selectors: u32,
        mask: u32,
        sat: u32,
        accumulate: u32,
    }
}

impl VideoOperands {
    /// The operands of an instruction on these registers `d, a, b, c`.
    fn new(registers: (Write<u32>, [Read<u32>; 3]), video: &Video) -> VideoOperands {
        let (d, [a, b, c]) = registers;
        VideoOperands {
            d,
            a,
            b,
            c,
            operation: operation_number(video.operation),
            lanes: video.lanes,
            signed: video.signed.into(),
            a_signed: video.operands_signed[0].into(),
            b_signed: video.operands_signed[1].into(),
            a_selectors: u32::from_le_bytes(video.selectors[0]),
            b_selectors: u32::from_le_bytes(video.selectors[1]),
            mask: video.mask.into(),
            sat: video.sat.into(),
            accumulate: video.accumulate.into(),
        }
    }

    /// The decoded instruction.
    fn video(&self) -> Video {
        Video {
            operation: operation(self.operation),
            lanes: self.lanes,
            signed: self.signed != 0,
            operands_signed: [self.a_signed != 0, self.b_signed != 0],
            selectors: [self.a_selectors, self.b_selectors].map(u32::to_le_bytes),
            mask: self.mask as u8,
            sat: self.sat != 0,
            accumulate: self.accumulate != 0,
        }
    }
}

/// The operations but [`Operation::Set`], in the order of their numbers; behind them follow its comparisons.
const OPERATIONS: [Operation; 6] = [
    Operation::Add,
    Operation::Sub,
    Operation::Average,
    Operation::AbsoluteDifference,
    Operation::Min,
    Operation::Max,
];

/// The operation of this number.
fn operation(number: u32) -> Operation {
    let number = number as usize;
    match OPERATIONS.get(number) {
        Some(&operation) => operation,
        None => Operation::Set(Comparison::ALL[number - OPERATIONS.len()]),
    }
}

/// The number of an operation.
fn operation_number(operation: Operation) -> u32 {
    let number = match operation {
        Operation::Add => 0,
        Operation::Sub => 1,
        Operation::Average => 2,
        Operation::AbsoluteDifference => 3,
        Operation::Min => 4,
        Operation::Max => 5,
        Operation::Set(comparison) => OPERATIONS.len() + comparison as usize,
    };
    number as u32
}

/// Any of these instructions.
struct Apply;

impl Op for Apply {
    type Operands = VideoOperands;
    const DATAFLOW: Dataflow = Dataflow::Lanewise;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let video = o.video();
        let (a, b, c) = (o.a.lanes(warp), o.b.lanes(warp), o.c.lanes(warp));
        let result = std::array::from_fn(|lane: usize| video.apply(a[lane], b[lane], c[lane]));
        o.d.put(warp, &result);
        Flow::Next
    }
}

/// The digits of a selector such as `h10` or `b3210`, last digit first.
fn digits(text: &str, lanes: u32, limit: u32) -> Option<Vec<u8>> {
    let digits = text.strip_prefix(if lanes == 2 { 'h' } else { 'b' })?;
    let digits: Option<Vec<u8>> = digits
        .chars()
        .rev()
        .map(|c| c.to_digit(10).filter(|&d| d < limit).map(|d| d as u8))
        .collect();
    digits.filter(|digits| !digits.is_empty())
}

/// An operand without its selector, and the selector's digits.
fn selected<'a>(
    operand: &Operand<'a>,
    lanes: u32,
    limit: u32,
) -> Result<(Operand<'a>, Option<Vec<u8>>)> {
    let OperandKind::Component(name, selector) = operand.kind else {
        return Ok((operand.clone(), None));
    };
    let found = digits(selector, lanes, limit).ok_or_else(|| {
        Error::new(
            operand.at,
            format!("`.{selector}` does not select parts of a register here"),
        )
    })?;
    Ok((
        Operand {
            at: operand.at,
            kind: OperandKind::Name(name),
        },
        Some(found),
    ))
}

/// The operation's name and its parts; [`FAMILY`] lists what there is.
fn shape(opcode: &str) -> Option<(&str, u32)> {
    let (name, parts) = opcode.split_at_checked(opcode.len() - 1)?;
    Some((name, parts.parse().ok()?))
}

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    let (name, lanes) = shape(form.opcode())?;
    let signed = || form.ty().map(|ty| ty.kind == ScalarKind::Signed);
    let result = if name == "vset" { false } else { signed()? };
    let operands_signed = [signed()?, signed()?];
    let operation = match name {
        "vadd" => Operation::Add,
        "vsub" => Operation::Sub,
        "vavrg" => Operation::Average,
        "vabsdiff" => Operation::AbsoluteDifference,
        "vmin" => Operation::Min,
        "vmax" => Operation::Max,
        _ => Operation::Set(form.next(Comparison::parse)?),
    };
    let sat = form.has("sat");
    let accumulate = !sat && form.has("add");
    let video = Video {
        operands_signed,
        sat,
        accumulate,
        ..Video::plain(operation, lanes, result)
    };
    Some(Lowering::new(move |cx, inst| lower(cx, inst, video)))
}

/// Reads the selectors of the operands into `video`.
fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>, mut video: Video) -> Result<()> {
    let lanes = video.lanes;
    let (target, mask) = selected(&inst.operands[0], lanes, lanes)?;
    if let Some(mask) = mask {
        video.mask = mask.iter().fold(0, |mask, lane| mask | 1 << lane);
    }
    let mut sources = Vec::new();
    for (index, operand) in inst.operands[1..3].iter().enumerate() {
        let (operand, selector) = selected(operand, lanes, 2 * lanes)?;
        if let Some(selector) = selector {
            if selector.len() != lanes as usize {
                return Err(Error::new(
                    operand.at,
                    format!("a selector of `{}` names {lanes} parts", inst.opcode),
                ));
            }
            video.selectors[index][..lanes as usize].copy_from_slice(&selector);
        }
        sources.push(operand);
    }
    let d = cx.dst(&target, Width::W32)?;
    let (a, b) = (cx.src(&sources[0], Ty::B32)?, cx.src(&sources[1], Ty::B32)?);
    let c = cx.src(&inst.operands[3], Ty::B32)?;
    let registers = (d.into(), [a.into(), b.into(), c.into()]);
    cx.emit(scalar::<Apply>(), VideoOperands::new(registers, &video));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_survive_encoding() {
        let video = Video {
            mask: 5,
            selectors: [[7, 0, 3, 2], [4, 4, 1, 6]],
            operands_signed: [true, false],
            sat: true,
            ..Video::plain(Operation::Set(Comparison::Geu), 4, false)
        };
        let registers = (Write::from_word(0), [Read::from_word(0); 3]);
        assert_eq!(VideoOperands::new(registers, &video).video(), video);
        assert_eq!(digits("h10", 2, 2), Some(vec![0, 1]));
        assert_eq!(digits("b7", 4, 4), None);
        assert!(FAMILY.opcodes.contains(&"vabsdiff4"));
        assert!(FAMILY.opcodes.iter().all(|opcode| shape(opcode).is_some()));
    }
}
