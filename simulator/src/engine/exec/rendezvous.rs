//! Lanes that exchange from different instructions: the same instruction with the same member mask is enough, wherever it stands. So
//! `shfl.sync` may be in both arms of a branch.
//!
//! The operands of all the lanes are copied to a frame of their own, in which the operation is executed once; its results are copied back.

use super::frame::FrameRegisters;
use super::operand::{CONSTANT, FULL, Operands, Read, Registers, SINK, Slot, lanes_of};
use super::transfer::copy_lanes;
use super::wait::Wait;
use super::warp::{Flow, Warp};
use crate::engine::program::Program;
use crate::engine::slot::Width;

/// Lanes of one group, at an instruction of one frame.
pub(crate) struct Site {
    frame: u32,
    pc: u32,
    lanes: u32,
    /// The words of the instruction's operands.
    words: Vec<u32>,
}

/// A register operand of the instruction, where it lies in the common frame.
struct Common {
    /// Its number among the operands' words.
    word: usize,
    width: Width,
    offset: u32,
    is_result: bool,
}

/// Register operands begin at multiples of this in the common frame: a cache line.
const ALIGN: u32 = 128;

/// The layout of the common frame, and its length.
fn layout(slots: &[Slot]) -> (Vec<Common>, u32) {
    let (mut operands, mut length) = (Vec::new(), 0);
    for (word, slot) in slots.iter().enumerate() {
        let (width, is_result) = match *slot {
            Slot::Read(width) => (width, false),
            Slot::Write(width) | Slot::WriteOptional(width) => (width, true),
            Slot::Number => continue,
            other => unreachable!("an exchange has registers and numbers, not {other:?}"),
        };
        operands.push(Common {
            word,
            width,
            offset: length,
            is_result,
        });
        length += width.frame_bytes().next_multiple_of(ALIGN);
    }
    (operands, length)
}

impl Warp {
    /// The instructions at which the lanes of `missing` wait, if all of them are at an instruction like the current one, with these
    /// operands, and have the member mask `wanted` there.
    pub fn waiting_elsewhere<O: Operands>(
        &self,
        program: &Program,
        o: &O,
        members: impl Fn(&O) -> Read<u32>,
        wanted: u32,
    ) -> Option<Vec<Site>> {
        let missing = self.missing(wanted);
        let (name, own) = (program.instruction_name(self.function, self.pc), o.words());
        let (mut sites, mut found) = (Vec::new(), 0);
        for group in &self.groups {
            let waits = matches!(group.wait, Wait::Lanes { .. });
            let frame = &self.frames[group.frame as usize];
            let function = &program.functions[frame.function as usize];
            let (slots, _) = function.declared[group.pc as usize];
            if !waits
                || group.mask & missing == 0
                || function.instruction_name(group.pc) != name
                || slots != O::SLOTS
            {
                continue;
            }
            let words = function.code[group.pc as usize].operand_words(slots, &function.lists);
            let is_number = |&(slot, _): &(&Slot, _)| *slot == Slot::Number;
            let mut numbers = slots.iter().zip(words.iter().zip(own)).filter(is_number);
            if !numbers.all(|(_, (there, here))| there == here) {
                continue;
            }
            let Some(registers) = FrameRegisters::of(frame, frame.function, function) else {
                continue;
            };
            let masks = members(&O::of_words(words)).lanes(&registers);
            let lanes = lanes_of(group.mask & missing)
                .filter(|&lane| masks[lane] == wanted)
                .fold(0, |lanes, lane| lanes | 1 << lane);
            found |= lanes;
            sites.push(Site {
                frame: group.frame,
                pc: group.pc,
                lanes,
                words: words.to_vec(),
            });
        }
        (found == missing).then_some(sites)
    }

    /// Executes an operation for the lanes of `self.mask` at the current instruction, whose operands these are, together with those that
    /// wait elsewhere. `execute` does it for all of them, with operands in a common frame. The others go on behind their instructions.
    pub fn meet<O: Operands>(
        &mut self,
        program: &Program,
        o: &O,
        elsewhere: Vec<Site>,
        execute: impl FnOnce(&mut Warp, O) -> Flow,
    ) -> Flow {
        let here = Site {
            frame: self.frame,
            pc: self.pc,
            lanes: self.mask,
            words: o.words().to_vec(),
        };
        let (layout, length) = layout(O::SLOTS);
        let common = self.take_frame(program, self.function);
        self.frames[common as usize]
            .registers_memory
            .ensure(length as usize);
        let mut common_words = here.words.clone();
        for operand in &layout {
            common_words[operand.word] = operand.offset;
        }
        let sites = || elsewhere.iter().chain([&here]);
        for site in sites() {
            self.exchange_operands(
                program,
                site,
                common,
                layout.iter().filter(|o| !o.is_result),
            );
        }
        self.mask = sites().fold(0, |all, site| all | site.lanes);
        self.enter_frame(program, common);
        let flow = execute(self, O::of_words(&common_words));
        if let Some(fault) = &self.fault
            && let Some(site) = sites().find(|site| site.lanes >> fault.lane & 1 != 0)
        {
            // The fault is that lane's, at its instruction.
            self.pc = site.pc;
            self.enter_frame(program, site.frame);
            return flow;
        }
        for site in sites() {
            self.exchange_operands(program, site, common, layout.iter().filter(|o| o.is_result));
        }
        if let Some(poison) = &mut self.poison {
            poison.leave_frame(common, FULL);
        }
        self.free_frames.push(common);
        self.enter_frame(program, here.frame);
        self.mask = here.lanes;
        for site in &elsewhere {
            self.release(site);
        }
        flow
    }

    /// Copies operands of a site's lanes: sources to the common frame, results from it.
    fn exchange_operands<'o>(
        &mut self,
        program: &Program,
        site: &Site,
        common: u32,
        operands: impl Iterator<Item = &'o Common>,
    ) {
        let frame = &self.frames[site.frame as usize];
        let function = &program.functions[frame.function as usize];
        let registers = FrameRegisters::of(frame, frame.function, function)
            .expect("the function is the frame's own");
        let together = self.frames[common as usize].registers();
        for operand in operands {
            let word = site.words[operand.word];
            if word == SINK {
                continue;
            }
            let own = registers.operand(word);
            let shared = together.wrapping_add(operand.offset as usize);
            let (from, to) = if operand.is_result {
                (shared, own)
            } else {
                (own, shared)
            };
            // SAFETY: the site's operand is a register of its frame or a constant, as wide as its slot says (`Builder::emit`); the
            // common frame, another one, has been made long enough for all of the layout; a constant is a source only.
            unsafe { copy_lanes(from, to, operand.width.lane_bytes(), site.lanes) };
            let places = [(site.frame, word), (common, operand.offset)];
            if let Some(poison) = &mut self.poison
                && word & CONSTANT == 0
            {
                let [from, to] = if operand.is_result {
                    [places[1], places[0]]
                } else {
                    places
                };
                poison.copy(from, to, 1, site.lanes);
            }
        }
    }

    /// The lanes of a site have waited long enough.
    fn release(&mut self, site: &Site) {
        for group in &mut self.groups {
            let waits = matches!(group.wait, Wait::Lanes { .. });
            if waits && (group.frame, group.pc) == (site.frame, site.pc) {
                group.mask &= !site.lanes;
            }
        }
        self.groups.retain(|group| group.mask != 0);
        self.add_ready(site.lanes, site.pc + 1, site.frame);
        // They may run before the current group comes to the next one.
        self.limit = 0;
    }
}
