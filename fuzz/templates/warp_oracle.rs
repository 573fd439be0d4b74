// The programs compiled for the host: a library that runs a block's threads as threads.

use crate::lanes::Lanes;
use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// Threads that meet with values. Each gets the values of all that came, and whether they came.
#[derive(Default)]
struct Meeting {
    /// How many meetings there were.
    number: u64,
    came: u32,
    values: Vec<Option<u32>>,
    /// What the last meeting had.
    result: Arc<Vec<Option<u32>>>,
}

impl Meeting {
    fn close(&mut self) {
        let empty = vec![None; self.values.len()];
        self.result = Arc::new(std::mem::replace(&mut self.values, empty));
        (self.came, self.number) = (0, self.number + 1);
    }
}

struct Block {
    threads: u32,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// Of each warp and mask.
    warps: HashMap<(u32, u32), Meeting>,
    block: Meeting,
    /// Threads that have not ended.
    alive: u32,
}

/// A thread of the block.
pub struct Thread {
    block: Arc<Block>,
    thread: u32,
}

/// Threads that never meet are an ill-formed program, which the generator must not write.
const PATIENCE: Duration = Duration::from_secs(60);

impl Thread {
    /// Comes to a meeting of so many threads, as the one of this number among them.
    fn meet(
        &self,
        size: usize,
        number: usize,
        value: u32,
        meeting: impl Fn(&mut State) -> &mut Meeting,
        complete: impl Fn(&State, u32) -> bool,
    ) -> Arc<Vec<Option<u32>>> {
        let mut state = self.block.state.lock().unwrap();
        let own = meeting(&mut state);
        own.values.resize(size, None);
        assert!(own.values[number].replace(value).is_none(), "a thread comes twice");
        own.came += 1;
        let (came, before) = (own.came, own.number);
        if complete(&state, came) {
            let own = meeting(&mut state);
            own.close();
            self.block.changed.notify_all();
            return own.result.clone();
        }
        loop {
            let (next, waited) = self.block.changed.wait_timeout(state, PATIENCE).unwrap();
            state = next;
            let own = meeting(&mut state);
            if own.number != before {
                return own.result.clone();
            }
            assert!(!waited.timed_out(), "threads do not meet: the program is ill-formed");
        }
    }

    fn of_warp(&self, mask: u32, value: u32) -> [Option<u32>; 32] {
        let (warp, lane) = (self.thread / 32, self.lane() as usize);
        assert!(mask >> lane & 1 == 1, "a lane that its mask does not name");
        let values = self.meet(
            32,
            lane,
            value,
            |state| state.warps.entry((warp, mask)).or_default(),
            |_, came| came == mask.count_ones(),
        );
        std::array::from_fn(|lane| values[lane])
    }

    fn fold(&self, mask: u32, value: u32, operation: fn(u32, u32) -> u32) -> u32 {
        let values = self.of_warp(mask, value);
        values.into_iter().flatten().reduce(operation).unwrap()
    }

    fn of_block(&self, value: u32) -> Arc<Vec<Option<u32>>> {
        self.meet(
            self.block.threads as usize,
            self.thread as usize,
            value,
            |state| &mut state.block,
            |state, came| came == state.alive,
        )
    }
}

impl Drop for Thread {
    /// Threads that have ended are not waited for at the block's barriers.
    fn drop(&mut self) {
        let mut state = self.block.state.lock().unwrap();
        state.alive -= 1;
        if state.block.came > 0 && state.block.came == state.alive {
            state.block.close();
            self.block.changed.notify_all();
        }
    }
}

