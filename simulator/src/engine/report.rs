//! Reports: what a failed warp says about itself, and who waits where when nobody can go on.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use super::exec::block::Cluster;
use super::exec::schedule::Wait;
use super::exec::warp::{RawFault, Warp};
use super::fault::{
    Fault, FaultDetails, FaultKind, FaultOrigin, Frame, SourceLocation, WaitingThreads,
};
use super::program::Program;
use super::run::Pool;

/// How many callers a report names.
const MAX_CALLERS: usize = 16;

impl Pool<'_> {
    /// Keeps the first fault, and stops everybody.
    pub(super) fn report(&self, fault: Box<Fault>) {
        self.stop.store(true, Ordering::Relaxed);
        let mut first = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(fault);
    }

    /// Makes a warp's fault presentable.
    pub(super) fn present(&self, warp: &Warp, fault: Option<Box<RawFault>>) -> Box<Fault> {
        let fault = fault.unwrap_or_else(|| {
            let message = "an instruction failed without saying why".to_owned();
            Box::new(RawFault {
                kind: FaultKind::IllegalInstruction,
                lane: 0,
                message,
                details: FaultDetails::default(),
            })
        });
        let origin = FaultOrigin {
            kernel: self.kernel.name.clone(),
            block: warp.block().index,
            thread: self.grid.thread_index(warp.index, fault.lane),
            frames: warp.source_frames(&self.kernel.program),
        };
        Box::new(fault.details.into_fault(fault.kind, fault.message, origin))
    }

    /// No warp of the cluster can go on: says who waits where.
    pub(super) fn deadlock(&self, cluster: &mut Cluster) -> Box<Fault> {
        let program = &self.kernel.program;
        let mut waiting: Vec<WaitingThreads> = Vec::new();
        let mut first: Option<(usize, u32, u32, u32)> = None;
        let mut barriers = 0;
        for (index, warp) in cluster.warps.iter().enumerate() {
            for group in &warp.groups {
                let frame = &warp.frames[group.frame as usize];
                // SAFETY: functions live as long as the module, which the launch holds.
                let function = unsafe { &*frame.function };
                // A group that goes on behind its instruction waits at the one before.
                let behind = matches!(
                    group.wait,
                    Wait::Barrier { .. } | Wait::Cluster { .. } | Wait::WarpBarrier { .. }
                );
                let pc = group.pc - u32::from(behind);
                first.get_or_insert((index, group.mask.trailing_zeros(), group.frame, pc));
                barriers += u32::from(matches!(group.wait, Wait::Barrier { .. }));
                let what = match group.wait {
                    Wait::Barrier { id, .. } => format!("barrier {id}"),
                    Wait::Cluster { .. } => "the cluster's barrier".into(),
                    Wait::Lanes { members } | Wait::WarpBarrier { members } => {
                        format!(
                            "lanes {members:#010x} of its warp, in {}",
                            function.instruction_name(pc)
                        )
                    }
                    Wait::Ready => "memory to change".into(),
                };
                let location = program.frame(function, pc).location;
                let threads = group.mask.count_ones();
                // Threads count as one group where their lines read the same.
                let shown = |location: &Option<SourceLocation>| {
                    location.as_ref().map(SourceLocation::to_string)
                };
                let same = |other: &&mut WaitingThreads| {
                    other.what == what && shown(&other.location) == shown(&location)
                };
                match waiting.iter_mut().find(same) {
                    Some(known) => known.count += threads,
                    None => waiting.push(WaitingThreads {
                        block: warp.block().index,
                        thread: self
                            .grid
                            .thread_index(warp.index, group.mask.trailing_zeros()),
                        count: threads,
                        what,
                        location,
                    }),
                }
            }
        }
        let mut notes = Vec::new();
        let exited: u32 = cluster
            .warps
            .iter()
            .map(|w| (w.exists & !w.live).count_ones())
            .sum();
        if exited > 0 {
            notes.push(format!("{exited} threads have exited"));
        }
        let polls = cluster
            .warps
            .iter()
            .flat_map(|w| &w.groups)
            .any(|g| g.wait == Wait::Ready);
        let (kind, message) = if polls {
            (
                FaultKind::Deadlock,
                "deadlock: all threads that can run wait for a change of memory that nobody makes",
            )
        } else if barriers > 0 {
            (
                FaultKind::BarrierDivergence,
                "barrier divergence: not all threads come to the same barrier",
            )
        } else {
            (
                FaultKind::Deadlock,
                "deadlock: no thread of the block can go on",
            )
        };
        let (index, lane, frame, pc) = first.unwrap_or((0, 0, 0, 0));
        let warp = &mut *cluster.warps[index];
        warp.enter_frame(frame);
        warp.pc = pc;
        self.present(
            warp,
            Some(Box::new(RawFault {
                kind,
                lane,
                message: message.into(),
                details: FaultDetails {
                    waiting,
                    notes,
                    ..FaultDetails::default()
                },
            })),
        )
    }
}

impl Warp {
    /// The name of the current instruction.
    pub(crate) fn instruction_name(&self) -> String {
        self.function().instruction_name(self.pc).to_owned()
    }

    /// The functions that the warp is in, the innermost first, with the present location in each.
    fn source_frames(&self, program: &Program) -> Vec<Frame> {
        let mut frames = vec![program.frame(self.function(), self.pc)];
        let mut frame = &self.frames[self.frame as usize];
        while let Some(caller) = self
            .frames
            .get(frame.parent as usize)
            .filter(|_| frames.len() <= MAX_CALLERS)
        {
            // SAFETY: `function` points into the module's program, which the launch keeps alive and nobody changes (`Frame::enter`).
            let function = unsafe { &*caller.function };
            frames.push(program.frame(function, frame.return_pc - 1));
            frame = caller;
        }
        frames
    }
}
