//! Cached loads and stores, address spaces, clocks, thread ends.

use bytemuck::Pod;
use warpsmith_device::launch::{In, Kernel, KernelItem, Out, RawPtr, SafeKernel};
use warpsmith_device::vector::{Float2, Float3, Float4, UChar4};
use warpsmith_host::prelude::*;
use warpsmith_test_kernels::memory as kernels;
use warpsmith_tests::{Random, fixture, ptx};

/// Random elements of a type.
fn elements<T: Pod>(count: usize) -> Vec<T> {
    let mut random = Random::new(5);
    let bytes: Vec<u8> = (0..count * size_of::<T>())
        .map(|_| random.bits() as u8)
        .collect();
    bytes
        .chunks_exact(size_of::<T>())
        .map(bytemuck::pod_read_unaligned)
        .collect()
}

fn bytes_of<T: Pod>(values: &[T]) -> &[u8] {
    bytemuck::cast_slice(values)
}

fn copies<T: Pod, I: KernelItem>(item: I)
where
    I::Kernel: Kernel<Parameters = (In<T>, Out<[T; 6]>)> + SafeKernel,
{
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(item).unwrap();
    let x = elements::<T>(100);
    let xs = stream.upload(&x).unwrap();
    let mut out = stream.zeroed::<[T; 6]>(100).unwrap();
    stream
        .launch(&kernel, Grid::cover(100, 64), (&xs, &mut out))
        .unwrap();
    let expected: Vec<[T; 6]> = x.iter().map(|x| [*x; 6]).collect();
    assert_eq!(
        bytes_of(&stream.download(&out).unwrap()),
        bytes_of(&expected)
    );
}

fn global_copies<T: Pod, I: KernelItem>(item: I)
where
    I::Kernel: Kernel<Parameters = (RawPtr<T>, RawPtr<T>)>,
{
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(item).unwrap();
    let x = elements::<T>(64);
    let xs = stream.upload(&x).unwrap();
    let mut out = stream.zeroed::<T>(64 * 7).unwrap();
    // SAFETY: 64 threads, with one and seven elements each.
    unsafe { stream.launch_unchecked(&kernel, Grid::new(2, 32), (&xs, &mut out)) }.unwrap();
    let expected: Vec<T> = x.iter().flat_map(|x| [*x; 7]).collect();
    assert_eq!(
        bytes_of(&stream.download(&out).unwrap()),
        bytes_of(&expected)
    );
}

// covers: LDST-02, LDST-03, LDST-04, VEC-03
#[test]
fn copies_with_every_cache_hint() {
    copies::<u8, _>(kernels::hinted_copies::<u8>);
    copies::<u16, _>(kernels::hinted_copies::<u16>);
    copies::<f32, _>(kernels::hinted_copies::<f32>);
    copies::<f64, _>(kernels::hinted_copies::<f64>);
    copies::<Float4, _>(kernels::hinted_copies::<Float4>);
    copies::<UChar4, _>(kernels::hinted_copies::<UChar4>);
    copies::<Float2, _>(kernels::hinted_copies::<Float2>);
}

// covers: LDST-01, LDST-02, LDST-03
#[test]
fn copies_of_global_memory_with_every_cache_hint() {
    global_copies::<u8, _>(kernels::hinted_global_copies::<u8>);
    global_copies::<u16, _>(kernels::hinted_global_copies::<u16>);
    global_copies::<f32, _>(kernels::hinted_global_copies::<f32>);
    global_copies::<f64, _>(kernels::hinted_global_copies::<f64>);
    global_copies::<Float4, _>(kernels::hinted_global_copies::<Float4>);
}

// covers: ADDR-01, ADDR-02, ADDR-03, ADDR-04
#[test]
fn pointers_know_their_spaces() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::spaces).unwrap();
    let x = stream.upload(&[1u32; 32]).unwrap();
    let mut out = stream.zeroed::<[[u32; 6]; 3]>(32).unwrap();
    stream
        .launch(&kernel, Grid::new(1, 32), (&x, 2u32, &mut out))
        .unwrap();
    let expected = [[1, 0, 0, 0, 0, 1], [0, 1, 0, 0, 0, 1], [0, 0, 0, 1, 0, 1]];
    assert_eq!(stream.download(&out).unwrap(), [expected; 32]);
}

