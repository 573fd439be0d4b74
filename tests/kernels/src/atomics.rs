//! Atomic operations, orders, scopes and fences.

use warpsmith_device::atomic::{AtomicAdd, AtomicBits, AtomicOrder, fence};
use warpsmith_device::half::{F16x2, f16};
use warpsmith_device::prelude::*;

/// Every operation with a result, of one type: thread `i` works on word `i % words` of each group; results of thread 0.
macro_rules! every_operation {
    ($($name:ident $type:ty;)*) => {$(
        /// Every operation on integers, by all threads on one word each; the values seen are summed up.
        #[kernel]
        pub fn $name(value: $type, words: AtomicSlice<'_, $type>, mut seen: PerThread<[$type]>) {
            let old = words[0].fetch_add(value, Relaxed);
            words[1].fetch_sub(value, Relaxed);
            words[2].fetch_min(value.wrapping_add(thread::index() as $type), Relaxed);
            words[3].fetch_max(value.wrapping_add(thread::index() as $type), Relaxed);
            words[4].fetch_and(!((thread::index() as $type) << 3), Relaxed);
            words[5].fetch_or(1 << (thread::index() % 31), Relaxed);
            words[6].fetch_xor((thread::index() as $type) << 2, Relaxed);
            words[7].swap(value, Relaxed);
            let _ = words[8].compare_exchange(value, thread::index() as $type, Relaxed);
            if let Some(seen) = seen.mine() {
                *seen = old;
            }
        }
    )*};
}
every_operation! {
    operations_u32 u32;
    operations_i32 i32;
    operations_u64 u64;
    operations_i64 i64;
}

/// Every operation without a result.
fn reduce<T: AtomicAdd + AtomicOrder + AtomicBits>(words: AtomicSlice<'_, T>, value: T) {
    words[0].add(value, Relaxed);
    words[1].sub(value, Relaxed);
    words[2].min(value, Relaxed);
    words[3].max(value, Relaxed);
    words[4].and(value, Relaxed);
    words[5].or(value, Relaxed);
    words[6].xor(value, Relaxed);
}

/// `reduce` of `u32`, and the bounded counters.
#[kernel]
pub fn reductions_u32(value: u32, words: AtomicSlice<'_, u32>) {
    reduce(words, value);
    words[7].inc(value, Relaxed);
    words[8].dec(value, Relaxed);
}

/// `reduce` of `i64`.
#[kernel]
pub fn reductions_i64(value: i64, words: AtomicSlice<'_, i64>) {
    reduce(words, value);
}

/// Additions of floats.
#[kernel]
pub fn add_f32(value: f32, words: AtomicSlice<'_, f32>, mut seen: PerThread<[f32]>) {
    let old = words[0].fetch_add(value, Relaxed);
    words[1].add(value, Relaxed);
    words[2].swap(value, Relaxed);
    if let Some(seen) = seen.mine() {
        *seen = old;
    }
}

/// Additions of doubles, by the instruction and by a loop of compare-and-swap.
#[kernel]
pub fn add_f64(value: f64, words: AtomicSlice<'_, f64>) {
    words[0].add(value, Relaxed);
    let _ = words[1].fetch_update(Relaxed, |old| Some(old + value));
}

/// Additions of half-precision floats, alone and in pairs.
#[kernel]
pub unsafe fn add_f16(value: f16, words: *mut f16, pairs: *mut F16x2) {
    // SAFETY: the host passes buffers of one word, used only here.
    let (word, pair) = unsafe {
        (
            Atomic::<f16>::from_ptr(words),
            Atomic::<F16x2>::from_ptr(pairs),
        )
    };
    word.fetch_add(value, Relaxed);
    pair.add(F16x2::splat(value), Relaxed);
}

/// Bounded counters.
#[kernel]
pub fn count_bounded(
    bound: u32,
    words: AtomicSlice<'_, u32>,
    mut up: PerThread<[u32]>,
    mut down: PerThread<[u32]>,
) {
    let seen = (
        words[0].fetch_inc(bound, Relaxed),
        words[1].fetch_dec(bound, Relaxed),
    );
    if let (Some(up), Some(down)) = (up.mine(), down.mine()) {
        (*up, *down) = seen;
    }
}

/// 16-bit words: both halves of a 32-bit word counted up by compare-and-swap.
#[kernel]
pub unsafe fn count_u16(words: *mut u16) {
    for half in 0..2 {
        // SAFETY: the host passes a buffer of two words, used only here.
        let word = unsafe { Atomic::<u16>::from_ptr(words.add(half)) };
        let _ = word.fetch_update(Relaxed, |old| Some(old.wrapping_add(1 + half as u16)));
    }
}

/// Every order of loads, stores and read-modify-writes.
#[kernel]
pub fn orders(words: AtomicSlice<'_, u32>) {
    let word = &words[0];
    word.store(word.load(Relaxed), Relaxed);
    word.store(word.load(Acquire), Release);
    word.store(word.load(SeqCst), SeqCst);
    word.fetch_add(1, Relaxed);
    word.fetch_add(2, Acquire);
    word.fetch_add(3, Release);
    word.fetch_add(4, AcqRel);
    word.fetch_add(5, SeqCst);
    word.add(6, Release);
    word.add(7, SeqCst);
}

