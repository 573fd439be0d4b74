//! How much work is enqueued at a time, and in which order: ways of the library's to keep copy engines, processors and the host busy.

use std::rc::Rc;

use warpsmith_host::prelude::*;

use crate::compare::Row;

/// Each thread multiplies and adds a thousand times, which takes about as long as the copies of what it works on.
const PTX: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry work(.param .u64 x, .param .u64 n)
{
    .reg .pred %p; .reg .b32 %r<6>; .reg .f32 %f; .reg .b64 %x, %n, %i;
    ld.param.u64 %x, [x];
    ld.param.u64 %n, [n];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    cvt.u64.u32 %i, %r4;
    setp.ge.u64 %p, %i, %n;
    @%p ret;
    shl.b64 %i, %i, 2;
    add.u64 %x, %x, %i;
    ld.global.f32 %f, [%x];
    mov.u32 %r5, 1000;
again:
    fma.rn.f32 %f, %f, 0f3F000000, 0f3F800000;
    sub.u32 %r5, %r5, 1;
    setp.ne.u32 %p, %r5, 0;
    @%p bra again;
    st.global.f32 [%x], %f;
    ret;
}
";

/// Parts of the data, each of which has a stream in the first way.
const PARTS: usize = 8;

/// One part's way: there, through the kernel, and back.
struct Part {
    stream: Rc<Stream>,
    input: PinnedBuffer<f32>,
    output: PinnedBuffer<f32>,
    device: DeviceBuffer<f32>,
}

struct Pipeline {
    kernel: UntypedKernel<(Out<f32>,)>,
    parts: Vec<Part>,
}

impl Pipeline {
    /// Parts with a stream each, or with one for all.
    fn new(gpu: &Gpu, one_stream: bool) -> Result<Pipeline> {
        let len = if gpu.is_simulator() { 256 } else { 4 << 20 };
        let shared = Rc::new(gpu.stream()?);
        let parts = (0..PARTS).map(|_| {
            let stream = if one_stream {
                shared.clone()
            } else {
                Rc::new(gpu.stream()?)
            };
            Ok(Part {
                input: gpu.pinned(len)?,
                output: gpu.pinned(len)?,
                device: stream.zeroed(len)?,
                stream,
            })
        });
        Ok(Pipeline {
            kernel: gpu.load(PTX)?.untyped_kernel("work")?,
            parts: parts.collect::<Result<_>>()?,
        })
    }

    /// Each part's three steps one after the other.
    fn depth_first(&mut self, gpu: &Gpu) -> Result<()> {
        for part in &mut self.parts {
            part.send()?;
            part.work(&self.kernel)?;
            part.fetch()?;
        }
        gpu.synchronize()
    }

    /// Each step of all parts.
    fn breadth_first(&mut self, gpu: &Gpu) -> Result<()> {
        self.parts.iter_mut().try_for_each(Part::send)?;
        let kernel = &self.kernel;
        self.parts
            .iter_mut()
            .try_for_each(|part| part.work(kernel))?;
        self.parts.iter_mut().try_for_each(Part::fetch)?;
        gpu.synchronize()
    }
}

impl Part {
    fn send(&mut self) -> Result<()> {
        self.stream.copy_from_host(&self.input, &mut self.device)
    }

    fn work(&mut self, kernel: &UntypedKernel<(Out<f32>,)>) -> Result<()> {
        let grid = Grid::cover(self.device.len(), 256);
        // SAFETY: the entry takes a slice, and writes only that.
        unsafe {
            self.stream
                .launch_untyped(kernel, grid, (&mut self.device,))
        }
    }

    fn fetch(&mut self) -> Result<()> {
        self.stream.copy_to_host(&self.device, &mut self.output)
    }
}

/// Copy, kernel and copy back of eight parts: in eight streams, in one.
// covers: STREAM-20
pub fn streams(gpu: &Gpu) -> Result<Row> {
    let (mut several, mut one) = (Pipeline::new(gpu, false)?, Pipeline::new(gpu, true)?);
    Row::measure(
        gpu,
        "16 MiB there, a kernel, and back, eight times: in eight streams, in one",
        "1",
        1,
        || several.depth_first(gpu),
        || one.depth_first(gpu),
    )
}

/// The same in eight streams: step by step, part by part.
// covers: STREAM-14
pub fn order_of_issue(gpu: &Gpu) -> Result<Row> {
    let (mut by_step, mut by_part) = (Pipeline::new(gpu, false)?, Pipeline::new(gpu, false)?);
    Row::measure(
        gpu,
        "the same in eight streams: each step of all parts, each part by itself",
        "(none)",
        1,
        || by_step.breadth_first(gpu),
        || by_part.depth_first(gpu),
    )
}

/// A thousand pieces of 1 KiB: gathered in page-locked memory and copied at once, copied one by one.
// covers: PINNED-11
pub fn small_copies(gpu: &Gpu) -> Result<Row> {
    const PIECE: usize = 1024;
    let pieces = if gpu.is_simulator() { 8 } else { 1000 };
    let stream = gpu.stream()?;
    let data = vec![vec![1_u8; PIECE]; pieces];
    let mut staging = gpu.pinned::<u8>(pieces * PIECE)?;
    let mut gathered = stream.zeroed::<u8>(staging.len())?;
    let page_locked = gpu.pinned::<u8>(staging.len())?;
    let mut one_by_one = stream.zeroed::<u8>(page_locked.len())?;
    Row::measure(
        gpu,
        format!(
            "{pieces} pieces of 1 KiB to the device: gathered on the host and copied, copied each"
        ),
        "1",
        1,
        || {
            let mut room = staging.host_mut()?;
            for (place, piece) in room.chunks_mut(PIECE).zip(&data) {
                place.copy_from_slice(piece);
            }
            drop(room);
            stream.copy_from_host(&staging, &mut gathered)?;
            stream.synchronize()
        },
        || {
            for start in (0..page_locked.len()).step_by(PIECE) {
                let range = start..start + PIECE;
                let mut to = one_by_one.slice_mut(range.clone());
                stream.copy_from_host(&page_locked.slice(range), &mut to)?;
            }
            stream.synchronize()
        },
    )
}
