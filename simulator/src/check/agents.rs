//! Who performs asynchronous operations.
//!
//! A bulk copy or a matrix product touches shared memory at any time between its instruction and its completion, as if
//! another thread did. Operations that complete in order, or of which nobody learns before all of them are done, share
//! such a thread, called an agent: those that one mbarrier counts, those in the bulk groups of one thread, the matrix
//! products of one warp. That threads' own copies are done which an mbarrier counts is an agent's operation, too. An
//! operation is recorded under an epoch of its own; whoever has learned that its agent's operations up to that epoch
//! are done has seen it.

use std::collections::HashMap;

use super::access::{AsyncCompletion, AsyncTicket};
use super::clock::Clocks;
use super::known::Number;

/// What operations have in common that share an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum AgentKey<T> {
    /// The offset of the mbarrier that counts them.
    Mbarrier(u32),
    /// The thread whose bulk groups they are in.
    BulkGroups(T),
    /// The first thread of the warp whose matrix products they are.
    Products(T),
    /// The offset of the mbarrier that counts copies which threads have started for themselves.
    CountedCopies(u32),
}

/// Operations of an agent.
#[derive(Debug, Default)]
struct Operations {
    /// The epochs of those that are not done.
    pending: Vec<u32>,
    /// The greatest epoch of those that are.
    done: u32,
}

/// The agents of a cluster.
#[derive(Debug)]
pub(super) struct Agents<T> {
    numbers: HashMap<AgentKey<T>, T>,
    /// By agent, less one.
    operations: Vec<Operations>,
    /// Operations on the memory of each block that not all of its threads are known to have seen.
    unsettled: Vec<Vec<AsyncTicket>>,
}

impl<T: Number> Agents<T> {
    /// For so many blocks.
    pub fn new(blocks: u32) -> Agents<T> {
        Agents {
            numbers: HashMap::new(),
            operations: Vec::new(),
            unsettled: vec![Vec::new(); blocks as usize],
        }
    }

    /// A new cluster begins.
    pub fn start(&mut self) {
        self.numbers.clear();
        self.operations.clear();
        self.unsettled.iter_mut().for_each(Vec::clear);
    }

    /// An operation of a thread begins, in this epoch; `first` is the first thread of its warp.
    pub fn begin(
        &mut self,
        thread: T,
        first: T,
        completion: AsyncCompletion,
        epoch: u32,
    ) -> AsyncTicket {
        let key = match completion {
            AsyncCompletion::Mbarrier { offset } => AgentKey::Mbarrier(offset),
            AsyncCompletion::BulkGroup => AgentKey::BulkGroups(thread),
            AsyncCompletion::Products => AgentKey::Products(first),
        };
        self.begin_of(key, epoch)
    }

    /// Copies are about to be done that the mbarrier at this offset counts, in this epoch.
    pub fn begin_counted(&mut self, mbarrier: u32, epoch: u32) -> AsyncTicket {
        self.begin_of(AgentKey::CountedCopies(mbarrier), epoch)
    }

    fn begin_of(&mut self, key: AgentKey<T>, epoch: u32) -> AsyncTicket {
        let next = T::new(self.operations.len() + 1);
        let agent = *self.numbers.entry(key).or_insert(next);
        if agent == next {
            self.operations.push(Operations::default());
        }
        let agent = agent.index();
        self.operations[agent - 1].pending.push(epoch);
        AsyncTicket {
            agent: agent as u32,
            epoch,
        }
    }

    /// The operation touches the memory of a block.
    pub fn unsettle(&mut self, block: u32, ticket: AsyncTicket) {
        self.unsettled[block as usize].push(ticket);
    }

    /// An operation is done. Gives the epoch below which all of its agent are.
    pub fn end(&mut self, ticket: AsyncTicket) -> u32 {
        let operations = &mut self.operations[ticket.agent as usize - 1];
        operations.pending.retain(|&epoch| epoch != ticket.epoch);
        operations.done = operations.done.max(ticket.epoch);
        match operations.pending.iter().min() {
            Some(&oldest) => oldest,
            None => operations.done + 1,
        }
    }

    /// Whether all threads of a block have seen all operations on its memory.
    pub fn is_settled(&mut self, block: u32, clocks: &Clocks<T>) -> bool {
        let unsettled = &mut self.unsettled[block as usize];
        unsettled
            .retain(|ticket| !clocks.all_know(block, T::new(ticket.agent as usize), ticket.epoch));
        unsettled.is_empty()
    }
}