impl Lanes for Thread {
    fn lane(&self) -> u32 {
        self.thread % 32
    }
    fn shuffle(&mut self, mask: u32, value: u32, source: u32) -> u32 {
        self.of_warp(mask, value)[source as usize % 32].expect("a lane of the mask")
    }
    fn up(&mut self, mask: u32, value: u32, delta: u32) -> u32 {
        let source = self.lane().checked_sub(delta % 32);
        let values = self.of_warp(mask, value);
        source.map_or(value, |source| values[source as usize].unwrap())
    }
    fn down(&mut self, mask: u32, value: u32, delta: u32) -> u32 {
        let source = self.lane() + delta % 32;
        let values = self.of_warp(mask, value);
        if source < 32 { values[source as usize].unwrap() } else { value }
    }
    fn butterfly(&mut self, mask: u32, value: u32, bits: u32) -> u32 {
        self.of_warp(mask, value)[(self.lane() ^ bits % 32) as usize].unwrap()
    }
    fn ballot(&mut self, mask: u32, predicate: bool) -> u32 {
        let values = self.of_warp(mask, predicate.into());
        (0..32).map(|lane| values[lane].unwrap_or(0) << lane).sum()
    }
    fn any(&mut self, mask: u32, predicate: bool) -> bool {
        self.ballot(mask, predicate) != 0
    }
    fn all(&mut self, mask: u32, predicate: bool) -> bool {
        self.ballot(mask, predicate) == mask
    }
    fn uniform(&mut self, mask: u32, predicate: bool) -> bool {
        [0, mask].contains(&self.ballot(mask, predicate))
    }
    fn match_any(&mut self, mask: u32, value: u32) -> u32 {
        let values = self.of_warp(mask, value);
        (0..32).map(|lane| u32::from(values[lane] == Some(value)) << lane).sum()
    }
    fn match_all(&mut self, mask: u32, value: u32) -> u32 {
        if self.match_any(mask, value) == mask { mask } else { 0 }
    }
    fn sum(&mut self, mask: u32, value: u32) -> u32 {
        self.fold(mask, value, u32::wrapping_add)
    }
    fn least(&mut self, mask: u32, value: u32) -> u32 {
        self.fold(mask, value, Ord::min)
    }
    fn greatest_signed(&mut self, mask: u32, value: u32) -> u32 {
        self.fold(mask, value, |a, b| (a as i32).max(b as i32) as u32)
    }
    fn parity(&mut self, mask: u32, value: u32) -> u32 {
        self.fold(mask, value, |a, b| a ^ b)
    }
    fn sync(&mut self, mask: u32) {
        self.of_warp(mask, 0);
    }
    fn elected(&mut self, mask: u32) -> u32 {
        self.of_warp(mask, 0);
        1
    }
    fn block_sync(&mut self) {
        self.of_block(0);
    }
    fn block_count(&mut self, predicate: bool) -> u32 {
        self.of_block(predicate.into()).iter().flatten().sum()
    }
    fn block_all(&mut self, predicate: bool) -> bool {
        self.of_block(predicate.into()).iter().flatten().all(|value| *value == 1)
    }
    fn block_any(&mut self, predicate: bool) -> bool {
        self.of_block(predicate.into()).iter().flatten().any(|value| *value == 1)
    }
    fn exchange(&mut self, value: u32, from: u32) -> u32 {
        let values = self.of_block(value);
        values[from as usize % values.len()].expect("the thread lives")
    }
}

/// Runs a program as a block of so many threads, each with its two values.
///
/// # Safety
/// `values` and `results` have an element for each thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn answer(
    program: usize,
    uniform: &[u32; 4],
    threads: u32,
    values: *const [u32; 2],
    results: *mut u32,
) {
    let block = Arc::new(Block {
        threads,
        state: Mutex::new(State { warps: HashMap::new(), block: Meeting::default(), alive: threads }),
        changed: Condvar::new(),
    });
    // SAFETY: the caller's promise.
    let (values, results) = unsafe {
        (
            std::slice::from_raw_parts(values, threads as usize),
            std::slice::from_raw_parts_mut(results, threads as usize),
        )
    };
    std::thread::scope(|scope| {
        for (thread, (&[x, y], result)) in (0..threads).zip(values.iter().zip(results)) {
            let lanes = threads - thread / 32 * 32;
            let mask = if lanes >= 32 { u32::MAX } else { (1 << lanes) - 1 };
            let mut lane = Thread { block: block.clone(), thread };
            scope.spawn(move || *result = PROGRAMS[program](&mut lane, mask, uniform, x, y));
        }
    });
}
