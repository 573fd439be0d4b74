//! What is known of single threads, and of the agents that perform asynchronous operations.

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

/// The number of a thread, counted through all blocks, or of an agent, as [`super::agents`] counts them: as wide as there are
/// threads, since shadow memory holds several for each word.
pub(super) trait Number: Copy + Debug + Eq + Hash {
    /// In place of an agent: the thread itself, with its instruction.
    const NO_AGENT: Self;

    /// The number of the thread or agent with this index.
    fn new(index: usize) -> Self;

    /// The index.
    fn index(self) -> usize;

    /// The number of a thread so many behind this one.
    #[inline]
    fn plus(self, threads: u32) -> Self {
        Self::new(self.index() + threads as usize)
    }

    /// The number of the first thread of a warp, given a thread and its lane.
    #[inline]
    fn minus(self, lane: u32) -> Self {
        Self::new(self.index() - lane as usize)
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Number for $number {
            const NO_AGENT: Self = 0;

            #[inline]
            fn new(index: usize) -> Self {
                debug_assert!(index <= <$number>::MAX as usize, "numbers are wide enough");
                index as $number
            }

            #[inline]
            fn index(self) -> usize {
                self as usize
            }
        }
    )*};
}

numbers!(u16, u32);

/// The number of a thread of one cluster.
pub(super) type ClusterThread = u16;

/// A vector clock, in two parts, either of which may be missing: then it says nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// All accesses of each thread with a lower epoch are ordered before.
    pub threads: Option<Arc<[u32]>>,
    /// All operations of each agent with a lower epoch are done, and ordered before.
    pub agents: Option<Arc<[u32]>>,
}

impl Known {
    /// Adds what another one says.
    pub fn join(&mut self, other: &Known) {
        join(&mut self.threads, &other.threads);
        join(&mut self.agents, &other.agents);
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.threads.is_none() && self.agents.is_none()
    }

    /// The epoch below which the operations of an agent are done.
    pub fn done<T: Number>(&self, agent: T) -> u32 {
        let agents = self.agents.as_deref().unwrap_or(&[]);
        agents.get(agent.index()).copied().unwrap_or(0)
    }

    /// The operations of an agent with lower epochs are done.
    pub fn learn_done<T: Number>(&mut self, agent: T, epoch: u32) {
        if self.done(agent) >= epoch {
            return;
        }
        let mut agents = self
            .agents
            .as_deref()
            .map_or_else(Vec::new, <[u32]>::to_vec);
        agents.resize(agents.len().max(agent.index() + 1), 0);
        agents[agent.index()] = epoch;
        self.agents = Some(agents.into());
    }
}

/// The greater of both, entry by entry; what is missing at the end of either is 0.
fn join(a: &mut Option<Arc<[u32]>>, b: &Option<Arc<[u32]>>) {
    let (Some(x), Some(y)) = (&*a, b) else {
        if b.is_some() {
            a.clone_from(b);
        }
        return;
    };
    if Arc::ptr_eq(x, y) {
        return;
    }
    let is_news = y.len() > x.len()
        || x.iter()
            .zip(&**y)
            .fold(false, |news, (x, y)| news | (x < y));
    if !is_news {
        return;
    }
    if y.len() > x.len() {
        let common = x.iter().zip(&**y).map(|(x, y)| *x.max(y));
        let rest = y[x.len()..].iter().copied();
        *a = Some(common.chain(rest).collect());
        return;
    }
    if let Some(x) = a {
        let x = Arc::make_mut(x);
        x.iter_mut().zip(&**y).for_each(|(x, y)| *x = (*x).max(*y));
    }
}
