//! Unified memory: advice, places, attachment, discards.

use warpsmith_host::PrefetchBatch;
use warpsmith_host::prelude::*;

use crate::row::{Row, rows};

/// A number that the driver has no place for.
const NO_NODE: Location = Location::HostNuma(u32::MAX);

pub fn rows() -> Vec<Row> {
    rows! {
        "Gpu::unified_from", "more than the driver aligns" => Limit, |w| w.gpu.unified_from(&[<super::pools::Aligned as bytemuck::Zeroable>::zeroed()]);
        "UnifiedBuffer::advise", "a node of the host that has no number" => Invalid, |w| w.gpu.unified::<u32>(8)?.advise(Advice::Prefer(NO_NODE));
        "UnifiedBuffer::advise", "accesses of a node of the host" => Invalid, |w| w.gpu.unified::<u32>(8)?.advise(Advice::AccessedBy(Location::HostNuma(0)));
        "UnifiedBuffer::advise_part", "a node of the host that has no number" => Invalid, |w| w.gpu.unified::<u32>(8)?.advise_part(1..2, Advice::Prefer(NO_NODE));
        "Stream::prefetch", "memory that does not move" => Invalid, |w| w.stream.prefetch(&w.words, Location::Device);
        "Stream::prefetch", "a node of the host that has no number" => Invalid, |w| w.stream.prefetch(&w.gpu.unified::<u32>(8)?, NO_NODE);
        "PrefetchBatch::add", "memory that does not move" => Invalid, |w| PrefetchBatch::new().add(&w.words, Location::Device);
        "Stream::prefetch_batch", "one node of the host that has no number" => Invalid, |w| {
            let (one, two) = (w.gpu.unified::<u32>(8)?, w.gpu.unified::<u32>(8)?);
            let mut batch = PrefetchBatch::new();
            batch.add(&one, Location::Host)?;
            batch.add(&two, NO_NODE)?;
            w.stream.prefetch_batch(batch)
        };
        "Stream::upload_uninit", "fewer elements" => Invalid, |w| w.stream.upload_uninit(&[1; 7], w.gpu.unified::<u32>(8)?.into_uninit());
        "Stream::copy_uninit", "more elements" => Invalid, |w| w.stream.copy_uninit(&w.words, w.gpu.unified::<u32>(8)?.into_uninit());
        "Stream::discard", "in the legacy default stream" => Invalid, |w| {
            let mut memory = w.gpu.unified::<u32>(8)?.into_uninit();
            w.gpu.legacy_stream()?.discard(&mut memory)
        };
        "Stream::discard_batch", "in the legacy default stream" => Invalid, |w| {
            let mut memory = w.gpu.unified::<u32>(8)?.into_uninit();
            let mut batch = warpsmith_host::DiscardBatch::new();
            batch.discard(&mut memory);
            w.gpu.legacy_stream()?.discard_batch(batch)
        };
    }
}

pub fn far_rows() -> Vec<Row> {
    rows! {
        "UnifiedBuffer::attach", "to a stream of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.gpu.unified::<u32>(8)?.attach(&far.stream, Attach::Single)
        };
    }
}
