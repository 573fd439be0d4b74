//! The account of a pool: how many bytes it has from its device, how many are in use, and which freed ones may serve whom.
//!
//! Freed memory is a *block* until a synchronisation has shown that its free is done: until then it serves an allocation
//! - in the stream in which it was freed, at once;
//! - in a stream that is known to come after the free, if the pool follows event dependencies;
//! - in any stream once the free happens to be done, if the pool is opportunistic;
//! - in any stream that waits for the free, if the device has nothing left and the pool may insert that dependency.
//!
//! After a synchronisation it serves all. The account knows streams by points in them (`P`) alone.

use std::collections::VecDeque;

/// What a pool takes from its device at once.
pub(super) const LIKED: usize = 32 << 20;

/// When freed memory may serve other streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Policy {
    pub(super) follow_event_dependencies: bool,
    pub(super) opportunistic: bool,
    pub(super) internal_dependencies: bool,
}

/// Memory that was freed in a stream, as far as nothing has used it again.
struct Block<P> {
    address: usize,
    bytes: usize,
    /// The free, once it is enqueued.
    point: Option<P>,
    is_done: bool,
}

/// The account.
pub(super) struct Account<P> {
    /// Bytes from the device.
    pub(super) reserved: usize,
    /// Bytes in allocations. Those of a block are not among them, as measured, whether its free is done or not.
    pub(super) used: usize,
    pub(super) reserved_high: usize,
    pub(super) used_high: usize,
    pub(super) policy: Policy,
    blocks: VecDeque<Block<P>>,
}

/// How the point of an allocation and the point of a free are related.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// They are in one stream.
    SameStream,
    /// The allocation is known to come after the free.
    After,
    /// Nothing is known.
    Unknown,
}

impl<P> Default for Account<P> {
    fn default() -> Self {
        Self {
            reserved: 0,
            used: 0,
            reserved_high: 0,
            used_high: 0,
            policy: Policy {
                follow_event_dependencies: true,
                opportunistic: true,
                internal_dependencies: true,
            },
            blocks: VecDeque::new(),
        }
    }
}

impl<P: Clone> Account<P> {
    /// Takes bytes for an allocation. `relation` says how the allocation stands to the point of a free, `more` takes bytes from the device.
    /// Gives the frees that the allocating stream has to wait for; `None` if there are not so many bytes.
    pub(super) fn allocate(
        &mut self,
        bytes: usize,
        relation: impl Fn(&P) -> Relation,
        mut more: impl FnMut(usize) -> bool,
    ) -> Option<Vec<P>> {
        let policy = self.policy;
        let known = |block: &Block<P>| block.point.as_ref().map(&relation);
        // What is taken out of blocks below is nobody's until the end, and must not count as such.
        let cached = self.cached();
        let mut missing = bytes;
        let mut taken = self.take(&mut missing, |block| {
            known(block) == Some(Relation::SameStream)
        });
        missing = missing.saturating_sub(cached);
        taken.extend(self.take(&mut missing, |block| {
            (policy.follow_event_dependencies && known(block) == Some(Relation::After))
                || (policy.opportunistic && block.is_done)
        }));
        // Less than it likes to take if that is all there is.
        let reserved = [LIKED, crate::device::PIECE].into_iter().find_map(|piece| {
            let wanted = missing.checked_next_multiple_of(piece)?;
            (wanted == 0 || more(wanted)).then_some(wanted)
        });
        let mut waits = Vec::new();
        match reserved {
            Some(reserved) => self.reserved += reserved,
            None => {
                if policy.internal_dependencies {
                    let rest = self.take(&mut missing, |block| block.point.is_some());
                    waits = rest.iter().filter_map(|part| part.point.clone()).collect();
                    taken.extend(rest);
                }
                if missing > 0 {
                    self.put_back(taken);
                    return None;
                }
            }
        }
        self.used += bytes;
        self.reserved_high = self.reserved_high.max(self.reserved);
        self.used_high = self.used_high.max(self.used);
        Some(waits)
    }

