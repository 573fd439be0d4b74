//! Modules: PTX, loaded. Kernels are looked up by their type or, for foreign PTX, by name.

pub(crate) mod global;
mod jit;
pub(crate) mod panics;

use std::ffi::CString;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use warpsmith_device::launch::{Kernel, KernelItem};

use crate::context::GpuInner;
use crate::driver_call::adopt;
use crate::driver_call::{self, call};
use crate::error::{Code, Error, NotFound, PtxError, Result, general_hint};
use crate::gpu::Gpu;
use crate::launch::kernel::{TypedKernel, UntypedKernel};
use crate::reclaim::Remains;
use jit::{Jit, declared, declared_variables};
use panics::PanicSlot;
use warpsmith_driver::raw;

/// How the driver compiles PTX.
///
/// ```
/// use warpsmith_host::ModuleOptions;
///
/// let options = ModuleOptions { max_registers: Some(64), ..Default::default() };
/// assert_eq!(options.optimisation, 4);
/// ```
// covers: BUILD-02
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ModuleOptions {
    /// The most registers of a thread, for all kernels.
    pub max_registers: Option<u32>,
    /// 0 to 4.
    pub optimisation: u32,
    /// Lets the compiler report registers and spills in [`Module::jit_log`].
    pub verbose: bool,
    /// Keeps line information for profilers and debuggers.
    pub line_info: bool,
}

impl Default for ModuleOptions {
    fn default() -> Self {
        ModuleOptions {
            max_registers: None,
            optimisation: 4,
            verbose: false,
            line_info: true,
        }
    }
}

/// Loaded PTX. Cheap to clone; kernels and globals keep it alive, and so does work on the device that uses it.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let module = gpu.load(".version 7.0 .target sm_70 .address_size 64 .visible .entry nothing() { ret; }")?;
/// assert_eq!(module.kernel_names(), ["nothing"]);
/// # Ok(())
/// # }
/// ```
// covers: DRV-10
#[derive(Clone)]
pub struct Module {
    pub(crate) inner: Arc<ModuleInner>,
}

pub(crate) struct ModuleInner {
    pub(crate) gpu: Arc<GpuInner>,
    pub(crate) raw: raw::CUmodule,
    owner: ManuallyDrop<cust::module::Module>,
    log: String,
    kernels: Vec<String>,
    globals: Vec<String>,
    pub(crate) panics: Option<Arc<PanicSlot>>,
}

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for ModuleInner {}
// SAFETY: as above.
unsafe impl Sync for ModuleInner {}

impl Gpu {
    /// Loads PTX.
    ///
    /// # Errors
    ///
    /// [`Error::Ptx`] with the compiler's log if the driver rejects it.
    pub fn load(&self, ptx: &str) -> Result<Module> {
        self.load_with(ptx, &ModuleOptions::default())
    }

    /// Loads PTX with these options.
    ///
    /// # Errors
    ///
    /// [`Error::Ptx`] with the compiler's log if the driver rejects it.
    // covers: BUILD-02, DRV-10, DRV-EX03
    pub fn load_with(&self, ptx: &str, options: &ModuleOptions) -> Result<Module> {
        const CALL: &str = "cuModuleLoadDataEx";
        let image = CString::new(ptx).map_err(|error| {
            Error::Ptx(Box::new(PtxError {
                call: CALL,
                code: Code::INVALID_PTX,
                log: format!("a NUL byte at offset {}", error.nul_position()),
                hint: Some("PTX is text: is this a cubin or a damaged file?".into()),
            }))
        })?;
        self.inner.bind()?;
        self.inner.reclaim();
        let mut jit = Jit::new(options);
        let mut handle = std::ptr::null_mut();
        // SAFETY: the image ends with a NUL; options, values and the log buffers outlive the call.
        let code = unsafe {
            raw::cuModuleLoadDataEx(
                &mut handle,
                image.as_ptr().cast(),
                jit.options.len() as u32,
                jit.options.as_mut_ptr(),
                jit.values.as_mut_ptr(),
            )
        };
        if code.0 != 0 {
            return Err(rejected(CALL, Code(code.0), jit.errors(), ptx));
        }
        // SAFETY: just loaded, given to cust alone.
        let owner = ManuallyDrop::new(unsafe { adopt::module(handle) });
        let mut inner = ModuleInner {
            gpu: self.inner.clone(),
            raw: handle,
            owner,
            log: jit.infos(),
            kernels: declared(ptx, ".entry"),
            globals: declared_variables(ptx),
            panics: None,
        };
        inner.listen_for_panics(self)?;
        Ok(Module {
            inner: Arc::new(inner),
        })
    }

    /// Loads a cubin or fat binary, as nvcc makes them: machine code for this very device.
    ///
    /// [`Module::kernel_names`] knows no names in it; kernels are looked up by name all the same. The simulator knows no
    /// machine code.
    ///
    /// # Errors
    ///
    /// The driver rejects it: most often because it is for another architecture.
    ///
    /// # Safety
    ///
    /// The image is a whole and sound one: the driver goes by the sizes that stand in it.
    pub unsafe fn load_binary(&self, image: &[u8]) -> Result<Module> {
        self.inner.bind()?;
        self.inner.reclaim();
        let mut handle = std::ptr::null_mut();
        // SAFETY: the image outlives the call, and the caller vouches for it.
        unsafe { call!(cuModuleLoadData(&mut handle, image.as_ptr().cast())) }?;
        // SAFETY: just loaded, given to cust alone.
        let owner = ManuallyDrop::new(unsafe { adopt::module(handle) });
        let inner = ModuleInner {
            gpu: self.inner.clone(),
            raw: handle,
            owner,
            log: String::new(),
            kernels: Vec::new(),
            globals: Vec::new(),
            panics: None,
        };
        Ok(Module {
            inner: Arc::new(inner),
        })
    }
}

