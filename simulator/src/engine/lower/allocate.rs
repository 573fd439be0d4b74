//! Register allocation: virtual registers get places in the frame, shared by those that are never alive together, so that
//! a warp's frame stays small enough for the caches; then instructions get their final form.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::builder::{Builder, Control, Lowered, Registers};
use super::field::{Field, Named, Register};
use crate::engine::exec::operand::{CONSTANT, SINK, Slot, Width};
use crate::engine::instruction::{INLINE_WORDS, Inst};
use crate::engine::memory::Aligned;
use crate::engine::program::{CallSite, Function, Passed};

/// Frames start with unused bytes, so that no predicate has offset 0 (which means "no guard").
const FIRST: u32 = 64;

/// Allocates and finishes a function; also the number of 32-bit registers alive at once, at most.
pub(crate) fn allocate(name: &str, builder: Builder) -> (Function, u32) {
    let flow = Flow::new(&builder);
    let live_in = flow.liveness(&builder);
    let intervals = intervals(&builder, &flow, &live_in);
    let placed = place(&builder, &intervals);
    // What is alive at the entry may be read before it is written.
    let mut zeroed: Vec<(u32, u32)> = Vec::new();
    if let Some(entry) = live_in.first() {
        for register in entry.iter() {
            zeroed.push((
                placed.offsets[register as usize],
                builder.widths[register as usize].frame_bytes(),
            ));
        }
    }
    let pressure = placed.pressure;
    (finish(name, &builder, placed, zeroed), pressure)
}

/// A set of registers.
#[derive(Clone, PartialEq, Eq)]
struct Set(Vec<u64>);

impl Set {
    fn new(size: usize) -> Set {
        Set(vec![0; size.div_ceil(64)])
    }

    fn insert(&mut self, register: Register) {
        self.0[register.0 as usize / 64] |= 1 << (register.0 % 64);
    }

    fn contains(&self, register: Register) -> bool {
        self.0[register.0 as usize / 64] >> (register.0 % 64) & 1 != 0
    }

    /// Takes in another set of the same size; true if that changes it.
    fn unite(&mut self, other: &Set) -> bool {
        let mut changed = false;
        for (own, &other) in self.0.iter_mut().zip(&other.0) {
            changed |= other & !*own != 0;
            *own |= other;
        }
        changed
    }

    /// The registers that are held after an instruction.
    fn hold(&mut self, builder: &Builder, inst: &Lowered) {
        match inst.registers {
            Registers::Used => {}
            Registers::Held => visit(builder, inst, |register, _| self.insert(register)),
            // Behind a guard it may not be executed.
            Registers::Released if inst.guard.is_some() => {}
            Registers::Released => self.0.fill(0),
        }
    }

    fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().enumerate().flat_map(|(word, &bits)| {
            let mut rest = bits;
            std::iter::from_fn(move || {
                if rest == 0 {
                    return None;
                }
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                Some(word as u32 * 64 + bit)
            })
        })
    }
}

/// Basic blocks.
struct Flow {
    /// First instruction of each block, and the end.
    starts: Vec<u32>,
    successors: Vec<Vec<u32>>,
}

impl Flow {
    fn new(builder: &Builder) -> Flow {
        let count = builder.code.len();
        let mut leader = vec![false; count + 1];
        leader[0] = true;
        leader[count] = true;
        for place in builder.labels.iter().flatten() {
            leader[*place as usize] = true;
        }
        for (index, inst) in builder.code.iter().enumerate() {
            if inst.control != Control::Next {
                leader[index + 1] = true;
            }
        }
        let starts: Vec<u32> = (0..=count)
            .filter(|&i| leader[i])
            .map(|i| i as u32)
            .collect();
        let mut block_of = vec![0u32; count + 1];
        for (block, range) in starts.windows(2).enumerate() {
            block_of[range[0] as usize..range[1] as usize].fill(block as u32);
        }
        let blocks = starts.len() - 1;
        let mut successors = vec![Vec::new(); blocks];
        for block in 0..blocks {
            let last = &builder.code[starts[block + 1] as usize - 1];
            let falls = last.control == Control::Next || last.guard.is_some();
            if falls && block + 1 < blocks {
                successors[block].push(block as u32 + 1);
            }
            let mut to = |label: u32| {
                let place = builder.labels[label as usize].unwrap_or(0) as usize;
                if place < count {
                    successors[block].push(block_of[place]);
                }
            };
            targets(builder, last).into_iter().for_each(&mut to);
        }
        Flow { starts, successors }
    }

