//! Variables of a module: device globals and constants, by name.

use std::marker::PhantomData;
use std::sync::Arc;

use bytemuck::Pod;

use super::{Module, ModuleInner, Variable};
use crate::error::{Code, Error, Result};
use crate::gpu::Gpu;
use crate::memory::size::bytes_of;

/// A variable of a module that holds one or more `T`.
///
/// Setting and reading wait for all work on the device first: kernels of any stream may use the variable.
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
    module: Arc<ModuleInner>,
    name: String,
    address: u64,
    len: usize,
    of: PhantomData<T>,
}

impl Module {
    /// The variable of this name: a `static` in `.nv.global` or `.nv.constant`, or any visible variable of foreign PTX.
    ///
    /// # Errors
    ///
    /// There is none, or its size is not a multiple of `T`'s.
    pub fn global<T: Pod>(&self, name: &str) -> Result<Global<T>> {
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

    /// Sets the only element.
    ///
    /// # Errors
    ///
    /// It holds more than one; or something went wrong on the device before.
    pub fn set(&self, value: &T) -> Result<()> {
        self.set_slice(std::slice::from_ref(value))
    }

    /// The only element.
    ///
    /// # Errors
    ///
    /// It holds more than one; or something went wrong on the device before.
    pub fn get(&self) -> Result<T> {
        self.check(1)?;
        Ok(self.get_vec()?[0])
    }

    /// Sets all elements.
    ///
    /// # Errors
    ///
    /// `values` has another length; or something went wrong on the device before.
    pub fn set_slice(&self, values: &[T]) -> Result<()> {
        self.check(values.len())?;
        let bytes = bytes_of::<T>("cuMemcpyHtoD", values.len())?;
        self.wait()?;
        // SAFETY: the variable has `self.len` elements at `self.address` (the module keeps it), as many as `values` (checked above). The
        // device has done all that was enqueued.
        unsafe {
            self.module
                .gpu
                .context()
                .write_now(self.address, values.as_ptr().cast(), bytes)
        }
        .map_err(|error| error.while_doing(|| format!("variable `{}`", self.name)))
    }

    /// All elements.
    pub fn get_vec(&self) -> Result<Vec<T>> {
        let mut values = vec![T::zeroed(); self.len];
        let bytes = bytes_of::<T>("cuMemcpyDtoH", values.len())?;
        self.wait()?;
        // SAFETY: the variable has `self.len` elements at `self.address` (the module keeps it), as many as `values`. The device has done
        // all that was enqueued.
        unsafe {
            self.module
                .gpu
                .context()
                .read_now(values.as_mut_ptr().cast(), self.address, bytes)
        }
        .map_err(|error| error.while_doing(|| format!("variable `{}`", self.name)))?;
        Ok(values)
    }

    fn wait(&self) -> Result<()> {
        Gpu::from(&self.module.gpu).synchronize()
    }

    fn check(&self, len: usize) -> Result<()> {
        if len == self.len {
            return Ok(());
        }
        Err(Error::misuse(
            "Global",
            Code::INVALID_VALUE,
            format!("`{}` holds {} elements, not {len}", self.name, self.len),
            "use `set_slice` and `get_vec` for arrays",
        ))
    }
}
