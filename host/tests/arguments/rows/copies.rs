//! Copies, fills, downloads and uploads of buffers.

use warpsmith_host::CopyBatch;

use crate::row::{Row, rows};

pub fn rows() -> Vec<Row> {
    rows! {
        "Stream::upload_into", "more elements than the buffer has" => Invalid, |w| w.stream.upload_into(&[1; 65], &mut w.words);
        "Stream::upload_into", "no elements" => Invalid, |w| w.stream.upload_into(&[], &mut w.words);
        "Stream::download_into", "more elements than the buffer has" => Invalid, |w| w.stream.download_into(&w.words, &mut [0; 65]);
        "Stream::download_into", "fewer elements" => Invalid, |w| w.stream.download_into(&w.words, &mut [0; 63]);
        "Stream::copy", "to a shorter part" => Invalid, |w| {
            let from = w.stream.filled(64, 7_u32)?;
            w.stream.copy(&from, &mut w.words.slice_mut(1..))
        };
        "Stream::copy", "from nothing" => Invalid, |w| {
            let from = w.stream.zeroed::<u32>(0)?;
            w.stream.copy(&from, &mut w.words)
        };
        "Stream::copy", "memory of a graph" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            let from = graph.zeroed::<u32>(64)?;
            w.stream.copy(&from, &mut w.words)
        };
        "Stream::download", "memory of a graph" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            w.stream.download(&graph.zeroed::<u32>(64)?)
        };
        "Stream::fill", "memory of a graph" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            w.stream.fill(&mut graph.zeroed::<u32>(64)?, 1)
        };
        "Stream::duplicate", "memory of a graph" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            w.stream.duplicate(&graph.zeroed::<u32>(64)?)
        };
        "Stream::copy_from_host", "fewer elements than the buffer has" => Invalid, |w| w.stream.copy_from_host(&w.pinned.slice(1..), &mut w.words);
        "Stream::copy_to_host", "fewer elements than the buffer has" => Invalid, |w| w.stream.copy_to_host(&w.words, &mut w.pinned.slice_mut(1..));
        "CopyBatch::copy", "to a shorter part" => Invalid, |w| {
            let from = w.stream.filled(64, 7_u32)?;
            CopyBatch::new().copy(&from, &mut w.words.slice_mut(1..))
        };
        "CopyBatch::copy_from_host", "fewer elements than the buffer has" => Invalid, |w| CopyBatch::new().copy_from_host(&w.pinned.slice(1..), &mut w.words);
        "CopyBatch::copy_to_host", "fewer elements than the buffer has" => Invalid, |w| CopyBatch::new().copy_to_host(&w.words, &mut w.pinned.slice_mut(1..));
        "Stream::copy_batch", "one copy with memory of a graph" => Invalid, |w| {
            let from = w.stream.filled(64, 7_u32)?;
            let mut graph = w.gpu.graph()?;
            let scratch = graph.zeroed::<u32>(8)?;
            let mut part = w.stream.zeroed::<u32>(8)?;
            let mut batch = CopyBatch::new();
            batch.copy(&from, &mut w.words)?;
            batch.copy(&scratch, &mut part)?;
            w.stream.copy_batch(batch)
        };
    }
}

pub fn far_rows() -> Vec<Row> {
    rows! {
        "Stream::upload_into", "memory of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.upload_into(&[1; 64], &mut far.words)
        };
        "Stream::download_into", "memory of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.download_into(&far.words, &mut [0; 64])
        };
        "Stream::download", "memory of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.download(&far.words)
        };
        "Stream::copy", "to another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.copy(near.words, &mut far.words)
        };
        "Stream::copy", "from another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.copy(&far.words, near.words)
        };
        "Stream::fill", "memory of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.fill(&mut far.words, 7)
        };
        "Stream::duplicate", "memory of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.duplicate(&far.words)
        };
        "Stream::copy_from_host", "to another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.copy_from_host(near.pinned, &mut far.words)
        };
        "Stream::copy_to_host", "from another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.copy_to_host(&far.words, near.pinned)
        };
        "Stream::copy_batch", "one copy to another device" => Invalid, |w| {
            let (near, far) = w.both();
            let from = near.stream.filled(64, 7_u32)?;
            let mut batch = CopyBatch::new();
            batch.copy(&from, near.words)?;
            batch.copy(&from, &mut far.words)?;
            near.stream.copy_batch(batch)
        };
        "Stream::copy_from_peer", "a shorter part" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.copy_from_peer(&far.stream, &far.words, &mut near.words.slice_mut(1..))
        };
        "Stream::copy_from_peer", "the streams exchanged" => Invalid, |w| {
            let (near, far) = w.both();
            far.stream.copy_from_peer(near.stream, &far.words, near.words)
        };
        "Stream::copy_matrix_from_peer", "fewer rows" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.copy_matrix_from_peer(&far.stream, &far.words.matrix(8, 8)?, &mut near.words.matrix_mut(7, 8)?)
        };
        "Stream::copy_matrix_from_peer", "the streams exchanged" => Invalid, |w| {
            let (near, far) = w.both();
            far.stream.copy_matrix_from_peer(near.stream, &far.words.matrix(8, 8)?, &mut near.words.matrix_mut(8, 8)?)
        };
    }
}
