//! Calls and returns, and the stack of a warp's lanes.

use super::cluster::Cluster;
use super::frame::{Frame, NO_FRAME};
use super::operand::{CONSTANT, FULL, SINK, lanes_of};
use super::warp::{Flow, Warp};
use crate::engine::fault::FaultKind;
use crate::engine::memory::Aligned;
use crate::engine::program::{Function, Program};

/// What a call costs of the stack besides the callee's variables (return address, saved registers), so that endless
/// recursion ends.
const CALL_BYTES: u32 = 32;
/// Calls deeper than this are a stack overflow whatever they need.
const MAX_DEPTH: u32 = 20_000;

impl Warp {
    /// Creates a frame for a function; `None` if the stack is exhausted.
    pub fn new_frame(
        &mut self,
        program: &Program,
        number: u32,
        parent: u32,
        return_pc: u32,
        lanes: u32,
    ) -> Option<u32> {
        let function = &program.functions[number as usize];
        let (depth, local_base) = match self.frames.get(parent as usize) {
            Some(frame) if parent != NO_FRAME => (frame.depth + 1, frame.local_top),
            _ => (0, 0),
        };
        let local_base = local_base.next_multiple_of(function.local_align);
        let charge = if depth > 0 { CALL_BYTES } else { 0 };
        let local_top = local_base
            .checked_add(function.local_bytes)?
            .checked_add(charge)?;
        if depth > MAX_DEPTH || !self.grow_local(local_top) {
            return None;
        }
        let index = match self.free_frames.pop() {
            Some(index) => index,
            None => {
                self.frames.push(Frame {
                    function: number,
                    registers_memory: Aligned::default(),
                    parent,
                    return_pc,
                    lanes,
                    depth,
                    local_base,
                    local_top,
                    site: 0,
                });
                (self.frames.len() - 1) as u32
            }
        };
        let frame = &mut self.frames[index as usize];
        frame.registers_memory.ensure(function.frame_bytes as usize);
        frame.function = number;
        frame.parent = parent;
        frame.return_pc = return_pc;
        frame.lanes = lanes;
        frame.depth = depth;
        frame.local_base = local_base;
        frame.local_top = local_top;
        frame.site = 0;
        for &(offset, length) in &function.zeroed {
            // SAFETY: the range is a register of the function, which allocation has put inside `frame_bytes`, and the frame has
            // just been made that large.
            unsafe {
                frame
                    .registers()
                    .add(offset as usize)
                    .write_bytes(0, length as usize)
            };
        }
        Some(index)
    }

    /// Makes sure that each lane has this much local memory.
    pub fn grow_local(&mut self, bytes: u32) -> bool {
        if bytes <= self.local_stride {
            return true;
        }
        let limit = self.local_limit;
        if bytes > limit {
            return false;
        }
        let stride = bytes
            .next_power_of_two()
            .max(256)
            .min(limit.next_multiple_of(16));
        let mut local = vec![0u8; stride as usize * 32];
        for lane in 0..32 {
            let (from, to) = (lane * self.local_stride as usize, lane * stride as usize);
            let old = self.local_stride as usize;
            local[to..to + old].copy_from_slice(&self.local[from..from + old]);
        }
        self.local = local;
        self.local_stride = stride;
        true
    }

    /// Makes a frame the current one.
    pub fn enter_frame(&mut self, program: &Program, index: u32) {
        let frame = &self.frames[index as usize];
        self.frame = index;
        self.function = frame.function;
        let function: &Function = &program.functions[frame.function as usize];
        self.bases = [frame.registers(), function.constants.as_ptr()];
        self.code = function.code.as_ptr();
        self.lists = function.lists.as_ptr();
    }

    /// Calls a function by the current function's call site of this number, for the lanes of `self.mask`. The callee takes and
    /// gives what the call site passes.
    pub fn call(&mut self, cluster: &Cluster<'_>, number: u32, site_number: u32) -> Flow {
        let program = cluster.grid.program;
        let callee = &program.functions[number as usize];
        let site = &self.function_of(program).calls[site_number as usize];
        debug_assert!(
            callee.takes(site),
            "the lowering or the operation has compared them"
        );
        let lanes = self.mask;
        let caller = self.frame;
        let return_pc = self.pc + 1;
        let Some(index) = self.new_frame(program, number, caller, return_pc, lanes) else {
            let lane = lanes.trailing_zeros() as usize;
            let message = format!("stack overflow in the call of {}", callee.name);
            return self.fail(FaultKind::StackOverflow, lane, message);
        };
        self.frames[index as usize].site = site_number;
        let from = self.bases;
        let to = self.frames[index as usize].registers();
        for (argument, formal) in site.arguments.iter().zip(&callee.formals) {
            let constant = (argument.offset >> 31) as usize;
            let offset = (argument.offset & !CONSTANT) as usize;
            // SAFETY: the argument lies in the caller's frame or constants, the formal in the callee's frame, both with the same
            // number of bytes a lane (`Function::takes`).
            unsafe {
                copy(
                    from[constant].add(offset),
                    to.add(formal.offset as usize),
                    formal.bytes,
                    lanes,
                )
            };
        }
        let others = self.active & !lanes;
        if others != 0 {
            self.add_ready(others, return_pc, caller);
        }
        self.active = lanes;
        self.enter_frame(program, index);
        self.pc = 0;
        self.limit = u32::MAX;
        Flow::Switch
    }

    /// Returns from a function for the lanes of `self.mask`; from the kernel, they exit.
    pub fn ret(&mut self, cluster: &mut Cluster<'_>) -> Flow {
        let program = cluster.grid.program;
        let lanes = self.mask;
        let frame = &mut self.frames[self.frame as usize];
        let parent = frame.parent;
        if parent == NO_FRAME {
            self.exit(cluster, true);
            return Flow::Leave;
        }
        frame.lanes &= !lanes;
        let empty = frame.lanes == 0;
        let (from, site, return_pc) = (frame.registers(), frame.site, frame.return_pc);
        let returns = &self.function_of(program).returns;
        let caller = &self.frames[parent as usize];
        let site = &program.functions[caller.function as usize].calls[site as usize];
        let to = caller.registers();
        for (result, returned) in site.results.iter().zip(returns) {
            if result.offset != SINK {
                // SAFETY: the returned value lies in the callee's frame, the result in the caller's, both with the same number of
                // bytes a lane (`Function::takes`).
                unsafe {
                    copy(
                        from.add(returned.offset as usize),
                        to.add(result.offset as usize),
                        returned.bytes,
                        lanes,
                    )
                };
            }
        }
        let others = self.active & !lanes;
        if others != 0 {
            self.add_ready(others, self.pc + 1, self.frame);
        }
        if empty {
            self.free_frames.push(self.frame);
        }
        self.active = lanes;
        self.enter_frame(program, parent);
        self.pc = return_pc;
        self.limit = if self.groups.is_empty() { u32::MAX } else { 0 };
        Flow::Switch
    }
}

/// Copies `bytes` for each of the lanes; 0 means a predicate's bits.
///
/// # Safety
/// Both hold 32 lanes of this size (or one word of bits), and do not overlap.
unsafe fn copy(from: *const u8, to: *mut u8, bytes: u32, lanes: u32) {
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
