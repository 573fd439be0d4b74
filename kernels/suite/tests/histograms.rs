//! Histograms in shared memory, across clusters and in global memory are those of the CPU, whatever the number of bins.

use warpsmith_host::prelude::*;
use warpsmith_suite::Session;
use warpsmith_suite::histograms::{Histogram, Place, oracle};
use warpsmith_suite::random::Fill;

fn session() -> Session {
    Session::new(&Gpu::open_default().unwrap()).unwrap()
}

/// Random values, a few of them past the last bin, which counts them.
fn values(n: usize, bins: usize) -> Vec<u32> {
    let draw = |i| u32::draw(7, i) % (bins as u32 + bins as u32 / 16 + 1);
    (0..n as u64).map(draw).collect()
}

// covers: DSMEM-06
#[test]
fn all_places_count_alike() {
    let session = session();
    let stream = &session.stream;
    let places = [1, 2, 3, 4, 5, 8].map(Place::Cluster);
    let places = [Place::Shared, Place::Global].into_iter().chain(places);
    for place in places {
        for (bins, n) in [
            (1, 300),
            (2, 4097),
            // Neither divides by 3: a truncating division would lose the last bin.
            (1000, 20_003),
            (1001, 1023),
            (4096, 5),
            (20_000, 9000),
        ] {
            let data = values(n, bins);
            let want = oracle(&data, bins);
            let histogram = Histogram::new(&session, place, bins).unwrap();
            let data = stream.upload(&data).unwrap();
            let mut counts = stream.zeroed(bins).unwrap();
            histogram.count(stream, &data, &mut counts).unwrap();
            assert_eq!(
                stream.download(&counts).unwrap(),
                want,
                "{bins} bins, {n} values, {place}"
            );
        }
    }
}

// covers: DSMEM-06
#[test]
fn the_number_of_bins_chooses_the_place() {
    let session = session();
    let gpu = &session.gpu;
    let place = |bins| Place::for_bins(gpu, bins).unwrap();
    assert_eq!(place(1), Place::Shared);
    assert_eq!(place(1000), Place::Shared);
    assert_eq!(place(1 << 24), Place::Global);
    // In between two blocks share, and what is chosen has room.
    let rank = |place| match place {
        Place::Shared => 1,
        Place::Cluster(blocks) => blocks,
        Place::Global => u32::MAX,
    };
    let mut last = 0;
    let mut sizes = std::collections::BTreeSet::new();
    for bins in (1..70).map(|k| k * 1000) {
        let place = place(bins);
        assert!(rank(place) >= last, "{bins} bins: {place}");
        assert!(place.fits(gpu, bins).unwrap(), "{bins} bins: {place}");
        last = rank(place);
        sizes.insert(last);
    }
    assert!(sizes.contains(&1) && sizes.contains(&2), "{sizes:?}");
}

#[test]
fn too_many_bins_are_refused_with_the_way_out() {
    let session = session();
    let refused = |place, bins| {
        let histogram = Histogram::new(&session, place, bins);
        histogram.err().expect("it has no room").to_string()
    };
    let text = refused(Place::Shared, 100_000);
    assert!(
        text.contains("100000 bins do not fit (shared): a block would need 400000 bytes")
            && text.contains("`Place::for_bins`"),
        "{text}"
    );
    let text = refused(Place::Cluster(2), 1 << 20);
    assert!(text.contains("(cluster of 2)"), "{text}");
    assert!(refused(Place::Global, 0).contains("at least one bin"));
    let histogram = Histogram::new(&session, Place::Global, 4).unwrap();
    let data = session.stream.zeroed(1).unwrap();
    let mut bins = session.stream.zeroed(5).unwrap();
    let error = histogram.count(&session.stream, &data, &mut bins);
    let text = error.unwrap_err().to_string();
    assert_eq!(text, "a histogram of 4 bins was given 5");
}
