//! Events and the time between them (3.2.8.8).

use std::time::Duration;

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::guide;
use warpsmith_tests::fixture;

// covers: EVENT-X01
#[test]
fn two_streams_work_on_a_half_each_between_two_events() -> Result<()> {
    const SIZE: usize = 10_000;
    let f = fixture();
    let square = f.module.kernel(guide::square)?;
    let blocking = StreamOptions {
        non_blocking: false,
        ..Default::default()
    };
    let streams = [f.gpu.stream_with(blocking)?, f.gpu.stream_with(blocking)?];
    let (start, stop) = (f.gpu.event()?, f.gpu.event()?);
    let mut input = f.gpu.pinned::<u32>(2 * SIZE)?;
    for (number, x) in (0..).zip(input.host_mut()?.iter_mut()) {
        *x = number;
    }
    let mut output = f.gpu.pinned::<u32>(2 * SIZE)?;
    let mut device = streams[0].zeroed::<u32>(2 * SIZE)?;

    // The null stream's work comes after what the others have, and theirs after its.
    let null = f.gpu.legacy_stream()?;
    null.record(&start)?;
    let (front, back) = device.slice_mut(..).split_at_mut(SIZE);
    let (output_front, output_back) = output.slice_mut(..).split_at_mut(SIZE);
    for (i, (mut half, mut result)) in [(front, output_front), (back, output_back)]
        .into_iter()
        .enumerate()
    {
        streams[i].copy_from_host(&input.slice(i * SIZE..(i + 1) * SIZE), &mut half)?;
        streams[i].launch(&square, Grid::cover(SIZE, 512), (&mut half,))?;
        streams[i].copy_to_host(&half, &mut result)?;
    }
    null.record(&stop)?;
    stop.synchronize()?;

    assert!(stop.elapsed_since(&start)? > Duration::ZERO);
    let expected: Vec<u32> = (0..2 * SIZE as u32).map(|x| x.wrapping_mul(x)).collect();
    assert_eq!(output.host()?[..], expected[..]);
    Ok(())
}
