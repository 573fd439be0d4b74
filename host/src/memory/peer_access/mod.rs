//! Memory of one device, used by another.
//!
//! | file | what |
//! | --- | --- |
//! | `right` | what the driver was told, and how often that was asked for |
//! | `views` | the memory as the other device's work takes it |

mod right;
mod views;

use std::any::Any;
use std::sync::{Arc, Mutex};

pub(crate) use self::right::ReachedMemory;
use self::right::Right;
use super::allocation::Allocation;
use super::released::MemoryKind;
use crate::context::primary::Context;
use crate::error::{Busy, Code, Error, Refused, Result};
use crate::gpu::Gpu;
use crate::gpu::open_device::{DeviceState, OpenDevice};
use crate::gpu::peer::require_reach;
use crate::order::order_lock::OrderGuard;
use crate::order::position::StreamPosition;
use crate::order::stream_handle::StreamHandle;
use crate::reclaim::{FreeCost, Reclaim};
use crate::sync::lock;

/// That a device may use memory of another one, and the proof of it: it makes views by which kernels, copies and fills of the one take
/// buffers of the other.
///
/// It is for one direction, and for one kind of memory:
///
/// | granted by | for |
/// | --- | --- |
/// | [`MemoryPool::allow_peer`](crate::MemoryPool::allow_peer) | the buffers of a pool; those that streams make come from [`Gpu::default_pool`] unless [`Gpu::use_pool`] says otherwise |
/// | [`GrowableBuffer::allow_peer`](crate::GrowableBuffer::allow_peer) | that buffer, as it is and as it grows |
/// | [`DeviceBuffer::allow_peer`](crate::DeviceBuffer::allow_peer) | a mapping of physical memory |
/// | [`Gpu::allow_peer`] | the buffers of [`Gpu::exportable`] |
///
/// Memory of the host, page-locked or unified, needs none of it.
///
/// Uses on both devices are put in order as those in two streams of one device are. The memory stays as long as either device uses it, in
/// whichever order buffers, streams and devices are dropped. Dropping the access does not wait: it ends after the last use that
/// it was for, in graphs, too. Until then it keeps both devices open.
///
/// ```no_run
/// # use warpsmith_device::prelude::*;
/// # #[kernel]
/// # pub fn saxpy(a: f32, x: &[f32], mut y: PerThread<[f32]>) {}
/// # const PTX: &str = "";
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// let (one, other) = (Gpu::open(DeviceChoice::Cuda(0))?, Gpu::open(DeviceChoice::Cuda(1))?);
/// let (here, there) = (one.stream()?, other.stream()?);
/// let x = here.upload(&[1.0, 2.0, 3.0])?;
/// let mut y = there.zeroed::<f32>(3)?;
///
/// let access = one.default_pool()?.allow_peer(&other)?;
/// let saxpy = other.load(PTX)?.kernel(saxpy)?;
/// // It waits for the upload by itself, and reads `x` over the link.
/// there.launch(&saxpy, Grid::cover(3, 128), (2.0, &access.view(&x)?, &mut y))?;
/// assert_eq!(there.download(&y)?, [2.0, 4.0, 6.0]);
/// access.revoke()?;
/// # Ok(())
/// # }
/// ```
// covers: MULTI-07, MULTI-X04
pub struct PeerAccess {
    accessor: Arc<OpenDevice>,
    owner: Arc<OpenDevice>,
    /// Shared with captures and graphs whose nodes use it. `None` where there is no memory, and while the access ends.
    right: Option<Arc<Right>>,
    /// The streams that were given work which uses it, but for those that had done it when another one was added.
    users: Mutex<Vec<Arc<StreamHandle>>>,
}

impl Gpu {
    /// Lets another device use this one's plain memory, that of [`Gpu::exportable`]. Memory of pools is let used by
    /// [`MemoryPool::allow_peer`](crate::MemoryPool::allow_peer).
    ///
    /// ```no_run
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// let (one, other) = (Gpu::open(DeviceChoice::Cuda(0))?, Gpu::open(DeviceChoice::Cuda(1))?);
    /// let shared = one.exportable::<u32>(1 << 20)?;
    /// let access = one.allow_peer(&other)?;
    /// let words = other.stream()?.download(&access.view(&shared)?)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// `peer` is the same device, the two cannot reach each other ([`Gpu::can_access_peer`]), or `peer` reaches as many others as it can.
    pub fn allow_peer(&self, peer: &Gpu) -> Result<PeerAccess> {
        let memory = ReachedMemory::Plain;
        PeerAccess::grant("cuCtxEnablePeerAccess", &self.inner, &peer.inner, memory)
    }
}

impl PeerAccess {
    /// Lets `accessor` use this memory of `owner`.
    ///
    /// # Errors
    ///
    /// They are one device, or cannot reach each other; what the driver says.
    pub(super) fn grant(
        call: &'static str,
        owner: &Arc<OpenDevice>,
        accessor: &Arc<OpenDevice>,
        memory: ReachedMemory,
    ) -> Result<PeerAccess> {
        PeerAccess::of(call, owner, accessor, Some(memory))
    }

    fn of(
        call: &'static str,
        owner: &Arc<OpenDevice>,
        accessor: &Arc<OpenDevice>,
        memory: Option<ReachedMemory>,
    ) -> Result<PeerAccess> {
        require_reach(call, accessor, owner)?;
        let grant = |memory| Right::grant(accessor.context(), owner.context(), memory);
        let right = memory.map(grant).transpose()?;
        Ok(PeerAccess {
            accessor: accessor.clone(),
            owner: owner.clone(),
            right: right.map(Arc::new),
            users: Mutex::default(),
        })
    }

