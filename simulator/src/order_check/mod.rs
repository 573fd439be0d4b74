//! The check of the order of whole pieces of work (see [`crate::check::stream_order`]): which pieces run, what they have touched, and
//! reports of those that conflict.
//!
//! Memory that a program registers is not followed: it is the program's own. Nor are its accesses to memory that the host reaches,
//! and arrays as textures read them.

mod reports;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use self::reports::{access, access_kind, fault, incoherence, side};
use crate::check::stream_order::{
    Agent, Class, Conflict, Incoherent, Line, Others, PAGE, Piece, Place, Recorder, Shadow,
    Touched, incoherent,
};
use crate::context::Context;
use crate::engine::TouchSink;
use crate::memory::pool::{self, OwnersSide};
use crate::memory::virtual_memory::AliasedPages;
use crate::memory::{AllocationInfo, AllocationKind, AllocationState, Memory};
use crate::report;
use crate::settings;
use crate::sync::lock;
use crate::work::{self, host};
use warpsmith_abi::fault::{Fault, FaultAccess, FaultKind, PieceOfWork};

/// Whether the check is on.
pub(crate) fn is_on() -> bool {
    settings::get().checks.stream_order
}

#[derive(Default)]
struct State {
    shadow: Shadow,
    running: Vec<Arc<Run>>,
}

impl State {
    fn remove(&mut self, ended: &Arc<Run>) {
        self.running.retain(|run| !Arc::ptr_eq(run, ended));
    }
}

fn state() -> &'static Mutex<State> {
    static STATE: OnceLock<Mutex<State>> = OnceLock::new();
    STATE.get_or_init(Mutex::default)
}

/// A piece while it runs.
struct Run {
    /// The count of submissions when it began.
    begun: u64,
    /// It may hear of other pieces, and say so to others: a kernel, operations on words.
    relays: AtomicBool,
    /// It has written with system scope.
    has_spoken: AtomicBool,
}

/// A piece of work that runs. When it is dropped without having ended, nothing is looked at: it has failed.
pub(crate) struct Running<'a> {
    context: &'a Context,
    what: String,
    place: Place,
    agent: Agent,
    run: Arc<Run>,
    /// When it began, as processes tell each other ([`pool::now`]).
    began: u64,
}

/// A piece of work begins on this thread; `None` if the check is off.
pub(crate) fn begin(context: &Context, what: impl FnOnce() -> String) -> Option<Running<'_>> {
    let place = work::place().filter(|_| is_on())?;
    Some(begin_at(context, place, what()))
}

/// The host itself does something to memory; `None` if the check is off.
fn begin_on_host<'a>(context: &'a Context, what: &str) -> Option<Running<'a>> {
    is_on().then(|| {
        let known = host::known();
        let place = Place::of_item(&Line::new(), 1, 0, &known, host::submissions());
        begin_at(
            context,
            place.labelled(&"the host's call".into()),
            what.to_owned(),
        )
    })
}

fn begin_at(context: &Context, place: Place, what: String) -> Running<'_> {
    let run = Arc::new(Run {
        begun: host::submissions(),
        relays: AtomicBool::new(false),
        has_spoken: AtomicBool::new(false),
    });
    lock(state()).running.push(Arc::clone(&run));
    Running {
        context,
        what,
        place,
        agent: Agent {
            device: context.device,
            domain: 0,
        },
        run,
        began: pool::now(),
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        lock(state()).remove(&self.run);
    }
}

