//! Follows uninitialised values through the registers of a warp, instruction by instruction, by what operations declare: their operands
//! ([`Slot`]) and their [`Dataflow`]. Only while there are such values; the state is [`Poison`].

use super::cluster::Cluster;
use super::operand::{CONSTANT, Operands, Registers, SINK};
use super::warp::Warp;
use crate::check::{Decision, DecisionKind, Marks, Poison};
use crate::engine::dataflow::Dataflow;
use crate::engine::instruction::Inst;
use crate::engine::program::Program;
use crate::engine::slot::{Slot, Width};

/// The registers that an instruction names.
#[derive(Debug, Default)]
struct Named {
    /// Registers and constants that are read.
    sources: Vec<(u32, Width)>,
    /// Registers that are written, in order; sinks are [`SINK`].
    results: Vec<(u32, Width)>,
    /// The base of the address.
    base: Option<u32>,
    /// Memory of each lane in the frame: read, written.
    area_read: Option<u32>,
    area_written: Option<u32>,
    numbers: Vec<u32>,
}

impl Named {
    /// Those of operands with these slots and words.
    fn of(slots: &[Slot], words: &[u32], lists: &[u32]) -> Named {
        let mut named = Named::default();
        let mut at = 0;
        for &slot in slots {
            let word = words[at];
            let list = |len: u32| &lists[word as usize..(word + len) as usize];
            match slot {
                Slot::Read(width) => named.sources.push((word, width)),
                Slot::Write(width) | Slot::WriteOptional(width) => {
                    named.results.push((word, width));
                }
                Slot::ReadList(width) => {
                    let entries = list(words[at + 1]).iter();
                    named.sources.extend(entries.map(|&word| (word, width)));
                }
                Slot::WriteList(width) => {
                    let entries = list(words[at + 1]).iter();
                    named.results.extend(entries.map(|&word| (word, width)));
                }
                Slot::Address => named.base = Some(word),
                Slot::ReadArea => named.area_read = Some(word),
                Slot::WriteArea => named.area_written = Some(word),
                Slot::Number => named.numbers.push(word),
                Slot::Label | Slot::Labels | Slot::Call => {}
            }
            at += slot.words();
        }
        named
    }
}

/// What is poison in an operand that is read; constants never are.
fn marks(poison: &Poison, frame: u32, word: u32) -> Marks {
    if word & CONSTANT != 0 {
        Marks::NONE
    } else {
        poison.marks(frame, word)
    }
}

/// What is poison in any of these operands.
fn any<'s>(
    poison: &Poison,
    frame: u32,
    sources: impl IntoIterator<Item = &'s (u32, Width)>,
) -> Marks {
    let sources = sources.into_iter();
    sources.fold(Marks::NONE, |all, &(word, _)| {
        all.with(&marks(poison, frame, word))
    })
}

impl Warp {
    /// Lanes of the current group (`self.mask`, those that the guard lets through) are about to execute an instruction.
    #[cold]
    #[inline(never)]
    pub fn follow(&mut self, cluster: &mut Cluster<'_>, inst: &Inst) {
        let Some(mut poison) = self.poison.take() else {
            return;
        };
        let function = self.function_of(cluster.grid.program);
        let (slots, dataflow) = function.declared[self.pc as usize];
        let words = inst.operand_words(slots, &function.lists);
        let named = Named::of(slots, words, &function.lists);
        let guard = match inst.guard & !(1 << 31) {
            0 => Marks::NONE,
            register => poison.marks(self.frame, register).within(self.active),
        };
        if !dataflow.is_pure() {
            self.decides(cluster, &poison, DecisionKind::Guard, &guard, self.active);
        }
        self.compute(cluster, &mut poison, &named, dataflow);
        if dataflow.is_pure() {
            // Whether the result is written is unknown there.
            for &(register, _) in named.results.iter().filter(|(word, _)| *word != SINK) {
                poison.write(self.frame, register, guard.lanes(), &guard);
            }
        }
        self.poison = Some(poison);
    }

