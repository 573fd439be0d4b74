//! The tracks of a trace: one for each stream, one for each thread of the host.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::context::primary::Context;
use crate::driver_call::stream_ref::StreamRef;
use crate::order::stream_handle::{StreamHandle, StreamRole};

/// The tracks of the host's threads begin here, beyond all streams that a process makes. Viewers keep 32 bits, and 0 for themselves; the
/// streams have their own numbers, which begin with 1.
const FIRST_THREAD: u64 = 1 << 31;
/// The track of this crate's own stream.
const SERVICE: u64 = FIRST_THREAD - 1;
/// That of the one behind others.
const FOLLOWER: u64 = FIRST_THREAD - 2;

/// A stream, and where its work is shown.
#[derive(Clone, Copy)]
pub(crate) struct Track<'a> {
    stream: StreamRef<'a>,
    number: u64,
    is_legacy: bool,
}

impl<'a> Track<'a> {
    /// Of a stream, unless it is being captured: then nothing of it runs.
    pub(crate) fn of(stream: &'a StreamHandle) -> Option<Track<'a>> {
        (!stream.is_captured()).then(|| Track {
            stream: stream.stream_ref(),
            number: stream.number(),
            is_legacy: stream.role == StreamRole::Legacy,
        })
    }

    /// Of this crate's follower stream.
    pub(crate) fn follower(stream: StreamRef<'a>) -> Track<'a> {
        Track {
            stream,
            number: FOLLOWER,
            is_legacy: false,
        }
    }

    /// Of the stream for what this crate enqueues on its own account and waits for.
    pub(crate) fn service(context: &'a Context) -> Track<'a> {
        Track {
            stream: context.service_stream(),
            number: SERVICE,
            is_legacy: false,
        }
    }

    pub(super) fn stream(self) -> StreamRef<'a> {
        self.stream
    }

    /// Whether it is that of the legacy default stream.
    pub(super) fn is_legacy(self) -> bool {
        self.is_legacy
    }

    pub(crate) fn number(self) -> u64 {
        self.number
    }
}

/// The track of the calling thread.
pub(super) fn host_thread() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(FIRST_THREAD);
    thread_local! {
        static OWN: u64 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    OWN.with(|own| *own)
}

/// What the track of this number is called.
pub(super) struct NameOfTrack(pub(super) u64);

impl fmt::Display for NameOfTrack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            SERVICE => f.write_str("the library's own stream"),
            FOLLOWER => f.write_str("the library's stream behind others"),
            thread @ FIRST_THREAD.. => write!(f, "host thread {}", thread - FIRST_THREAD + 1),
            stream => write!(f, "stream {stream}"),
        }
    }
}