    fn liveness(&self, builder: &Builder) -> Vec<Set> {
        let blocks = self.successors.len();
        let size = builder.widths.len();
        let mut gen_kill = Vec::with_capacity(blocks);
        for block in 0..blocks {
            let (mut uses, mut kills) = (Set::new(size), Set::new(size));
            for index in self.starts[block]..self.starts[block + 1] {
                let inst = &builder.code[index as usize];
                visit(builder, inst, |register, write| {
                    if !write && !kills.contains(register) {
                        uses.insert(register);
                    }
                });
                visit(builder, inst, |register, write| {
                    if write && inst.guard.is_none() {
                        kills.insert(register);
                    }
                });
            }
            gen_kill.push((uses, kills));
        }
        let mut live_in: Vec<Set> = gen_kill.iter().map(|(uses, _)| uses.clone()).collect();
        loop {
            let mut changed = false;
            for block in (0..blocks).rev() {
                for &next in &self.successors[block] {
                    for word in 0..live_in[block].0.len() {
                        let more = live_in[next as usize].0[word] & !gen_kill[block].1.0[word];
                        if more & !live_in[block].0[word] != 0 {
                            live_in[block].0[word] |= more;
                            changed = true;
                        }
                    }
                }
            }
            if !changed {
                return live_in;
            }
        }
    }
}

/// For each block: the registers that asynchronous instructions hold at its start; nothing if there are no such instructions.
fn held(builder: &Builder, flow: &Flow) -> Vec<Set> {
    let code = &builder.code;
    if code.iter().all(|inst| inst.registers != Registers::Held) {
        return Vec::new();
    }
    let mut held = vec![Set::new(builder.widths.len()); flow.successors.len()];
    loop {
        let mut changed = false;
        for (block, successors) in flow.successors.iter().enumerate() {
            let mut now = held[block].clone();
            for index in flow.starts[block]..flow.starts[block + 1] {
                now.hold(builder, &code[index as usize]);
            }
            for &next in successors {
                changed |= held[next as usize].unite(&now);
            }
        }
        if !changed {
            return held;
        }
    }
}

/// The labels that an instruction jumps to.
fn targets(builder: &Builder, inst: &Lowered) -> Vec<u32> {
    let mut labels = Vec::new();
    slots(builder, inst, |slot, words| match slot {
        Slot::Label => labels.push(words[0]),
        Slot::Labels => labels.extend(&builder.list_labels[list(words)]),
        _ => {}
    });
    labels
}

/// The range of a list in the words or labels of the builder's lists.
fn list(words: &[u32]) -> Range<usize> {
    let start = words[0] as usize;
    start..start + words[1] as usize
}

/// Calls `f` with each slot of an instruction and its words.
fn slots(builder: &Builder, inst: &Lowered, mut f: impl FnMut(Slot, &[u32])) {
    let mut at = inst.words;
    for &slot in inst.code.slots {
        f(slot, &builder.words[at..at + slot.words()]);
        at += slot.words();
    }
}

/// Calls `f` for each register an instruction reads or writes (then true). Areas are not registers in this sense.
fn visit(builder: &Builder, inst: &Lowered, mut f: impl FnMut(Register, bool)) {
    let mut field = |field: Field, write: bool| {
        if let Field::Register(register) = field
            && !matches!(builder.widths[register.0 as usize], Width::Area(_))
        {
            f(register, write);
        }
    };
    slots(builder, inst, |slot, words| {
        let mut word = |word: u32, write: bool| {
            if let Named::Register(register) = Named::of(word) {
                field(Field::Register(register), write);
            }
        };
        match slot {
            Slot::Read(_) | Slot::Address => word(words[0], false),
            Slot::Write(_) | Slot::WriteOptional(_) => word(words[0], true),
            Slot::ReadList(_) | Slot::WriteList(_) => {
                for &entry in &builder.list_words[list(words)] {
                    word(entry, matches!(slot, Slot::WriteList(_)));
                }
            }
            Slot::Call => {
                let call = &builder.calls[words[0] as usize];
                for &(argument, _) in &call.arguments {
                    field(argument, false);
                }
                for &(result, _) in &call.results {
                    field(result, true);
                }
            }
            _ => {}
        }
    });
    if let Some((register, _)) = inst.guard {
        field(Field::Register(register), false);
    }
}

