//! Divergence: a warp's lanes run as groups, each with its own place in the program.
//!
//! The group that is furthest behind runs (deepest call first, then the lowest pc; the lowering lays out blocks so that a
//! lower pc is further from the end), up to the pc of the next group, where the two become one. This reconverges at
//! post-dominators without computing any, for unstructured control flow too. It is not fair by itself: a lane that spins
//! on a lock would starve the lane that holds it. So when a group has used up the warp's time slice, the group that has
//! waited longest runs next, wherever it is.

use super::barrier::Votes;
use super::cluster::{Cluster, Exit};
use super::frame::NO_FRAME;
use super::group::Group;
use super::operand::{FULL, lanes_of};
use super::wait::{EndsBy, Reduction, ReductionTarget, Wait};
use super::warp::Warp;
use crate::check::Marks;
use crate::engine::program::Program;

impl Warp {
    /// Stops the current group: it will go on at `self.pc`.
    pub fn park(&mut self, wait: Wait) {
        let group = Group {
            mask: self.active,
            pc: self.pc,
            frame: self.frame,
            wait,
            ran: self.tick,
        };
        self.groups.push(group);
        self.active = 0;
    }

    /// Adds a group that can run at once.
    pub fn add_ready(&mut self, mask: u32, pc: u32, frame: u32) {
        self.groups.push(Group {
            mask,
            pc,
            frame,
            wait: Wait::Ready,
            ran: self.tick,
        });
    }

    /// Makes a waiting group the current one; false if all wait.
    pub fn pick(&mut self, cluster: &mut Cluster<'_>) -> bool {
        let rotate = std::mem::take(&mut self.rotated);
        self.wake(cluster);
        let mut best: Option<usize> = None;
        for (index, group) in self.groups.iter().enumerate() {
            if group.wait != Wait::Ready {
                continue;
            }
            let better = match best {
                None => true,
                Some(other) => {
                    let other = &self.groups[other];
                    if rotate {
                        group.ran < other.ran
                    } else {
                        self.is_behind(group, other.frame, other.pc)
                    }
                }
            };
            if better {
                best = Some(index);
            }
        }
        let Some(index) = best else { return false };
        let group = self.groups.swap_remove(index);
        self.tick += 1;
        self.rotated = rotate && self.groups.iter().any(|g| g.wait == Wait::Ready);
        self.active = group.mask;
        self.pc = group.pc;
        self.enter_frame(cluster.grid.program, group.frame);
        self.merge();
        self.set_limit();
        true
    }

    /// Whether the group should run before one at this place.
    fn is_behind(&self, group: &Group, frame: u32, pc: u32) -> bool {
        let depth = self.frames[group.frame as usize].depth;
        let other = self.frames[frame as usize].depth;
        depth > other || depth == other && group.pc < pc
    }

    /// The current group has come to the pc of another one, or past it: true if it goes on running (as one with the
    /// other), false if nothing runs. Another group may have become the current one.
    pub fn reconverge(&mut self, cluster: &mut Cluster<'_>) -> bool {
        self.merge();
        if !self.rotated
            && self
                .groups
                .iter()
                .any(|g| g.wait == Wait::Ready && self.is_behind(g, self.frame, self.pc))
        {
            self.park(Wait::Ready);
            return self.pick(cluster);
        }
        self.set_limit();
        true
    }

    /// Takes in all ready groups at the current place.
    fn merge(&mut self) {
        let (frame, pc) = (self.frame, self.pc);
        let mut taken = 0;
        self.groups.retain(|group| {
            let same = group.wait == Wait::Ready && group.frame == frame && group.pc == pc;
            if same {
                taken |= group.mask;
            }
            !same
        });
        self.active |= taken;
    }

    /// Sets the pc where the current group meets the next one.
    pub fn set_limit(&mut self) {
        self.limit = u32::MAX;
        for group in &self.groups {
            if group.wait == Wait::Ready && group.frame == self.frame && group.pc > self.pc {
                self.limit = self.limit.min(group.pc);
            }
        }
    }