    /// Takes bytes out of blocks, the oldest first, until none are missing.
    fn take(&mut self, missing: &mut usize, may: impl Fn(&Block<P>) -> bool) -> Vec<Block<P>> {
        let mut parts = Vec::new();
        for block in &mut self.blocks {
            if *missing == 0 {
                break;
            }
            if block.bytes > 0 && may(block) {
                let bytes = block.bytes.min(*missing);
                block.bytes -= bytes;
                *missing -= bytes;
                parts.push(Block {
                    address: block.address,
                    bytes,
                    point: block.point.clone(),
                    is_done: block.is_done,
                });
            }
        }
        self.forget_empty();
        parts
    }

    /// Undoes [`take`](Self::take).
    fn put_back(&mut self, parts: Vec<Block<P>>) {
        for part in parts {
            match self
                .blocks
                .iter_mut()
                .find(|block| block.address == part.address)
            {
                Some(block) => block.bytes += part.bytes,
                None => self.blocks.push_front(part),
            }
        }
    }

    /// Blocks that are used up: of those whose free is not done the account is told later.
    fn forget_empty(&mut self) {
        self.blocks
            .retain(|block| block.bytes > 0 || !block.is_done);
    }

    /// Bytes that serve everyone.
    fn cached(&self) -> usize {
        let kept: usize = self.blocks.iter().map(|block| block.bytes).sum();
        self.reserved - self.used - kept
    }

    /// An allocation is about to be freed in a stream; `false` if that has been said before.
    pub(super) fn announce(&mut self, address: usize, bytes: usize) -> bool {
        let is_known = |block: &Block<P>| block.address == address && !block.is_done;
        if self.blocks.iter().any(is_known) {
            return false;
        }
        self.used -= bytes;
        self.blocks.push_back(Block {
            address,
            bytes,
            point: None,
            is_done: false,
        });
        true
    }

    /// The free that was announced is enqueued.
    pub(super) fn enqueued(&mut self, address: usize, point: P) {
        let block = self
            .blocks
            .iter_mut()
            .find(|block| block.address == address);
        if let Some(block) = block {
            block.point = Some(point);
        }
    }

    /// The free that was announced will not take place.
    pub(super) fn withdraw(&mut self, address: usize) {
        let index = self
            .blocks
            .iter()
            .position(|block| block.address == address && !block.is_done);
        if let Some(block) = index.and_then(|index| self.blocks.remove(index)) {
            self.used += block.bytes;
        }
    }

    /// An allocation has been freed: in a stream, where that was announced, else for everyone.
    pub(super) fn freed(&mut self, address: usize, bytes: usize) {
        let announced = self
            .blocks
            .iter_mut()
            .find(|block| block.address == address && !block.is_done);
        match announced {
            Some(block) => block.is_done = true,
            None => self.used -= bytes,
        }
        self.forget_empty();
    }

    /// The host has waited: what is freed serves everyone.
    pub(super) fn synchronised(&mut self) {
        self.blocks.retain(|block| !block.is_done);
    }

    /// Takes bytes out that nothing uses until `keep` are left, in pieces; gives how many.
    pub(super) fn trim(&mut self, keep: usize) -> usize {
        let needed = self.reserved - self.cached();
        let left = keep.max(needed).div_ceil(LIKED).saturating_mul(LIKED);
        let left = left.min(self.reserved);
        let released = self.reserved - left;
        self.reserved = left;
        released
    }

    pub(super) fn reset_reserved_high(&mut self) {
        self.reserved_high = self.reserved;
    }