    /// What an instruction's results are for the lanes of `self.mask`.
    fn compute(
        &self,
        cluster: &mut Cluster<'_>,
        poison: &mut Poison,
        named: &Named,
        dataflow: Dataflow,
    ) {
        let (frame, mask) = (self.frame, self.mask);
        let source = |poison: &Poison, index: usize| {
            let (word, _) = named.sources[index];
            marks(poison, frame, word)
        };
        let write = |poison: &mut Poison, index: usize, marks: &Marks| {
            if let Some(&(register, _)) = named.results.get(index)
                && register != SINK
            {
                poison.write(frame, register, mask, marks);
            }
        };
        let mut results = [any(poison, frame, &named.sources); 2];
        match dataflow {
            Dataflow::Lanewise => {}
            Dataflow::And | Dataflow::Or => {
                let (a, b) = (source(poison, 0), source(poison, 1));
                let ones = dataflow == Dataflow::Or;
                let [own, other] =
                    [0, 1].map(|index| self.lanes_of_bits(named.sources[index], ones));
                let opposite = self.lanes_of_bits(named.sources[0], !ones);
                results[0] = Marks::absorbed((&a, own), (&b, other));
                results[1] = Marks::absorbed((&a, opposite), (&b, other));
            }
            Dataflow::Select => {
                let [a, b, selector] = [0, 1, 2].map(|index| source(poison, index));
                let first = self.lanes_of_bits(named.sources[2], true);
                let equal = self.equal_lanes(named.sources[0], named.sources[1]);
                results[0] = Marks::selected(&a, &b, &selector, first, equal);
            }
            Dataflow::Carry { reads, writes } => {
                if reads {
                    results[0] = results[0].with(&poison.carry);
                }
                if writes {
                    let kept = poison.carry.within(!mask);
                    poison.carry = kept.with(&results[0].within(mask));
                }
            }
            Dataflow::Area => {
                let at = named.numbers.last().copied().unwrap_or(0);
                if let (Some(area), Some(&(_, width))) = (named.area_read, named.results.first()) {
                    for byte in 0..width.lane_bytes() {
                        let marks = poison.marks(frame, area + at + byte);
                        results[0] = results[0].with(&marks);
                    }
                }
                if let (Some(area), Some(&(_, width))) = (named.area_written, named.sources.first())
                {
                    for byte in 0..width.lane_bytes() {
                        poison.write(frame, area + at + byte, mask, &results[0]);
                    }
                }
            }
            Dataflow::Memory | Dataflow::Fragment | Dataflow::Decides => {
                if let Some(base) = named.base {
                    let base = marks(poison, frame, base);
                    self.decides(cluster, poison, DecisionKind::Address, &base, mask);
                }
                if dataflow == Dataflow::Decides {
                    self.decides(cluster, poison, DecisionKind::Operand, &results[0], mask);
                }
                for index in 0..named.results.len() {
                    write(poison, index, &Marks::NONE);
                }
                return;
            }
            Dataflow::Exchange => return,
        }
        write(poison, 0, &results[0]);
        match dataflow {
            Dataflow::And | Dataflow::Or => write(poison, 1, &results[1]),
            // Parts of a value: each is poison if that is.
            _ => (1..named.results.len()).for_each(|index| write(poison, index, &results[0])),
        }
    }

    /// Lanes of `self.mask` are about to exchange values by an operation with these operands: each gets that of the lane in `from`, or
    /// something that depends on those of all.
    #[cold]
    pub fn follow_exchange<O: Operands>(
        &mut self,
        program: &Program,
        operands: &O,
        from: Option<&[usize; 32]>,
    ) {
        let mask = self.mask;
        self.follow_together(program, operands, |sources| {
            let any = |some: &[Marks]| some.iter().fold(Marks::NONE, |all, marks| all.with(marks));
            match from {
                // The first source is the value; the others say whose. Whether a lane was inside, the second result,
                // does not depend on the value.
                Some(from) => {
                    let (value, whose) = sources.split_at(sources.len().min(1));
                    let whose = any(whose);
                    vec![any(value).gathered(from).with(&whose), whose]
                }
                None => vec![any(sources).spread(mask); 2],
            }
        });
    }

