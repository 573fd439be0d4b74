//! Copies and fills, as methods of the stream in which they happen.
//!
//! | method | returns when | order |
//! | --- | --- | --- |
//! | [`Stream::upload_into`] | the host's data has been read | after the stream's earlier work; in a capture, a copy of the data is read at each launch |
//! | [`Stream::download`], [`Stream::download_into`] | the data has arrived; everything before in the stream is done | same |
//! | [`Stream::copy`], [`Stream::fill`] | at once | same |
//! | [`Stream::copy_from_host`], [`Stream::copy_to_host`] | at once; the pinned memory is closed to the host until it is done | same |

use bytemuck::Pod;
use warpsmith_driver::raw;

use super::buffer::DeviceBuffer;
use super::host_memory::HostView;
use super::linear_copy;
use super::pinned_slice::{PinnedRead, PinnedWrite};
use super::size::length_mismatch;
use super::used::Use;
use super::view::{DeviceRead, DeviceWrite, RawView, ViewUse};
use crate::driver_call::call;
use crate::driver_call::stream_ref::StreamRef;
use crate::error::Result;
use crate::gpu::Gpu;
use crate::order::access::AccessKind;
use crate::panics::write_mark::WriteMark;
use crate::stream::Stream;
use crate::trace::track::Track;
use crate::trace::work::Work;

impl Stream {
    /// Copies `data` to the device. Waits until it has been read, which means for the stream's earlier work;
    /// [`copy_from_host`](Self::copy_from_host) does not.
    ///
    /// In a stream that is being captured nothing is waited for: the graph keeps a copy of the data as it is now, in page-locked memory, and each
    /// launch copies that.
    ///
    /// # Errors
    ///
    /// The lengths differ, or something went wrong on the device before.
    pub fn upload_into<T: Pod, D: DeviceWrite<Item = T> + ?Sized>(
        &self,
        data: &[T],
        to: &mut D,
    ) -> Result<()> {
        const CALL: &str = "cuMemcpyHtoDAsync";
        let to = to.raw_view();
        if data.len() != to.len {
            return Err(length_mismatch(CALL, data.len(), to.len));
        }
        if to.bytes == 0 {
            return Ok(());
        }
        self.read_from_host(CALL, to.bytes, data, to, |data| {
            // SAFETY: both sides have `to.bytes` bytes (the lengths are compared above), and are there until the copy is done
            // (`read_from_host`).
            unsafe { linear_copy::from_host(to, data.cast(), to.bytes, self.handle.stream_ref()) }
        })
    }

    /// The contents of a buffer or a slice, on the host. Waits for the stream.
    ///
    /// # Errors
    ///
    /// What went wrong on the device before, a kernel's panic for example; or the stream is being captured. [`Error::Unfinished`](crate::Error::Unfinished)
    /// where another library's work that was to write the memory was given up.
    pub fn download<S: DeviceRead + ?Sized>(&self, from: &S) -> Result<Vec<S::Item>> {
        let mut data = vec![bytemuck::Zeroable::zeroed(); from.raw_view().len];
        self.download_into(from, &mut data)?;
        Ok(data)
    }

    /// As [`download`](Self::download), into memory that is there already.
    pub fn download_into<S: DeviceRead + ?Sized>(
        &self,
        from: &S,
        data: &mut [S::Item],
    ) -> Result<()> {
        const CALL: &str = "cuMemcpyDtoHAsync";
        self.handle.refuse_capture(
            CALL,
            "the host would have to wait for the data",
            "copy to page-locked memory (`copy_to_host`), which each launch writes, or download after launching the graph",
        )?;
        let from = from.raw_view();
        if from.len != data.len() {
            return Err(length_mismatch(CALL, from.len, data.len()));
        }
        if from.bytes == 0 {
            return self.synchronize();
        }
        self.in_order(CALL, from.bytes, &[from.used_for(AccessKind::Read)], || {
            // SAFETY: both sides have `from.bytes` bytes (the lengths are compared above). `in_order` keeps the source until its last
            // use; the destination is borrowed until the wait below.
            unsafe {
                let stream = self.handle.stream_ref();
                linear_copy::to_host(data.as_mut_ptr().cast(), from, from.bytes, stream)
            }
        })?;
        self.wait_for_borrowed_host_memory()?;
        // After the wait, which may have ended because the work was given up.
        from.check_finished(CALL)
    }

