//! How the contributions of all ranks become one.

use bytemuck::bytes_of;
use smallvec::SmallVec;
use warpsmith_host::{DeviceRead, ForeignMemory, ForeignWork, Stream};
use warpsmith_nccl_abi::{
    ncclComm_t, ncclDataType_t, ncclRedOp_t, ncclResult_t, ncclScalarResidence_t,
};

use crate::call::failed;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::library::Functions;

/// What becomes of the contributions of all ranks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reduction {
    /// Their sum; integers wrap.
    Sum,
    /// Their product; integers wrap.
    Product,
    /// The greatest.
    Max,
    /// The least.
    Min,
    /// Their mean: the sum divided by the number of ranks, of integers rounded towards zero.
    Average,
}

impl Reduction {
    #[inline(always)]
    fn raw(self) -> ncclRedOp_t {
        match self {
            Reduction::Sum => ncclRedOp_t::ncclSum,
            Reduction::Product => ncclRedOp_t::ncclProd,
            Reduction::Max => ncclRedOp_t::ncclMax,
            Reduction::Min => ncclRedOp_t::ncclMin,
            Reduction::Average => ncclRedOp_t::ncclAvg,
        }
    }
}

/// The sum of all ranks' contributions, each multiplied with its rank's factor first (`ncclRedOpCreatePreMulSum`): a gradient scaled as it is summed. Ranks
/// may have different factors. In a captured stream the graph has the factor as it is now.
///
/// ```
/// use warpsmith_host::prelude::*;
/// use warpsmith_nccl::{Communicator, PremultipliedSum};
///
/// # fn main() -> Result<(), warpsmith_nccl::Error> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// # let communicator = Communicator::all(&[gpu.clone()])?.remove(0);
/// let stream = gpu.stream()?;
/// let mut gradient = stream.upload(&[2.0_f32, 4.0])?;
/// communicator.all_reduce_in_place(&stream, &mut gradient, PremultipliedSum(0.5))?;
/// assert_eq!(stream.download(&gradient)?, [1.0, 2.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PremultipliedSum<T>(
    /// This rank's factor.
    pub T,
);

/// As [`PremultipliedSum`], with a factor in memory of the device that is read when the collective runs: one that a kernel has found, or that differs
/// from launch to launch of a graph. The memory has one element.
///
/// ```
/// use warpsmith_host::prelude::*;
/// use warpsmith_nccl::{Communicator, PremultipliedSumOnDevice};
///
/// # fn main() -> Result<(), warpsmith_nccl::Error> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// # let communicator = Communicator::all(&[gpu.clone()])?.remove(0);
/// let stream = gpu.stream()?;
/// let scale = stream.upload(&[3_i32])?;
/// let mut numbers = stream.upload(&[1, 2])?;
/// communicator.all_reduce_in_place(&stream, &mut numbers, PremultipliedSumOnDevice(&scale))?;
/// assert_eq!(stream.download(&numbers)?, [3, 6]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PremultipliedSumOnDevice<'a, M: ?Sized>(
    /// Where this rank's factor is.
    pub &'a M,
);

/// A reduction of elements of type `T`: a [`Reduction`], a [`PremultipliedSum`] or a [`PremultipliedSumOnDevice`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not reduce elements of type `{T}`",
    note = "a `Reduction` reduces elements of any type, a `PremultipliedSum` those of its factor's type"
)]
pub trait Reduce<'a, T: Element>: sealed::Sealed {
    /// What NCCL calls it, if NCCL has it.
    #[doc(hidden)]
    #[inline(always)]
    fn built_in(&self) -> Option<ncclRedOp_t> {
        None
    }

    /// What NCCL is told, once all memory that it reads is named to `work`.
    #[doc(hidden)]
    fn operation(self, work: &mut ForeignWork<'a>, stream: &'a Stream) -> Result<Operation>;
}

mod sealed {
    /// Keeps the trait to this crate: what it answers must fit the type of elements.
    pub trait Sealed {}

    impl Sealed for super::Reduction {}
    impl<T> Sealed for super::PremultipliedSum<T> {}
    impl<M: ?Sized> Sealed for super::PremultipliedSumOnDevice<'_, M> {}
}

/// A reduction of elements of one type.
#[derive(Clone, Copy, Debug)]
pub enum Operation {
    /// One that NCCL has.
    BuiltIn(ncclRedOp_t),
    /// A premultiplied sum, which is made for one call, with a factor whose bytes are the first of these.
    Factor(u64),
    /// The same with the address of a factor.
    FactorAt(u64),
}

impl<'a, T: Element> Reduce<'a, T> for Reduction {
    #[inline(always)]
    fn built_in(&self) -> Option<ncclRedOp_t> {
        Some(self.raw())
    }

    #[inline(always)]
    fn operation(self, _work: &mut ForeignWork<'a>, _stream: &'a Stream) -> Result<Operation> {
        Ok(Operation::BuiltIn(self.raw()))
    }
}