    /// Turns groups whose wait is over into ready ones.
    fn wake(&mut self, cluster: &Cluster<'_>) {
        if self.groups.iter().all(|g| g.wait == Wait::Ready) {
            return;
        }
        for index in 0..self.groups.len() {
            let group = self.groups[index];
            if group.wait.ends_by() != EndsBy::Cluster || !group.wait.is_over(cluster, self.block) {
                continue;
            }
            if let Wait::Barrier {
                id,
                phase,
                reduction: Some(target),
            } = group.wait
            {
                let block = &cluster.blocks[self.block as usize];
                let votes = block.barriers[usize::from(id)].results[phase as usize & 1];
                self.write_reduction(&group, target, votes);
            }
            self.groups[index].wait = Wait::Ready;
        }
    }

    fn write_reduction(&mut self, group: &Group, target: ReductionTarget, votes: Votes) {
        if let Some(poison) = &mut self.poison {
            poison.write(group.frame, target.register, group.mask, &Marks::NONE);
        }
        let registers = self.frames[group.frame as usize].registers();
        // SAFETY: `barrier.red` was emitted with a register or predicate of the group's frame as its destination
        // (`Builder::emit`), as wide as its reduction says; no reference into a frame lives while groups are woken.
        unsafe {
            let register = registers.add(target.register as usize).cast::<u32>();
            match target.reduction {
                Reduction::Count => {
                    for lane in lanes_of(group.mask) {
                        *register.add(lane) = votes.count;
                    }
                }
                Reduction::And | Reduction::Or => {
                    let value = if target.reduction == Reduction::And {
                        votes.all
                    } else {
                        votes.any
                    };
                    *register = *register & !group.mask | if value { group.mask } else { 0 };
                }
            }
        }
    }

    /// Splits the current group at a branch: the lanes of `taken` go to `target`, the others to the next instruction.
    pub fn diverge(&mut self, taken: u32, target: u32) {
        let others = self.active & !taken;
        let next = self.pc + 1;
        // The lower pc runs on.
        let (mask, pc, other_mask, other_pc) = if target < next {
            (taken, target, others, next)
        } else {
            (others, next, taken, target)
        };
        self.add_ready(other_mask, other_pc, self.frame);
        self.active = mask;
        self.pc = pc;
        // Another group may already be at either place.
        self.limit = 0;
    }

    /// The lanes of `mask` wait; the other lanes of the group go on after this instruction.
    pub fn wait(&mut self, wait: Wait, resume: u32) {
        let others = self.active & !self.mask;
        if others != 0 {
            self.add_ready(others, self.pc + 1, self.frame);
        }
        self.active = self.mask;
        self.pc = resume;
        self.park(wait);
    }

    /// With a seed, some of the current lanes may stay behind, before the current instruction: nothing but a `.sync` instruction keeps the
    /// lanes of a path together.
    pub fn fall_apart(&mut self, cluster: &mut Cluster<'_>) {
        let stay = lanes_of(self.mask).filter(|_| cluster.choose(4) == 1);
        let stay = stay.fold(0, |lanes, lane| lanes | 1 << lane);
        if stay == 0 || stay == self.mask {
            return;
        }
        self.add_ready(stay, self.pc, self.frame);
        self.active &= !stay;
        self.mask &= !stay;
        // They are behind the lanes that go on.
        self.limit = 0;
    }

    /// The lanes of `members` that have not exited and are not in the current group's mask.
    #[inline(always)]
    pub fn missing(&self, members: u32) -> u32 {
        members & self.live & !self.mask
    }

    /// The current lanes wait for the other members at this instruction, unless these wait here already.
    /// True if all are here now and the instruction can be executed for `self.mask`, which they have joined.
    pub fn gather(&mut self, program: &Program, members: u32) -> bool {
        if self.missing(members) == 0 {
            return true;
        }
        self.join_waiting(program);
        if self.missing(members) == 0 {
            return true;
        }
        self.wait(Wait::Lanes { members }, self.pc);
        false
    }

