//! Fences between proxies.
//!
//! What a thread has written through the generic proxy is visible to the asynchronous one once *that thread* has executed a
//! proxy fence and whoever starts the asynchronous operation has seen the fence (`fence.proxy.async` by every writing thread,
//! a barrier, then the copy; see the section on proxies in the PTX ISA's memory consistency model, and Lustig, Cooksey and
//! Giroux, "Mixed-Proxy Extensions for the NVIDIA PTX Memory Consistency Model", ISCA 2022). A fence moves its thread on to a
//! fresh epoch, so the list of those epochs is all that there is to remember: a write in epoch `e` is fenced for those who
//! have seen what its thread did before the first fence after `e`.
//!
//! The way back needs no fence: the completion of an asynchronous operation is one.

use super::access::ProxyFence;
use super::known::Number;

/// The epochs that each thread has entered by proxy fences.
#[derive(Debug, Default)]
pub(super) struct ProxyFences {
    /// By `fence.proxy.async`.
    data: Vec<Vec<u32>>,
    /// By any fence that makes initialised mbarriers visible.
    mbarriers: Vec<Vec<u32>>,
}

impl ProxyFences {
    /// For so many threads.
    pub fn new(threads: usize) -> ProxyFences {
        ProxyFences {
            data: vec![Vec::new(); threads],
            mbarriers: vec![Vec::new(); threads],
        }
    }

    /// A new cluster begins.
    pub fn start(&mut self) {
        let lists = self.data.iter_mut().chain(&mut self.mbarriers);
        lists.for_each(Vec::clear);
    }

    /// A thread has executed a fence, by which it entered this epoch.
    pub fn fence<T: Number>(&mut self, thread: T, fence: ProxyFence, epoch: u32) {
        let thread = thread.index();
        self.mbarriers[thread].push(epoch);
        if fence == ProxyFence::Async {
            self.data[thread].push(epoch);
        }
    }

    /// The epoch that the first fence of `thread` after its `epoch` entered. `orders` says of what: a fence of mbarriers alone
    /// orders no other data.
    pub fn first_after<T: Number>(&self, thread: T, epoch: u32, orders: ProxyFence) -> Option<u32> {
        let lists = match orders {
            ProxyFence::Async => &self.data,
            ProxyFence::MbarrierInit => &self.mbarriers,
        };
        let list = &lists[thread.index()];
        list.get(list.partition_point(|&entered| entered <= epoch))
            .copied()
    }
}
