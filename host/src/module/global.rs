//! Variables of a module: device globals and constants, by name.

use std::marker::PhantomData;
use std::sync::Arc;

use bytemuck::Pod;

use super::{Module, ModuleInner, Variable, not_found};
use crate::driver_call::call;
use crate::error::{Code, Error, Result};
use crate::gpu::Gpu;
use crate::memory::{DevicePointer, PinnedBuffer};
use crate::order::access::AccessKind;
use crate::panics::timeline::Reach;
use crate::trace::track::Track;
use crate::trace::work::Work;

/// A variable of a module that holds one or more `T`.
///
/// Setting and reading are put in order with the kernels of the module that use variables, in all streams: they come after those that
/// were launched before, and those that are launched later wait. The host waits for nothing else. Which kernels use variables is known
/// for PTX that the builder made; of other modules all kernels count.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let module = gpu.load(
///     ".version 7.0\n.target sm_70\n.address_size 64\n.visible .const .align 4 .b8 weights[8] = {1, 0, 0, 0, 2, 0, 0, 0};",
/// )?;
/// let weights = module.global::<u32>("weights")?;
/// assert_eq!(weights.get_vec()?, [1, 2]);
/// weights.set_slice(&[3, 4])?;
/// assert_eq!(weights.get_vec()?, [3, 4]);
/// assert!(module.global::<u64>("weight").is_err());
/// # Ok(())
/// # }
/// ```
// covers: MEM-09, MEM-10, DRV-13
#[derive(Clone)]
pub struct Global<T: Pod> {
    pub(super) module: Arc<ModuleInner>,
    pub(super) name: String,
    pub(super) address: u64,
    pub(super) len: usize,
    of: PhantomData<T>,
}

impl Module {
    /// The variable of this name: a static of `constant!`, `device_static!` or `managed_static!`, all of which may hold any bytes, or
    /// any visible variable of foreign PTX.
    ///
    /// # Errors
    ///
    /// There is none, or its size is not a multiple of `T`'s. What the device library has for itself is not found.
    pub fn global<T: Pod>(&self, name: &str) -> Result<Global<T>> {
        if !self.inner.origin.shows_variable(name) {
            return Err(not_found(
                "cuModuleGetGlobal",
                "variable",
                name,
                &self.inner.globals,
            ));
        }
        let Variable { address, bytes } = self.inner.variable(name)?;
        let element = size_of::<T>();
        if element == 0 || bytes % element != 0 || bytes == 0 {
            return Err(Error::misuse(
                "cuModuleGetGlobal",
                Code::INVALID_VALUE,
                format!(
                    "`{name}` has {bytes} bytes, which are no `{}` of {element} bytes each",
                    std::any::type_name::<T>()
                ),
                "use the type that the kernel's source gives it",
            ));
        }
        Ok(Global {
            module: self.inner.clone(),
            name: name.into(),
            address,
            len: bytes / element,
            of: PhantomData,
        })
    }
}

impl<T: Pod> Global<T> {
    /// How many `T` it holds.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Its address, for unsafe kernels and foreign libraries: the same as long as the module is loaded. Of a `managed_static!` it is the
    /// host's address, too, at which unsafe code may use it while no kernel does (on a device that cannot share managed memory, while none
    /// runs at all); [`Module::managed`] gives it to safe code. What is done by the address is put in no order.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let module = gpu.load(
    ///     ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .attribute(.managed) .align 4 .b8 total[4];",
    /// )?;
    /// let total = module.global::<u32>("total")?;
    /// total.set(&1234)?;
    /// let on_host = total.as_device_ptr().address() as *mut u32;
    /// // SAFETY: the variable is managed and has one `u32`; no kernel runs, and the module lives to the end.
    /// assert_eq!(unsafe { on_host.read() }, 1234);
    /// # Ok(())
    /// # }
    /// ```
    // covers: MEM-10
    pub fn as_device_ptr(&self) -> DevicePointer<T> {
        DevicePointer::from_address(self.address)
    }

    /// Sets the only element.
    ///
    /// # Errors
    ///
    /// It holds more than one; the host has it open ([`ManagedStatic`](crate::ManagedStatic)); or something went wrong on the device before.
    pub fn set(&self, value: &T) -> Result<()> {
        self.write("Global::set", std::slice::from_ref(value))
    }

