//! Reasons for a launch to leave its fast path, in one word that every launch reads.

use std::sync::atomic::{AtomicU32, Ordering};

/// Wait after every launch, to pin a fault to it.
const BLOCKING: u32 = 1 << 31;
/// There is unified memory on a device that cannot share it: every launch looks at the open host accesses under the order lock.
const UNSHARED_MEMORY: u32 = 1 << 30;
/// Every launch is traced.
const TRACED: u32 = 1 << 29;
/// The low bits count host accesses to unified memory that no kernel may run beside.
const HOST_ACCESSES: u32 = TRACED - 1;

/// Whether launches return at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LaunchMode {
    Asynchronous,
    /// Each launch waits for the kernel.
    Blocking,
}

/// The reasons, for all streams of a device.
pub(crate) struct LaunchGate(AtomicU32);

/// The gate as it was when it was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct GateState(u32);

impl LaunchGate {
    pub(crate) fn new(mode: LaunchMode) -> LaunchGate {
        LaunchGate(AtomicU32::new(match mode {
            LaunchMode::Asynchronous => 0,
            LaunchMode::Blocking => BLOCKING,
        }))
    }

    #[inline]
    pub(crate) fn state(&self) -> GateState {
        GateState(self.0.load(Ordering::Acquire))
    }

    /// From here on every launch takes the order lock and asks for open host accesses.
    pub(crate) fn require_host_access_check(&self) {
        self.0.fetch_or(UNSHARED_MEMORY, Ordering::AcqRel);
    }

    /// From here on every launch asks whether it is traced.
    pub(crate) fn require_trace(&self) {
        self.0.fetch_or(TRACED, Ordering::AcqRel);
    }

    /// Keeps kernels out until [`close_host_access`](Self::close_host_access).
    pub(crate) fn open_host_access(&self) {
        self.change_count(|count| count + 1);
    }

    /// Takes one [`open_host_access`](Self::open_host_access) back.
    pub(crate) fn close_host_access(&self) {
        self.change_count(|count| {
            debug_assert!(count != 0, "closed more than was opened");
            count - 1
        });
    }

    /// A count that has reached its limit, by guards that were forgotten, stays there: kernels are kept out for good.
    fn change_count(&self, change: impl Fn(u32) -> u32) {
        let changed = self
            .0
            .try_update(Ordering::AcqRel, Ordering::Acquire, |word| {
                let count = word & HOST_ACCESSES;
                (count != HOST_ACCESSES).then(|| word & !HOST_ACCESSES | change(count))
            });
        // `Err`: at the limit, nothing changed.
        let _ = changed;
    }
}

impl GateState {
    /// Whether no launch has a reason to leave the fast path.
    #[inline]
    pub(crate) fn is_open(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn mode(self) -> LaunchMode {
        if self.0 & BLOCKING == 0 {
            LaunchMode::Asynchronous
        } else {
            LaunchMode::Blocking
        }
    }

    /// Whether the host has unified memory open that no kernel may run beside.
    pub(crate) fn has_host_accesses(self) -> bool {
        self.0 & HOST_ACCESSES != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_do_not_touch_each_other() {
        let gate = LaunchGate::new(LaunchMode::Asynchronous);
        assert!(gate.state().is_open());
        gate.open_host_access();
        gate.require_host_access_check();
        assert!(gate.state().has_host_accesses());
        gate.close_host_access();
        assert!(!gate.state().has_host_accesses());
        // The memory may be opened again at any time: launches keep asking.
        assert!(!gate.state().is_open());
        assert_eq!(gate.state().mode(), LaunchMode::Asynchronous);
        let gate = LaunchGate::new(LaunchMode::Blocking);
        gate.0.fetch_or(HOST_ACCESSES, Ordering::Relaxed);
        gate.open_host_access();
        gate.close_host_access();
        assert!(gate.state().has_host_accesses());
        assert_eq!(gate.state().mode(), LaunchMode::Blocking);
        let gate = LaunchGate::new(LaunchMode::Blocking);
        assert_eq!(gate.state().mode(), LaunchMode::Blocking);
        assert!(!gate.state().is_open() && !gate.state().has_host_accesses());
    }
}
