//! Kernels that speak: panics, printing, assertions.

use warpsmith_device::prelude::*;

/// Panics, in several ways, in the thread whose number is asked for.
#[kernel]
pub fn panics(x: &[u32], thread_number: u32, way: u32, mut out: PerThread<[u32]>) {
    let index = thread::index();
    if index == thread_number as usize {
        match way {
            0 => {
                let past = x.len() + index;
                if let Some(out) = out.mine() {
                    *out = x[past];
                }
            }
            1 => panic!("thread {index:>2} has had enough of {way}"), // Formatted here, as it has a width.
            2 => assert_eq!(x[0], x[0] + 1, "not equal"),
            _ => {
                if let Some(out) = out.mine() {
                    *out = 1 / (x[0] - x[0]);
                }
            }
        }
    }
    if let Some(out) = out.mine() {
        *out = 7;
    }
}

/// Prints from the threads whose number is below `count`.
#[kernel]
pub fn prints(count: u32, x: &[f32]) {
    let index = thread::index();
    if index < count as usize {
        gpu_println!("thread {index}: x = {:.4}, {}", x[index], index % 2 == 0);
        gpu_print!(
            "{:>6}|{:<6}|{:#06x}|{:e}|{}|{}\n",
            -5i8,
            7u16,
            255u32,
            1.5f64,
            'é',
            "text"
        );
    }
}

/// One true and one false assertion.
#[kernel]
pub fn asserts(number: u32) {
    gpu_assert!(number > 0);
    gpu_assert!(number > 5, "five is not enough");
}

/// Aborts the grid from one thread.
#[kernel]
pub fn traps(thread_number: u32) {
    if thread::index() == thread_number as usize {
        thread::trap();
    }
}

/// What `panics_behind_calls` does with numbers, behind a vtable.
trait Step {
    fn step(&self, x: u32) -> u32;
}

struct Add(u32);

impl Step for Add {
    fn step(&self, x: u32) -> u32 {
        x.wrapping_add(self.0)
    }
}

struct Divide(u32);

impl Step for Divide {
    fn step(&self, x: u32) -> u32 {
        x / self.0
    }
}

fn double(x: u32) -> u32 {
    x.wrapping_mul(2)
}

fn decrement(x: u32) -> u32 {
    x.checked_sub(1).expect("nothing is left")
}

static FUNCTIONS: [fn(u32) -> u32; 2] = [double, decrement];

/// The sum of the numbers from `n` down to 1, unless `forbidden` is among them.
#[inline(never)]
fn sum_to(n: u32, forbidden: u32) -> u32 {
    assert!(n != forbidden, "{n} is forbidden");
    if n == 0 {
        0
    } else {
        sum_to(n - 1, forbidden) + n
    }
}

/// Panics in functions that are called through vtables and pointers, and deep in a recursion, where `way` asks for it.
#[kernel]
pub fn panics_behind_calls(way: u32, x: &[u32], mut out: PerThread<[u32]>) {
    let Some(x) = x.get(thread::index()).copied() else {
        return;
    };
    let steps: [&dyn Step; 2] = [&Add(3), &Divide(x)];
    let mut result = steps[usize::from(way == 1)].step(x);
    result += FUNCTIONS[usize::from(way == 2)](x);
    result += sum_to(x + 4, if way == 3 { x + 2 } else { u32::MAX });
    if let Some(out) = out.mine() {
        *out = result;
    }
}

/// The block's first thread panics. The last one then says so in `gate[0]`, waits for `gate[1]`, and panics, too.
#[kernel]
pub fn panics_twice(gate: AtomicSlice<'_, u32, scope::System>) {
    let index = thread::index();
    assert!(index != 0, "the first thread");
    // Threads that have ended are not waited for.
    block::sync();
    if index as u32 == block::dim().0 - 1 {
        gate[0].store(1, Release);
        while gate[1].load(Acquire) == 0 {}
        panic!("the last thread");
    }
}
