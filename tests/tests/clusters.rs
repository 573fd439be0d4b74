//! Clusters and the barrier of a whole grid, against what the CPU computes.

use warpsmith_host::fault::FaultKind;
use warpsmith_host::prelude::*;
use warpsmith_test_kernels::{clusters, cooperative};
use warpsmith_tests::{Random, Side, fixture, own_process, run_in_child};

// covers: MODEL-06, MODEL-08, EX1-04
#[test]
fn places_in_a_cluster() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(clusters::cluster_places)?;
    let (width, height) = (6, 4);
    let mut out = stream.zeroed::<u32>(12 * width * height)?;
    stream.launch(
        &kernel,
        Grid::new((width as u32, height as u32), 32),
        (&mut out,),
    )?;
    let out = stream.download(&out)?;
    for y in 0..height as u32 {
        for x in 0..width as u32 {
            let words = &out[12 * (y as usize * width + x as usize)..][..12];
            let rank = x % 2 + y % 2 * 2;
            assert_eq!(
                words,
                [rank, 4, x % 2, y % 2, 0, 2, 2, 1, x / 2, y / 2, 0, 1],
                "block ({x}, {y})"
            );
        }
    }
    Ok(())
}

// covers: MODEL-07, DSMEM-01, DSMEM-03, DSMEM-04, EX1-05
#[test]
fn blocks_read_their_neighbours() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(clusters::cluster_rotate)?;
    for cluster in [1, 2, 4, 8] {
        let blocks = 16;
        let n = 64 * blocks - 5;
        let x: Vec<u32> = (0..n as u32).map(|i| i * 3 + 1).collect();
        let mut out = stream.zeroed::<u32>(n)?;
        let grid = Grid::new(blocks as u32, 64).cluster(cluster);
        stream.launch(&kernel, grid, (&stream.upload(&x)?, &mut out))?;
        let expected: Vec<u32> = (0..n)
            .map(|i| {
                let (block, lane) = (i / 64, i % 64);
                let first = block / cluster as usize * cluster as usize;
                let next = first + (block - first + 1) % cluster as usize;
                x.get(next * 64 + lane).copied().unwrap_or(0)
            })
            .collect();
        assert_eq!(stream.download(&out)?, expected, "clusters of {cluster}");
    }
    Ok(())
}

// covers: DSMEM-02, DSMEM-05, EX1-12
#[test]
fn a_histogram_spread_over_a_cluster() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(clusters::cluster_histogram)?;
    for cluster in [1u32, 2, 4, 8] {
        let bins_count = 64 * cluster;
        let n = 64 * 24 - 11;
        let values: Vec<u32> = (0..n as u32).map(|i| i * i / 3 % bins_count).collect();
        let mut bins = stream.zeroed::<u32>(bins_count as usize)?;
        let grid = Grid::new(24, 64).cluster(cluster);
        stream.launch(&kernel, grid, (&stream.upload(&values)?, &mut bins))?;
        let mut expected = vec![0; bins_count as usize];
        for &value in &values {
            expected[value as usize] += 1;
        }
        assert_eq!(stream.download(&bins)?, expected, "clusters of {cluster}");
    }
    Ok(())
}

// covers: DSMEM-01
#[test]
fn ranks_of_addresses() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(clusters::cluster_ranks)?;
    let mut out = stream.zeroed::<u32>(4 * 32)?;
    stream.launch(&kernel, Grid::new(4, 32), (&mut out,))?;
    let out = stream.download(&out)?;
    for (i, word) in out.into_iter().enumerate() {
        let rank = (i / 32 % 2) as u32;
        assert_eq!(word, rank << 8 | (1 - rank));
    }
    Ok(())
}

// covers: CG-10, CG-42
#[test]
fn steps_of_a_ring_divided_by_grid_barriers() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(cooperative::ring)?;
    for (blocks, threads, cells, steps) in [(1, 32, 20, 3), (4, 48, 185, 6), (7, 33, 231, 5)] {
        let mut now: Vec<u32> = (0..cells).map(|i| i * i + 1).collect();
        let mut from = stream.upload(&now)?;
        let mut to = stream.zeroed::<u32>(cells as usize)?;
        // Twice in a row: the barrier's word is as good after a launch as before.
        for _ in 0..2 {
            let grid = Grid::new(blocks, threads).cooperative();
            // SAFETY: both buffers hold all cells, and there is a thread for each.
            unsafe { stream.launch_unchecked(&kernel, grid, (cells, steps, &mut from, &mut to))? };
            for _ in 0..steps {
                let n = now.len();
                now = (0..n)
                    .map(|i| now[(i + n - 1) % n].wrapping_add(now[(i + 1) % n]))
                    .collect();
            }
            if steps % 2 == 1 {
                (from, to) = (to, from);
            }
            assert_eq!(stream.download(&from)?, now, "{blocks} blocks of {threads}");
        }
    }
    Ok(())
}

// covers: CG-11
#[test]
fn arrival_and_wait() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(cooperative::arrive_and_wait)?;
    let n = 5 * 40;
    let mut cooperative = stream.zeroed::<u32>(1)?;
    let mut words = stream.zeroed::<u32>(2)?;
    let mut seen = stream.zeroed::<u32>(n)?;
    let grid = Grid::new(5, 40).cooperative();
    stream.launch(&kernel, grid, (&mut cooperative, &mut words, &mut seen))?;
    assert_eq!(stream.download(&cooperative)?, [1]);
    assert_eq!(stream.download(&words)?, [n as u32, n as u32]);
    assert_eq!(
        stream.download(&seen)?,
        vec![n as u32; n],
        "all had arrived"
    );
    Ok(())
}

