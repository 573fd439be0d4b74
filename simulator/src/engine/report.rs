//! Reports: what a failed warp says about itself, and who waits where when nobody can go on.

use std::fmt;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use super::exec::resident::Resident;
use super::exec::wait::Wait;
use super::exec::warp::{RawFault, Warp};
use super::program::Program;
use super::run::Pool;
use super::{Fault, FaultKind};

impl Pool<'_> {
    /// Keeps the first fault, and stops everybody.
    pub(super) fn report(&self, fault: Box<Fault>) {
        self.stop.store(true, Ordering::Relaxed);
        let mut first = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(fault);
    }

    /// Makes a fault of the warp of this number presentable.
    pub(super) fn present(
        &self,
        resident: &Resident<'_>,
        warp: usize,
        fault: Option<Box<RawFault>>,
    ) -> Box<Fault> {
        let fault = fault.unwrap_or_else(|| {
            let message = "an instruction failed without saying why".to_owned();
            Box::new(RawFault {
                kind: FaultKind::IllegalInstruction,
                lane: 0,
                message,
                notes: Vec::new(),
            })
        });
        let (program, warp) = (self.grid.program, &resident.warps[warp]);
        let mut notes = fault.notes;
        notes.extend(backtrace(warp, program));
        Box::new(Fault {
            kind: fault.kind,
            message: fault.message,
            kernel: self.kernel.name.clone(),
            block: resident.cluster.blocks[warp.block as usize].index,
            thread: self.grid.thread_index(warp.index, fault.lane),
            location: program.location(warp.function_of(program), warp.pc),
            notes,
        })
    }

    /// No warp of the cluster can go on: says who waits where.
    pub(super) fn deadlock(&self, resident: &mut Resident<'_>) -> Box<Fault> {
        let program = self.grid.program;
        let mut waits: Vec<Waiting> = Vec::new();
        let mut first: Option<(usize, u32, u32, u32)> = None;
        let mut barriers = 0;
        for (index, warp) in resident.warps.iter().enumerate() {
            for group in &warp.groups {
                let frame = &warp.frames[group.frame as usize];
                let function = &program.functions[frame.function as usize];
                let pc = group.pc - u32::from(group.wait.goes_on_behind());
                let lane = group.mask.trailing_zeros();
                first.get_or_insert((index, lane, group.frame, pc));
                barriers += u32::from(matches!(group.wait, Wait::Barrier { .. }));
                let what = group.wait.describe(function.instruction_name(pc));
                let location = program
                    .location(function, pc)
                    .map_or(String::new(), |l| format!(" at {l}"));
                let text = format!("{what}{location}");
                let threads = group.mask.count_ones();
                match waits.iter_mut().find(|other| other.what == text) {
                    Some(other) => other.threads += threads,
                    None => waits.push(Waiting {
                        what: text,
                        threads,
                        block: resident.cluster.blocks[warp.block as usize].index,
                        thread: self.grid.thread_index(warp.index, lane),
                    }),
                }
            }
        }
        let mut notes: Vec<String> = waits.iter().map(ToString::to_string).collect();
        let exited: u32 = resident
            .warps
            .iter()
            .map(|w| (w.exists & !w.live).count_ones())
            .sum();
        if exited > 0 {
            notes.push(format!("{exited} threads have exited"));
        }
        let polls = resident
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
        let warp = &mut resident.warps[index];
        warp.enter_frame(program, frame);
        warp.pc = pc;
        self.present(
            resident,
            index,
            Some(Box::new(RawFault {
                kind,
                lane,
                message: message.into(),
                notes,
            })),
        )
    }
}

/// Threads that wait for the same.
struct Waiting {
    what: String,
    threads: u32,
    /// The first of them.
    block: [u32; 3],
    thread: [u32; 3],
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([bx, by, bz], [tx, ty, tz]) = (self.block, self.thread);
        let who = format!("block ({bx},{by},{bz}) thread ({tx},{ty},{tz})");
        match self.threads {
            1 => write!(f, "1 thread waits for {}: {who}", self.what),
            n => write!(f, "{n} threads wait for {}, the first: {who}", self.what),
        }
    }
}

/// Lines for the calls that led to where a warp is.
fn backtrace(warp: &Warp, program: &Program) -> Vec<String> {
    let mut lines = Vec::new();
    let mut frame = &warp.frames[warp.frame as usize];
    while let Some(caller) = warp
        .frames
        .get(frame.parent as usize)
        .filter(|_| lines.len() < 16)
    {
        let function = &program.functions[caller.function as usize];
        let location = program.location(function, frame.return_pc - 1);
        let location = location.map_or(String::new(), |l| format!(" at {l}"));
        lines.push(format!("called from {}{location}", function.name));
        frame = caller;
    }
    lines
}