    /// `bar.warp.sync`: true if the current lanes go on at once.
    pub fn warp_barrier(&mut self, cluster: &mut Cluster<'_>, members: u32) -> bool {
        if self.missing(members) == 0 {
            self.synchronised(cluster, members);
            return true;
        }
        let mut present = self.mask;
        for group in &self.groups {
            if group.wait == (Wait::WarpBarrier { members }) {
                present |= group.mask;
            }
        }
        if members & self.live & !present != 0 {
            self.wait(Wait::WarpBarrier { members }, self.pc + 1);
            return false;
        }
        for group in &mut self.groups {
            if group.wait == (Wait::WarpBarrier { members }) {
                group.wait = Wait::Ready;
            }
        }
        self.limit = 0;
        self.synchronised(cluster, members);
        true
    }

    /// The members of a warp barrier have come together.
    fn synchronised(&self, cluster: &mut Cluster<'_>, members: u32) {
        if let Some(checker) = &mut cluster.checker {
            checker.warp_sync(self.block, self.index, members & self.live);
        }
    }

    /// The lanes of `self.mask` exit.
    pub fn exit(&mut self, cluster: &mut Cluster<'_>) {
        let gone = self.mask;
        self.live &= !gone;
        if let Some(poison) = &mut self.poison {
            poison.exit(gone);
        }
        self.leave_frames(gone);
        let others = self.active & !gone;
        if others != 0 {
            self.add_ready(others, self.pc + 1, self.frame);
        }
        self.active = 0;
        // Lanes that waited for the gone ones look again.
        for index in 0..self.groups.len() {
            match self.groups[index].wait {
                Wait::Lanes { .. } => self.groups[index].wait = Wait::Ready,
                Wait::WarpBarrier { members } => {
                    let present = self
                        .groups
                        .iter()
                        .filter(|g| g.wait == Wait::WarpBarrier { members });
                    let present = present.fold(0, |all, g| all | g.mask);
                    if members & self.live & !present == 0 {
                        for group in self
                            .groups
                            .iter_mut()
                            .filter(|g| g.wait == Wait::WarpBarrier { members })
                        {
                            group.wait = Wait::Ready;
                        }
                        self.synchronised(cluster, members);
                    }
                }
                _ => {}
            }
        }
        cluster.threads_exited(Exit {
            block: self.block,
            warp: self.index,
            mask: gone,
            site: Program::site(self.function, self.pc),
            cluster_arrived: self.cluster_arrived,
            cluster_phase: self.cluster_phase,
        });
    }

    /// Takes lanes out of their frames, from the innermost outwards.
    fn leave_frames(&mut self, gone: u32) {
        if self.frames[self.frame as usize].is_kernels() {
            self.frames[self.frame as usize].leave(gone);
            return;
        }
        let (mut next, mut rest) = (Some((self.frame, gone)), Vec::new());
        while let Some((number, lanes)) = next.take().or_else(|| rest.pop()) {
            if number == NO_FRAME {
                continue;
            }
            let frame = &mut self.frames[number as usize];
            for (with, caller) in &frame.callers {
                if with & lanes != 0 {
                    let outer = (caller.parent, with & lanes);
                    rest.extend(next.replace(outer));
                }
            }
            frame.leave(lanes);
            if frame.lanes == 0 && !frame.is_kernels() {
                self.free_frames.push(number);
            }
        }
    }

    /// Charges a memory operation that may be polling for another thread's store.
    #[inline(always)]
    pub fn polls(&mut self) {
        self.fuel -= super::warp::POLL;
        self.polled += super::warp::POLL;
    }

    /// Whether all lanes that exist are in the current mask: the fast path.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.mask == FULL
    }
}