    /// The only element.
    ///
    /// # Errors
    ///
    /// It holds more than one; the host has it open for writing; or something went wrong on the device before.
    pub fn get(&self) -> Result<T> {
        self.check("Global::get", 1)?;
        Ok(self.get_vec()?[0])
    }

    /// Sets all elements.
    ///
    /// # Errors
    ///
    /// `values` has another length; the host has it open ([`ManagedStatic`](crate::ManagedStatic)); or something went wrong on the device before.
    pub fn set_slice(&self, values: &[T]) -> Result<()> {
        self.write("Global::set_slice", values)
    }

    fn write(&self, call: &'static str, values: &[T]) -> Result<()> {
        self.check(call, values.len())?;
        let mut staged = self.staging()?;
        staged
            .host_mut()?
            .copy_from_slice(bytemuck::cast_slice(values));
        let view = staged.memory.view();
        self.access("cuMemcpyHtoDAsync", AccessKind::Write, || {
            // SAFETY: the variable has the bytes of `self.len` elements at `self.address` (the module keeps it), as has `staged`, which lives
            // until `access` has waited. `access` puts the copy in order with kernels that use the variable.
            unsafe {
                call!(cuMemcpyHtoDAsync_v2(
                    self.address,
                    view.address as *const _,
                    view.bytes,
                    self.module.gpu.service_stream().raw()
                ))
            }
        })
    }

    /// All elements.
    ///
    /// # Errors
    ///
    /// The host has it open for writing; a kernel that uses variables of the module panicked, and it was not told yet; or something went wrong
    /// on the device before.
    pub fn get_vec(&self) -> Result<Vec<T>> {
        let staged = self.staging()?;
        let view = staged.memory.view();
        self.access("cuMemcpyDtoHAsync", AccessKind::Read, || {
            // SAFETY: the variable has the bytes of `self.len` elements at `self.address` (the module keeps it), as has `staged`, which lives
            // until `access` has waited. `access` puts the copy in order with kernels that use the variable.
            unsafe {
                call!(cuMemcpyDtoHAsync_v2(
                    view.address as *mut _,
                    self.address,
                    view.bytes,
                    self.module.gpu.service_stream().raw()
                ))
            }
        })?;
        let mut values = vec![T::zeroed(); self.len];
        bytemuck::cast_slice_mut(&mut values).copy_from_slice(&staged.host()?);
        Ok(values)
    }

    /// Memory from and to which a copy does not wait for anything: the driver would wait for the kernels before it reads other memory,
    /// while launches wait for the copy to be enqueued. In bytes, so that the elements may have any alignment.
    fn staging(&self) -> Result<PinnedBuffer<u8>> {
        Gpu::from(&self.module.gpu).pinned(self.len * size_of::<T>())
    }

    /// Enqueues a copy in order with kernels that use the variable, and waits for it.
    fn access(
        &self,
        call: &'static str,
        kind: AccessKind,
        copy: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let gpu = &self.module.gpu;
        gpu.bind()?;
        let track = || Some(Track::service(gpu.context()));
        let bytes = self.len * size_of::<T>();
        let copy = || gpu.traced(track, || Work::call(call, bytes), copy);
        let done = self
            .module
            .variables
            .access(gpu, (call, self.address, kind), copy)
            .and_then(|done| match kind {
                AccessKind::Read => gpu.after_wait(call, done.reach(), done.wait()),
                // What is written depends on nothing.
                AccessKind::Write => gpu.after_wait(call, &Reach::default(), done.wait()),
            });
        done.map_err(|error| error.while_doing(|| format!("variable `{}`", self.name)))
    }

    fn check(&self, call: &'static str, len: usize) -> Result<()> {
        if len == self.len {
            return Ok(());
        }
        Err(Error::misuse(
            call,
            Code::INVALID_VALUE,
            format!("`{}` holds {} elements, not {len}", self.name, self.len),
            "`set` and `get` are for one element, `set_slice` takes as many as there are, and `get_vec` gives them",
        ))
    }
}