    /// Lets `accessor` use what is mapped at the addresses of this allocation; `None` has no memory.
    ///
    /// # Errors
    ///
    /// It is no mapping; and those of [`grant`](Self::grant).
    pub(super) fn to_mapping(
        owner: &Arc<OpenDevice>,
        accessor: &Arc<OpenDevice>,
        allocation: Option<&Arc<Allocation>>,
    ) -> Result<PeerAccess> {
        const CALL: &str = "cuMemSetAccess";
        let memory = match allocation.map(|allocation| &allocation.kind) {
            Some(MemoryKind::Virtual(range)) => Some(ReachedMemory::Mapped(range.clone())),
            None => None,
            Some(_) => {
                return Err(Error::misuse(
                    CALL,
                    Code::INVALID_VALUE,
                    "the buffer is no mapping of physical memory",
                    "memory of a pool is let used by the pool: `gpu.default_pool()?.allow_peer(..)`; that of `exportable`, by `gpu.allow_peer(..)`",
                ));
            }
        };
        PeerAccess::of(CALL, owner, accessor, memory)
    }

    /// The device that may use the memory.
    pub fn peer(&self) -> Gpu {
        Gpu::from(&self.accessor)
    }

    /// The memory's device.
    pub fn owner(&self) -> Gpu {
        Gpu::from(&self.owner)
    }

    /// The device that may use the memory.
    pub(crate) fn accessor(&self) -> &Arc<OpenDevice> {
        &self.accessor
    }

    /// Whether it lets this device use memory of that one.
    pub(super) fn is_for(&self, accessor: &Arc<OpenDevice>, owner: &Arc<OpenDevice>) -> bool {
        Arc::ptr_eq(&self.accessor, accessor) && Arc::ptr_eq(&self.owner, owner)
    }

    /// What a graph keeps whose nodes use the access.
    pub(crate) fn keeper(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        let right = self.right.clone()?;
        Some(right)
    }

    /// Notes that work is about to be enqueued in this stream which uses the access. The order lock is that of the stream's device.
    pub(super) fn note_user(&self, guard: &OrderGuard<'_>, stream: &Arc<StreamHandle>) {
        let mut users = lock(&self.users);
        if !users.iter().any(|user| Arc::ptr_eq(user, stream)) {
            // An error means that the context is lost: nothing runs any more.
            users.retain(|user| !user.past_is_done(guard).unwrap_or(true));
            users.push(stream.clone());
        }
    }

    /// Ends the access now, unless another one is for the same memory: then with that. What was there before this crate asked for it stays.
    ///
    /// ```no_run
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// let (one, other) = (Gpu::open(DeviceChoice::Cuda(0))?, Gpu::open(DeviceChoice::Cuda(1))?);
    /// let access = one.default_pool()?.allow_peer(&other)?;
    /// // Work that uses it is enqueued. After that:
    /// other.synchronize()?;
    /// access.revoke()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] while work that uses it is not done, or a graph or a capture may use it: nothing has changed, and the error has the access
    /// ([`Refused::value`]). Or the driver refuses; then the value is empty.
    // covers: POOL-29
    pub fn revoke(mut self) -> Result<(), Refused<Option<PeerAccess>>> {
        const CALL: &str = "PeerAccess::revoke";
        let busy = |reason: &str, hint| {
            Error::Busy(Box::new(Busy {
                call: CALL,
                reason: reason.into(),
                hint,
            }))
        };
        let is_idle = {
            let guard = self.accessor.lock_order();
            let users = lock(&self.users);
            // An error means that the context is lost: nothing runs any more.
            let is_done = |user: &Arc<StreamHandle>| user.past_is_done(&guard).unwrap_or(true);
            users.iter().all(is_done)
        };
        if !is_idle {
            let error = busy(
                "work that uses this access is not done",
                "wait first: `stream.synchronize()`; or drop the access, which ends it later",
            );
            return Err(Refused::new(error, Some(self)));
        }
        match self.right.take().map(Arc::try_unwrap) {
            Some(Err(shared)) => {
                self.right = Some(shared);
                let error = busy(
                    "a graph uses this access",
                    "drop the graph and what was instantiated of it first",
                );
                Err(Refused::new(error, Some(self)))
            }
            Some(Ok(right)) => right.end().map_err(|error| Refused::new(error, None)),
            None => Ok(()),
        }
    }
}

impl Drop for PeerAccess {
    fn drop(&mut self) {
        let Some(right) = self.right.take() else {
            return;
        };
        let users = self
            .users
            .get_mut()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let positions: Vec<_> = users.drain(..).map(StreamPosition::End).collect();
        self.accessor.call_driver_later(move |gpu: &DeviceState| {
            gpu.retire(Box::new(UnusedRight(right)), &positions);
        });
    }
}

/// A right that waits for its last use.
struct UnusedRight(Arc<Right>);

impl Reclaim for UnusedRight {
    fn free_cost(&self) -> FreeCost {
        FreeCost::WaitsForIdleDevice
    }

    fn free(self: Box<Self>, _context: &Context) -> Result<()> {
        // Where a graph has a share, it ends with that.
        Arc::into_inner(self.0).map_or(Ok(()), Right::end)
    }
}

impl std::fmt::Debug for PeerAccess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [accessor, owner] = [&self.accessor, &self.owner].map(|gpu| gpu.context().choice);
        write!(f, "PeerAccess({accessor} to {owner})")
    }
}
