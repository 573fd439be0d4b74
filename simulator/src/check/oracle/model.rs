//! The model: plain vector clocks, a full history of accesses, all that was published.

use std::collections::HashMap;

use warpsmith_isa::effect::{AccessKind, Proxy, Scope};

use super::super::{AccessClass, AsyncAccess, AsyncCompletion, AsyncTicket, ProxyFence};
use super::world::World;

const SCOPES: [Scope; 4] = [Scope::Block, Scope::Cluster, Scope::Device, Scope::System];

/// Where strong accesses meet.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Flag {
    Word(u32, u32),
    Global(u64),
    Mbarrier(u32),
}

/// A word of one of the memories.
pub type Word = (u32, u32);

/// An access as the model remembers it.
struct Recorded {
    thread: usize,
    epoch: u32,
    class: AccessClass,
    word: Word,
    /// The operation, if it is asynchronous.
    operation: Option<usize>,
    site: u32,
}

/// A vector clock without any compression, and the asynchronous operations that are known to be done.
#[derive(Clone)]
struct Clock {
    threads: Vec<u32>,
    done: u64,
}

impl Clock {
    fn merge(&mut self, other: &Clock) {
        let threads = self.threads.iter_mut().zip(&other.threads);
        threads.for_each(|(a, b)| *a = (*a).max(*b));
        self.done |= other.done;
    }
}

/// What is published at an address: by a thread, for all threads that a scope includes with it, or for all there are.
#[derive(Clone)]
struct Publication {
    thread: usize,
    scope: Option<Scope>,
    clock: Clock,
}

/// An asynchronous operation.
pub struct Operation {
    pub access: AsyncAccess,
    pub thread: usize,
    pub ticket: AsyncTicket,
    pub is_done: bool,
}

/// Two accesses that race: the later one's thread, the earlier one's, and its site.
pub type Race = (usize, usize, u32);

/// The model.
pub struct Model {
    world: World,
    clocks: Vec<Clock>,
    /// By thread and scope, what fences have made ready.
    released: HashMap<(usize, Scope), Clock>,
    /// By thread and scope, what strong reads have met.
    acquired: HashMap<(usize, Scope), Clock>,
    locations: HashMap<Flag, Vec<Publication>>,
    history: Vec<Recorded>,
    /// Of each thread, when it was.
    proxy_fences: Vec<Vec<u32>>,
    pub operations: Vec<Operation>,
}

impl Model {
    pub fn new(world: &World) -> Model {
        let all = world.threads();
        let clock = |thread: usize| Clock {
            threads: (0..all).map(|other| u32::from(other == thread)).collect(),
            done: 0,
        };
        Model {
            world: world.clone(),
            clocks: (0..all).map(clock).collect(),
            released: HashMap::new(),
            acquired: HashMap::new(),
            locations: HashMap::new(),
            history: Vec::new(),
            proxy_fences: vec![Vec::new(); all],
            operations: Vec::new(),
        }
    }

    fn nothing(&self) -> Clock {
        Clock {
            threads: vec![0; self.clocks.len()],
            done: 0,
        }
    }

    /// All of `from` release, all of `to` acquire.
    pub fn sync(&mut self, from: &[usize], to: &[usize]) {
        let mut joined = self.nothing();
        from.iter().for_each(|&t| joined.merge(&self.clocks[t]));
        to.iter().for_each(|&t| self.clocks[t].merge(&joined));
        from.iter()
            .chain(to)
            .for_each(|&t| self.clocks[t].threads[t] += 1);
    }

    fn has_seen(&self, thread: usize, other: usize, epoch: u32) -> bool {
        other == thread || epoch <= self.clocks[thread].threads[other]
    }

    /// Whether an earlier access is ordered before one that a thread makes or starts now.
    fn is_ordered(&self, earlier: &Recorded, thread: usize, class: AccessClass) -> bool {
        if let Some(operation) = earlier.operation {
            return self.clocks[thread].done >> operation & 1 != 0;
        }
        let needs_fence = class.proxy == Proxy::Async && earlier.class.kind.writes();
        self.has_seen(thread, earlier.thread, earlier.epoch)
            && (!needs_fence
                || self.is_fenced(earlier, thread)
                || self.is_replaced(earlier, thread))
    }

    /// Whether a thread has seen a proxy fence that a write's own thread has executed after it.
    fn is_fenced(&self, write: &Recorded, thread: usize) -> bool {
        let fences = self.proxy_fences[write.thread].iter();
        fences
            .filter(|&&fence| write.epoch <= fence)
            .any(|&fence| self.has_seen(thread, write.thread, fence))
    }

    /// Whether a later write, which is fenced and which a thread has seen, has taken the place of a write. It came after it, since they did
    /// not race.
    fn is_replaced(&self, write: &Recorded, thread: usize) -> bool {
        let is_plain = |write: &Recorded| {
            write.operation.is_none() && write.class.kind.writes() && !write.class.is_strong()
        };
        let mut later = self
            .history
            .iter()
            .rev()
            .take_while(|other| !std::ptr::eq(*other, write));
        is_plain(write)
            && later.any(|later| {
                later.word == write.word
                    && is_plain(later)
                    && self.has_seen(thread, later.thread, later.epoch)
                    && self.is_fenced(later, thread)
            })
    }

