//! The uses of one piece of memory, so that uses in different streams are put in order.
//!
//! The fast path is one comparison. The *owner* holds a stream's number as long as every use so far was in that stream; a launch
//! there needs nothing else. Why that is sound without a lock: a write needs `&mut` and so happens-after every call that had the
//! buffer before, while reads by two threads in two streams do not conflict; the entry that stands for the owner is kept as a *write
//! of everything*, so a read that takes the fast path while another thread enters its stream is covered by it. Where exclusive use
//! of the whole cannot be relied on (halves of a split buffer, buffers that a graph holds) the owner is `NOBODY`, and the check and
//! the enqueueing happen together under the device's order lock.
//!
//! Who follows a stream because of a piece of memory depends on what that stream wrote into it last, not on what it has launched since: a
//! panic in a later launch is none of its business. So the history knows after which launch each stream wrote last.
//!
//! The host, too, waits for the last use and not for what the stream holds after it. So memory that the host can reach has no owner: each use
//! is noted with its number in the stream, and is done once some wait has covered that number. Where there is an owner, the host waits for
//! all that its stream holds.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use smallvec::SmallVec;

use super::access::{Access, AccessKind, ViewScope};
use super::entries::Entries;
use super::graph_memory::GraphMemory;
use super::host_accesses::HostAccesses;
use super::order_lock::OrderGuard;
use super::position::StreamPosition;
use super::stream_handle::StreamHandle;
use crate::driver_call::stream_ref::StreamRef;
use crate::error::Result;
use crate::panics::timeline::{NewLaunch, Reach, Timeline};
use crate::panics::write_mark::WriteMark;
use crate::sync::lock;

/// No stream has this number: every use takes the slow path.
const NOBODY: u64 = 0;

/// More entries than this are merged into one.
const MOST_ENTRIES: usize = 24;

/// Memory as the ordering rule sees it.
pub(crate) trait OrderedMemory: Send + Sync {
    /// Its uses.
    fn history(&self) -> &UseHistory;

    /// The graph whose nodes alone use the memory, if it is a graph's.
    fn graph_memory(&self) -> Option<&GraphMemory> {
        None
    }

    /// Puts a use by work that `_call` is about to enqueue in `stream` as `launch` after all that it conflicts with. `stream` is not captured.
    ///
    /// # Errors
    ///
    /// The memory may not be used in this stream, or the driver refuses.
    fn order_use(
        &self,
        _call: &'static str,
        guard: &OrderGuard<'_>,
        stream: &Arc<StreamHandle>,
        launch: &NewLaunch<'_>,
        access: Access,
        scope: ViewScope,
    ) -> Result<()> {
        self.history()
            .order_use(guard, stream, launch, access, scope)
    }
}

/// Who has used a piece of memory, where.
#[derive(Default)]
#[repr(C)]
pub(crate) struct UseHistory {
    /// The number of the only stream with uses so far, or `NOBODY`.
    owner: AtomicU64,
    /// The [`WriteMark`] of the owner's last write.
    owner_wrote: AtomicU64,
    uses: Mutex<Uses>,
    /// Host accesses that are open. Only graphs ask: everything else is kept out by the borrow.
    host_accesses: HostAccesses,
}

#[derive(Default)]
struct Uses {
    entries: Entries<StreamPosition>,
    /// Held by a graph, which may use it at any time: the owner stays `NOBODY`.
    in_graphs: bool,
    /// What is known of streams' last uses; of the owner's last write, `owner_wrote` says it.
    streams: Vec<StreamUse>,
    /// What comes before later uses and needs no order any more, being done, but may still have panics to tell.
    left: Reach,
    /// The last write, unless an owner has written since: whether one has, `known_of_owner` says.
    last_write: Option<(Arc<Timeline>, WriteMark)>,
    /// What `owner_wrote` was when `last_write` was the last write.
    known_of_owner: Option<WriteMark>,
}

/// A stream's last uses.
struct StreamUse {
    timeline: Arc<Timeline>,
    /// After which of its launches, or as which, it used the memory last.
    used: u64,
    /// The same for its last write.
    wrote: Option<WriteMark>,
}

impl Uses {
    /// What who uses the memory depends on, of what stands at this position.
    fn reach(&self, position: &StreamPosition) -> Reach {
        match position {
            StreamPosition::Event(event) => event.reach().clone(),
            StreamPosition::End(stream) => {
                let wrote = self.of_stream(stream).and_then(|known| known.wrote);
                wrote.map_or_else(Reach::default, |mark| {
                    stream.timeline().up_to(mark.launch())
                })
            }
        }
    }

    fn of_stream(&self, stream: &StreamHandle) -> Option<&StreamUse> {
        self.streams
            .iter()
            .find(|known| Arc::ptr_eq(&known.timeline, stream.timeline()))
    }