    /// Copies from device memory to device memory.
    ///
    /// # Errors
    ///
    /// The lengths differ.
    pub fn copy<S, D>(&self, from: &S, to: &mut D) -> Result<()>
    where
        S: DeviceRead + ?Sized,
        D: DeviceWrite<Item = S::Item> + ?Sized,
    {
        const CALL: &str = "cuMemcpyDtoDAsync";
        let (from, to) = (from.raw_view(), to.raw_view());
        if from.len != to.len {
            return Err(length_mismatch(CALL, from.len, to.len));
        }
        if to.bytes == 0 {
            return Ok(());
        }
        self.copy_in_order(CALL, to.bytes, from, to, || {
            // SAFETY: both sides have `to.bytes` bytes (the lengths are compared above), and `in_order` keeps them until their last
            // use.
            unsafe { linear_copy::between((to, 0), (from, 0), to.bytes, self.handle.stream_ref()) }
        })
    }

    /// Sets every element to `value`.
    // covers: MEM-18
    pub fn fill<D: DeviceWrite + ?Sized>(&self, to: &mut D, value: D::Item) -> Result<()> {
        const CALL: &str = "cuMemsetAsync";
        let to = to.raw_view();
        if to.bytes == 0 {
            return Ok(());
        }
        let Some(pattern) = Pattern::of(bytemuck::bytes_of(&value)) else {
            // Wider than the driver's patterns and not a repetition of one: lay one element down by a copy, then double it.
            return self.fill_by_doubling(to, to.bytes, &value, || Ok(()));
        };
        self.in_order(CALL, to.bytes, &[to.used_for(AccessKind::Write)], || {
            pattern.set(to, self.handle.stream_ref())
        })
    }

    /// Fills the first `filled` bytes of the view, at least one element, and enqueues what else writes it.
    pub(super) fn fill_by_doubling<T: Pod>(
        &self,
        to: RawView<'_>,
        filled: usize,
        value: &T,
        enqueue_rest: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let value = std::slice::from_ref(value);
        let stream = self.handle.stream_ref();
        self.read_from_host("cuMemsetAsync", to.bytes, value, to, |element| {
            let mut done = size_of_val(value);
            // SAFETY: the view has at least one element (the callers return for none), of `done` bytes; both are there until the copy is done
            // (`read_from_host`).
            unsafe { linear_copy::from_host(to, element.cast(), done, stream) }?;
            while done < filled {
                let next = done.min(filled - done);
                // SAFETY: the source ends at `done`, where the destination starts, which ends at `filled` at most, within the view, which is there
                // until the copy is done (`read_from_host`).
                unsafe { linear_copy::between((to, done), (to, 0), next, stream) }?;
                done += next;
            }
            enqueue_rest()
        })
    }

    /// Starts a copy from page-locked memory to the device and returns. Until it is done the memory cannot be had for writing.
    ///
    /// # Errors
    ///
    /// The lengths differ.
    // covers: STREAM-05, STREAM-21
    pub fn copy_from_host<S, D>(&self, from: &S, to: &mut D) -> Result<()>
    where
        S: PinnedRead + ?Sized,
        D: DeviceWrite<Item = S::Item> + ?Sized,
    {
        const CALL: &str = "cuMemcpyHtoDAsync";
        let (HostView { view: from, host }, to) = (from.pinned_view(), to.raw_view());
        if from.len != to.len {
            return Err(length_mismatch(CALL, from.len, to.len));
        }
        if to.bytes == 0 {
            return Ok(());
        }
        self.copy_in_order(CALL, to.bytes, from, to, || {
            // SAFETY: both sides have `to.bytes` bytes (the lengths are compared above). `in_order` keeps both until their last use,
            // and `check_host_access` keeps the host from writing the source meanwhile.
            unsafe { linear_copy::from_host(to, host.cast(), to.bytes, self.handle.stream_ref()) }
        })
    }

    /// Starts a copy from the device to page-locked memory and returns. Until it is done the memory is closed to the host.
    ///
    /// Where `from` is memory of the host, too (mapped or registered), the driver may copy on the calling thread, after all that the stream
    /// holds ("API synchronization behavior" in the driver API's manual): do not let the stream wait for this thread then.
    ///
    /// # Errors
    ///
    /// The lengths differ.
    pub fn copy_to_host<S, D>(&self, from: &S, to: &mut D) -> Result<()>
    where
        S: DeviceRead + ?Sized,
        D: PinnedWrite<Item = S::Item> + ?Sized,
    {
        const CALL: &str = "cuMemcpyDtoHAsync";
        let (from, HostView { view: to, host }) = (from.raw_view(), to.pinned_view());
        if from.len != to.len {
            return Err(length_mismatch(CALL, from.len, to.len));
        }
        if to.bytes == 0 {
            return Ok(());
        }
        self.copy_in_order(CALL, to.bytes, from, to, || {
            // SAFETY: both sides have `to.bytes` bytes (the lengths are compared above). `in_order` keeps both until their last use,
            // and `check_host_access` keeps the host from the destination meanwhile.
            unsafe { linear_copy::to_host(host.cast(), from, to.bytes, self.handle.stream_ref()) }
        })
    }

