//! A sparse linear system, solved by conjugate gradients in one cooperative grid. Explained in
//! `docs/src/kernels/conjugate_gradient.md`.

use warpsmith_device::prelude::*;

/// Threads of a block.
pub const THREADS: u32 = 256;

/// Solves `a * x = b` for a symmetric positive definite `a` in compressed rows: row `i` has the `values` from `starts[i]`
/// to `starts[i + 1]`, in these `columns`. Ends when the residual's norm is below `tolerance` times that of `b`.
///
/// All sums are formed in a fixed order, so that every run gives the same bits (for a grid of the same size).
///
/// # Safety
/// With `n` rows, `starts` has `n + 1` elements that do not fall, up to the length of `columns` and `values`; all columns
/// are below `n`; `b`, `x`, `r`, `p` and `ap` have `n` elements, `partials` has two for each block, `report` two. The launch
/// is cooperative.
#[kernel(launch_bounds(256, exact))]
pub unsafe fn conjugate_gradient(
    starts: &[u32],
    columns: &[u32],
    values: &[f32],
    b: &[f32],
    x: *mut f32,
    r: *mut f32,
    p: *mut f32,
    ap: *mut f32,
    partials: *mut f64,
    report: *mut f64,
    tolerance: f64,
    max_iterations: u32,
) {
    let sums = GridSum {
        slots: shared!(raw [f64; 8]).as_mut_ptr().cast(),
        partials,
    };
    let n = starts.len() as u32 - 1;
    let first = thread::block_idx_x() * THREADS + thread::thread_idx_x();
    let step = thread::grid_dim_x() * THREADS;
    let own = || Rows {
        next: first,
        step,
        n,
    };
    let blocks = thread::grid_dim_x() as usize;

    // SAFETY: all indices are rows below n, columns below n, or positions between starts, by the kernel's contract. Each
    // row's x, r and ap belong to one thread. A row's p is written by its thread, and read by others only between
    // grid barriers that no write lies between. The two halves of `partials` are written in turns, with a grid barrier
    // between the last read and the next write.
    unsafe {
        let mut part = 0.0;
        for i in own() {
            let bi = *b.get_unchecked(i);
            *x.add(i) = 0.0;
            *r.add(i) = bi;
            *p.add(i) = bi;
            part += f64::from(bi) * f64::from(bi);
        }
        let mut rr = sums.over_grid(part, blocks);
        let goal = tolerance * tolerance * rr;
        let mut iteration = 0;
        while rr > goal && iteration < max_iterations {
            let mut part = 0.0;
            for i in own() {
                let mut sum = 0.0;
                for k in *starts.get_unchecked(i)..*starts.get_unchecked(i + 1) {
                    let column = *columns.get_unchecked(k as usize) as usize;
                    sum += *values.get_unchecked(k as usize) * *p.add(column);
                }
                *ap.add(i) = sum;
                part += f64::from(*p.add(i)) * f64::from(sum);
            }
            let alpha = (rr / sums.over_grid(part, 0)) as f32;
            let mut part = 0.0;
            for i in own() {
                *x.add(i) += alpha * *p.add(i);
                let ri = *r.add(i) - alpha * *ap.add(i);
                *r.add(i) = ri;
                part += f64::from(ri) * f64::from(ri);
            }
            let next = sums.over_grid(part, blocks);
            let beta = (next / rr) as f32;
            rr = next;
            for i in own() {
                *p.add(i) = *r.add(i) + beta * *p.add(i);
            }
            iteration += 1;
            grid::sync();
        }
        if first == 0 {
            *report = f64::from(iteration);
            *report.add(1) = rr;
        }
    }
}

/// The rows of a thread: its number, and on from there in steps of the grid.
struct Rows {
    next: u32,
    step: u32,
    n: u32,
}

impl Iterator for Rows {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let row = self.next;
        (row < self.n).then(|| {
            self.next = row + self.step;
            row as usize
        })
    }
}

/// Memory for sums over all threads.
struct GridSum {
    /// A value for each warp, in shared memory.
    slots: *mut f64,
    /// Two values for each block, in global memory.
    partials: *mut f64,
}

impl GridSum {
    /// The sum over the block, in every thread.
    ///
    /// # Safety
    /// All threads of the block call this; the slots are shared memory of this block.
    #[inline(always)]
    unsafe fn over_block(&self, value: f64) -> f64 {
        let t = thread::thread_idx_x() as usize;
        let value = warp::reduce(value, |a, b| a + b);
        // SAFETY: eight warps; one thread writes each element, between barriers before which and after which it is read.
        unsafe {
            block::sync();
            if t & 31 == 0 {
                *self.slots.add(t >> 5) = value;
            }
            block::sync();
            let mut sum = 0.0;
            unroll!(w in [0, 1, 2, 3, 4, 5, 6, 7] {
                sum += *self.slots.add(w);
            });
            sum
        }
    }

    /// The sum over the grid, in every thread; a grid barrier. Uses the partials from `half` on.
    ///
    /// # Safety
    /// All threads of a cooperative grid call this, and `half` is 0 or the number of blocks, in turns.
    #[inline(always)]
    unsafe fn over_grid(&self, value: f64, half: usize) -> f64 {
        let t = thread::thread_idx_x() as usize;
        // SAFETY: a block writes its own element before the grid's barrier; all are read after it.
        unsafe {
            let mine = self.over_block(value);
            let partials = self.partials.add(half);
            if t == 0 {
                *partials.add(thread::block_idx_x() as usize) = mine;
            }
            grid::sync();
            let mut part = 0.0;
            let mut i = t;
            while i < thread::grid_dim_x() as usize {
                part += *partials.add(i);
                i += THREADS as usize;
            }
            self.over_block(part)
        }
    }
}
