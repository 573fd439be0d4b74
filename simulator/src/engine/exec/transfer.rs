//! Lanes that come to one instruction through different calls: where lanes wait for each other, what counts is the instruction, not
//! the call. A frame holds the registers of lanes that called together; the others' are brought into it here.

use super::operand::{FULL, lanes_of};
use super::wait::Wait;
use super::warp::Warp;
use crate::engine::program::Program;

impl Warp {
    /// The lanes that wait for others at the current instruction join the current group, from whichever call they came.
    pub fn join_waiting(&mut self, program: &Program) {
        let (function, pc) = (self.function, self.pc);
        let frames = &self.frames;
        let mut joining = Vec::new();
        self.groups.retain(|group| {
            let here = group.pc == pc
                && matches!(group.wait, Wait::Lanes { .. })
                && frames[group.frame as usize].function == function;
            if here {
                joining.push((group.frame, group.mask));
            }
            !here
        });
        for (frame, lanes) in joining {
            if frame != self.frame {
                self.bring(program, frame, lanes);
            }
            self.active |= lanes;
            self.mask |= lanes;
        }
    }

    /// Brings lanes of another frame of the current function into the current frame.
    fn bring(&mut self, program: &Program, from: u32, lanes: u32) {
        if self.frames[self.frame as usize].lanes & lanes != 0 {
            // They have called the function from itself, and will come back to this frame: a fresh one for all.
            let fresh = self.take_frame(program, self.function);
            self.transfer(program, self.frame, fresh, self.active);
            self.enter_frame(program, fresh);
        }
        self.transfer(program, from, self.frame, lanes);
    }

    /// Moves lanes from a frame to another of the same function, in which they are not.
    fn transfer(&mut self, program: &Program, from: u32, to: u32, lanes: u32) {
        let (old, new) = (&self.frames[from as usize], &self.frames[to as usize]);
        debug_assert!(old.function == new.function && new.lanes & lanes == 0);
        let function = &program.functions[old.function as usize];
        for register in &function.registers {
            // SAFETY: allocation has put the register inside of the function's frames (`allocate::place`), and these are two.
            unsafe {
                copy_lanes(
                    old.registers().add(register.offset as usize),
                    new.registers().add(register.offset as usize),
                    register.bytes,
                    lanes,
                )
            };
        }
        if let Some(poison) = &mut self.poison {
            poison.transfer(from, to, lanes);
        }
        let old = &mut self.frames[from as usize];
        let (depth, callers) = (old.depth, old.callers.clone());
        old.leave(lanes);
        if old.lanes == 0 {
            self.free_frames.push(from);
        }
        let new = &mut self.frames[to as usize];
        new.depth = new.depth.max(depth);
        for (with, caller) in callers {
            if with & lanes != 0 {
                new.enter(with & lanes, caller);
            }
        }
    }
}

/// Copies `bytes` for each of the lanes; 0 means a predicate's bits.
///
/// # Safety
/// Both hold 32 lanes of this size (or one word of bits), and do not overlap.
pub(super) unsafe fn copy_lanes(from: *const u8, to: *mut u8, bytes: u32, lanes: u32) {
    let bytes = bytes as usize;
    // SAFETY: the caller's promise gives the ranges.
    unsafe {
        if bytes == 0 {
            let (from, to) = (from.cast::<u32>(), to.cast::<u32>());
            *to = *to & !lanes | *from & lanes;
        } else if lanes == FULL {
            from.copy_to_nonoverlapping(to, bytes * 32);
        } else {
            for lane in lanes_of(lanes) {
                from.add(lane * bytes)
                    .copy_to_nonoverlapping(to.add(lane * bytes), bytes);
            }
        }
    }
}
