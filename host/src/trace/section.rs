//! Sections of the program, which it names itself.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::time::Instant;

use super::file::{Span, TraceFile};
use super::listeners::Told;
use super::track::host_thread;
use super::work::Work;

/// The program itself, among the devices of a trace.
const PROGRAM: &str = "the program";

/// A section of the program, from [`range`] until this is dropped, on one thread.
#[must_use = "the section ends at once"]
pub struct Range {
    name: Cow<'static, str>,
    start: Instant,
    _told: Told,
    /// Neither `Send` nor `Sync`: a section is of the thread that began it.
    _of_this_thread: PhantomData<*mut ()>,
}

/// Begins a section of the program on this thread, to be seen among what devices do: in the file of `WARPSMITH_TRACE`, as a span of the `tracing` crate
/// (`section`, at the level `INFO`) where this crate has its feature `tracing`, and as a range of NVTX where it has its feature `nvtx`.
///
/// It ends when the result is dropped. Sections of a thread end in the reverse order of their beginnings, as local variables do; in another order
/// an NVTX tool shows them with each other's ends. One that is forgotten stays open there, and is not in the file; neither is one that ends after the
/// file was written for the last time.
///
/// Where nothing listens, it costs a read of the clock and of a word or two.
///
/// ```
/// use warpsmith_host::prelude::*;
/// use warpsmith_host::trace;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let _all = trace::range("preparation");
/// let words = {
///     let _upload = trace::range(format!("upload {}", 1));
///     stream.upload(&[1, 2, 3])?
/// };
/// # drop(words);
/// # Ok(())
/// # }
/// ```
pub fn range(name: impl Into<Cow<'static, str>>) -> Range {
    let name = name.into();
    Range {
        _told: Told::of_section(&name),
        start: Instant::now(),
        name,
        _of_this_thread: PhantomData,
    }
}

impl Drop for Range {
    fn drop(&mut self) {
        let Some(file) = TraceFile::known() else {
            return;
        };
        let end = file.time_of(Instant::now());
        // It may have begun before the file did.
        let start = file.time_of(self.start);
        let name = std::mem::take(&mut self.name);
        file.add(Span {
            device: file.add_device(PROGRAM.into()),
            track: host_thread(),
            start,
            duration: end - start,
            work: Work::section(name),
        });
    }
}

impl std::fmt::Debug for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Range({:?})", self.name)
    }
}
