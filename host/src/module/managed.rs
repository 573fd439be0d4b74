//! Managed statics as the host's memory: guards, given while no kernel uses the module's variables.

use std::sync::Arc;

use bytemuck::Pod;

use super::global::Global;
use super::{Module, ModuleInner};
use crate::error::{Code, Error, Result};
use crate::gpu::pointer::is_managed;
use crate::memory::{HostRead, HostWrite, KeptOut};
use crate::order::access::AccessKind;

/// A `managed_static!` of a module: memory with one address for kernels and the host (CUDA C++ Programming Guide, "Global-Scope Managed
/// Variables").
///
/// The host gets at it by guards, without a copy, as with a [`UnifiedBuffer`](crate::UnifiedBuffer): they are refused while a kernel that uses
/// variables of the module may be running, and while one is open no such kernel is launched ([`Error::Busy`]). Kernels name no variables in
/// their launches; for PTX that the builder made it is known which use any, of other modules all count.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let module = gpu.load(
///     ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .attribute(.managed) .align 4 .b8 total[8];",
/// )?;
/// let mut total = module.managed::<u32>("total")?;
/// total.host_mut()?[1] = 1234;
/// // ... kernels use it ... and then:
/// gpu.synchronize()?;
/// assert_eq!(*total.host()?, [0, 1234]);
/// # Ok(())
/// # }
/// ```
// covers: UM-09, UM-10, UM-X19
pub struct ManagedStatic<T: Pod> {
    global: Global<T>,
}

impl Module {
    /// The `managed_static!` of this name, for the host to use in place.
    ///
    /// # Errors
    ///
    /// There is none, it is no managed one, its size is not a multiple of `T`'s, or its address not one of `T`'s alignment.
    pub fn managed<T: Pod>(&self, name: &str) -> Result<ManagedStatic<T>> {
        const CALL: &str = "Module::managed";
        let global = self.global::<T>(name)?;
        let gpu = &self.inner.gpu;
        if !is_managed(global.address)? {
            return Err(Error::misuse(
                CALL,
                Code::INVALID_VALUE,
                format!("`{name}` is no managed static: the host does not reach it"),
                "declare it by `managed_static!`, or copy it by `Global::set` and `Global::get`",
            ));
        }
        if !global.address.is_multiple_of(align_of::<T>() as u64) {
            return Err(Error::misuse(
                CALL,
                Code::MISALIGNED_ADDRESS,
                format!(
                    "`{name}` is at {:#x}, which is no multiple of {}, the alignment of `{}`",
                    global.address,
                    align_of::<T>(),
                    std::any::type_name::<T>()
                ),
                "use the type that the kernel's source gives it, or copy it by `Global::get_vec`",
            ));
        }
        if !gpu.limits().concurrent_managed {
            gpu.order().launch_gate.require_host_access_check();
        }
        Ok(ManagedStatic { global })
    }
}

impl<T: Pod> ManagedStatic<T> {
    /// How many `T` it holds.
    #[expect(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        self.global.len()
    }

    /// The variable as any other: to copy in order with kernels, also while they run.
    pub fn as_global(&self) -> &Global<T> {
        &self.global
    }

    /// The variable for the host to read.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] while a stream in which a kernel has used variables of the module does something, or the host has it open for writing:
    /// wait for the stream first. A kernel that uses variables panicked, and it was not told yet.
    pub fn host(&self) -> Result<HostRead<'_, T>> {
        let access = self.open("ManagedStatic::host", AccessKind::Read)?;
        let values = self.on_host().cast_const();
        // SAFETY: the variable is managed memory (`Module::managed`) of `len` values of `T`, aligned to it, which may have any bytes; the access
        // keeps its module. It saw that no kernel and no copy uses it, and that the host has it not open for writing; until it ends all of
        // these are refused.
        let values = unsafe { std::slice::from_raw_parts(values, self.len()) };
        Ok(HostRead::of(values, Box::new(access)))
    }

    /// The variable for the host to write.
    ///
    /// # Errors
    ///
    /// As for [`host`](Self::host); or the host has it open for reading.
    pub fn host_mut(&mut self) -> Result<HostWrite<'_, T>> {
        let access = self.open("ManagedStatic::host_mut", AccessKind::Write)?;
        // SAFETY: the variable is managed memory (`Module::managed`) of `len` values of `T`, aligned to it, which may have any bytes; the access
        // keeps its module. It saw that no kernel and no copy uses it, and that the host has it not open at all, by this object or by another one
        // of the variable; until it ends all of these are refused.
        let values = unsafe { std::slice::from_raw_parts_mut(self.on_host(), self.len()) };
        Ok(HostWrite::of(values, Box::new(access)))
    }

    /// Where the host sees it: at the device's address.
    fn on_host(&self) -> *mut T {
        std::ptr::with_exposed_provenance_mut(self.global.address as usize)
    }

    fn open(&self, call: &'static str, kind: AccessKind) -> Result<VariableAccess> {
        let module = &self.global.module;
        let gpu = &module.gpu;
        gpu.bind()?;
        let kept_out = KeptOut::by_all(gpu);
        let address = self.global.address;
        module
            .variables
            .open(gpu, (call, address, kind), &kept_out)
            .map_err(|error| error.while_doing(|| format!("variable `{}`", self.global.name)))?;
        Ok(VariableAccess {
            module: module.clone(),
            address,
            kept_out,
        })
    }
}

impl<T: Pod> std::fmt::Debug for ManagedStatic<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (name, of) = (&self.global.name, std::any::type_name::<T>());
        write!(f, "ManagedStatic<{of}>({name})[{}]", self.len())
    }
}

/// An open access. It keeps the module, also where the guard is forgotten.
struct VariableAccess {
    module: Arc<ModuleInner>,
    address: u64,
    kept_out: KeptOut,
}

impl Drop for VariableAccess {
    fn drop(&mut self) {
        self.module.variables.close(self.address);
        self.kept_out.end(&self.module.gpu);
    }
}
