//! `call`: direct, indirect, and calls of the device runtime (`vprintf`, `malloc` ...).

use super::family::Family;
use crate::engine::access::path::read_byte;
use crate::engine::environment::{GRAPH_LAUNCH, RuntimeError};
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar};
use crate::engine::exec::operand::{
    Call as CallOperand, Read, Registers, SINK, lanes_of, operands,
};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::exec::windows::FUNCTIONS;
use crate::engine::fault::FaultKind;
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::Lowering;
use crate::engine::lower::types::{ScalarKind, Ty};
use crate::engine::lower::variables::size_of;
use crate::engine::lower::{Builder, Call, Field, Symbol, Width};
use crate::engine::program::CallSite;
use crate::numerics::printf;
use crate::ptx::ast::{Instruction, Operand, OperandKind, Space, Variable};
use crate::ptx::{Error, Result};

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["call"],
    read,
};

operands! {
    pub(crate) struct CallOperands { site: CallOperand }
    pub(crate) struct IndirectOperands { site: CallOperand, function: Read<u64> }
}

/// The current function's call site.
fn site<'g>(warp: &Warp, cluster: &Cluster<'g>, site: CallOperand) -> &'g CallSite {
    &warp.function_of(cluster.grid.program).calls[site.number() as usize]
}

/// A call of a function of the module. The lowering has compared the arguments with the callee's.
struct Direct;

impl Op for Direct {
    type Operands = CallOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let callee = site(warp, cluster, o.site).callee.unwrap_or(0);
        warp.call(cluster, callee, o.site.number())
    }
}

/// An indirect call.
struct Indirect;

impl Op for Indirect {
    type Operands = IndirectOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let site = site(warp, cluster, o.site);
        let addresses = *o.function.lanes(warp);
        let first = warp.mask.trailing_zeros() as usize;
        let target = addresses[first];
        let offset = target.wrapping_sub(FUNCTIONS);
        let number = u32::try_from(offset / 16).unwrap_or(u32::MAX);
        let functions = &cluster.grid.program.functions;
        let callee = functions
            .get(number as usize)
            .filter(|_| offset.is_multiple_of(16));
        let Some(callee) = callee else {
            let message = format!("indirect call of {target:#x}, which is no function");
            return warp.fail(FaultKind::InvalidProgramCounter, first, message);
        };
        if !callee.takes(site) {
            let message = format!(
                "indirect call of {} with other parameters than it has",
                callee.name
            );
            return warp.fail(FaultKind::InvalidProgramCounter, first, message);
        }
        let same = lanes_of(warp.mask)
            .filter(|&lane| addresses[lane] == target)
            .fold(0, |all, l| all | 1 << l);
        if same != warp.mask {
            // Other functions are called by the other lanes, one after the other.
            let (pc, frame) = (warp.pc, warp.frame);
            let rest = warp.mask & !same;
            let others = warp.active & !warp.mask;
            if others != 0 {
                warp.add_ready(others, pc + 1, frame);
            }
            warp.add_ready(rest, pc, frame);
            warp.active = same;
            warp.mask = same;
        }
        warp.call(cluster, number, o.site.number())
    }
}

/// The bits of an argument of one lane.
fn argument(warp: &Warp, site: &CallSite, index: usize, lane: usize) -> u64 {
    let Some(passed) = site.arguments.get(index) else {
        return 0;
    };
    let bytes = passed.bytes.min(8) as usize;
    let start = warp
        .operand(passed.offset)
        .wrapping_add(lane * passed.bytes as usize);
    let mut value = [0u8; 8];
    // SAFETY: what a call site passes has 32 lanes of so many bytes in the current frame or its constants (`allocate::finish`).
    unsafe { start.copy_to_nonoverlapping(value.as_mut_ptr(), bytes) };
    u64::from_le_bytes(value)
}

/// A call of the device runtime.
struct Runtime;

impl Op for Runtime {
    type Operands = CallOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let site = site(warp, cluster, o.site);
        let name = site.runtime.as_deref().unwrap_or("");
        for lane in lanes_of(warp.mask) {
            let arguments: Vec<u64> = (0..site.arguments.len())
                .map(|i| argument(warp, site, i, lane))
                .collect();
            let result = match call_runtime(warp, cluster, lane, name, &arguments) {
                Ok(result) => result,
                Err(flow) => return flow,
            };
            if let Some(passed) = site.results.first().filter(|passed| passed.offset != SINK) {
                let bytes = passed.bytes.min(8) as usize;
                let start = warp
                    .register(passed.offset)
                    .wrapping_add(lane * passed.bytes as usize);
                // SAFETY: a result has 32 lanes of so many bytes in the current frame (`allocate::finish`).
                unsafe { start.copy_from_nonoverlapping(result.to_le_bytes().as_ptr(), bytes) };
            }
        }
        Flow::Next
    }
}

