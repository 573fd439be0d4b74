//! Looking kernels up in a module.

use warpsmith_device::launch::{Kernel, KernelItem};

use super::function::Function;
use super::kernel::{TypedKernel, UntypedKernel};
use crate::error::Result;
use crate::module::Module;

impl Module {
    /// A kernel of this module by its Rust item: `module.kernel(kernels::saxpy)`, `module.kernel(kernels::reduce::<f32>)`.
    ///
    /// # Errors
    ///
    /// The module has no such kernel; or the builder did not make the PTX from this very kernel, as the signature in the PTX shows.
    pub fn kernel<I: KernelItem>(&self, item: I) -> Result<TypedKernel<I::Kernel>> {
        let _ = item;
        let name = <I::Kernel as Kernel>::NAME;
        let function = Function::find(&self.inner, name)?;
        self.inner
            .origin
            .check_kernel(name, <I::Kernel as Kernel>::RECORD)?;
        Ok(TypedKernel::new(function))
    }

    /// As [`kernel`](Self::kernel), for code without a valid signature: a cubin that ptxas made of the builder's PTX, or PTX that was
    /// changed afterwards.
    ///
    /// # Errors
    ///
    /// The module has no such kernel, or it has another number of parameters.
    ///
    /// # Safety
    ///
    /// The entry is this kernel's code, with its parameters.
    pub unsafe fn kernel_unchecked<I: KernelItem>(
        &self,
        item: I,
    ) -> Result<TypedKernel<I::Kernel>> {
        let _ = item;
        let function = Function::find(&self.inner, <I::Kernel as Kernel>::NAME)?;
        function.check_parameters(<I::Kernel as Kernel>::RECORD)?;
        Ok(TypedKernel::new(function))
    }

    /// A kernel by the name of its entry, for PTX that `#[kernel]` did not make (CUDA C++, hand-written). `P` is the tuple of
    /// markers that describes its parameters as in [`warpsmith_device::launch`]; launching it is unsafe.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let module = gpu.load(
    ///     ".version 7.0 .target sm_70 .address_size 64
    ///      .visible .entry set(.param .u64 p, .param .u64 n, .param .u32 v) {
    ///          .reg .b64 %p; .reg .b32 %v;
    ///          ld.param.u64 %p, [p]; ld.param.u32 %v, [v];
    ///          st.global.u32 [%p], %v;
    ///          ret;
    ///      }",
    /// )?;
    /// let set = module.untyped_kernel::<(Out<u32>, Value<u32>)>("set")?;
    /// let stream = gpu.stream()?;
    /// let mut word = stream.zeroed::<u32>(1)?;
    /// // SAFETY: the entry writes one word, which there is.
    /// unsafe { stream.launch_untyped(&set, Grid::new(1, 1), (&mut word, 7))? };
    /// assert_eq!(stream.download(&word)?, [7]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The module has no such kernel.
    pub fn untyped_kernel<P>(&self, name: &str) -> Result<UntypedKernel<P>> {
        Ok(UntypedKernel::new(Function::find(&self.inner, name)?))
    }
}
