//! What the observer of bank conflicts counts, in the simulator.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use warpsmith_host::observe::BankConflicts;
use warpsmith_host::prelude::*;

/// `strided`: lane `i` reads the `(i * stride)`th element of shared memory, as words of 4, 8 and 16 bytes. `irregular`: the elements that a
/// table in global memory names. `counted`: lane `i` adds one to the word of its number divided by `stride`, atomically.
const PTX: &str = r#".version 7.8
.target sm_80
.address_size 64
.file 1 "tile.rs"

.shared .align 128 .b8 tile[32768];

.visible .entry strided(.param .u32 stride)
{
    .reg .b32 %r<16>;
    .reg .b64 %rd<4>;
    ld.param.u32 %r1, [stride];
    mov.u32 %r2, %tid.x;
    mul.lo.u32 %r3, %r2, %r1;
    mov.u32 %r4, tile;
    mad.lo.u32 %r5, %r3, 4, %r4;
    .loc 1 4 1
    ld.shared.u32 %r6, [%r5];
    mad.lo.u32 %r5, %r3, 8, %r4;
    .loc 1 8 1
    ld.shared.v2.u32 {%r6, %r7}, [%r5];
    mad.lo.u32 %r5, %r3, 16, %r4;
    cvta.shared.u64 %rd1, tile;
    mad.wide.u32 %rd1, %r3, 16, %rd1;
    .loc 1 16 1
    ld.v4.u32 {%r6, %r7, %r8, %r9}, [%rd1];
    ret;
}

.visible .entry irregular(.param .u64 table)
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [table];
    mov.u32 %r2, %tid.x;
    mad.wide.u32 %rd1, %r2, 4, %rd1;
    ld.global.u32 %r3, [%rd1];
    mov.u32 %r4, tile;
    mad.lo.u32 %r5, %r3, 4, %r4;
    .loc 1 4 1
    st.shared.u32 [%r5], %r2;
    ret;
}

.visible .entry counted(.param .u32 stride)
{
    .reg .b32 %r<8>;
    ld.param.u32 %r1, [stride];
    mov.u32 %r2, %tid.x;
    div.u32 %r3, %r2, %r1;
    mov.u32 %r4, tile;
    mad.lo.u32 %r6, %r2, 4, %r4;
    .loc 1 2 1
    st.shared.u32 [%r6], 0;
    bar.warp.sync 0xffffffff;
    mad.lo.u32 %r5, %r3, 4, %r4;
    .loc 1 4 1
    red.shared.add.u32 [%r5], 1;
    ret;
}
"#;

/// For one test at a time: an observer is told of all launches of the device's context.
static ALONE: Mutex<()> = Mutex::new(());

fn simulator() -> (Gpu, MutexGuard<'static, ()>) {
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let gpu = Gpu::open(DeviceChoice::Simulator).expect("the simulator");
    (gpu, alone)
}

/// The line and the degree of each access of what runs, by line.
fn degrees(gpu: &Gpu, run: impl FnOnce(&Stream)) -> Vec<(u32, f64)> {
    let conflicts = Arc::new(BankConflicts::default());
    let registration = gpu.observe(conflicts.clone()).expect("the simulator");
    let stream = gpu.stream().expect("a stream");
    run(&stream);
    stream.synchronize().expect("the kernel runs");
    drop(registration);
    let line = |site: &warpsmith_host::observe::ConflictSite| {
        let location = site.frame.location.as_ref().expect("there are lines");
        (location.line, site.degree())
    };
    let mut all: Vec<_> = conflicts.sites().iter().map(line).collect();
    all.sort_by_key(|&(line, _)| line);
    all
}

// covers: SHMEM-05, CC-09, CC-EX07
#[test]
fn the_stride_decides_how_many_words_meet_in_a_bank() {
    let (gpu, _alone) = simulator();
    let module = gpu.load(PTX).expect("the module loads");
    let kernel = module
        .untyped_kernel::<(Value<u32>,)>("strided")
        .expect("the kernel");
    let strides = |stride: u32| {
        degrees(&gpu, |stream| {
            // SAFETY: the kernel takes a number, and reads the tile: at most `31 * 64 * 16 + 16` bytes of it.
            unsafe { stream.launch_untyped(&kernel, Grid::new(1, 32), (stride,)) }.expect("launch");
        })
    };
    for (stride, words, pairs, fours) in [
        (0, 1.0, 1.0, 1.0),
        (1, 1.0, 1.0, 1.0),
        (2, 2.0, 2.0, 2.0),
        (3, 1.0, 1.0, 1.0),
        (4, 4.0, 4.0, 4.0),
        (32, 32.0, 16.0, 8.0),
        (33, 1.0, 1.0, 1.0),
    ] {
        assert_eq!(
            strides(stride),
            [(4, words), (8, pairs), (16, fours)],
            "stride {stride}"
        );
    }
}

#[test]
fn an_irregular_access_without_two_words_in_a_bank_is_free() {
    let (gpu, _alone) = simulator();
    let module = gpu.load(PTX).expect("the module loads");
    let kernel = module
        .untyped_kernel::<(RawPtr<u32>,)>("irregular")
        .expect("the kernel");
    let of = |table: [u32; 32]| {
        degrees(&gpu, |stream| {
            let table = stream.upload(&table).expect("the table");
            // SAFETY: the kernel reads 32 words at the address, and writes the tile where they say, which is inside.
            unsafe { stream.launch_untyped(&kernel, Grid::new(1, 32), (&table,)) }.expect("launch");
            stream.synchronize().expect("the kernel runs");
        })
    };
    let permuted: [u32; 32] =
        std::array::from_fn(|lane| (lane as u32 * 7 + 5) % 32 + 32 * (lane as u32 % 3));
    assert_eq!(of(permuted), [(4, 1.0)]);
    // All lanes write one word, then two groups write different words of one bank.
    assert_eq!(of([9; 32]), [(4, 1.0)]);
    assert_eq!(
        of(std::array::from_fn(|lane| 5 + 32 * (lane as u32 % 2))),
        [(4, 2.0)]
    );
}

#[test]
fn atomic_operations_on_one_word_are_executed_one_after_another() {
    let (gpu, _alone) = simulator();
    let module = gpu.load(PTX).expect("the module loads");
    let kernel = module
        .untyped_kernel::<(Value<u32>,)>("counted")
        .expect("the kernel");
    for (stride, degree) in [(1u32, 1.0), (4, 4.0), (32, 32.0)] {
        let found = degrees(&gpu, |stream| {
            // SAFETY: the kernel takes a number, and changes at most 32 words of the tile.
            unsafe { stream.launch_untyped(&kernel, Grid::new(1, 32), (stride,)) }.expect("launch");
        });
        assert_eq!(found, [(2, 1.0), (4, degree)], "{stride} lanes a word");
    }
}
