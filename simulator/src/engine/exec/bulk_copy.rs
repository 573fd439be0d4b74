//! Bulk copies and asynchronous stores that are not done, and the transactions of mbarriers that wait for them.

use crate::check::{AsyncAccess, AsyncTicket};

/// Combines words in memory with those in the bytes, for a reduction. The flag says whether the memory is global.
///
/// # Safety
/// As many bytes of guest memory are valid at the pointer, and it is aligned to the words.
pub(crate) type Combine = unsafe fn(*mut u8, &[u8], bool);

/// A bulk copy that is not done yet, or a store whose bytes are known already.
#[derive(Debug)]
pub(crate) struct BulkCopy {
    /// The source; null where the bytes come from registers, and `read` has them from the start.
    pub from: *mut u8,
    pub to: *mut u8,
    pub bytes: u32,
    /// How the bytes are combined with those at the destination; `None`: they replace them.
    pub combine: Option<Combine>,
    /// The source's bytes, once they are read.
    pub read: Option<Box<[u8]>>,
    /// What the checks are to be told when the source has been read, and when the destination is written.
    pub source: Option<Watched>,
    pub destination: Option<Watched>,
}

/// An asynchronous access that the checks know of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watched {
    pub access: AsyncAccess,
    pub ticket: AsyncTicket,
}

/// A copy or store whose bytes an mbarrier counts.
#[derive(Debug)]
pub(crate) struct Transaction {
    /// The mbarrier's object.
    pub barrier: *mut u8,
    pub copy: BulkCopy,
}

/// The transactions of a cluster that are not done. They complete when a thread waits for their mbarrier and nothing but their
/// bytes is missing, so that a missing wait shows; those that nobody waits for do not complete.
#[derive(Debug, Default)]
pub(crate) struct Transactions {
    pending: Vec<Transaction>,
}

impl Transactions {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.pending.clear();
    }

    /// Whether there is none that is not done.
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Adds one.
    pub fn issue(&mut self, transaction: Transaction) {
        self.pending.push(transaction);
    }

    /// The numbers of an mbarrier's.
    fn numbers(&self, barrier: *mut u8) -> impl Iterator<Item = usize> {
        let pending = self.pending.iter().enumerate();
        pending
            .filter(move |(_, transaction)| transaction.barrier == barrier)
            .map(|(number, _)| number)
    }

    /// How many are an mbarrier's.
    pub fn count(&self, barrier: *mut u8) -> usize {
        self.numbers(barrier).count()
    }

    /// Takes out the `chosen`th of an mbarrier's.
    pub fn take(&mut self, barrier: *mut u8, chosen: usize) -> Option<Transaction> {
        let number = self.numbers(barrier).nth(chosen)?;
        Some(self.pending.remove(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transaction(barrier: usize, bytes: u32) -> Transaction {
        Transaction {
            barrier: std::ptr::without_provenance_mut(barrier),
            copy: BulkCopy {
                from: std::ptr::null_mut(),
                to: std::ptr::null_mut(),
                bytes,
                combine: None,
                read: None,
                source: None,
                destination: None,
            },
        }
    }

    #[test]
    fn an_mbarrier_gets_its_own_transactions_in_the_chosen_order() {
        let mut transactions = Transactions::default();
        for (barrier, bytes) in [(8, 1), (16, 2), (8, 3), (8, 4)] {
            transactions.issue(transaction(barrier, bytes));
        }
        let mut take = |barrier, chosen| {
            let barrier = std::ptr::without_provenance_mut(barrier);
            let count = transactions.count(barrier);
            let taken = transactions.take(barrier, chosen % count.max(1));
            taken.map(|transaction| transaction.copy.bytes)
        };
        assert_eq!(take(8, 1), Some(3));
        assert_eq!(take(8, 1), Some(4));
        assert_eq!(take(8, 0), Some(1));
        assert_eq!(take(8, 0), None);
        assert_eq!(take(16, 0), Some(2));
        assert!(transactions.is_empty());
    }
}
