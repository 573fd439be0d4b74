//! Occupancy and launch configuration (5.2.3.1), and the L2 window of a graph's kernel (3.2.3.2).

use warpsmith_host::prelude::*;
use warpsmith_host::{AccessPolicyWindow, LaunchOptions, MissProperty};
use warpsmith_test_kernels::guide;
use warpsmith_tests::fixture;

// covers: EX1-23
#[test]
fn the_occupancy_of_blocks_of_one_warp() -> Result<()> {
    let f = fixture();
    let multiply = f.module.kernel(guide::multiply)?;
    let occupancy = multiply.occupancy(32, 0)?;
    assert_eq!(occupancy.active_warps, occupancy.blocks_per_multiprocessor);
    assert_eq!(
        occupancy.max_warps as i32 * 32,
        f.gpu.attribute(Attribute::MAX_THREADS_PER_MULTIPROCESSOR)?
    );
    let formula = f64::from(occupancy.active_warps) / f64::from(occupancy.max_warps);
    assert_eq!(occupancy.fraction, formula);
    if f.gpu.compute_capability() == (ComputeCapability { major: 9, minor: 0 }) {
        // 32 resident blocks of one warp, of 64 warps.
        assert_eq!(occupancy.fraction, 0.5);
    }
    Ok(())
}

// covers: EX1-24
#[test]
fn a_launch_of_the_suggested_size_squares_an_array_of_any_length() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let square = f.module.kernel(guide::square)?;
    let suggested = square.suggested_block(0)?;
    assert_eq!(suggested.threads % 32, 0);
    for n in [1_usize, 1000, 100_003] {
        let numbers: Vec<u32> = (0..n as u32).collect();
        let mut array = stream.upload(&numbers)?;
        stream.launch(&square, Grid::cover(n, suggested.threads), (&mut array,))?;
        let expected: Vec<u32> = numbers.iter().map(|x| x.wrapping_mul(*x)).collect();
        assert_eq!(stream.download(&array)?, expected, "{n} elements");
    }
    Ok(())
}

// covers: EX1-25
#[test]
fn how_large_clusters_may_be_and_how_many_run_at_a_time() -> Result<()> {
    let f = fixture();
    let square = f.module.kernel(guide::square)?;
    let grid = Grid::new(64, 128);
    let error = square.max_active_clusters(&grid).expect_err("no clusters");
    assert!(error.to_string().contains("grid.cluster"), "{error}");
    if f.gpu.attribute(Attribute::CLUSTER_LAUNCH)? == 0 {
        return Ok(());
    }
    assert_eq!(square.max_cluster_size(&grid)?, 8);
    let pairs = square.max_active_clusters(&grid.cluster(2))?;
    let eights = square.max_active_clusters(&grid.cluster(8))?;
    assert!(pairs > 0 && eights > 0, "{pairs} and {eights}");
    // What is resident of clusters is no more than what is resident of blocks.
    let resident = square.max_cooperative_blocks(128, 0)?;
    assert!(2 * pairs <= resident && 8 * eights <= resident);
    Ok(())
}

// covers: EX1-14
#[test]
fn a_graphs_kernel_has_its_window() -> Result<()> {
    let f = fixture();
    if f.gpu.attribute(Attribute::MAX_ACCESS_POLICY_WINDOW_SIZE)? == 0 {
        return Ok(());
    }
    let mut stream = f.stream();
    let multiply = f.module.kernel(guide::multiply)?;
    let (a, b) = (stream.filled(1000, 3_u32)?, stream.filled(1000, 5_u32)?);
    let mut d = stream.zeroed(1000)?;
    let window = AccessPolicyWindow::over(&a)
        .hit_ratio(0.6)
        .on_miss(MissProperty::Streaming);

    let mut graph = f.gpu.graph()?;
    let options = LaunchOptions::new().access_policy(window);
    let grid = Grid::cover(1000, 128);
    let with = graph.kernel_with(&multiply, grid, &options, (&a, &b, &mut d))?;
    let without = graph.kernel(&multiply, grid, (&a, &b, &mut d))?;
    assert_eq!(graph.access_policy(with)?, Some(window));
    assert_eq!(graph.access_policy(without)?, None);
    let other = f.gpu.graph()?;
    let error = other.access_policy(with).expect_err("another graph's node");
    assert!(error.to_string().contains("another graph"), "{error}");
    let empty = graph.empty()?;
    let error = graph.access_policy(empty).expect_err("no kernel");
    assert_eq!(error.code(), Some(Code::INVALID_VALUE));
    graph.instantiate()?.launch(&stream)?;
    assert_eq!(stream.download(&d)?, [15; 1000]);

    // A captured launch has that of its stream.
    stream.set_access_policy(Some(&window))?;
    let captured = stream.capture(|capture| capture.launch(&multiply, grid, (&a, &b, &mut d)))?;
    stream.set_access_policy(None)?;
    let nodes = captured.nodes()?;
    assert_eq!(nodes.len(), 1);
    assert_eq!(captured.access_policy(nodes[0])?, Some(window));
    Ok(())
}