/// For each register: the first and last instruction where it is alive.
fn intervals(builder: &Builder, flow: &Flow, live_in: &[Set]) -> Vec<Option<(u32, u32)>> {
    let mut intervals: Vec<Option<(u32, u32)>> = vec![None; builder.widths.len()];
    let mut extend = |register: u32, at: u32| {
        let interval = intervals[register as usize].get_or_insert((at, at));
        interval.0 = interval.0.min(at);
        interval.1 = interval.1.max(at);
    };
    for block in 0..live_in.len() {
        let (start, end) = (flow.starts[block], flow.starts[block + 1]);
        live_in[block]
            .iter()
            .for_each(|register| extend(register, start));
        for &next in &flow.successors[block] {
            live_in[next as usize]
                .iter()
                .for_each(|register| extend(register, end));
        }
        for index in start..end {
            visit(builder, &builder.code[index as usize], |register, _| {
                extend(register.0, index)
            });
        }
    }
    for (block, mut held) in held(builder, flow).into_iter().enumerate() {
        let (start, end) = (flow.starts[block], flow.starts[block + 1]);
        held.iter().for_each(|register| extend(register, start));
        for index in start..end {
            let inst = &builder.code[index as usize];
            if inst.registers == Registers::Released {
                // They are used here for the last time.
                held.iter().for_each(|register| extend(register, index));
            }
            held.hold(builder, inst);
        }
        held.iter().for_each(|register| extend(register, end));
    }
    for &(area, start, end) in &builder.areas {
        extend(area.0, start);
        extend(area.0, end);
    }
    intervals
}

/// Where the registers are.
struct Placed {
    /// For each register.
    offsets: Vec<u32>,
    /// The places, each once, with the bytes of a lane.
    places: Vec<Passed>,
    frame_bytes: u32,
    /// The number of 32-bit registers alive at once, at most.
    pressure: u32,
}

/// Gives each register an offset: linear scan over the intervals. A place is used again by registers with as many bytes a lane alone:
/// others would put a lane where it reaches into another lane's value, which may be alive, as lanes diverge.
fn place(builder: &Builder, intervals: &[Option<(u32, u32)>]) -> Placed {
    let mut order: Vec<(u32, u32, u32)> = intervals
        .iter()
        .enumerate()
        .filter_map(|(register, interval)| {
            interval.map(|(start, end)| (start, end, register as u32))
        })
        .collect();
    order.sort_unstable();
    let mut offsets = vec![FIRST; intervals.len()];
    let mut top = FIRST;
    let mut free: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    let mut places = Vec::new();
    let mut alive = std::collections::BinaryHeap::new();
    let (mut words, mut peak) = (0u32, 0u32);
    for (start, end, register) in order {
        while let Some(&std::cmp::Reverse((last, old))) = alive.peek() {
            // A register whose last use is where another starts may not share: the write may come before the read.
            if last >= start {
                break;
            }
            alive.pop();
            let width: Width = builder.widths[old as usize];
            free.entry(width.lane_bytes())
                .or_default()
                .push(offsets[old as usize]);
            words -= width.lane_bytes().div_ceil(4);
        }
        let width = builder.widths[register as usize];
        let (size, bytes) = (size(width), width.lane_bytes());
        let list = free.entry(bytes).or_default();
        if list.is_empty() && bytes == 0 {
            // Predicates are cut from a line of sixteen; an empty area takes the place of one.
            list.extend((0..16).rev().map(|i| top + i * 4));
            top += 64;
            places.extend(list.iter().map(|&offset| Passed { offset, bytes }));
        }
        offsets[register as usize] = list.pop().unwrap_or_else(|| {
            places.push(Passed { offset: top, bytes });
            top += size;
            top - size
        });
        alive.push(std::cmp::Reverse((end, register)));
        words += width.lane_bytes().div_ceil(4);
        peak = peak.max(words);
    }
    Placed {
        offsets,
        places,
        frame_bytes: top,
        pressure: peak,
    }
}