impl<'a, T: Element> Reduce<'a, T> for PremultipliedSum<T> {
    fn operation(self, _work: &mut ForeignWork<'a>, _stream: &'a Stream) -> Result<Operation> {
        let mut bytes = [0; 8];
        for (place, byte) in bytes.iter_mut().zip(bytes_of(&self.0)) {
            *place = *byte;
        }
        Ok(Operation::Factor(u64::from_ne_bytes(bytes)))
    }
}

impl<'a, T: Element, M: DeviceRead<Item = T> + ?Sized> Reduce<'a, T>
    for PremultipliedSumOnDevice<'a, M>
{
    fn operation(self, work: &mut ForeignWork<'a>, stream: &'a Stream) -> Result<Operation> {
        let factor = work.reads(stream, self.0)?;
        match factor.len() {
            1 => Ok(Operation::FactorAt(factor.pointer().address())),
            len => Err(Error::misuse(
                "PremultipliedSumOnDevice",
                format!("the factor is one element, and the memory has {len}"),
                "use a slice of one element: `buffer.slice(..1)`",
            )),
        }
    }
}

impl Operation {
    /// Of calls that do not reduce, and until one was made.
    pub(crate) const SUM: Operation = Operation::BuiltIn(ncclRedOp_t::ncclSum);

    /// That of `reduction`, for elements as in this memory.
    #[inline(always)]
    pub(crate) fn of<'a, T: Element>(
        _elements: &ForeignMemory<T>,
        reduction: impl Reduce<'a, T>,
        work: &mut ForeignWork<'a>,
        stream: &'a Stream,
    ) -> Result<Operation> {
        reduction.operation(work, stream)
    }

    /// That of `reduction`, for elements of this type, if NCCL has it.
    #[inline(always)]
    pub(crate) fn built_in_of<'a, T: Element>(
        reduction: &impl Reduce<'a, T>,
    ) -> Option<ncclRedOp_t> {
        reduction.built_in()
    }

    /// What NCCL calls it, if NCCL has it.
    #[inline(always)]
    pub(crate) fn built_in(self) -> Option<ncclRedOp_t> {
        match self {
            Operation::BuiltIn(raw) => Some(raw),
            Operation::Factor(_) | Operation::FactorAt(_) => None,
        }
    }
}

/// Reductions that were made for some calls, and are taken back when this is dropped: when the calls were made.
pub(crate) struct Made<'n> {
    nccl: &'n Functions,
    made: SmallVec<[(ncclComm_t, ncclRedOp_t); 1]>,
}

impl<'n> Made<'n> {
    pub(crate) fn new(nccl: &'n Functions) -> Made<'n> {
        Made {
            nccl,
            made: SmallVec::new(),
        }
    }

    /// What NCCL calls this reduction, which is made if NCCL has it not.
    ///
    /// # Errors
    ///
    /// NCCL refuses.
    ///
    /// # Safety
    ///
    /// The communicator is alive, and this thread alone calls NCCL with it, until this is dropped. The factor is of this type.
    pub(crate) unsafe fn make(
        &mut self,
        operation: Operation,
        kind: ncclDataType_t,
        comm: ncclComm_t,
    ) -> Result<ncclRedOp_t> {
        const CALL: &str = "ncclRedOpCreatePreMulSum";
        let mut factor;
        let (scalar, residence) = match operation {
            Operation::BuiltIn(raw) => return Ok(raw),
            Operation::Factor(bytes) => {
                factor = bytes;
                let scalar = (&raw mut factor).cast();
                (scalar, ncclScalarResidence_t::ncclScalarHostImmediate)
            }
            Operation::FactorAt(address) => {
                let scalar = address as *mut std::ffi::c_void;
                (scalar, ncclScalarResidence_t::ncclScalarDevice)
            }
        };
        let mut raw = ncclRedOp_t::ncclSum;
        // SAFETY: the communicator is alive and this thread's: this function's condition. NCCL reads an element from `factor`, which has as many
        // bytes as the greatest, or only takes the address; it writes one value to `raw`. Both outlive the call.
        let code = unsafe {
            (self.nccl.ncclRedOpCreatePreMulSum)(&mut raw, scalar, kind, residence, comm)
        };
        if code != ncclResult_t::ncclSuccess {
            return Err(failed(CALL, code, Some(comm)));
        }
        self.made.push((comm, raw));
        Ok(raw)
    }
}

impl Drop for Made<'_> {
    fn drop(&mut self) {
        for &(comm, raw) in &self.made {
            // SAFETY: `make` made the reduction with the communicator, which is alive and this thread's until this is dropped: its condition. The
            // calls that were given it have returned. There is nothing to be done if NCCL refuses: the communicator keeps it until its own end.
            let _ = unsafe { (self.nccl.ncclRedOpDestroy)(raw, comm) };
        }
    }
}
