//! What the nodes of a graph use, and the numbers of graphs.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use warpsmith_driver::raw;

use super::condition_order::ConditionOrder;
use crate::error::Node;
use crate::gpu::open_device::OpenDevice;
use crate::order::capture::RecordedLaunch;
use crate::order::history::OrderedMemory;
use crate::order::launchable_graph::LaunchableGraph;
use crate::order::memory_use::MemoryUse;
use crate::panics::reports::PanicSource;
use crate::stream::event::Event;
use crate::stream::host_function::HostFunction;

/// Tells one memory from another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct MemoryId(usize);

impl MemoryId {
    /// Good as long as the memory is kept: another one may have the same later.
    pub(crate) fn of(memory: &dyn OrderedMemory) -> MemoryId {
        MemoryId(std::ptr::from_ref(memory.history()).addr())
    }
}

/// What nodes use and so must outlive them.
#[derive(Clone, Default)]
pub(crate) struct Contents {
    /// One entry for each memory, over all that is used of it.
    pub(crate) memory: Vec<MemoryUse>,
    pub(crate) launches: Vec<RecordedKernel>,
    pub(crate) host_functions: Vec<RecordedHost>,
    /// Events that nodes record or wait for. They are among `kept`, too.
    pub(crate) events: Vec<EventUse>,
    /// What other libraries' nodes use, flags and events, and what the program gave the graph.
    pub(crate) kept: Vec<Arc<dyn Any + Send + Sync>>,
    /// Executable graphs that kernels may launch; what they use is among the memory. Their destructors wait for what is enqueued.
    pub(crate) launchable: Vec<Arc<dyn Any + Send + Sync>>,
    /// Where the kernels of those tell of panics; each once.
    pub(crate) panics: Vec<Arc<PanicSource>>,
    /// The devices of nodes that are of another one than the graph; the graph's own may be among them.
    pub(crate) devices: Vec<Arc<OpenDevice>>,
    /// A node that the body of a loop or a branch cannot hold, if there is one.
    pub(crate) outside_of_bodies: Option<&'static str>,
    /// The conditions, which cannot be copied with the graph.
    pub(crate) conditions: ConditionOrder,
    /// The conditions that kernels are passed, by their handles.
    pub(crate) passed_conditions: Vec<u64>,
    /// The numbers of what is inside of nodes: of bodies, and of the graphs that child graphs are copies of.
    pub(crate) inner: Vec<u64>,
}

/// A kernel node.
#[derive(Clone)]
pub(crate) struct RecordedKernel {
    /// `None` if the driver did not say which one it is: then the capture has failed.
    pub(crate) node: Option<Node>,
    pub(crate) launch: Arc<dyn RecordedLaunch>,
}

/// A node that calls a function on the host.
#[derive(Clone)]
pub(crate) struct RecordedHost {
    pub(crate) node: Node,
    pub(crate) function: HostFunction,
}

/// A node that records an event or waits for it.
pub(crate) struct EventUse {
    pub(crate) event: Event,
    pub(crate) action: EventAction,
}

impl Clone for EventUse {
    fn clone(&self) -> Self {
        EventUse {
            event: self.event.share(),
            action: self.action,
        }
    }
}

/// What a node does with an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EventAction {
    Record,
    Wait,
}

impl Contents {
    /// What launches put in order with other work: all memory but the graph's own, which nobody else uses.
    pub(crate) fn ordered(&self) -> impl Iterator<Item = &MemoryUse> {
        self.memory
            .iter()
            .filter(|used| used.memory.graph_memory().is_none())
    }

    /// Whether nodes allocate memory.
    pub(crate) fn allocates(&self) -> bool {
        self.ordered().count() < self.memory.len()
    }

    /// Notes a use.
    pub(crate) fn add_use(&mut self, added: &MemoryUse) {
        let id = MemoryId::of(&*added.memory);
        match self
            .memory
            .iter_mut()
            .find(|known| MemoryId::of(&*known.memory) == id)
        {
            Some(known) => known.access = known.access.join(&added.access),
            None => self.memory.push(added.clone()),
        }
    }

    /// Keeps a graph that a kernel may launch. What that uses is among the uses of the kernel's node.
    pub(crate) fn keep_launchable(&mut self, graph: &LaunchableGraph) {
        self.launchable.push(graph.exec.clone());
        self.add_panics(&graph.panics);
    }

    fn add_panics(&mut self, sources: &[Arc<PanicSource>]) {
        for source in sources {
            if !self.panics.iter().any(|known| Arc::ptr_eq(known, source)) {
                self.panics.push(source.clone());
            }
        }
    }

    /// Adds a node that records an event or waits for it.
    pub(crate) fn add_event(&mut self, event: &Event, action: EventAction) {
        self.kept.push(event.keeper());
        self.events.push(EventUse {
            event: event.share(),
            action,
        });
    }

    /// Takes out what `absorb` has put in, but for memory, of which only the sum is known, for where panics are told, and for devices.
    pub(crate) fn remove(&mut self, other: &Contents) {
        remove_each(&mut self.launches, &other.launches, |one, two| {
            Arc::ptr_eq(&one.launch, &two.launch)
        });
        remove_each(
            &mut self.host_functions,
            &other.host_functions,
            |one, two| Arc::ptr_eq(&one.function, &two.function),
        );
        remove_each(&mut self.events, &other.events, |one, two| {
            one.action == two.action && one.event.is_same(&two.event)
        });
        remove_each(&mut self.kept, &other.kept, Arc::ptr_eq);
        remove_each(&mut self.launchable, &other.launchable, Arc::ptr_eq);
        remove_each(
            &mut self.passed_conditions,
            &other.passed_conditions,
            PartialEq::eq,
        );
        remove_each(&mut self.inner, &other.inner, PartialEq::eq);
    }

    /// Adds all that another graph uses.
    pub(crate) fn absorb(&mut self, other: Contents) {
        for added in &other.memory {
            self.add_use(added);
        }
        self.launches.extend(other.launches);
        self.host_functions.extend(other.host_functions);
        self.events.extend(other.events);
        self.kept.extend(other.kept);
        self.launchable.extend(other.launchable);
        self.add_panics(&other.panics);
        other.devices.iter().for_each(|gpu| self.add_device(gpu));
        self.outside_of_bodies = self.outside_of_bodies.or(other.outside_of_bodies);
        self.conditions.absorb(other.conditions);
        self.passed_conditions.extend(other.passed_conditions);
        self.inner.extend(other.inner);
    }
}

/// Takes for each of `old` one that is the same out of `list`.
fn remove_each<T>(list: &mut Vec<T>, old: &[T], is_same: impl Fn(&T, &T) -> bool) {
    for old in old {
        if let Some(index) = list.iter().position(|own| is_same(own, old)) {
            list.swap_remove(index);
        }
    }
}

/// The numbers of graphs and captures; never used twice in a process, and never 0.
pub(crate) fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

pub(crate) fn null_node() -> raw::CUgraphNode {
    std::ptr::null_mut()
}
