//! Groups: what a thread calls between `ncclGroupStart` and `ncclGroupEnd` is put into streams at the end, the sends and receives of one
//! communicator as one piece of work.

use std::cell::RefCell;
use std::sync::Arc;

use warpsmith_abi as raw;

use crate::collective::Collective;
use crate::communicator::Communicator;
use crate::failure::{Failure, Result};
use crate::job::{self, Region, Transfer, Work};

/// What was called.
pub(crate) enum Operation {
    /// With what it reads and what it writes.
    Collective(Collective, Vec<Region>, Region),
    Transfer(Transfer, Region),
}

struct Pending {
    communicator: Arc<Communicator>,
    stream: usize,
    operation: Operation,
}

#[derive(Default)]
struct Group {
    depth: usize,
    pending: Vec<Pending>,
    /// Ranks that have begun to come in, for which the end waits.
    joining: Vec<Arc<Communicator>>,
    /// Something was begun that goes on behind the end.
    goes_on: bool,
    /// What was refused before the end.
    failure: Option<Failure>,
}

thread_local! {
    static GROUP: RefCell<Group> = RefCell::default();
}

pub(crate) fn start() {
    GROUP.with_borrow_mut(|group| group.depth += 1);
}

/// Notes that a call inside of a group was refused: the whole group is.
pub(crate) fn note_failure(failure: &Failure) {
    GROUP.with_borrow_mut(|group| {
        if group.depth > 0 {
            group.failure.get_or_insert(failure.clone());
        }
    });
}

/// Ends the innermost group; the outermost one does what was called.
pub(crate) fn end() -> Result<()> {
    let group = GROUP.with_borrow_mut(|group| match group.depth {
        0 => Err(Failure::usage("ncclGroupEnd without ncclGroupStart")),
        1 => Ok(Some(std::mem::take(group))),
        _ => {
            group.depth -= 1;
            Ok(None)
        }
    })?;
    let Some(group) = group else { return Ok(()) };
    if let Some(failure) = group.failure {
        return Err(failure);
    }
    for communicator in &group.joining {
        communicator.settle()?;
    }
    run(group.pending)?;
    match group.goes_on {
        true => Err(Failure::in_progress()),
        false => Ok(()),
    }
}

/// A rank has begun to come in, which a call that blocks waits for: now, or at the end of the group.
pub(crate) fn join(communicator: Arc<Communicator>) -> Result<()> {
    let now = GROUP.with_borrow_mut(|group| match group.depth {
        0 => Some(communicator),
        _ => {
            group.joining.push(communicator);
            None
        }
    });
    now.map_or(Ok(()), |communicator| communicator.settle())
}

/// Something was begun that the call does not wait for, and neither does the end of the group.
///
/// # Errors
///
/// Always that.
pub(crate) fn go_on() -> Result<()> {
    GROUP.with_borrow_mut(|group| group.goes_on = group.depth > 0);
    Err(Failure::in_progress())
}

/// Does an operation, now or at the end of the group.
pub(crate) fn add(
    communicator: Arc<Communicator>,
    stream: raw::CUstream,
    operation: Operation,
) -> Result<()> {
    communicator.ready()?;
    if let Operation::Collective(..) = operation {
        communicator.count_call(false);
    }
    let pending = Pending {
        communicator,
        stream: stream.addr(),
        operation,
    };
    let now = GROUP.with_borrow_mut(|group| {
        if group.depth > 0 {
            group.pending.push(pending);
            None
        } else {
            Some(pending)
        }
    });
    now.map_or(Ok(()), |pending| run(vec![pending]))
}

fn run(pending: Vec<Pending>) -> Result<()> {
    let mut communicators: Vec<Arc<Communicator>> = Vec::new();
    for Pending { communicator, .. } in &pending {
        if !communicators.iter().any(|c| Arc::ptr_eq(c, communicator)) {
            communicators.push(communicator.clone());
        }
    }
    let mut rest = pending;
    for communicator in communicators {
        let (own, others) = rest
            .into_iter()
            .partition(|pending| Arc::ptr_eq(&pending.communicator, &communicator));
        rest = others;
        communicator
            .context()
            .with(|| run_for(&communicator, own))?;
    }
    Ok(())
}

/// All that one communicator was given: in one stream, which the others follow and which follows them.
fn run_for(communicator: &Arc<Communicator>, own: Vec<Pending>) -> Result<()> {
    let mut streams: Vec<raw::CUstream> = Vec::new();
    for pending in &own {
        let stream = pending.stream as raw::CUstream;
        if !streams.contains(&stream) {
            streams.push(stream);
        }
    }
    let Some((&stream, others)) = streams.split_first() else {
        return Ok(());
    };
    job::join(stream, others)?;
    let (mut transfers, mut inputs, mut outputs) = (Vec::new(), Vec::new(), Vec::new());
    for pending in own {
        match pending.operation {
            Operation::Collective(collective, inputs, output) => job::enqueue(
                communicator,
                stream,
                Work::Collective(collective),
                inputs,
                vec![output],
            )?,
            Operation::Transfer(transfer, region) => {
                match transfer.sends {
                    true => inputs.push(region),
                    false => outputs.push(region),
                }
                transfers.push(transfer);
            }
        }
    }
    if !transfers.is_empty() {
        let work = Work::Transfers(transfers);
        job::enqueue(communicator, stream, work, inputs, outputs)?;
    }
    others
        .iter()
        .try_for_each(|&other| job::join(other, &[stream]))
}