    fn note(&mut self, timeline: &Arc<Timeline>, mark: WriteMark, kind: AccessKind) {
        let launch = mark.launch();
        let wrote = (kind == AccessKind::Write).then_some(mark);
        match self
            .streams
            .iter_mut()
            .find(|known| Arc::ptr_eq(&known.timeline, timeline))
        {
            Some(known) => {
                known.used = known.used.max(launch);
                known.wrote = wrote.or(known.wrote);
            }
            None => self.streams.push(StreamUse {
                timeline: timeline.clone(),
                used: launch,
                wrote,
            }),
        }
    }

    /// Whether some wait covered all uses at this position that conflict with an access of this kind by the host. The numbers of uses count only
    /// where each was noted.
    fn is_past(&self, position: &StreamPosition, kind: AccessKind) -> bool {
        let StreamPosition::End(stream) = position else {
            return false;
        };
        self.of_stream(stream).is_some_and(|known| match kind {
            AccessKind::Read => known
                .wrote
                .is_none_or(|mark| known.timeline.is_past(mark.launch())),
            AccessKind::Write => known.timeline.is_past(known.used),
        })
    }
}

impl UseHistory {
    /// That of memory which `stream` has just got, after its last launch. Nobody else knows of the memory: there is nothing to put in order.
    pub(crate) fn begun_in(stream: &Arc<StreamHandle>) -> Self {
        let position = StreamPosition::End(stream.clone());
        let uses = Uses {
            entries: Entries::first(position, Access::EVERYTHING),
            ..Uses::default()
        };
        Self {
            owner: AtomicU64::new(stream.number()),
            owner_wrote: AtomicU64::new(WriteMark::of(stream.timeline().last()).bits()),
            uses: Mutex::new(uses),
            host_accesses: HostAccesses::default(),
        }
    }

    /// Begins anew, as [`begun_in`](Self::begun_in) does, with a history that the same stream owns: of memory that was freed there. The uses
    /// say already what they are to say of an owner.
    #[inline]
    pub(crate) fn begin_again(&self, stream: &StreamHandle) {
        self.note_write(WriteMark::of(stream.timeline().last()));
    }

    /// The fast path: every use so far was in the stream that has this number now.
    #[inline]
    pub(crate) fn is_owned_by(&self, number: u64) -> bool {
        self.owner.load(Ordering::Relaxed) == number
    }

    /// Notes a write by the owner.
    #[inline]
    pub(crate) fn note_write(&self, mark: WriteMark) {
        self.owner_wrote.store(mark.bits(), Ordering::Relaxed);
    }

    /// Moves what is known of the owner alone to the rest.
    fn note_what_owner_wrote(&self, uses: &mut Uses) {
        if self.owner.load(Ordering::Relaxed) != NOBODY
            && let Some(StreamPosition::End(owner)) = uses.entries.only()
        {
            let timeline = owner.timeline().clone();
            let mark = WriteMark::from_bits(self.owner_wrote.load(Ordering::Relaxed));
            uses.note(&timeline, mark, AccessKind::Write);
            if uses.known_of_owner.replace(mark) != Some(mark) {
                uses.last_write = Some((timeline, mark));
            }
        }
    }

    /// The last write by the device of any of the memory, and in which stream.
    pub(crate) fn last_write(&self) -> Option<(Arc<Timeline>, WriteMark)> {
        let mut uses = lock(&self.uses);
        self.note_what_owner_wrote(&mut uses);
        uses.last_write.clone()
    }

    /// Makes later work in a stream of somebody else wait for all uses so far.
    pub(crate) fn hold_back(&self, guard: &OrderGuard<'_>, follower: StreamRef<'_>) -> Result<()> {
        let positions = lock(&self.uses).entries.positions();
        let mut positions = positions.iter();
        positions.try_for_each(|position| position.hold_back(guard, follower))
    }

    /// Puts a use by work that is about to be enqueued in `stream` as `launch` after all that it conflicts with.
    pub(crate) fn order_use(
        &self,
        guard: &OrderGuard<'_>,
        stream: &Arc<StreamHandle>,
        launch: &NewLaunch<'_>,
        access: Access,
        scope: ViewScope,
    ) -> Result<()> {
        let uses = &mut *lock(&self.uses);
        self.note_what_owner_wrote(uses);
        let in_graphs = uses.in_graphs;
        let position = &StreamPosition::End(stream.clone());
        let full = uses.entries.len() >= MOST_ENTRIES;
        let ordered = if full { Access::EVERYTHING } else { access };
        for earlier in uses.entries.before(position, &ordered) {
            // Before the event is recorded by which the stream follows: what others enqueue meanwhile is not among it.
            let reach = uses.reach(&earlier);
            earlier.hold_back(guard, stream.stream_ref())?;
            stream.timeline().follow(launch, &reach);
        }
        if !uses.left.is_told() {
            stream.timeline().follow(launch, &uses.left);
        }
        // As what it stands for from here on: the writes, too, that it was put after, of which nothing else is known then.
        let mark = WriteMark::of(launch.number);
        uses.note(stream.timeline(), mark, ordered.kind);
        if access.writes() {
            uses.last_write = Some((stream.timeline().clone(), mark));
        }
        let Uses {
            entries,
            streams,
            left,
            known_of_owner,
            ..
        } = uses;
        match full {
            true => entries.replace_all(position, ordered),
            false => entries.add(position, ordered),
        }
        if streams.len() > MOST_ENTRIES {
            let positions = entries.positions();
            let is_of = |known: &StreamUse, position: &StreamPosition| match position {
                StreamPosition::End(stream) => Arc::ptr_eq(&known.timeline, stream.timeline()),
                StreamPosition::Event(_) => false,
            };
            streams.retain(|known| positions.iter().any(|position| is_of(known, position)));
        }
        let sole = scope == ViewScope::Sole && !in_graphs && entries.only() == Some(position);
        if sole {
            entries.clear();
            entries.add(position, Access::EVERYTHING);
            streams.retain(|known| Arc::ptr_eq(&known.timeline, stream.timeline()));
            *left = Reach::default();
            let wrote = streams.first().and_then(|known| known.wrote);
            let wrote = wrote.unwrap_or(WriteMark::of(0));
            *known_of_owner = Some(wrote);
            self.note_write(wrote);
        }
        let owner = if sole { stream.number() } else { NOBODY };
        self.owner.store(owner, Ordering::Release);
        Ok(())
    }

