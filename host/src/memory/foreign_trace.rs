//! Work of another library in the trace: a span in each of its streams.

use crate::stream::Stream;
use crate::trace::Begun;
use crate::trace::listeners::Told;
use crate::trace::track::Track;
use crate::trace::work::Work;

/// Begins a span in each of these streams that is traced, with the bytes that the work touches there.
pub(super) fn begin_trace<'a>(
    call: &'static str,
    streams: &[&'a Stream],
    bytes: impl Fn(&Stream) -> usize,
) -> Vec<TracedPart<'a>> {
    let mut traced: Vec<TracedPart<'_>> = Vec::new();
    for &stream in streams {
        let gpu = &stream.gpu;
        let is_known = traced
            .iter()
            .any(|known| *known.stream.handle == *stream.handle);
        if is_known || !gpu.is_traced() {
            continue;
        }
        let Some(track) = Track::of(&stream.handle) else {
            continue;
        };
        let work = Work::call(call, bytes(stream));
        traced.push(TracedPart {
            told: Told::of_work(gpu.context().choice, track.number(), &work),
            begun: gpu.trace().map(|trace| trace.begin(track)),
            stream,
            track,
            work,
        });
    }
    traced
}

/// The part of the work that is in one stream, between its beginning and its end in the trace.
pub(super) struct TracedPart<'a> {
    stream: &'a Stream,
    track: Track<'a>,
    work: Work<'a>,
    /// In the file, where there is one.
    begun: Option<Option<Begun>>,
    told: Told,
}

/// Ends the spans, in the reverse order of their beginnings.
pub(super) fn end_trace(parts: Vec<TracedPart<'_>>) {
    for part in parts.into_iter().rev() {
        drop(part.told);
        if let (Some(trace), Some(begun)) = (part.stream.gpu.trace(), part.begun) {
            trace.end(part.track, begun, part.work);
        }
    }
}
