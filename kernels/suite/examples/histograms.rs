//! Histograms of more and more bins in shared memory, across clusters, and in global memory: which place is the fastest.
//!
//! ```text
//! cargo run --release --example histograms
//! ```
//!
//! On the simulator, whose times say nothing about a GPU, it shows that the results are right.

use anyhow::{Result, ensure};
use std::time::Duration;
use warpsmith_host::prelude::*;
use warpsmith_suite::Session;
use warpsmith_suite::histograms::{Histogram, Place, oracle};
use warpsmith_suite::random::Fill;
use warpsmith_suite::table;

/// From what a block holds easily to more than a cluster of eight can hold.
const BINS: [usize; 11] = [
    250, 1000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000, 1_024_000,
];
const PLACES: [Place; 5] = [
    Place::Shared,
    Place::Cluster(2),
    Place::Cluster(4),
    Place::Cluster(8),
    Place::Global,
];
/// Timed launches, of which the fastest counts.
const LAUNCHES: u32 = 9;

fn main() -> Result<()> {
    let session = Session::new(&Gpu::open_default()?)?;
    let (n, bins) = match session.gpu.is_simulator() {
        true => (5000, &BINS[..6]),
        false => (1 << 26, &BINS[..]),
    };
    let mut head = vec!["bins".to_owned()];
    head.extend(PLACES.map(|place| place.to_string()));
    head.extend(["fastest".into(), "chosen".into()]);
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut lines = table::empty(&head);
    for &bins in bins {
        lines.add_row(row(&session, n, bins)?);
    }
    println!("{n} random values on {}", session.device());
    println!("{lines}");
    Ok(())
}

/// The times of all places that have room for so many bins.
fn row(session: &Session, n: usize, bins: usize) -> Result<Vec<String>> {
    let data: Vec<u32> = (0..n as u64)
        .map(|i| u32::draw(1, i) % bins as u32)
        .collect();
    let want = oracle(&data, bins);
    let data = session.stream.upload(&data)?;
    let mut cells = vec![bins.to_string()];
    let mut fastest: Option<(Duration, Place)> = None;
    for place in PLACES {
        if !place.fits(&session.gpu, bins)? {
            cells.push("-".into());
            continue;
        }
        let time = fastest_launch(session, place, &data, &want)?;
        cells.push(table::time(time));
        if fastest.is_none_or(|(best, _)| time < best) {
            fastest = Some((time, place));
        }
    }
    cells.push(fastest.map_or_else(String::new, |(_, place)| place.to_string()));
    cells.push(Place::for_bins(&session.gpu, bins)?.to_string());
    Ok(cells)
}

fn fastest_launch(
    session: &Session,
    place: Place,
    data: &DeviceBuffer<u32>,
    want: &[u32],
) -> Result<Duration> {
    let histogram = Histogram::new(session, place, want.len())?;
    let mut counts = session.stream.zeroed(want.len())?;
    let mut fastest = Duration::MAX;
    // The first one loads the kernel.
    for launch in 0..=LAUNCHES {
        session.stream.fill(&mut counts, 0)?;
        let time = session.time(|| histogram.count(&session.stream, data, &mut counts))?;
        if launch > 0 {
            fastest = fastest.min(time);
        }
    }
    let right = session.stream.download(&counts)? == want;
    ensure!(right, "{} bins are wrong ({place})", want.len());
    Ok(fastest)
}