    /// Lanes of `self.mask` are about to compute together by an operation with these operands: `results` says what is
    /// poison in each of its results, given that of its sources, both in the order of the operands.
    #[cold]
    pub fn follow_together<O: Operands>(
        &mut self,
        program: &Program,
        operands: &O,
        results: impl FnOnce(&[Marks]) -> Vec<Marks>,
    ) {
        let Some(mut poison) = self.poison.take() else {
            return;
        };
        let lists = &self.function_of(program).lists;
        let named = Named::of(O::SLOTS, operands.words(), lists);
        let (frame, mask) = (self.frame, self.mask);
        let sources = named.sources.iter();
        let sources: Vec<Marks> = sources
            .map(|&(word, _)| marks(&poison, frame, word))
            .collect();
        for (&(register, _), marks) in named.results.iter().zip(results(&sources)) {
            if register != SINK {
                poison.write(frame, register, mask, &marks);
            }
        }
        self.poison = Some(poison);
    }

    /// The warp has these uninitialised values from here on.
    pub fn follow_from_here(&mut self, poison: Box<Poison>) {
        if !poison.is_empty() {
            // The interpreter looks at the limit next, and goes on following.
            self.limit = 0;
            self.poison = Some(poison);
        }
    }

    /// What is poison in a source of the current instruction, as its word names it.
    pub fn marks_of(&self, word: u32) -> Marks {
        let poison = self.poison.as_deref();
        poison.map_or(Marks::NONE, |poison| marks(poison, self.frame, word))
    }

    /// A source of the current instruction, as its word names it, decides something, if it is poison.
    #[cold]
    pub fn decides_by(&mut self, cluster: &mut Cluster<'_>, kind: DecisionKind, word: u32) {
        if let Some(poison) = self.poison.take() {
            let marks = marks(&poison, self.frame, word);
            self.decides(cluster, &poison, kind, &marks, self.mask);
            self.poison = Some(poison);
        }
    }

    /// The registers that the current instruction moves, from or to memory: each a place in the frame, a constant or a sink.
    pub fn moved_registers(&self, program: &Program) -> Vec<u32> {
        let function = self.function_of(program);
        let (slots, _) = function.declared[self.pc as usize];
        let words = function.code[self.pc as usize].operand_words(slots, &function.lists);
        let named = Named::of(slots, words, &function.lists);
        let all = named.results.iter().chain(&named.sources);
        all.map(|&(word, _)| word).collect()
    }

    /// Poison decides something at the current instruction, if one of these lanes is.
    pub fn decides(
        &self,
        cluster: &mut Cluster<'_>,
        poison: &Poison,
        kind: DecisionKind,
        marks: &Marks,
        lanes: u32,
    ) {
        if let Some((lane, origin)) = marks.first_of(lanes)
            && let Some(checker) = cluster.checker.as_deref_mut()
        {
            let decision = Decision {
                kind,
                block: self.block,
                thread: self.index * 32 + lane as u32,
                site: Program::site(self.function, self.pc),
            };
            checker.decide(poison.origin(origin), decision);
        }
    }

    /// The lanes whose value has only zeros or only ones.
    fn lanes_of_bits(&self, (word, width): (u32, Width), ones: bool) -> u32 {
        let start = self.operand(word);
        if width == Width::Pred {
            // SAFETY: a predicate of the frame or the constants, by its slot.
            let bits = unsafe { *start.cast::<u32>() };
            return if ones { bits } else { !bits };
        }
        let byte = if ones { 0xFF } else { 0 };
        let lanes =
            (0..32).filter(|&lane| lane_bytes(start, lane, width).iter().all(|&b| b == byte));
        lanes.fold(0, |mask, lane| mask | 1 << lane)
    }

    /// The lanes in which two operands of one width are equal.
    fn equal_lanes(&self, (a, width): (u32, Width), (b, _): (u32, Width)) -> u32 {
        let (a, b) = (self.operand(a), self.operand(b));
        let lanes =
            (0..32).filter(|&lane| lane_bytes(a, lane, width) == lane_bytes(b, lane, width));
        lanes.fold(0, |mask, lane| mask | 1 << lane)
    }
}

/// The bytes of a lane of an operand that is no predicate.
fn lane_bytes<'w>(start: *mut u8, lane: usize, width: Width) -> &'w [u8] {
    let bytes = width.lane_bytes() as usize;
    // SAFETY: the operand's slot says that it has 32 lanes of this width (`Builder::emit`); registers change only when an instruction
    // is executed, not while one is followed.
    unsafe { std::slice::from_raw_parts(start.add(lane * bytes), bytes) }
}
