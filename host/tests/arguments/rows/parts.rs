//! Parts of memory, and downloads that are awaited.

use warpsmith_host::prelude::*;

use crate::row::{Row, rows};

pub fn rows() -> Vec<Row> {
    rows! {
        "whole_buffer::try_slice", "an end out of bounds" => Invalid, |w| w.words.try_slice(..65);
        "whole_buffer::try_slice_mut", "an end before the start" => Invalid, |w| w.words.try_slice_mut(Bounds(3, 2));
        "DeviceSlice::try_slice", "a start out of bounds" => Invalid, |w| w.words.slice(8..).try_slice(57..);
        "DeviceSliceMut::try_slice", "an end behind the last index" => Invalid, |w| w.words.slice_mut(8..).try_slice(..=usize::MAX);
        "DeviceSliceMut::try_slice_mut", "an end out of bounds" => Invalid, |w| w.words.slice_mut(8..).try_slice_mut(..57);
        "DeviceSliceMut::try_split_at_mut", "a middle out of bounds" => Invalid, |w| {
            let refused = w.words.slice_mut(8..).try_split_at_mut(57);
            refused.map_err(Error::from)
        };
        "PinnedSlice::try_slice", "an end out of bounds" => Invalid, |w| w.pinned.slice(8..).try_slice(..57);
        "PinnedSliceMut::try_slice_mut", "an end out of bounds" => Invalid, |w| w.pinned.slice_mut(8..).try_slice_mut(..57);
        "Stream::download_async", "memory of a graph" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            w.stream.download_async(&graph.zeroed::<u32>(64)?).map(drop)
        };
        "Stream::download_into_async", "fewer elements than the buffer has" => Invalid, |w| {
            w.stream.download_into_async(&w.words.slice(1..), &mut w.pinned).map(drop)
        };
        "Stream::join", "a stream that is captured" => Invalid, |w| w.other.capture(|capture| w.stream.join(capture));
    }
}

/// A range whose end may lie before its start.
struct Bounds(usize, usize);

impl std::ops::RangeBounds<usize> for Bounds {
    fn start_bound(&self) -> std::ops::Bound<&usize> {
        std::ops::Bound::Included(&self.0)
    }

    fn end_bound(&self) -> std::ops::Bound<&usize> {
        std::ops::Bound::Excluded(&self.1)
    }
}