// covers: CG-10
#[test]
fn a_grid_barrier_in_an_ordinary_launch_is_a_panic() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f
        .module
        .kernel(cooperative::arrive_and_wait)
        .expect("the kernel");
    let mut cooperative = stream.zeroed::<u32>(1).expect("memory");
    let mut words = stream.zeroed::<u32>(2).expect("memory");
    let mut seen = stream.zeroed::<u32>(32).expect("memory");
    let arguments = (&mut cooperative, &mut words, &mut seen);
    stream
        .launch(&kernel, Grid::new(1, 32), arguments)
        .expect("a launch");
    let error = stream
        .synchronize()
        .expect_err("the kernel panics")
        .to_string();
    assert!(error.contains("cooperative launch"), "{error}");
}

/// A block that has panicked must not leave while its neighbours may read its shared memory, so the grid is stopped. The message gets
/// through; the context is lost.
#[test]
fn a_panic_in_a_cluster_stops_the_grid() {
    if let Side::Parent(_) = own_process(&[]) {
        return;
    }
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(clusters::cluster_panic).expect("a kernel");
    let mut out = stream.zeroed::<u32>(128).expect("memory");
    let mut run = |panics: u32, cluster: u32| {
        let grid = Grid::new(2, 64).cluster(cluster);
        stream.launch(&kernel, grid, (panics, &mut out))?;
        stream.synchronize()
    };
    // Blocks that are clusters of their own have no neighbours: the panicking threads end, and all goes on.
    run(0, 2).expect("nobody panics");
    let told = run(1, 1).expect_err("block 1 panics").to_string();
    assert!(told.contains("block 1 leaves"), "{told}");
    run(0, 1).expect("the context lives on");
    let told = run(1, 2).expect_err("block 1 panics").to_string();
    assert!(told.contains("block 1 leaves"), "{told}");
    let lost = run(0, 2).expect_err("the context is lost");
    assert!(!lost.to_string().contains("block 1 leaves"), "told once");
    // Where the simulator says why: not by an access to what is gone, nor by a race with the exit.
    if let Some(fault) = lost.fault() {
        assert_eq!(fault.kind(), FaultKind::Trap);
    }
}

/// The moments at which the blocks of [`clusters::leaving_blocks`] can end.
const MOMENTS: u32 = 9;

/// Runs [`clusters::leaving_blocks`] with the blocks' moments, and compares with what its threads come to.
fn leave(stream: &Stream, moments: &[u32], cluster: Option<u32>) -> Result<()> {
    let kernel = fixture().module.kernel(clusters::leaving_blocks)?;
    let blocks = moments.len();
    let size = cluster.unwrap_or(1) as usize;
    let neighbour = |block: usize, step: usize| block / size * size + (block + step) % size;
    let adds = |block: usize, thread: usize| match moments[block] {
        0 => true,
        3 => thread % 2 == 1,
        5 => thread < 32,
        7 => thread % 32 == 5,
        _ => false,
    };
    let expected: Vec<u32> = (0..64 * blocks)
        .map(|i| {
            let (block, thread) = (i / 64, i % 64);
            let (next, previous) = (neighbour(block, 1), neighbour(block, size - 1));
            let read = thread as u32 + 100 * (next % size) as u32;
            let added = u32::from(adds(previous, thread));
            let is_filled = match moments[next] {
                1 => false,
                3 => thread % 2 == 1,
                _ => true,
            };
            let read = if is_filled { read } else { 0 };
            if adds(block, thread) {
                read | added << 16
            } else {
                0
            }
        })
        .collect();
    let mut out = stream.zeroed::<u32>(64 * blocks)?;
    let mut grid = Grid::new(blocks as u32, 64);
    if let Some(cluster) = cluster {
        grid = grid.cluster(cluster);
    }
    stream.launch(&kernel, grid, (&stream.upload(moments)?, &mut out))?;
    assert_eq!(
        stream.download(&out)?,
        expected,
        "{moments:?} in clusters of {cluster:?}"
    );
    Ok(())
}

/// Blocks return or exit, as wholes or in part, before, within and between the phases in which neighbours use their memory.
#[test]
fn blocks_end_at_any_moment() -> Result<()> {
    let stream = fixture().stream();
    for first in 0..MOMENTS {
        for second in 0..MOMENTS {
            leave(&stream, &[first, second], Some(2))?;
        }
    }
    let mut random = Random::new(7);
    for cluster in [1, 2, 4, 8] {
        for _ in 0..12 {
            let moments: Vec<u32> = (0..16).map(|_| random.below(MOMENTS)).collect();
            leave(&stream, &moments, Some(cluster))?;
        }
    }
    leave(&stream, &[0, 1, 2, 3, 4, 5, 6, 7, 8], None)
}

/// The same in other orders of the simulator's.
#[test]
fn blocks_end_at_any_moment_in_any_order() {
    let test = "blocks_end_at_any_moment";
    for seed in ["1", "22", "333"] {
        run_in_child(test, &[("WARPSMITH_SEED", seed)]);
    }
}

/// A kernel that only has a function in common with one whose blocks wait for each other.
#[test]
fn a_function_that_exits_serves_other_kernels() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(clusters::leaving_threads)?;
    for cluster in [1, 2] {
        let mut out = stream.zeroed::<u32>(128)?;
        let grid = Grid::new(2, 64).cluster(cluster);
        stream.launch(&kernel, grid, (&mut out,))?;
        let expected: Vec<u32> = (0..128).map(|thread| 1 - thread % 2).collect();
        assert_eq!(stream.download(&out)?, expected);
    }
    Ok(())
}
