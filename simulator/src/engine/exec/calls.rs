//! Calls and returns, and the stack of a warp's lanes.

use super::cluster::Cluster;
use super::frame::{Caller, Frame, NO_FRAME};
use super::operand::{CONSTANT, FULL, SINK};
use super::transfer::copy_lanes;
use super::warp::{Flow, Warp};
use crate::engine::fault::FaultKind;
use crate::engine::program::{Function, Program};

/// What a call costs of the stack besides the callee's variables (return address, saved registers), so that endless
/// recursion ends.
const CALL_BYTES: u32 = 32;
/// Calls deeper than this are a stack overflow whatever they need.
const MAX_DEPTH: u32 = 20_000;

impl Warp {
    /// Creates the kernel's own frame.
    pub fn kernel_frame(&mut self, program: &Program, number: u32) -> u32 {
        let function = &program.functions[number as usize];
        let index = self.take_frame(program, number);
        let frame = &mut self.frames[index as usize];
        let caller = Caller {
            parent: NO_FRAME,
            return_pc: 0,
            site: 0,
            local_base: 0,
            local_top: function.local_bytes,
        };
        frame.enter(self.exists, caller);
        let grown = self.grow_local(function.local_bytes);
        // The launch has made sure that the kernel's own local memory is within the limit.
        assert!(grown, "a kernel's own frame fits");
        index
    }

    /// Creates the frame of a call that lanes of the current frame make; `None` if their stack is exhausted.
    fn callee_frame(
        &mut self,
        program: &Program,
        number: u32,
        lanes: u32,
        site: u32,
    ) -> Option<u32> {
        let function = &program.functions[number as usize];
        let (parent, return_pc) = (self.frame, self.pc + 1);
        let depth = self.frames[parent as usize].depth + 1;
        if depth > MAX_DEPTH {
            return None;
        }
        let index = self.take_frame(program, number);
        self.frames[index as usize].depth = depth;
        let mut fits = true;
        for entry in 0..self.frames[parent as usize].callers.len() {
            let (with, of_parent) = self.frames[parent as usize].callers[entry];
            if with & lanes == 0 {
                continue;
            }
            let local_base = of_parent
                .local_top
                .checked_next_multiple_of(function.local_align);
            let local_top = local_base
                .and_then(|base| base.checked_add(function.local_bytes))
                .and_then(|top| top.checked_add(CALL_BYTES))
                .filter(|&top| self.grow_local(top));
            let (Some(local_base), Some(local_top)) = (local_base, local_top) else {
                fits = false;
                break;
            };
            let caller = Caller {
                parent,
                return_pc,
                site,
                local_base,
                local_top,
            };
            self.frames[index as usize].enter(with & lanes, caller);
        }
        if !fits {
            self.free_frames.push(index);
            return None;
        }
        Some(index)
    }

    /// A frame for a function, without lanes; its registers that may be read before they are written are zero.
    pub(super) fn take_frame(&mut self, program: &Program, number: u32) -> u32 {
        let function = &program.functions[number as usize];
        let index = self.free_frames.pop().unwrap_or_else(|| {
            self.frames.push(Frame::default());
            (self.frames.len() - 1) as u32
        });
        let frame = &mut self.frames[index as usize];
        frame.registers_memory.ensure(function.frame_bytes as usize);
        frame.function = number;
        frame.lanes = 0;
        frame.depth = 0;
        frame.callers.clear();
        if let Some(poison) = &mut self.poison {
            poison.leave_frame(index, FULL);
        }
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
        index
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
        // Strides are multiples of 16 bytes.
        let [old, new] = [self.local_stride, stride].map(|bytes| bytes as usize / 16);
        let mut local = vec![0; new * 32];
        if old > 0 {
            for (to, from) in local
                .chunks_exact_mut(new)
                .zip(self.local.chunks_exact(old))
            {
                to[..old].copy_from_slice(from);
            }
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
        let Some(index) = self.callee_frame(program, number, lanes, site_number) else {
            let lane = lanes.trailing_zeros() as usize;
            let message = format!("stack overflow in the call of {}", callee.name);
            return self.fail(FaultKind::StackOverflow, lane, message);
        };
        let from = self.bases;
        let to = self.frames[index as usize].registers();
        for (argument, formal) in site.arguments.iter().zip(&callee.formals) {
            let constant = (argument.offset >> 31) as usize;
            let offset = (argument.offset & !CONSTANT) as usize;
            // SAFETY: the argument lies in the caller's frame or constants, the formal in the callee's frame, both with the same
            // number of bytes a lane (`Function::takes`).
            unsafe {
                copy_lanes(
                    from[constant].add(offset),
                    to.add(formal.offset as usize),
                    formal.bytes,
                    lanes,
                )
            };
            if let Some(poison) = &mut self.poison
                && constant == 0
            {
                let to = (index, formal.offset);
                poison.copy((self.frame, argument.offset), to, formal.bytes, lanes);
            }
        }
        let others = self.active & !lanes;
        if others != 0 {
            self.add_ready(others, self.pc + 1, self.frame);
        }
        self.active = lanes;
        self.enter_frame(program, index);
        self.pc = 0;
        self.limit = u32::MAX;
        Flow::Switch
    }

    /// Returns from a function for the lanes of `self.mask`; from the kernel, they exit.
    pub fn ret(&mut self, cluster: &mut Cluster<'_>) -> Flow {
        if self.frames[self.frame as usize].is_kernels() {
            self.exit(cluster);
            return Flow::Leave;
        }
        let program = cluster.grid.program;
        let (lanes, left) = (self.mask, self.frame);
        let from = self.frames[left as usize].registers();
        let returns = &self.function_of(program).returns;
        let mut back: Option<(u32, Caller)> = None;
        for entry in 0..self.frames[left as usize].callers.len() {
            let (with, caller) = self.frames[left as usize].callers[entry];
            let with = with & lanes;
            if with == 0 {
                continue;
            }
            let parent = &self.frames[caller.parent as usize];
            let sites = &program.functions[parent.function as usize].calls;
            let to = parent.registers();
            let results = &sites[caller.site as usize].results;
            for (result, returned) in results.iter().zip(returns) {
                if result.offset != SINK {
                    // SAFETY: the returned value lies in the callee's frame, the result in the caller's, both with the same number
                    // of bytes a lane (`Function::takes`).
                    unsafe {
                        copy_lanes(
                            from.add(returned.offset as usize),
                            to.add(result.offset as usize),
                            returned.bytes,
                            with,
                        )
                    };
                    if let Some(poison) = &mut self.poison {
                        let from = (left, returned.offset);
                        let to = (caller.parent, result.offset);
                        poison.copy(from, to, returned.bytes, with);
                    }
                }
            }
            match back {
                None => back = Some((with, caller)),
                Some((_, first)) if first.is_same_place(&caller) => {
                    back = back.map(|(lanes, first)| (lanes | with, first));
                }
                Some(_) => self.add_ready(with, caller.return_pc, caller.parent),
            }
        }
        let others = self.active & !lanes;
        if others != 0 {
            self.add_ready(others, self.pc + 1, left);
        }
        if let Some(poison) = &mut self.poison {
            poison.leave_frame(left, lanes);
        }
        let frame = &mut self.frames[left as usize];
        frame.leave(lanes);
        if frame.lanes == 0 {
            self.free_frames.push(left);
        }
        let (lanes, caller) = back.expect("each lane of a frame has a caller");
        self.active = lanes;
        self.enter_frame(program, caller.parent);
        self.pc = caller.return_pc;
        self.limit = if self.groups.is_empty() { u32::MAX } else { 0 };
        Flow::Switch
    }
}