/// Bytes that a register takes up, a multiple of a cache line except for predicates.
fn size(width: Width) -> u32 {
    match width {
        Width::Pred => 4,
        other => other.frame_bytes().next_multiple_of(64),
    }
}

fn finish(name: &str, builder: &Builder, placed: Placed, zeroed: Vec<(u32, u32)>) -> Function {
    let offsets = &placed.offsets;
    let resolve = |field: Field| match field {
        Field::Register(register) => offsets[register.0 as usize],
        Field::Constant(constant) => constant.offset | CONSTANT,
        Field::Sink => SINK,
    };
    let place = |register: &Register| Passed {
        offset: offsets[register.0 as usize],
        bytes: builder.widths[register.0 as usize].lane_bytes(),
    };
    let label = |label: u32| builder.labels[label as usize].unwrap_or(0);
    let resolve_word = |word: u32| match Named::of(word) {
        Named::Register(register) => offsets[register.0 as usize],
        Named::Constant(number) => builder.constants.offset(number) | CONSTANT,
        Named::Sink => SINK,
    };
    // The lists: of operands, then of labels, then operands that do not fit their instructions.
    let mut lists: Vec<u32> = builder
        .list_words
        .iter()
        .map(|&word| resolve_word(word))
        .collect();
    let first_label = lists.len() as u32;
    lists.extend(builder.list_labels.iter().map(|&l| label(l)));
    let mut code = Vec::with_capacity(builder.code.len());
    let mut words = Vec::new();
    for inst in &builder.code {
        words.clear();
        slots(builder, inst, |slot, given| match slot {
            Slot::Read(_)
            | Slot::Write(_)
            | Slot::WriteOptional(_)
            | Slot::ReadArea
            | Slot::WriteArea => words.push(resolve_word(given[0])),
            Slot::Address => words.extend([resolve_word(given[0]), given[1], given[2]]),
            Slot::ReadList(_) | Slot::WriteList(_) => words.extend(given),
            Slot::Label => words.push(label(given[0])),
            Slot::Labels => words.extend([first_label + given[0], given[1]]),
            Slot::Number | Slot::Call => words.push(given[0]),
        });
        let mut inline = [0; INLINE_WORDS];
        if words.len() <= INLINE_WORDS {
            inline[..words.len()].copy_from_slice(&words);
        } else {
            inline[0] = lists.len() as u32;
            lists.extend_from_slice(&words);
        }
        code.push(Inst {
            operation: inst.code.at(builder.module.level),
            guard: inst.guard.map_or(0, |(register, negated)| {
                offsets[register.0 as usize] | if negated { 1 << 31 } else { 0 }
            }),
            words: inline,
        });
    }
    let fields = |list: &[(Field, u32)]| {
        list.iter()
            .map(|&(field, bytes)| Passed {
                offset: resolve(field),
                bytes,
            })
            .collect::<Vec<_>>()
    };
    let calls = builder.calls.iter().map(|call| CallSite {
        callee: call.callee,
        runtime: call.runtime.clone(),
        arguments: fields(&call.arguments),
        results: fields(&call.results),
    });
    let mut constants = Aligned::default();
    let words = builder.constants.words();
    constants.ensure(words.len() * 8);
    // SAFETY: the memory has just been made for these words.
    unsafe {
        constants
            .as_ptr()
            .cast::<u64>()
            .copy_from_nonoverlapping(words.as_ptr(), words.len());
    }
    Function {
        name: name.to_owned(),
        code,
        lists,
        constants,
        frame_bytes: placed.frame_bytes,
        registers: placed.places,
        zeroed,
        local_bytes: builder.local_bytes,
        local_align: builder.local_align,
        uses: builder.uses,
        calls: calls.collect(),
        formals: builder.formals.iter().map(place).collect(),
        returns: builder.returns.iter().map(place).collect(),
        declared: builder
            .code
            .iter()
            .map(|inst| (inst.code.slots, inst.code.dataflow))
            .collect(),
        places: builder
            .code
            .iter()
            .map(|inst| (inst.location, inst.at.line))
            .collect(),
        name_of: builder.code.iter().map(|inst| inst.name).collect(),
        names: builder.names.clone(),
    }
}
