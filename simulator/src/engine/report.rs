//! Reports: what a failed warp says about itself, and who waits where when nobody can go on.

use super::Kernel;
use super::exec::grid::Grid;
use super::exec::resident::Resident;
use super::exec::wait::Wait;
use super::exec::warp::{RawFault, Warp};
use super::fault::{
    Fault, FaultDetails, FaultKind, FaultOrigin, Frame, SourceLocation, WaitingThreads,
};
use super::program::Program;

/// How many callers a report names.
const MAX_CALLERS: usize = 16;

/// Makes a fault of the warp of this number presentable.
pub(super) fn present(
    grid: &Grid<'_>,
    kernel: &Kernel,
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
            details: FaultDetails::default(),
            issuer: None,
        })
    });
    let warp = &resident.warps[warp];
    let place = (warp.frame, warp.pc);
    let mut frames = source_frames(warp, grid.program, place, fault.lane as usize);
    let (mut block, mut index) = (warp.block, warp.index);
    if let Some(issuer) = fault.issuer {
        if (issuer.block, issuer.warp) != (block, index) {
            // Where the issuer was called from is not known any more.
            (block, index) = (issuer.block, issuer.warp);
            frames.truncate(1);
        }
        if let Some(issued) = grid.program.site_frame(issuer.site) {
            frames[0] = issued;
        }
    }
    let origin = FaultOrigin {
        kernel: kernel.name.clone(),
        block: resident.cluster.blocks[block as usize].index,
        thread: grid.thread_index(index, fault.lane),
        frames,
    };
    Box::new(fault.details.into_fault(fault.kind, fault.message, origin))
}

/// No warp of the cluster can go on: says who waits where.
pub(super) fn deadlock(
    grid: &Grid<'_>,
    kernel: &Kernel,
    resident: &mut Resident<'_>,
) -> Box<Fault> {
    let program = grid.program;
    let mut waiting: Vec<WaitingThreads> = Vec::new();
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
            let frames = source_frames(warp, program, (group.frame, pc), lane as usize);
            let location = users_location(&frames).cloned();
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
                    block: resident.cluster.blocks[warp.block as usize].index,
                    thread: grid.thread_index(warp.index, lane),
                    count: threads,
                    what,
                    location,
                }),
            }
        }
    }
    let mut notes = Vec::new();
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
    present(
        grid,
        kernel,
        resident,
        index,
        Some(Box::new(RawFault {
            kind,
            lane,
            message: message.into(),
            details: FaultDetails {
                waiting,
                notes,
                ..FaultDetails::default()
            },
            issuer: None,
        })),
    )
}

/// A fault that was found before another one, in a line of that one's report.
pub(super) fn earlier(fault: &Fault) -> String {
    let mut text = format!("before that, {}", fault.message);
    if let Some(origin) = &fault.origin {
        let ([bx, by, bz], [x, y, z]) = (origin.block, origin.thread);
        text += &format!(" by block ({bx},{by},{bz}), thread ({x},{y},{z})");
    }
    if let Some(location) = fault.location() {
        text += &format!(", at {location}");
    }
    text
}

/// The user's line among the functions that a thread is in.
fn users_location(frames: &[Frame]) -> Option<&SourceLocation> {
    let users = frames.iter().find(|frame| !frame.is_library());
    users.or(frames.first())?.user_location()
}

/// The functions that a lane is in which has come to a frame and an instruction there, the innermost first, with its location in each.
fn source_frames(
    warp: &Warp,
    program: &Program,
    (frame, pc): (u32, u32),
    lane: usize,
) -> Vec<Frame> {
    let mut frame = &warp.frames[frame as usize];
    let mut frames = vec![program.frame(&program.functions[frame.function as usize], pc)];
    while let Some(caller) = frame.caller(lane)
        && let Some(outer) = warp.frames.get(caller.parent as usize)
        && frames.len() <= MAX_CALLERS
    {
        let function = &program.functions[outer.function as usize];
        frames.push(program.frame(function, caller.return_pc - 1));
        frame = outer;
    }
    frames
}
