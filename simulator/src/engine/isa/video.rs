//! The SIMD video instructions (`vadd2`, `vabsdiff4`, ...), through [`numerics::video`](crate::numerics::video).

use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::lanes::{LANES, put, src};
use crate::engine::exec::lanes::{Words, WordsOp};
use crate::engine::exec::level::{Level, scalar};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::modifiers::{Kind, Modifiers, Ty, unknown};
use crate::engine::lower::{Builder, Link, Width, expect_operands};
use crate::numerics::compare::Comparison;
use crate::numerics::video::{Operation, Video};
use crate::ptx::ast::{Instruction, Operand, OperandKind};
use crate::ptx::{Error, Result};

/// `x` leads to the decoded instruction: three numbers, see [`pack`].
struct Apply;

impl WordsOp for Apply {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        // SAFETY: the lowering gave the operands 32 bits and the list its three entries.
        unsafe {
            let list = warp.list(inst.x, 3);
            let video = unpack([list[0], list[1], list[2]]);
            let (a, b, c) = (
                src::<u32>(warp, inst.a),
                src::<u32>(warp, inst.b),
                src::<u32>(warp, inst.c),
            );
            let result: [u32; LANES] =
                std::array::from_fn(|lane| video.apply(a[lane], b[lane], c[lane]));
            put(warp, inst.d, &result);
        }
        Flow::Next
    }
}

fn operation(number: u32) -> Operation {
    match number {
        0 => Operation::Add,
        1 => Operation::Sub,
        2 => Operation::Average,
        3 => Operation::AbsoluteDifference,
        4 => Operation::Min,
        5 => Operation::Max,
        n => Operation::Set(Comparison::ALL[(n - 6) as usize % Comparison::ALL.len()]),
    }
}

/// The instruction as three numbers.
fn pack(video: &Video) -> [u32; 3] {
    let number = match video.operation {
        Operation::Add => 0,
        Operation::Sub => 1,
        Operation::Average => 2,
        Operation::AbsoluteDifference => 3,
        Operation::Min => 4,
        Operation::Max => 5,
        Operation::Set(comparison) => 6 + comparison as u32,
    };
    let flags = u32::from(video.signed)
        | u32::from(video.operands_signed[0]) << 1
        | u32::from(video.operands_signed[1]) << 2
        | u32::from(video.sat) << 3
        | u32::from(video.accumulate) << 4;
    let first = number | video.lanes << 8 | u32::from(video.mask) << 12 | flags << 16;
    [
        first,
        u32::from_le_bytes(video.selectors[0]),
        u32::from_le_bytes(video.selectors[1]),
    ]
}

fn unpack([first, a, b]: [u32; 3]) -> Video {
    let flag = |n: u32| first >> (16 + n) & 1 != 0;
    Video {
        operation: operation(first & 0xff),
        lanes: first >> 8 & 15,
        signed: flag(0),
        operands_signed: [flag(1), flag(2)],
        selectors: [a.to_le_bytes(), b.to_le_bytes()],
        mask: (first >> 12 & 15) as u8,
        sat: flag(3),
        accumulate: flag(4),
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

/// Whether this is such an instruction.
pub(crate) fn is_video(opcode: &str) -> bool {
    shape(opcode).is_some()
}

fn shape(opcode: &str) -> Option<(&str, u32)> {
    let lanes = match opcode.as_bytes().last()? {
        b'2' => 2,
        b'4' => 4,
        _ => return None,
    };
    let name = &opcode[..opcode.len() - 1];
    matches!(
        name,
        "vadd" | "vsub" | "vavrg" | "vabsdiff" | "vmin" | "vmax" | "vset"
    )
    .then_some((name, lanes))
}

pub(crate) fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let (name, lanes) = shape(inst.opcode).ok_or_else(|| unknown(inst))?;
    let mut modifiers = Modifiers::new(inst);
    let mut signed = || {
        let ty = modifiers
            .next_if(Ty::named)
            .filter(|ty| ty.bits == 32 && ty.packed == 1)?;
        matches!(ty.kind, Kind::Signed | Kind::Unsigned).then_some(ty.kind == Kind::Signed)
    };
    let set = name == "vset";
    let result = if set { Some(false) } else { signed() };
    let (result, a, b) = match (result, signed(), signed()) {
        (Some(result), Some(a), Some(b)) => (result, a, b),
        _ => return Err(unknown(inst)),
    };
    let operation = match name {
        "vadd" => Operation::Add,
        "vsub" => Operation::Sub,
        "vavrg" => Operation::Average,
        "vabsdiff" => Operation::AbsoluteDifference,
        "vmin" => Operation::Min,
        "vmax" => Operation::Max,
        _ => Operation::Set(
            modifiers
                .next_if(Comparison::parse)
                .ok_or_else(|| unknown(inst))?,
        ),
    };
    let sat = !set && modifiers.flag("sat");
    let accumulate = !sat && modifiers.flag("add");
    modifiers.finish(inst)?;
    expect_operands(inst, &[4])?;
    let mut video = Video {
        operands_signed: [a, b],
        sat,
        accumulate,
        ..Video::plain(operation, lanes, result)
    };
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
    let word = Ty {
        kind: Kind::Bits,
        bits: 32,
        packed: 1,
    };
    let d = cx.dst(&target, Width::W32)?;
    let (a, b) = (cx.src(&sources[0], word)?, cx.src(&sources[1], word)?);
    let c = cx.src(&inst.operands[3], word)?;
    let list =
        cx.list(&pack(&video).map(|number| (crate::engine::lower::Field::Raw(number), false)));
    let lowered = cx.emit_untyped(scalar::<Apply>(), d, a, b, c);
    lowered.x = Link::List(list.0);
    lowered.list = list;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_survive_packing() {
        let video = Video {
            mask: 5,
            selectors: [[7, 0, 3, 2], [4, 4, 1, 6]],
            operands_signed: [true, false],
            sat: true,
            ..Video::plain(Operation::Set(Comparison::Geu), 4, false)
        };
        assert_eq!(unpack(pack(&video)), video);
        assert_eq!(digits("h10", 2, 2), Some(vec![0, 1]));
        assert_eq!(digits("b7", 4, 4), None);
        assert!(is_video("vabsdiff4") && !is_video("vote2"));
    }
}
