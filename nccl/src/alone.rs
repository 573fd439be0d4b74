//! A call alone, with no lists: its collective, its reduction and how many buffers it has are known when the program is compiled.

use warpsmith_host::{ForeignCall, ForeignUse, Stream};
use warpsmith_nccl_abi::ncclRedOp_t;

use crate::collective::Collective;
use crate::communicator::Communicator;
use crate::element::Element;
use crate::error::Result;
use crate::group::{CALL, Queued, arguments, make};
use crate::inner::Taken;

/// Makes one call, which sends what is first and receives what is last. The collective is not several calls.
///
/// # Errors
///
/// The stream, the communicator and the memory do not go together, the lengths do not, or there is no such rank; or as for [`group`](fn@crate::group).
#[inline(always)]
pub(crate) fn alone<'a, T: Element, const USES: usize>(
    collective: &'static Collective,
    communicator: &'a Communicator,
    stream: &'a Stream,
    memory: [ForeignUse<'a, T>; USES],
    reduction: ncclRedOp_t,
    rank: usize,
) -> Result<()> {
    Queued::check(collective, communicator, stream, rank)?;
    let inner = &communicator.inner;
    let (send, receive) = (memory[0].memory(), memory[USES - 1].memory());
    let count = collective.count(send.len(), receive.len(), inner.size)?;
    let at = [send.pointer().address(), receive.pointer().address()];
    let arguments = arguments::<T>(collective, inner, stream, at, count, reduction, rank)?;
    let name = collective.name;
    let mut taken = Taken::take(name, inner)?;
    let call = ForeignCall {
        call: CALL,
        stream,
        memory,
        keeps: inner,
        name,
    };
    // SAFETY: NCCL enqueues in the call's stream alone; it reads what is sent and writes what is received, as far as the count says, which was taken
    // from their lengths above. A graph keeps the communicator, which was taken above, so it is alive, and this thread's alone until `taken` is
    // dropped. What NCCL has begun it has enqueued when it is no longer in progress.
    let done = unsafe {
        call.enqueue(taken.outcome(), move || {
            match make(collective, inner, &arguments)? {
                true => Ok(()),
                false => inner.finish(name),
            }
        })
    };
    done.map_err(|error| taken.end_after(error))
}