/// Every scope.
#[kernel]
pub unsafe fn scopes(words: *mut u32) {
    // SAFETY: one thread alone uses the word.
    unsafe {
        Atomic::<u32, scope::Block>::from_ptr(words).fetch_add(1, Relaxed);
        #[cfg(any(not(target_arch = "nvptx64"), warpsmith_arch_at_least = "90"))]
        Atomic::<u32, scope::Cluster>::from_ptr(words).fetch_add(2, Relaxed);
        Atomic::<u32, scope::Device>::from_ptr(words).fetch_add(3, Relaxed);
        Atomic::<u32, scope::System>::from_ptr(words).fetch_add(4, Relaxed);
    }
}

/// Every fence; the stores keep them apart.
#[kernel]
pub unsafe fn fences(words: *mut u32) {
    // SAFETY: one thread alone uses the words.
    unsafe {
        words.write_volatile(1);
        fence(scope::Block, Release);
        words.write_volatile(2);
        fence(scope::Block, SeqCst);
        words.write_volatile(3);
        fence(scope::Device, Acquire);
        words.write_volatile(4);
        fence(scope::Device, SeqCst);
        words.write_volatile(5);
        fence(scope::System, AcqRel);
        words.write_volatile(6);
        fence(scope::System, SeqCst);
        words.write_volatile(7);
        warpsmith_device::fence::alias();
        words.write_volatile(8);
    }
}

/// Counting in shared memory.
#[kernel(launch_bounds(256, exact))]
pub fn shared_histogram(values: &[u8], bins: AtomicSlice<'_, u32>) {
    let local = shared!([u32; 256]).fill_with(|_| 0).sync_atomic();
    if let Some(&value) = values.get(thread::index()) {
        local[usize::from(value)].add(1, Relaxed);
    }
    let counts = local.sync();
    let own = thread::linear_in_block() as usize;
    bins[own].add(counts[own], Relaxed);
}

/// Single-pass sum: every block publishes its part, the last to come adds them up (guide §7.5's example).
#[kernel]
pub unsafe fn last_block_sums(
    x: &[u32],
    parts: *mut u32,
    done: AtomicSlice<'_, u32>,
    sum: *mut u32,
) {
    let own = x.get(thread::index()).copied().unwrap_or(0);
    let blocks = thread::grid_dim_x();
    let part = shared!([u32; 1]).fill_with(|_| 0).sync_atomic();
    part[0].add(own, Relaxed);
    let part = part.sync();
    if thread::thread_idx_x() == 0 {
        // SAFETY: each block has a word of its own in `parts`; they are read after all blocks' releases are acquired.
        unsafe {
            parts.add(thread::block_idx_x() as usize).write(part[0]);
            if done[0].fetch_inc(blocks - 1, AcqRel) == blocks - 1 {
                let mut total = 0;
                for block in 0..blocks as usize {
                    total += parts.add(block).read();
                }
                sum.write(total);
            }
        }
    }
}

/// A spin lock around a plain counter; all lanes of a warp contend.
#[kernel]
pub unsafe fn locked_increment(lock: AtomicSlice<'_, u32>, counter: *mut u32) {
    loop {
        if lock[0].compare_exchange(0, 1, Acquire).is_ok() {
            // SAFETY: the lock is held.
            unsafe { *counter += 1 };
            lock[0].store(0, Release);
            break;
        }
    }
}

/// What sm_90 added: bf16, 128 bits, vectors.
#[cfg(any(not(target_arch = "nvptx64"), warpsmith_arch_at_least = "90"))]
pub mod sm_90 {
    use warpsmith_device::atomic::AtomicVector;
    use warpsmith_device::half::{Bf16x2, bf16};
    use warpsmith_device::prelude::*;
    use warpsmith_device::vector::{Float2, Float4};

    /// Additions of bfloat16, alone and in pairs.
    #[kernel]
    pub unsafe fn add_bf16(value: bf16, words: *mut bf16, pairs: *mut Bf16x2) {
        // SAFETY: the host passes buffers of one word, used only here.
        let (word, pair) = unsafe {
            (
                Atomic::<bf16>::from_ptr(words),
                Atomic::<Bf16x2>::from_ptr(pairs),
            )
        };
        word.fetch_add(value, Relaxed);
        pair.add(Bf16x2::splat(value), Relaxed);
    }

    /// 128-bit words: a counter whose halves change together, and an exchange.
    #[kernel]
    pub unsafe fn count_u128(words: *mut u128) {
        // SAFETY: the host passes a buffer of two words, used only here.
        let (counter, last) = unsafe {
            (
                Atomic::<u128>::from_ptr(words),
                Atomic::<u128>::from_ptr(words.add(1)),
            )
        };
        let _ = counter.fetch_update(AcqRel, |old| Some(old.wrapping_add(u128::from(u64::MAX))));
        last.swap(thread::index() as u128, Relaxed);
    }

    /// Additions of vectors.
    #[kernel]
    pub unsafe fn add_vectors(two: *mut Float2, four: *mut Float4) {
        let x = thread::index() as f32;
        // SAFETY: the host passes buffers of one vector, used only here.
        unsafe {
            Float2::fetch_add(two, Float2::new(x, 1.0), scope::Device, Relaxed);
            Float4::fetch_add(four, Float4::new(x, 1.0, -x, 2.0), scope::Device, Relaxed);
        }
    }
}
