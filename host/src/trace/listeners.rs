//! Who is told of a piece of work while the host's thread enqueues it: the subscriber of the `tracing` crate, and a tool that listens by NVTX.
//! Each is a feature of this crate; without them this is nothing.

#[cfg(feature = "tracing")]
use std::panic::{AssertUnwindSafe, catch_unwind};

#[cfg(feature = "nvtx")]
use super::nvtx;
#[cfg(feature = "tracing")]
use super::spans;
use super::work::Work;
use crate::context::choice::DeviceChoice;
#[cfg(feature = "tracing")]
use crate::driver_call::callback::drop_payload;

/// A span and a range that are open on this thread, and end with this.
#[must_use]
pub(crate) struct Told {
    #[cfg(feature = "tracing")]
    span: Option<tracing::span::EnteredSpan>,
    #[cfg(feature = "nvtx")]
    _range: Option<nvtx::Range>,
}

/// The work is enqueued, and whoever enqueued it may have to wait for it before it gives memory back that it was lent. A panic of the subscriber,
/// which is printed, does not keep it from that.
#[cfg(feature = "tracing")]
impl Drop for Told {
    fn drop(&mut self) {
        let span = self.span.take();
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(span))) {
            drop_payload(payload);
        }
    }
}

/// Whether somebody may listen to what devices do: one read of a word for each feature.
#[inline(always)]
pub(crate) fn are_there() -> bool {
    #[cfg(feature = "tracing")]
    if spans::are_taken() {
        return true;
    }
    #[cfg(feature = "nvtx")]
    if nvtx::is_loaded() {
        return true;
    }
    false
}

impl Told {
    /// That this thread enqueues a piece of work on the track of this number, or does it itself.
    #[cfg_attr(
        not(any(feature = "tracing", feature = "nvtx")),
        expect(unused_variables)
    )]
    pub(crate) fn of_work(device: DeviceChoice, track: u64, work: &Work<'_>) -> Told {
        Told {
            #[cfg(feature = "tracing")]
            span: Some(spans::of_work(device, track, work).entered()),
            #[cfg(feature = "nvtx")]
            _range: nvtx::Range::begin(&work.name, work.bytes()),
        }
    }

    /// That this thread is in a section of the program.
    #[cfg_attr(
        not(any(feature = "tracing", feature = "nvtx")),
        expect(unused_variables)
    )]
    pub(super) fn of_section(name: &str) -> Told {
        Told {
            #[cfg(feature = "tracing")]
            span: Some(spans::of_section(name).entered()),
            #[cfg(feature = "nvtx")]
            _range: nvtx::Range::begin(name, None),
        }
    }
}