/// Nodes of which each lies in an allocation of its own, and a static that holds the first one's address.
// covers: MEM-02, MEM-11
#[test]
fn allocations_point_at_each_other() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::walk_list).unwrap();
    let mut next = 0;
    let nodes: Vec<_> = (1..=20)
        .map(|value| {
            let node = kernels::ListNode { next, value };
            let node = stream.upload(&[node]).unwrap();
            next = node.as_device_ptr().address();
            node
        })
        .collect();
    let head = f.module.global::<u64>("LIST_HEAD").unwrap();
    head.set(&next).unwrap();
    assert_eq!(head.get().unwrap(), nodes[19].as_device_ptr().address());
    let mut out = stream.zeroed::<u64>(40).unwrap();
    // SAFETY: `nodes` has what the list leads to, uploaded before in this stream, until the download has waited for the kernel.
    unsafe { stream.launch_unchecked(&kernel, Grid::cover(40, 32), (&mut out,)) }.unwrap();
    assert_eq!(stream.download(&out).unwrap(), [210; 40]);
    drop(nodes);
}

/// One instruction for a word of 16 bytes that is aligned to its size, three for a structure of three floats.
// covers: MEM-14
#[test]
fn a_word_that_is_aligned_to_its_size_is_one_access() {
    let accesses = |kernel: &str, what: &str| {
        let all = ptx::instructions(ptx::SM_90, kernel);
        let memory = |line: &&String| line.starts_with(what) && !line.starts_with("ld.param");
        all.iter().filter(memory).cloned().collect::<Vec<_>>()
    };
    let [quad_load, quad_store] = ["ld.", "st."].map(|what| accesses("copy_float4", what));
    assert!(
        quad_load.len() == 1 && quad_load[0].contains(".v4."),
        "{quad_load:?}"
    );
    assert!(
        quad_store.len() == 1 && quad_store[0].contains(".v4."),
        "{quad_store:?}"
    );
    assert_eq!(accesses("copy_float3", "ld.").len(), 3);
    assert_eq!(accesses("copy_float3", "st.").len(), 3);

    let f = fixture();
    let stream = f.stream();
    let quads = elements::<Float4>(100);
    let mut out = stream.zeroed::<Float4>(100).unwrap();
    let kernel = f.module.kernel(kernels::copy_float4).unwrap();
    let x = stream.upload(&quads).unwrap();
    stream
        .launch(&kernel, Grid::cover(100, 64), (&x, &mut out))
        .unwrap();
    assert_eq!(bytes_of(&stream.download(&out).unwrap()), bytes_of(&quads));
    let triples = elements::<Float3>(100);
    let mut out = stream.zeroed::<Float3>(100).unwrap();
    let kernel = f.module.kernel(kernels::copy_float3).unwrap();
    let x = stream.upload(&triples).unwrap();
    stream
        .launch(&kernel, Grid::cover(100, 64), (&x, &mut out))
        .unwrap();
    assert_eq!(
        bytes_of(&stream.download(&out).unwrap()),
        bytes_of(&triples)
    );
}

// covers: CLOCK-01, SLEEP-01
#[test]
fn clocks_advance() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::clocks).unwrap();
    let mut out = stream.zeroed::<[u64; 4]>(64).unwrap();
    stream
        .launch(&kernel, Grid::new(1, 64), (500u32, &mut out))
        .unwrap();
    for (i, row) in stream.download(&out).unwrap().iter().enumerate() {
        let [low, cycles, nanoseconds, x] = *row;
        assert!(low > 0 && cycles > 0, "{row:?}");
        assert!(
            nanoseconds < 5_000_000_000,
            "a sleep of 2 microseconds: {row:?}"
        );
        let expected = (0..500).fold(i as u32, |x, _| {
            x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)
        });
        assert_eq!(x, u64::from(expected));
    }
}

