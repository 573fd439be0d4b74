//! Messages between the ranks of a communicator: all that one step sends and receives, without an order between different ranks.

use std::collections::VecDeque;
use std::time::Duration;

use warpsmith_nccl_abi::{ncclDataType_t, ncclRedOp_t};

use crate::failure::{Failure, Result};
use crate::world::World;

/// What a message belongs to: both sides must mean the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Header {
    pub(crate) call: Call,
    pub(crate) kind: ncclDataType_t,
    /// Of calls that reduce, [`ncclRedOp_t::BUILT_IN`] for one that was made; else [`ncclRedOp_t::ncclSum`].
    pub(crate) reduction: ncclRedOp_t,
    /// Of calls that have one, else 0.
    pub(crate) root: u32,
    /// The call's count of elements.
    pub(crate) count: u64,
}

/// What is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Call {
    Transfer,
    AllReduce,
    Broadcast,
    Reduce,
    AllGather,
    ReduceScatter,
}

impl Call {
    const ALL: [Call; 6] = [
        Call::Transfer,
        Call::AllReduce,
        Call::Broadcast,
        Call::Reduce,
        Call::AllGather,
        Call::ReduceScatter,
    ];
}

const HEADER: usize = 24;

impl Header {
    fn to_bytes(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        let words = [
            self.call as u32,
            self.kind.0,
            self.reduction.0,
            self.root,
            self.count as u32,
            (self.count >> 32) as u32,
        ];
        for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    /// In words, for messages.
    fn describe(bytes: &[u8; HEADER]) -> String {
        let word = |index: usize| {
            let mut own = [0; 4];
            own.copy_from_slice(&bytes[4 * index..4 * index + 4]);
            u32::from_ne_bytes(own)
        };
        let call = Call::ALL.get(word(0) as usize);
        let kind = ncclDataType_t(word(1));
        let count = u64::from(word(4)) | u64::from(word(5)) << 32;
        let kind = kind.name().unwrap_or("elements of an unknown type");
        let text = match call {
            None => return "something else".into(),
            Some(Call::Transfer) => format!("a transfer of {count} {kind}"),
            Some(call) => format!("{call:?} of {count} {kind}"),
        };
        match call {
            Some(Call::Broadcast) => format!("{text} from root {}", word(3)),
            Some(Call::Reduce | Call::AllReduce | Call::ReduceScatter) => {
                let reduction = ncclRedOp_t(word(2)).name();
                format!("{text} by {}", reduction.unwrap_or("a premultiplied sum"))
            }
            _ => text,
        }
    }
}

/// One message to another rank, or to oneself.
pub(crate) struct Outgoing<'a> {
    pub(crate) to: usize,
    pub(crate) data: &'a [u8],
    pub(crate) header: Header,
}

/// One message from another rank, or from oneself.
pub(crate) struct Incoming<'a> {
    pub(crate) from: usize,
    pub(crate) data: &'a mut [u8],
    pub(crate) header: Header,
}

struct Sending<'a> {
    header: [u8; HEADER],
    data: &'a [u8],
    done: usize,
}

struct Receiving<'a> {
    expected: [u8; HEADER],
    header: [u8; HEADER],
    data: &'a mut [u8],
    done: usize,
}

/// Sends and receives all of these: those to and from one rank in their order, the ranks beside each other.
///
/// # Errors
///
/// A rank is gone, has left, or means something else; or this one was told to stop.
pub(crate) fn exchange(
    world: &World,
    outgoing: Vec<Outgoing<'_>>,
    incoming: Vec<Incoming<'_>>,
    stopped: &dyn Fn() -> bool,
) -> Result<()> {
    let mut out: Vec<VecDeque<Sending<'_>>> = (0..world.ranks).map(|_| VecDeque::new()).collect();
    let mut inc: Vec<VecDeque<Receiving<'_>>> = (0..world.ranks).map(|_| VecDeque::new()).collect();
    for message in outgoing {
        out[message.to].push_back(Sending {
            header: message.header.to_bytes(),
            data: message.data,
            done: 0,
        });
    }
    for message in incoming {
        inc[message.from].push_back(Receiving {
            expected: message.header.to_bytes(),
            header: [0; HEADER],
            data: message.data,
            done: 0,
        });
    }
    let mut idle = 0_u32;
    loop {
        let mut moved = 0;
        for (peer, queue) in out.iter_mut().enumerate() {
            moved += send(world, peer, queue);
        }
        for (peer, queue) in inc.iter_mut().enumerate() {
            moved += receive(world, peer, queue)?;
        }
        if out.iter().all(VecDeque::is_empty) && inc.iter().all(VecDeque::is_empty) {
            return Ok(());
        }
        if moved > 0 {
            idle = 0;
            continue;
        }
        idle += 1;
        if idle < 64 {
            std::thread::yield_now();
            continue;
        }
        let awaited = |peer: usize| !inc[peer].is_empty() || !out[peer].is_empty();
        // What had come from a rank before it left was read in the rounds since.
        let left = |peer: &usize| awaited(*peer) && world.has_left(*peer);
        if idle > 128
            && let Some(peer) = (0..world.ranks).find(left)
        {
            return Err(Failure::remote(format!(
                "rank {peer} has given its communicator back, and this rank still waits for it"
            )));
        }
        world.look(stopped, &awaited)?;
        std::thread::sleep(Duration::from_micros(50));
    }
}

fn send(world: &World, peer: usize, queue: &mut VecDeque<Sending<'_>>) -> usize {
    let mut moved = 0;
    while let Some(message) = queue.front_mut() {
        let rest = match message.done.checked_sub(HEADER) {
            None => &message.header[message.done..],
            Some(done) => &message.data[done..],
        };
        let count = world.write(peer, rest);
        let all = count == rest.len();
        message.done += count;
        moved += count;
        if message.done == HEADER + message.data.len() {
            queue.pop_front();
        } else if !all {
            break;
        }
    }
    moved
}

fn receive(world: &World, peer: usize, queue: &mut VecDeque<Receiving<'_>>) -> Result<usize> {
    let mut moved = 0;
    while let Some(message) = queue.front_mut() {
        let rest = match message.done.checked_sub(HEADER) {
            None => &mut message.header[message.done..],
            Some(done) => &mut message.data[done..],
        };
        let wanted = rest.len();
        let count = world.read(peer, rest);
        let was = message.done;
        message.done += count;
        moved += count;
        if was < HEADER && message.done == HEADER && message.header != message.expected {
            return Err(Failure::usage(format!(
                "rank {} is at {}, rank {peer} at {}: all ranks make the same calls in the same order",
                world.rank,
                Header::describe(&message.expected),
                Header::describe(&message.header)
            )));
        }
        if message.done == HEADER + message.data.len() {
            queue.pop_front();
        } else if count < wanted {
            break;
        }
    }
    Ok(moved)
}