    /// The earlier accesses that an access races with. It is remembered.
    pub fn access(
        &mut self,
        thread: usize,
        (class, site): (AccessClass, u32),
        word: Word,
        operation: Option<usize>,
    ) -> Vec<Race> {
        let races = |other: &&Recorded| {
            let may_meet = class.is_strong()
                && other.class.is_strong()
                && class.proxy == other.class.proxy
                && self.world.includes(class.scope, thread, other.thread)
                && self.world.includes(other.class.scope, thread, other.thread);
            other.word == word
                && (class.kind.writes() || other.class.kind.writes())
                && !may_meet
                && !self.is_ordered(other, thread, class)
        };
        let found = self.history.iter().filter(races);
        let found = found
            .map(|other| (thread, other.thread, other.site))
            .collect();
        self.history.push(Recorded {
            thread,
            epoch: self.clocks[thread].threads[thread],
            class,
            word,
            operation,
            site,
        });
        found
    }

    /// What a strong access orders.
    pub fn synchronise(&mut self, thread: usize, flag: Flag, class: AccessClass) {
        let AccessClass {
            kind, order, scope, ..
        } = class;
        if kind.reads() {
            for publication in self.locations.get(&flag).cloned().unwrap_or_default() {
                let included = publication.scope.unwrap_or(Scope::Block);
                let reaches = publication.scope.is_none()
                    || self.world.includes(included, thread, publication.thread);
                if included > scope || !reaches {
                    continue;
                }
                if order.acquires() {
                    self.clocks[thread].merge(&publication.clock);
                } else {
                    let nothing = self.nothing();
                    let acquired = self.acquired.entry((thread, included)).or_insert(nothing);
                    acquired.merge(&publication.clock);
                }
            }
        }
        if kind.writes() {
            let published = self.locations.entry(flag).or_default();
            match kind {
                AccessKind::Write => published.clear(),
                // Nobody beyond its scope reads from the write what was published before it.
                _ => published.retain(|earlier| earlier.scope <= Some(scope)),
            }
            for included in SCOPES.into_iter().filter(|&included| included <= scope) {
                let clock = if order.releases() {
                    Some(&self.clocks[thread])
                } else {
                    self.released.get(&(thread, included))
                };
                published.extend(clock.map(|clock| Publication {
                    thread,
                    scope: Some(included),
                    clock: clock.clone(),
                }));
            }
            if order.releases() {
                self.clocks[thread].threads[thread] += 1;
            }
        }
    }

    pub fn fence(&mut self, thread: usize, scope: Scope) {
        let included = || SCOPES.into_iter().filter(|&included| included <= scope);
        for included in included() {
            if let Some(acquired) = self.acquired.remove(&(thread, included)) {
                self.clocks[thread].merge(&acquired);
            }
        }
        for included in included() {
            let now = self.clocks[thread].clone();
            self.released.insert((thread, included), now);
        }
        self.clocks[thread].threads[thread] += 1;
    }

    pub fn proxy_fence(&mut self, thread: usize, fence: ProxyFence) {
        let now = &mut self.clocks[thread].threads[thread];
        // A fence of mbarriers alone orders no other data.
        if fence == ProxyFence::Async {
            self.proxy_fences[thread].push(*now);
        }
        *now += 1;
    }

    /// An operation that an mbarrier counts has been started: whoever learns of its completion has seen what its thread has.
    pub fn start_operation(&mut self, thread: usize, flag: Flag) {
        let clock = self.clocks[thread].clone();
        self.tell_all(thread, flag, clock);
        self.clocks[thread].threads[thread] += 1;
    }

    /// What an mbarrier tells: operations that it counts are known to be done when all before them are.
    pub fn count(&mut self, completion: AsyncCompletion, flag: Flag) {
        let done = self
            .operations
            .iter()
            .enumerate()
            .filter(|(_, operation)| operation.access.completion == completion)
            .take_while(|(_, operation)| operation.is_done)
            .fold(0, |done, (number, _)| done | 1 << number);
        let clock = Clock {
            done,
            ..self.nothing()
        };
        self.tell_all(0, flag, clock);
    }

    fn tell_all(&mut self, thread: usize, flag: Flag, clock: Clock) {
        self.locations.entry(flag).or_default().push(Publication {
            thread,
            scope: None,
            clock,
        });
    }

    /// A thread has waited for all its groups. Gives the last operation.
    pub fn wait_for_groups(&mut self, thread: usize) -> Option<AsyncTicket> {
        let mut last = None;
        for (number, operation) in self.operations.iter().enumerate() {
            if operation.thread == thread
                && operation.access.completion == AsyncCompletion::BulkGroup
            {
                self.clocks[thread].done |= 1 << number;
                last = Some(operation.ticket);
            }
        }
        last
    }
}