impl Running<'_> {
    /// It may hear of other pieces, and say so to others, before it ends.
    pub(crate) fn relaying(self) -> Self {
        self.run.relays.store(true, Ordering::Relaxed);
        self
    }

    /// It is going to touch these words, of which the host may read some before it ends.
    pub(crate) fn speaking(self, words: &Touched) -> Self {
        let mut layout = Layout::default();
        let known = words.pages().filter_map(|page| layout.at(page * PAGE));
        if { known }.any(|known| known.reaches_host) {
            self.run.has_spoken.store(true, Ordering::Relaxed);
        }
        self
    }

    /// The physical memory synchronisation domain in which it runs.
    pub(crate) fn in_domain(mut self, domain: u32) -> Self {
        self.agent.domain = domain;
        self
    }

    fn piece(&self, place: Place) -> Piece {
        let at = place.label.to_string();
        let mut piece = Piece::new(self.what.clone(), at, place, self.agent, host::known());
        piece.begun = self.run.begun;
        piece.ended = host::submissions();
        piece
    }

    /// It has ended, and has touched these bytes.
    pub(crate) fn end(self, touched: Touched) {
        self.end_at(self.place.clone(), touched, true);
    }

    /// A part of it has ended that stands at a place of its own; with its last part, it runs no more.
    fn end_at(&self, place: Place, mut touched: Touched, is_last: bool) {
        let mut layout = Layout::default();
        let (mut speaks, mut hears) = (false, false);
        let mut imported = None;
        touched.pages.retain(|page| {
            let Some(known) = layout.at(page.page * PAGE) else {
                return true;
            };
            if known.reaches_host {
                speaks |= matches!(page.class, Class::SystemWrite | Class::WordWrite);
                hears |= matches!(page.class, Class::SystemRead | Class::SystemWrite);
            }
            if let Some(pool) = known.imported
                && imported.is_none()
            {
                imported = self.use_of_import(pool, known.info.base, page.class);
            }
            !known.is_internal
        });
        let mut piece = self.piece(place).with_words(&touched);
        piece.speaks_to_host = speaks;
        piece.hears_host = hears;
        let piece = Arc::new(piece);
        let found = {
            let mut state = lock(state());
            let others = self.others(&state);
            if is_last {
                // With what it has touched, and not later: a piece that ends between would take what this one says as unknown.
                state.remove(&self.run);
            }
            for (address, bytes) in Memory::global().take_used_again() {
                state.shadow.forget(address as u64, bytes as u64);
            }
            state.shadow.forget_known(&host::known_to_all());
            let is_freed = |address| {
                let info = Memory::global().find(address as usize);
                info.is_some_and(|info| info.state == AllocationState::Freed)
            };
            state.shadow.end(&piece, &touched, others, is_freed)
        };
        self.report(found);
        if let Some(fault) = imported {
            self.context.fail(fault);
        }
    }

    /// What is wrong with a use of memory that another process owns.
    fn use_of_import(&self, pool: u64, base: usize, class: Class) -> Option<Fault> {
        let pool = pool::of_allocation(pool)?;
        let (call, does, how) = match pool.owners_side(base, self.began)? {
            OwnersSide::NotMade => (
                "cuMemAllocFromPoolAsync",
                Class::Allocate,
                "before its owner's stream has allocated it",
            ),
            OwnersSide::Freed => (
                "cuMemFreeAsync",
                Class::Free,
                "after its owner has freed it",
            ),
        };
        let piece = self.piece(self.place.clone());
        let owner = PieceOfWork {
            what: call.to_owned(),
            place: format!(
                "process {}, which owns the pool,",
                pool.owner().unwrap_or_default()
            ),
            does: does.name().to_owned(),
        };
        Some(Fault {
            access: Some(access(access_kind(class), base as u64, self.context)),
            work: vec![side(&piece, class.name()), owner],
            notes: vec!["let the use come after the allocation and before the owner's free: an interprocess event, or a wait of the host \
                 that it tells the other process of".to_owned()],
            ..Fault::outside_kernels(
                FaultKind::StreamOrder,
                format!(
                    "use of imported memory {how}: {} in {} {} memory at {base:#x}",
                    piece.what,
                    piece.at,
                    class.name(),
                ),
            )
        })
    }

    fn others(&self, state: &State) -> Others {
        let mut others = Others::default();
        for run in &state.running {
            if !Arc::ptr_eq(run, &self.run) {
                if run.relays.load(Ordering::Relaxed) {
                    let since = others.run_since.get_or_insert(run.begun);
                    *since = run.begun.min(*since);
                }
                others.have_spoken |=
                    run.has_spoken.load(Ordering::Relaxed) && run.begun < self.place.submitted;
            }
        }
        others
    }

    /// It has freed memory.
    pub(crate) fn end_of(self, address: usize, bytes: usize) {
        self.free(address, bytes, false);
    }

    fn free(self, address: usize, bytes: usize, by_host: bool) {
        let piece = Arc::new(self.piece(self.place.clone()));
        let (address, bytes) = (address as u64, bytes as u64);
        let found = (lock(state()).shadow).free(&piece, address, bytes, by_host);
        self.report(found);
    }

    /// It has failed. If the memory at one of these addresses is free, the report names who has freed it.
    pub(crate) fn fail(self, mut fault: Fault, addresses: impl IntoIterator<Item = u64>) {
        let free = {
            let state = lock(state());
            let by = |address| state.shadow.freed_by(address).cloned();
            addresses.into_iter().find_map(by)
        };
        if let Some(by) = free {
            let piece = self.piece(self.place.clone());
            fault.work = vec![
                side(&piece, "uses the memory"),
                side(&by, Class::Free.name()),
            ];
        }
        self.context.fail(fault);
    }

    fn report_incoherent(&self, found: Incoherent) {
        let piece = self.piece(self.place.clone());
        self.context.fail(incoherence(&piece, found, self.context));
    }

    fn report(&self, found: Option<Conflict>) {
        if let Some(conflict) = found {
            self.context.fail(fault(&conflict, self.context));
        }
    }
}

/// The host frees memory of a pool, for whose uses it may not have waited.
pub(crate) fn freed_on_host(context: &Context, what: &str, address: usize, bytes: usize) {
    if let Some(running) = begin_on_host(context, what) {
        running.free(address, bytes, true);
    }
}