    /// A copy of the buffer in device memory.
    pub fn duplicate<S: DeviceRead + ?Sized>(&self, from: &S) -> Result<DeviceBuffer<S::Item>> {
        let mut copy = DeviceBuffer::raw(self, from.raw_view().len)?;
        self.copy(from, &mut copy)?;
        Ok(copy)
    }

    /// Enqueues a copy of so many bytes after all that earlier uses of both sides conflict with.
    pub(super) fn copy_in_order(
        &self,
        call: &'static str,
        bytes: usize,
        from: RawView<'_>,
        to: RawView<'_>,
        enqueue: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        from.check_finished(call)?;
        let uses = [
            from.used_for(AccessKind::Read),
            to.used_for(AccessKind::Write),
        ];
        self.in_order(call, bytes, &uses, enqueue)
    }

    /// Enqueues work on so many bytes after all that its memory's earlier uses conflict with.
    pub(super) fn in_order(
        &self,
        call: &'static str,
        bytes: usize,
        uses: &[ViewUse<'_>],
        enqueue: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let number = self.handle.current_number();
        let mut fast = true;
        for used in uses.iter().filter_map(ViewUse::of_memory) {
            used.check_stream(call, self)?;
            fast &= used.is_owned_by(number, &self.gpu);
        }
        self.gpu.bind()?;
        if fast {
            for ViewUse { view, kind } in uses {
                if let Some(allocation) = view.allocation
                    && *kind == AccessKind::Write
                {
                    let launch = self.handle.timeline().after_last();
                    allocation.note_write(WriteMark::of(launch));
                }
            }
            return self.traced_copy(call, bytes, enqueue);
        }
        let uses = uses.iter().filter_map(ViewUse::of_memory);
        self.after_uses(call, bytes, uses, enqueue)
    }

    /// Enqueues work on so many bytes after all that these uses conflict with. The device's context is bound; its work may use the memory, or it is put in
    /// one order with the devices whose work does.
    pub(super) fn after_uses<'u>(
        &self,
        call: &'static str,
        bytes: usize,
        uses: impl Iterator<Item = Use<'u>>,
        enqueue: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let guard = self.gpu.lock_order();
        // Until it is enqueued.
        let launch = self.handle.timeline().next();
        for used in uses {
            used.order(call, &guard, self, &launch)?;
        }
        self.traced_copy(call, bytes, enqueue)
    }

    fn traced_copy(
        &self,
        call: &'static str,
        bytes: usize,
        enqueue: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let track = || Track::of(&self.handle);
        self.gpu.traced(track, || Work::call(call, bytes), enqueue)
    }

    /// Enqueues what writes `to`, so many bytes of it, and reads `data` at the address that `enqueue` is given, and waits until it is done. In a captured
    /// stream the address is that of a copy, which the graph keeps and each launch reads. Either is there until the work is done, and so is `to`.
    pub(super) fn read_from_host<T: Pod>(
        &self,
        call: &'static str,
        bytes: usize,
        data: &[T],
        to: RawView<'_>,
        enqueue: impl FnOnce(*const T) -> Result<()>,
    ) -> Result<()> {
        let to = to.used_for(AccessKind::Write);
        if self.handle.is_captured() {
            let kept = Gpu::from(&self.gpu).pinned_from(data)?;
            let HostView { view, host } = kept.pinned_view();
            let uses = [view.used_for(AccessKind::Read), to];
            return self.in_order(call, bytes, &uses, || enqueue(host.cast()));
        }
        self.in_order(call, bytes, &[to], || enqueue(data.as_ptr()))?;
        // Not only for ordinary memory that the driver stages: the slice may be page-locked (a `HostRead` is), or the system may let
        // the device read pageable memory itself. Then the copy is still running when the call returns.
        self.wait_for_borrowed_host_memory()
    }