fn call_runtime(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    lane: usize,
    name: &str,
    arguments: &[u64],
) -> std::result::Result<u64, Flow> {
    let argument = |index: usize| arguments.get(index).copied().unwrap_or(0);
    let runtime = cluster.grid.runtime;
    match name {
        "vprintf" => {
            let mut memory = |address| read_byte(warp, cluster, lane, address);
            match printf::vprintf(&mut memory, argument(0), argument(1)) {
                Ok((text, result)) => {
                    runtime.print(&text);
                    Ok(result as u64)
                }
                // The read that failed has recorded the fault.
                Err(_) => Err(Flow::Fault),
            }
        }
        "__assertfail" => {
            let mut text = |index: usize| {
                let mut bytes = Vec::new();
                while bytes.len() < 4096 {
                    match read_byte(
                        warp,
                        cluster,
                        lane,
                        argument(index).wrapping_add(bytes.len() as u64),
                    ) {
                        None => return Err(Flow::Fault),
                        Some(0) => break,
                        Some(value) => bytes.push(value),
                    }
                }
                Ok(String::from_utf8_lossy(&bytes).into_owned())
            };
            let (what, file, function) = (text(0)?, text(1)?, text(3)?);
            let line = argument(2) as u32;
            let message = format!("{file}:{line}: {function}: Assertion `{what}` failed.");
            Err(warp.fail(FaultKind::Assert, lane, message))
        }
        "malloc" => Ok(runtime.malloc(argument(0))),
        "free" => {
            if argument(0) != 0 && !runtime.free(argument(0)) {
                let message = format!("free of {:#x}, which malloc has not given", argument(0));
                return Err(warp.fail(FaultKind::IllegalAddress, lane, message));
            }
            Ok(0)
        }
        _ => match runtime.call(name, arguments) {
            Ok(result) => Ok(result),
            Err(RuntimeError::NoSuchFunction) => {
                let message = format!("the device runtime has no function {name}");
                Err(warp.fail(FaultKind::InvalidProgramCounter, lane, message))
            }
            Err(RuntimeError::Fault(kind, message)) => Err(warp.fail(kind, lane, message)),
        },
    }
}

/// What is passed: the operands in `( .. )`.
fn operands<'a, 'o>(operand: Option<&'o Operand<'a>>) -> &'o [Operand<'a>] {
    match operand.map(|o| &o.kind) {
        Some(OperandKind::List(list)) => list,
        _ => &[],
    }
}

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    form.ignore(&["uni"]);
    Some(Lowering::new(lower))
}

fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut rest = inst.operands.as_slice();
    let mut results = None;
    if let Some((first, others)) = rest.split_first()
        && matches!(first.kind, OperandKind::List(_))
    {
        results = Some(first);
        rest = others;
    }
    let Some((target, rest)) = rest.split_first() else {
        return Err(Error::new(inst.at, "a call needs a function"));
    };
    let arguments = rest
        .first()
        .filter(|o| matches!(o.kind, OperandKind::List(_)));
    let OperandKind::Name(name) = target.kind else {
        return Err(Error::new(
            target.at,
            "expected a function or a register with its address",
        ));
    };
    let symbol = cx.find(name);
    let mut call = Call::default();
    let formals = match symbol {
        Some(Symbol::Function(number)) => {
            call.callee = Some(number);
            let function = cx.module.function(number);
            if function.entry {
                return Err(Error::new(
                    target.at,
                    "Illegal call target, device function expected",
                ));
            }
            Some(function)
        }
        Some(Symbol::Runtime(name)) => {
            cx.uses.graph_launches |= name == GRAPH_LAUNCH;
            call.runtime = Some(name.to_owned());
            None
        }
        Some(Symbol::Register { .. }) => None,
        Some(Symbol::External(external)) => return Err(external.unresolved(name, target.at)),
        Some(_) => {
            return Err(Error::new(
                target.at,
                "Label expected for argument 0 of instruction 'call'",
            ));
        }
        None => return Err(cx.unknown(name, target.at)),
    };
    let (given, taken) = (operands(arguments), operands(results));
    if let Some(function) = formals {
        if (given.len(), taken.len()) != (function.parameters.len(), function.returns.len()) {
            return Err(Error::new(inst.at, "Call has wrong number of parameters"));
        }
        let pairs = given.iter().zip(&function.parameters);
        for (operand, formal) in pairs.chain(taken.iter().zip(&function.returns)) {
            compare(cx, operand, formal)?;
        }
    }
    for (index, operand) in given.iter().enumerate() {
        let formal = formals.map(|function| &function.parameters[index]);
        call.arguments.push(passed(cx, operand, formal)?);
    }
    for (index, operand) in taken.iter().enumerate() {
        let OperandKind::Name(name) = operand.kind else {
            if matches!(operand.kind, OperandKind::Sink) {
                let formal = formals.map(|function| &function.returns[index]);
                call.results.push((Field::Sink, bytes_of(formal)?));
                continue;
            }
            return Err(Error::new(operand.at, "expected a variable for the result"));
        };
        call.results.push(variable(cx, name, operand)?);
    }
    let site = CallOperand::from_word(cx.calls.len() as u32);
    match (&call.callee, &call.runtime) {
        (Some(_), _) => cx.emit(scalar::<Direct>(), CallOperands { site }),
        (_, Some(_)) => cx.emit(scalar::<Runtime>(), CallOperands { site }),
        _ => {
            let function = cx.src(target, Ty::B64)?.into();
            cx.emit(scalar::<Indirect>(), IndirectOperands { site, function })
        }
    };
    cx.calls.push(call);
    Ok(())
}

/// A variable or register that is passed, and its bytes in a lane.
fn variable<'a>(
    cx: &mut Builder<'a, '_>,
    name: &str,
    operand: &Operand<'a>,
) -> Result<(Field, u32)> {
    match cx.find(name) {
        Some(Symbol::Area { register, size, .. }) => Ok((Field::Register(register), size)),
        Some(Symbol::Register { register, .. }) => Ok((
            Field::Register(register),
            cx.widths[register.0 as usize].lane_bytes(),
        )),
        _ => Err(Error::new(
            operand.at,
            format!("`{name}` is not a parameter variable or register"),
        )),
    }
}

/// What a call passes for a parameter.
fn passed<'a>(
    cx: &mut Builder<'a, '_>,
    operand: &Operand<'a>,
    formal: Option<&Variable<'_>>,
) -> Result<(Field, u32)> {
    if let OperandKind::Name(name) = operand.kind {
        return variable(cx, name, operand);
    }
    let bytes = bytes_of(formal)?;
    let ty = Ty::new(ScalarKind::Bits, bytes * 8);
    Ok((cx.src(operand, ty)?, bytes))
}

/// The bytes of a parameter or result in a lane; of one that is not known, those of a register of 32 bits.
fn bytes_of(formal: Option<&Variable<'_>>) -> Result<u32> {
    match formal {
        None => Ok(Width::W32.lane_bytes()),
        Some(formal) if formal.space == Space::Register => {
            Ok(Width::of(formal.ty.into()).lane_bytes())
        }
        Some(formal) => size_of(formal),
    }
}

/// Refuses what a call passes in place of a parameter or result that is otherwise.
fn compare<'a>(cx: &Builder<'a, '_>, operand: &Operand<'a>, formal: &Variable<'a>) -> Result<()> {
    let refuse = |what: &str| {
        let message = format!(
            "{what} of argument does not match formal parameter '{}'",
            formal.name
        );
        Err(Error::new(operand.at, message))
    };
    let OperandKind::Name(name) = operand.kind else {
        return Ok(());
    };
    match cx.find(name) {
        Some(Symbol::Area { variable, .. }) => {
            let is_alike = (variable.ty.size, variable.vector, &variable.dimensions)
                == (formal.ty.size, formal.vector, &formal.dimensions);
            if !is_alike {
                return refuse("Type");
            }
            if variable.align != formal.align {
                return refuse("Alignment");
            }
            Ok(())
        }
        Some(Symbol::Register { ty, .. })
            if ty.size != formal.ty.size || formal.vector > 1 || !formal.dimensions.is_empty() =>
        {
            refuse("Type")
        }
        _ => Ok(()),
    }
}
