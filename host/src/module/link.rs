//! Linking: one module of several PTX texts that call each other.

use core::ffi::c_void;
use std::ffi::CString;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use warpsmith_driver::raw;

use super::jit::{Jit, declared, declared_variables};
use super::options::ModuleOptions;
use super::origin::Origin;
use super::{Module, ModuleInner, rejected};
use crate::driver_call::handle::Handle;
use crate::driver_call::{adopt, call};
use crate::error::{Code, Error, Result};
use crate::gpu::Gpu;
use crate::gpu::open_device::OpenDevice;

impl Gpu {
    /// Links PTX modules to one, in which `.extern` functions and variables of each are the `.visible` ones of the others. Each has a name,
    /// by which errors call it.
    ///
    /// It is for PTX of compilers that leave libraries to be linked. What `warpsmith-builder` makes is whole: [`Gpu::load`] takes it. Kernels
    /// of a linked module are looked up by name ([`Module::untyped_kernel`]).
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// const HEAD: &str = ".version 7.0 .target sm_70 .address_size 64 ";
    /// let library = format!("{HEAD} .visible .func stop() {{ exit; }}");
    /// let user = format!("{HEAD} .extern .func stop(); .visible .entry k() {{ call.uni stop; ret; }}");
    /// let module = gpu.link(&[("library", &library), ("user", &user)])?;
    /// assert_eq!(module.kernel_names(), ["k"]);
    /// let error = gpu.link(&[("user", &user)]).unwrap_err();
    /// assert!(error.to_string().contains("stop"), "{error}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Ptx`](crate::Error::Ptx) with the linker's log: the driver rejects a module, or a name is defined nowhere or twice.
    // covers: DRV-12
    pub fn link(&self, units: &[(&str, &str)]) -> Result<Module> {
        self.link_with(units, &ModuleOptions::default())
    }

    /// As [`link`](Self::link), with these options.
    ///
    /// # Errors
    ///
    /// As for [`link`](Self::link); or an option that the compiler does not have.
    pub fn link_with(&self, units: &[(&str, &str)], options: &ModuleOptions) -> Result<Module> {
        options.check("cuLinkCreate")?;
        self.inner.bind()?;
        self.inner.reclaim();
        let mut link = Link::create(&self.inner, options)?;
        for (name, ptx) in units {
            link.add(name, ptx)?;
        }
        let module = link.load()?;
        // SAFETY: `load` loaded the module, and nothing else owns it.
        let owner = ManuallyDrop::new(unsafe { adopt::module(module) });
        let names = |of: &dyn Fn(&str) -> Vec<String>| {
            let texts = units.iter();
            texts.flat_map(|(_, ptx)| of(ptx)).collect::<Vec<_>>()
        };
        let inner = ModuleInner {
            gpu: self.inner.clone(),
            raw: Handle::new(module),
            owner,
            log: link.jit.infos(),
            kernels: names(&|ptx| declared(ptx, ".entry")),
            globals: names(&declared_variables),
            origin: Origin::Binary,
            variables: Arc::default(),
        };
        Ok(Module {
            inner: Arc::new(inner),
        })
    }
}

/// A link that is under way.
struct Link<'a> {
    gpu: &'a OpenDevice,
    state: raw::CUlinkState,
    /// Options and logs: the driver uses them until the link is destroyed.
    jit: Box<Jit>,
}

impl Link<'_> {
    fn create<'a>(gpu: &'a OpenDevice, options: &ModuleOptions) -> Result<Link<'a>> {
        let mut jit = Box::new(Jit::new(options));
        let mut state = std::ptr::null_mut();
        // SAFETY: the driver writes one handle to `state`. `jit` has as many values as options, and the log buffers that they point to;
        // neither its vectors nor the buffers change before `Link` destroys the state.
        unsafe {
            call!(cuLinkCreate_v2(
                jit.options.len() as u32,
                jit.options.as_mut_ptr(),
                jit.values.as_mut_ptr(),
                &mut state
            ))
        }?;
        Ok(Link { gpu, state, jit })
    }

    fn add(&mut self, name: &str, ptx: &str) -> Result<()> {
        const CALL: &str = "cuLinkAddData";
        let text = CString::new(ptx).map_err(|error| {
            let log = format!("a NUL byte at offset {}", error.nul_position());
            rejected(self.gpu, CALL, Code::INVALID_PTX, log, ptx)
        })?;
        let name = CString::new(name).map_err(|error| {
            Error::misuse(
                CALL,
                Code::INVALID_VALUE,
                format!(
                    "the unit's name has a NUL byte at offset {}",
                    error.nul_position()
                ),
                "the name is for what the linker says: give any text without one",
            )
        })?;
        let bytes = text.as_bytes_with_nul();
        // SAFETY: the state is this link's. The driver reads the text and the name, which end with NULs, during the call.
        let code = unsafe {
            raw::cuLinkAddData_v2(
                self.state,
                raw::CUjitInputType::CU_JIT_INPUT_PTX,
                bytes.as_ptr().cast_mut().cast::<c_void>(),
                bytes.len(),
                name.as_ptr(),
                0,
                std::ptr::null_mut(),
                std::ptr::null_mut(),
            )
        };
        self.check(CALL, code, ptx)
    }

    /// Completes the link and loads its image, which the state owns.
    fn load(&mut self) -> Result<raw::CUmodule> {
        let (mut image, mut bytes) = (std::ptr::null_mut(), 0);
        // SAFETY: the state is this link's; the driver writes to `image` and `bytes`, which outlive the call.
        let code = unsafe { raw::cuLinkComplete(self.state, &mut image, &mut bytes) };
        self.check("cuLinkComplete", code, "")?;
        let mut module = std::ptr::null_mut();
        // SAFETY: the driver writes one handle to `module`; the image is the driver's own, valid until the state is destroyed.
        let code = unsafe { raw::cuModuleLoadData(&mut module, image) };
        self.check("cuModuleLoadData", code, "")?;
        Ok(module)
    }

    fn check(&self, call: &'static str, code: raw::CUresult, ptx: &str) -> Result<()> {
        match code.0 {
            0 => Ok(()),
            other => Err(rejected(
                self.gpu,
                call,
                Code(other),
                self.jit.errors(),
                ptx,
            )),
        }
    }
}

impl Drop for Link<'_> {
    fn drop(&mut self) {
        // SAFETY: the state was created by `create`, and this is the only place that destroys it.
        self.gpu
            .report_drop(unsafe { call!(cuLinkDestroy(self.state)) });
    }
}