    /// Whatever the result: when this returns the device does not touch the borrowed host memory any more.
    pub(super) fn wait_for_borrowed_host_memory(&self) -> Result<()> {
        self.synchronize()
    }
}

/// A fill that the driver has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pattern {
    D8(u8),
    D16(u16),
    D32(u32),
}

impl Pattern {
    /// The narrowest pattern whose repetition is `bytes`.
    pub(crate) fn of(bytes: &[u8]) -> Option<Pattern> {
        let repeats = |n: usize| {
            bytes.len().is_multiple_of(n) && bytes.chunks(n).all(|chunk| chunk == &bytes[..n])
        };
        if repeats(1) {
            Some(Pattern::D8(bytes[0]))
        } else if repeats(2) {
            Some(Pattern::D16(u16::from_ne_bytes([bytes[0], bytes[1]])))
        } else if repeats(4) {
            Some(Pattern::D32(u32::from_ne_bytes([
                bytes[0], bytes[1], bytes[2], bytes[3],
            ])))
        } else {
            None
        }
    }

    /// Enqueues the fill of `rows` rows of `bytes` bytes, which begin `pitch` bytes after each other from the view's start on.
    ///
    /// # Safety
    ///
    /// The rows lie in the view, `bytes` and `pitch` are multiples of the pattern's size, and the work is put in order as a write of the view.
    pub(super) unsafe fn set_rows(
        self,
        to: RawView<'_>,
        (rows, bytes, pitch): (usize, usize, usize),
        stream: StreamRef<'_>,
    ) -> Result<()> {
        let (address, stream) = (to.address, stream.raw());
        // SAFETY: the rows are the view's and aligned to the pattern by the caller's contract; `stream` says that the stream is alive.
        unsafe {
            match self {
                Pattern::D8(value) => {
                    call!(cuMemsetD2D8Async(
                        address, pitch, value, bytes, rows, stream
                    ))
                }
                Pattern::D16(value) => {
                    call!(cuMemsetD2D16Async(
                        address,
                        pitch,
                        value,
                        bytes / 2,
                        rows,
                        stream
                    ))
                }
                Pattern::D32(value) => {
                    call!(cuMemsetD2D32Async(
                        address,
                        pitch,
                        value,
                        bytes / 4,
                        rows,
                        stream
                    ))
                }
            }
        }
    }

    /// The fill of a view in the driver's form, for a node of a graph.
    pub(crate) fn parameters(self, to: RawView<'_>) -> raw::CUDA_MEMSET_NODE_PARAMS {
        let (value, size) = match self {
            Pattern::D8(value) => (value.into(), 1),
            Pattern::D16(value) => (value.into(), 2),
            Pattern::D32(value) => (value, 4),
        };
        raw::CUDA_MEMSET_NODE_PARAMS {
            dst: to.address,
            pitch: to.bytes,
            value,
            elementSize: size,
            width: to.bytes / size as usize,
            height: 1,
        }
    }

    /// Enqueues the fill.
    pub(crate) fn set(self, to: RawView<'_>, stream: StreamRef<'_>) -> Result<()> {
        let (address, bytes, stream) = (to.address, to.bytes, stream.raw());
        // SAFETY: the range is the view's, whose allocation is freed after its last use, which this is put in order as (`in_order`, or the
        // graph that keeps it); `stream` says that the stream is alive. The driver wants the address aligned to the pattern: views
        // start at a multiple of the element size from an aligned base, and the pattern divides the element size.
        unsafe {
            match self {
                Pattern::D8(value) => call!(cuMemsetD8Async(address, value, bytes, stream)),
                Pattern::D16(value) => call!(cuMemsetD16Async(address, value, bytes / 2, stream)),
                Pattern::D32(value) => call!(cuMemsetD32Async(address, value, bytes / 4, stream)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        assert_eq!(Pattern::of(&0_u64.to_ne_bytes()), Some(Pattern::D8(0)));
        assert_eq!(
            Pattern::of(&[1, 2, 1, 2]),
            Some(Pattern::D16(u16::from_ne_bytes([1, 2])))
        );
        assert_eq!(
            Pattern::of(&1.5_f32.to_ne_bytes()),
            Some(Pattern::D32(1.5_f32.to_bits()))
        );
        assert_eq!(Pattern::of(&1.1_f64.to_ne_bytes()), None);
        assert_eq!(Pattern::of(&[1, 2, 3]), None);
        assert_eq!(Pattern::of(&[7, 7, 7]), Some(Pattern::D8(7)));
    }
}