    pub(super) fn reset_used_high(&mut self) {
        self.used_high = self.used;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream and a position in it.
    type Point = (char, u32);

    /// As if the stream `of` came after `known` only.
    fn in_stream(of: char, known: &[Point]) -> impl Fn(&Point) -> Relation {
        move |point| match (point.0 == of, known.contains(point)) {
            (true, _) => Relation::SameStream,
            (false, true) => Relation::After,
            (false, false) => Relation::Unknown,
        }
    }

    fn account() -> Account<Point> {
        let mut account = Account::default();
        assert!(
            account
                .allocate(LIKED, in_stream('a', &[]), |_| true)
                .is_some()
        );
        account
    }

    fn freed_in_a(account: &mut Account<Point>) {
        assert!(account.announce(1, LIKED));
        account.enqueued(1, ('a', 1));
    }

    const NOTHING: fn(usize) -> bool = |_| false;
    const STRICT: Policy = Policy {
        follow_event_dependencies: false,
        opportunistic: false,
        internal_dependencies: false,
    };

    #[test]
    fn the_same_stream_uses_freed_memory_at_once() {
        let mut account = account();
        account.policy = STRICT;
        freed_in_a(&mut account);
        assert_eq!(account.used, 0);
        let waits = account.allocate(LIKED, in_stream('a', &[]), NOTHING);
        assert_eq!(waits, Some(vec![]));
        // The free of the first is done: its bytes have another owner.
        account.freed(1, LIKED);
        assert_eq!((account.used, account.reserved), (LIKED, LIKED));
        account.freed(2, LIKED);
        assert_eq!((account.used, account.used_high), (0, LIKED));
    }

    #[test]
    fn each_policy_allows_its_own() {
        let follow = Policy {
            follow_event_dependencies: true,
            ..STRICT
        };
        let opportunistic = Policy {
            opportunistic: true,
            ..STRICT
        };
        let insert = Policy {
            internal_dependencies: true,
            ..STRICT
        };
        for (policy, done, known, expected) in [
            (STRICT, true, true, None),
            (follow, false, false, None),
            (follow, true, false, None),
            (follow, false, true, Some(vec![])),
            (opportunistic, false, true, None),
            (opportunistic, true, false, Some(vec![])),
            (insert, false, false, Some(vec![('a', 1)])),
        ] {
            let mut account = account();
            account.policy = policy;
            freed_in_a(&mut account);
            if done {
                account.freed(1, LIKED);
            }
            let known: &[Point] = if known { &[('a', 1)] } else { &[] };
            let answer = account.allocate(LIKED, in_stream('b', known), NOTHING);
            assert_eq!(answer, expected, "{policy:?} done {done} known {known:?}");
            if expected.is_none() {
                // A refusal changes nothing, and after a synchronisation the memory serves everyone.
                if !done {
                    account.freed(1, LIKED);
                }
                account.synchronised();
                let again = account.allocate(LIKED, in_stream('b', &[]), NOTHING);
                assert_eq!(again, Some(vec![]));
            }
            assert_eq!(account.reserved, LIKED);
        }
    }

    #[test]
    fn a_refusal_gives_back_what_it_had_taken() {
        let mut account = account();
        freed_in_a(&mut account);
        assert_eq!(
            account.allocate(2 * LIKED, in_stream('a', &[]), NOTHING),
            None
        );
        assert_eq!(account.used, 0);
        let all = account.allocate(LIKED, in_stream('a', &[]), NOTHING);
        assert_eq!(all, Some(vec![]));
    }

    #[test]
    fn only_what_everyone_may_use_is_trimmed() {
        let mut account = account();
        freed_in_a(&mut account);
        assert_eq!(account.trim(0), 0);
        account.freed(1, LIKED);
        assert_eq!(account.trim(0), 0, "the host has not waited for it");
        account.synchronised();
        assert_eq!(account.trim(0), LIKED);
        assert_eq!(account.reserved, 0);
    }

    #[test]
    fn a_second_free_of_one_allocation_is_refused() {
        let mut account = account();
        assert!(account.announce(1, LIKED));
        assert!(!account.announce(1, LIKED));
        account.freed(1, LIKED);
        assert_eq!(account.used, 0);
    }

    #[test]
    fn a_withdrawn_free_leaves_the_memory_in_use() {
        let mut account = account();
        assert!(account.announce(1, LIKED));
        account.withdraw(1);
        assert_eq!(account.allocate(1, in_stream('a', &[]), NOTHING), None);
        account.freed(1, LIKED);
        assert!(account.allocate(1, in_stream('b', &[]), NOTHING).is_some());
    }
}