/// Says that memory of a pool is about to be freed which another process has imported and not freed (CUDA C++ Programming Guide,
/// "IPC Free Limitations").
pub(crate) fn owner_frees(by: &str, place: &str, address: usize) {
    if !is_on() {
        return;
    }
    if let Some(process) = pool::importer_of(address) {
        misuse(
            format!("free before an importer's: {by} of {address:#x} in {place}"),
            [
                (by, place, "frees"),
                (
                    "cuMemPoolImportPointer",
                    &format!("process {process}"),
                    "imports, has not freed, and may use",
                ),
            ],
            "free it in each process that has imported it first, and let the owner's free come after (an interprocess event, or a wait)",
        );
    }
}

/// Says what is wrong with a call that is refused, or whose result means nothing. Nothing else comes of it.
pub(crate) fn misuse(message: String, [here, before]: [(&str, &str, &str); 2], hint: &str) {
    if !is_on() {
        return;
    }
    let piece = |(what, place, does): (&str, &str, &str)| PieceOfWork {
        what: what.to_owned(),
        place: place.to_owned(),
        does: does.to_owned(),
    };
    let fault = Fault {
        work: vec![piece(here), piece(before)],
        notes: vec![hint.to_owned()],
        ..Fault::outside_kernels(FaultKind::StreamOrder, message)
    };
    report::fault(&Arc::new(fault));
}

/// Collects what a grid touches.
pub(crate) struct GridTouches<'a> {
    running: Running<'a>,
    /// The place of the threads that have not waited for the grid before theirs.
    early: Option<Place>,
    recorders: Mutex<[Recorder; 2]>,
    /// Some thread has executed `fence.proxy.alias`.
    has_fenced_aliases: AtomicBool,
}

impl<'a> GridTouches<'a> {
    pub(crate) fn new(running: Running<'a>, early: Option<&Place>) -> Self {
        let running = running.relaying();
        let label = &running.place.label;
        Self {
            early: early.map(|early| early.clone().labelled(label)),
            running,
            recorders: Mutex::default(),
            has_fenced_aliases: AtomicBool::new(false),
        }
    }

    /// The grid has failed.
    pub(crate) fn fail(self, fault: Fault) {
        let freed = |access: &FaultAccess| access.nearest.as_ref().is_some_and(|near| near.freed);
        let access = fault.access.as_ref().filter(|access| freed(access));
        let address = access.map(|access| access.address);
        self.running.fail(fault, address);
    }

    /// The grid has ended.
    pub(crate) fn end(self) {
        let recorders = self.recorders.into_inner();
        let recorders = recorders.unwrap_or_else(std::sync::PoisonError::into_inner);
        let [before, after] = recorders.map(Recorder::finish);
        let aliased = match self.has_fenced_aliases.into_inner() {
            true => AliasedPages::default(),
            false => AliasedPages::now(),
        };
        if let Some(found) = incoherent(&[&before, &after], |page| aliased.physical(page * PAGE)) {
            self.running.report_incoherent(found);
        }
        if let Some(early) = self.early {
            self.running.end_at(early, before, false);
        }
        self.running.end(after);
    }
}

impl TouchSink for GridTouches<'_> {
    fn touched(&self, waited: bool, touches: &Recorder) {
        lock(&self.recorders)[usize::from(waited)].merge(touches);
    }

    fn spoken(&self) {
        self.running.run.has_spoken.store(true, Ordering::Relaxed);
    }

    fn aliases_fenced(&self) {
        self.has_fenced_aliases.store(true, Ordering::Relaxed);
    }

    fn begins_early(&self) -> bool {
        self.early.is_some()
    }
}

/// What allocation a page belongs to, page by page.
#[derive(Default)]
struct Layout {
    last: Option<Known>,
}

#[derive(Clone, Copy)]
struct Known {
    info: AllocationInfo,
    /// The host reads and writes it without a call.
    reaches_host: bool,
    /// It belongs to the device runtime.
    is_internal: bool,
    /// Its pool, if another process owns that.
    imported: Option<u64>,
}

impl Layout {
    fn at(&mut self, address: u64) -> Option<Known> {
        let address = address as usize;
        if let Some(known) = self.last.filter(|known| known.info.holds(address, 1)) {
            return Some(known);
        }
        let (info, detail) = Memory::global().detail(address)?;
        let known = Known {
            info,
            reaches_host: matches!(
                detail.kind,
                AllocationKind::Managed | AllocationKind::Pinned(_) | AllocationKind::Mapping
            ),
            is_internal: detail.kind == AllocationKind::Internal,
            imported: match detail.kind {
                AllocationKind::Pool(pool) => pool::of_allocation(pool)
                    .and_then(|found| found.owner())
                    .map(|_| pool),
                _ => None,
            },
        };
        self.last = Some(known);
        Some(known)
    }
}