// covers: DEBUG-01, DEBUG-07, LANG-25
#[test]
fn threads_end_one_by_one() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::thread_ends).unwrap();
    let mut out = stream.zeroed::<u32>(64).unwrap();
    stream
        .launch(&kernel, Grid::new(1, 64), (40u32, &mut out))
        .unwrap();
    let expected: Vec<u32> = (0..64).map(|i| if i < 40 { 2 } else { 1 }).collect();
    assert_eq!(stream.download(&out).unwrap(), expected);
}

#[test]
fn a_reference_that_is_kept_over_a_barrier_leads_to_its_element() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::references_kept).unwrap();
    let threads = kernels::KEPT_THREADS;
    let special = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0];
    for length in [0, 1, threads - 1, threads, 3 * threads + 5] {
        let number = |n: usize| match n % 7 {
            n @ 0..5 => special[n],
            _ => (n * 37 % 101) as f32 - 50.0,
        };
        let x: Vec<f32> = (0..length).map(number).collect();
        let of_x = stream.upload(&x).unwrap();
        for limit in [f32::NEG_INFINITY, -1.0, 0.0, 40.0, f32::INFINITY, f32::NAN] {
            let total = 4 * threads;
            let mut out = stream.upload(&vec![-7.0_f32; total]).unwrap();
            stream
                .launch(
                    &kernel,
                    Grid::cover(total, kernels::KEPT_THREADS as u32),
                    (&of_x, limit, &mut out),
                )
                .unwrap();
            let kept = |n: usize| x.get(n).copied().filter(|x| *x > limit);
            for (n, out) in stream.download(&out).unwrap().into_iter().enumerate() {
                let before = (n - n % threads..n).filter(|n| kept(*n).is_some()).count();
                let expected = kept(n).map_or(-7.0, |x| x + before as f32);
                assert_eq!(out, expected, "{n} of {length} above {limit}");
            }
        }
    }
}

#[test]
fn an_element_that_some_rounds_need_is_loaded_if_there_is_one() {
    let f = fixture();
    let stream = f.stream();
    let with_end = f.module.kernel(kernels::parts_of_some_rounds).unwrap();
    let asked = f.module.kernel(kernels::parts_asked_in_rounds).unwrap();
    let ys = [3.0_f32, -1.0, 5.0, 0.0, -0.0, 7.0, -2.0, 4.0, 2.0];
    let threads = 96;
    for length in [0, 1, 31, 64, 96] {
        let x: Vec<[f32; 3]> = (0..length)
            .map(|n| [n as f32 - 20.0, n as f32 * 3.0, 0.5])
            .collect();
        let of_x = stream.upload(&x).unwrap();
        for rounds in [0, 1, 2, ys.len()] {
            let y = &ys[..rounds];
            let of_y = stream.upload(y).unwrap();
            let expected = |with_end: bool| -> Vec<f32> {
                let sum = |n: usize| {
                    let Some(x) = x.get(n) else { return 0.0 };
                    let end = if with_end { x[2] } else { 0.0 };
                    let taken = y.iter().filter(|y| **y >= 0.0);
                    let sum: f32 = taken
                        .map(|y| x[0] * y + if *y > 4.0 { x[1] } else { 0.0 })
                        .sum();
                    sum + end
                };
                (0..threads).map(sum).collect()
            };
            let grid = Grid::cover(threads, 32);
            let mut out = stream.upload(&vec![-7.0_f32; threads]).unwrap();
            stream
                .launch(&with_end, grid, (&of_x, &of_y, &mut out))
                .unwrap();
            let got = stream.download(&out).unwrap();
            assert_eq!(got, expected(true), "{rounds} rounds, {length} elements");
            stream
                .launch(&asked, grid, (&of_x, &of_y, &mut out))
                .unwrap();
            let got = stream.download(&out).unwrap();
            assert_eq!(got, expected(false), "{rounds} rounds, {length} elements");
        }
    }
}
