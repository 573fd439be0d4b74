//! Work on all processors.

use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Does `work` with each of `all`, on as many threads as there are processors, beginning with the first.
pub(crate) fn in_parallel<T: Sync, R: Send>(all: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<R>>> = Mutex::new(all.iter().map(|_| None).collect());
    let run = || {
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            let Some(one) = all.get(n) else { break };
            let result = work(one);
            results.lock().unwrap_or_else(PoisonError::into_inner)[n] = Some(result);
        }
    };
    let count = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let others: Vec<_> = (1..count.min(all.len()))
            .map(|_| scope.spawn(run))
            .collect();
        run();
        for other in others {
            if let Err(panic) = other.join() {
                panic::resume_unwind(panic);
            }
        }
    });
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_work() {
        let all: Vec<u32> = (0..100).collect();
        let doubled = in_parallel(&all, |n| 2 * n);
        assert_eq!(doubled, all.iter().map(|n| 2 * n).collect::<Vec<_>>());
        assert_eq!(in_parallel(&[] as &[u32], |n| *n), [0; 0]);
    }

    #[test]
    #[should_panic(expected = "at 7")]
    fn a_panic_goes_on() {
        in_parallel(&[1, 7, 9], |n| assert!(*n != 7, "at {n}"));
    }
}