impl Module {
    /// A kernel of this module by its Rust item: `module.kernel(kernels::saxpy)`, `module.kernel(kernels::reduce::<f32>)`.
    ///
    /// # Errors
    ///
    /// The module has no such kernel, or its parameters differ from the Rust function's: then PTX and launcher were not built from
    /// the same source.
    pub fn kernel<I: KernelItem>(&self, item: I) -> Result<TypedKernel<I::Kernel>> {
        let _ = item;
        let inner = self.inner.function(<I::Kernel as Kernel>::NAME)?;
        inner.check_parameters(<I::Kernel as Kernel>::FLAT_PARAMETERS)?;
        Ok(TypedKernel::new(inner))
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
        Ok(UntypedKernel::new(self.inner.function(name)?))
    }

    /// The names of the kernels, in the order of the text.
    pub fn kernel_names(&self) -> &[String] {
        &self.inner.kernels
    }

    /// What the driver's compiler had to say: warnings, and registers with [`ModuleOptions::verbose`].
    // covers: ERROR-08
    pub fn jit_log(&self) -> &str {
        &self.inner.log
    }

    /// The device.
    pub fn gpu(&self) -> Gpu {
        Gpu {
            inner: self.inner.gpu.clone(),
        }
    }
}

impl std::fmt::Debug for Module {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Module")
            .field("kernels", &self.inner.kernels)
            .finish_non_exhaustive()
    }
}

impl ModuleInner {
    fn function(self: &Arc<Self>, name: &str) -> Result<Arc<crate::launch::kernel::KernelInner>> {
        self.gpu.bind()?;
        let missing = || not_found("cuModuleGetFunction", "kernel", name, &self.kernels);
        if name.contains('\0') {
            return Err(missing());
        }
        match self.owner.get_function(name) {
            Ok(function) => crate::launch::kernel::KernelInner::new(
                self.clone(),
                function.to_raw().cast(),
                name,
            ),
            Err(cust::error::CudaError::NotFound) => Err(missing()),
            Err(error) => Err(driver_call::cust_failed("cuModuleGetFunction", error)
                .while_doing(|| format!("kernel `{name}`"))),
        }
    }

    /// The address and size of a variable.
    // covers: MEM-10
    pub(crate) fn variable(&self, name: &str) -> Result<(u64, usize)> {
        self.gpu.bind()?;
        let missing = || not_found("cuModuleGetGlobal", "variable", name, &self.globals);
        let text = CString::new(name).map_err(|_| missing())?;
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: the results and the name outlive the call.
        unsafe {
            call!(cuModuleGetGlobal_v2(
                &mut address,
                &mut bytes,
                self.raw,
                text.as_ptr()
            ))
        }
        .map_err(|error| {
            if error.code() == Some(Code::NOT_FOUND) {
                missing()
            } else {
                error
            }
        })?;
        Ok((address, bytes))
    }

    /// Tells the module's kernels where to write their panics.
    fn listen_for_panics(&mut self, gpu: &Gpu) -> Result<()> {
        if !self.globals.iter().any(|name| name == panics::VARIABLE) {
            return Ok(());
        }
        let (address, bytes) = self.variable(panics::VARIABLE)?;
        if bytes != size_of::<u64>() {
            return Ok(());
        }
        let slot = Arc::new(PanicSlot::new(gpu)?);
        let pointer = slot.device_address();
        // SAFETY: eight bytes on both sides. No kernel of this module can be running.
        unsafe {
            self.gpu
                .write_now(address, (&raw const pointer).cast(), bytes)
        }?;
        gpu.inner.watch(&slot);
        self.panics = Some(slot);
        Ok(())
    }
}

impl Drop for ModuleInner {
    fn drop(&mut self) {
        // SAFETY: taken once, here.
        let module = unsafe { ManuallyDrop::take(&mut self.owner) };
        // A kernel of it may be in any stream, and may write its panic.
        self.gpu
            .retire_from_all(Remains::Module(module, self.panics.take()));
    }
}

fn not_found(call: &'static str, what: &'static str, name: &str, present: &[String]) -> Error {
    Error::NotFound(Box::new(NotFound {
        call,
        what,
        name: name.into(),
        present: present.to_vec(),
    }))
}

#[cold]
fn rejected(call: &'static str, code: Code, log: String, ptx: &str) -> Error {
    if code.is_fatal() || matches!(code, Code::OUT_OF_MEMORY | Code::INVALID_CONTEXT) {
        return driver_call::failed(call, code);
    }
    let header = |key: &str| {
        ptx.lines()
            .find_map(|line| Some(line.trim().strip_prefix(key)?.trim().to_owned()))
            .unwrap_or_default()
    };
    let hint = match code {
        Code::UNSUPPORTED_PTX_VERSION => Some(format!(
            "the PTX is version {}; build for an older one, or update the driver",
            header(".version")
        )),
        Code::NO_BINARY_FOR_GPU => Some(format!(
            "the PTX is for {}; build for this device's architecture",
            header(".target")
        )),
        Code::INVALID_PTX if log.trim().is_empty() => Some(format!(
            "the PTX is version {} for {}",
            header(".version"),
            header(".target")
        )),
        code => general_hint(code),
    };
    Error::Ptx(Box::new(PtxError {
        call,
        code,
        log,
        hint,
    }))
}