    /// From here on every use takes the slow path, until [`order_use`](Self::order_use) finds one stream alone.
    pub(crate) fn disown(&self, _guard: &OrderGuard<'_>) {
        self.owner.store(NOBODY, Ordering::Release);
    }

    /// Fixes the uses so far at this moment: what their streams do later has nothing to do with the memory. For when views of parts
    /// are used independently of each other; nobody else uses the memory during the call.
    pub(crate) fn fix_positions(&self, guard: &OrderGuard<'_>) {
        let mut uses = lock(&self.uses);
        self.note_what_owner_wrote(&mut uses);
        let positions = uses.entries.positions();
        let mut left = uses.left.clone();
        let fixed: Result<Vec<_>> = positions
            .iter()
            .map(|position| {
                let reach = uses.reach(position);
                let event = position.to_event(guard, reach.clone())?;
                if event.is_none() {
                    left.merge(&reach);
                }
                Ok(event)
            })
            .collect();
        // An error means that the context is lost; what was noted is right all the same, if coarse.
        if let Ok(fixed) = fixed {
            uses.left = left;
            uses.entries.replace(|position| {
                let index = positions.iter().position(|known| known == position)?;
                fixed[index].clone().map(StreamPosition::Event)
            });
            uses.streams.clear();
        }
        drop(uses);
        self.disown(guard);
    }

    /// From here on a graph may use it at any time.
    pub(crate) fn join_graph(&self, guard: &OrderGuard<'_>) {
        let uses = &mut *lock(&self.uses);
        self.note_what_owner_wrote(uses);
        uses.in_graphs = true;
        self.disown(guard);
    }

    /// Whether a graph may use it at any time.
    pub(crate) fn is_in_graphs(&self) -> bool {
        lock(&self.uses).in_graphs
    }

    /// What an access by the host comes after, all of it done; `None` where the device may be doing something that conflicts. Where it is
    /// not and the host writes everything, the uses so far are forgotten.
    ///
    /// # Errors
    ///
    /// An earlier fault on the device.
    pub(crate) fn before_host_access(
        &self,
        guard: &OrderGuard<'_>,
        access: &Access,
    ) -> Result<Option<Reach>> {
        let mut uses = lock(&self.uses);
        self.note_what_owner_wrote(&mut uses);
        // An owner's uses have no numbers: only its stream can say that they are done.
        let is_numbered = self.owner.load(Ordering::Relaxed) == NOBODY;
        let mut reach = uses.left.clone();
        for position in uses.entries.conflicting(access) {
            reach.merge(&uses.reach(&position));
            let is_past = is_numbered && uses.is_past(&position, access.kind);
            if !is_past && !position.is_done(guard)? {
                return Ok(None);
            }
        }
        if *access == Access::EVERYTHING {
            uses.entries.clear();
            uses.streams.clear();
            uses.left = Reach::default();
            uses.last_write = None;
            self.disown(guard);
        }
        Ok(Some(reach))
    }

    /// Takes the positions of the last uses away, for memory that nobody will use any more.
    pub(crate) fn take_positions(&mut self) -> SmallVec<[StreamPosition; 1]> {
        // Ignores poisoning, as `lock` does.
        let uses = self.uses.get_mut().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut uses.entries).into_positions()
    }

    /// Counts an access of the host that begins.
    pub(crate) fn open_host_access(&self, _guard: &OrderGuard<'_>) {
        self.host_accesses.open();
    }

    /// Counts an access of the host that ends.
    pub(crate) fn close_host_access(&self) {
        self.host_accesses.close();
    }

    /// Whether the host has the memory open.
    pub(crate) fn is_open_to_host(&self) -> bool {
        self.host_accesses.are_open()
    }
}
