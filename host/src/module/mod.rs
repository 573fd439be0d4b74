//! Modules: PTX, loaded. Kernels are looked up by their type or, for foreign PTX, by name.

pub(crate) mod global;
mod jit;
mod link;
pub(crate) mod managed;
pub(crate) mod options;
pub(crate) mod origin;
mod retired;
pub(crate) mod variables;

use std::ffi::CString;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use warpsmith_driver::raw;

use self::jit::{Jit, declared, declared_variables};
use self::options::ModuleOptions;
use self::origin::Origin;
use self::retired::RetiredModule;
use self::variables::ModuleVariables;
use crate::driver_call::handle::Handle;
use crate::driver_call::{self, adopt, call};
use crate::error::{Code, Error, NotFound, PtxError, Result, general_hint};
use crate::gpu::Gpu;
use crate::gpu::open_device::OpenDevice;

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
    pub(crate) gpu: Arc<OpenDevice>,
    raw: Handle<raw::CUmodule>,
    owner: ManuallyDrop<cust::module::Module>,
    log: String,
    kernels: Vec<String>,
    globals: Vec<String>,
    pub(crate) origin: Origin,
    /// The uses of its variables.
    pub(crate) variables: Arc<ModuleVariables>,
}

/// Where a variable of a module is on the device.
pub(crate) struct Variable {
    pub(crate) address: u64,
    /// Its size.
    pub(crate) bytes: usize,
}

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
    /// [`Error::Ptx`] with the compiler's log if the driver rejects it; [`Error::Limit`] for an option that the compiler does not have.
    // covers: BUILD-02, DRV-10, DRV-EX03
    pub fn load_with(&self, ptx: &str, options: &ModuleOptions) -> Result<Module> {
        const CALL: &str = "cuModuleLoadDataEx";
        options.check(CALL)?;
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
        // SAFETY: the driver writes one handle to `handle`. The image is a `CString`, so it ends with a NUL; `jit` has as many values as
        // options, and the log buffers that they point to, and lives to the end of this function.
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
            return Err(rejected(&self.inner, CALL, Code(code.0), jit.errors(), ptx));
        }
        // SAFETY: the call above loaded the module, and nothing else owns it.
        let owner = ManuallyDrop::new(unsafe { adopt::module(handle) });
        let mut globals = declared_variables(ptx);
        globals.retain(|name| !name.starts_with(warpsmith_signature::INTERNAL));
        let inner = ModuleInner {
            gpu: self.inner.clone(),
            raw: Handle::new(handle),
            owner,
            log: jit.infos(),
            kernels: declared(ptx, ".entry"),
            origin: Origin::of_text(ptx, !globals.is_empty()),
            globals,
            variables: Arc::default(),
        };
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
    /// The image is complete and valid: the driver trusts the sizes in it.
    pub unsafe fn load_binary(&self, image: &[u8]) -> Result<Module> {
        self.inner.bind()?;
        self.inner.reclaim();
        let mut handle = std::ptr::null_mut();
        // SAFETY: the driver writes one handle to `handle`, which outlives the call; the caller guarantees a complete and valid image.
        unsafe { call!(cuModuleLoadData(&mut handle, image.as_ptr().cast())) }.map_err(
            |error| {
                error.with_hint_for(Code::INVALID_IMAGE, || {
                "give a cubin or a fatbin with code for this device; PTX is loaded by `load`".into()
            })
            },
        )?;
        // SAFETY: the call above loaded the module, and nothing else owns it.
        let owner = ManuallyDrop::new(unsafe { adopt::module(handle) });
        let inner = ModuleInner {
            gpu: self.inner.clone(),
            raw: Handle::new(handle),
            owner,
            log: String::new(),
            kernels: Vec::new(),
            globals: Vec::new(),
            origin: Origin::Binary,
            variables: Arc::default(),
        };
        Ok(Module {
            inner: Arc::new(inner),
        })
    }
}

impl Module {
    /// The names of the kernels, in the order of the text.
    pub fn kernel_names(&self) -> &[String] {
        &self.inner.kernels
    }

    /// Loads all kernels now. Otherwise the driver loads each when it is looked up or launched first (`CUDA_MODULE_LOADING` is `LAZY` unless it
    /// is set), which takes time and memory then, and may wait for the device: kernels of which one waits for the other must be loaded before
    /// the first is launched (with `loading` in `WARPSMITH_CHECKS` the simulator finds those that are not), and a measurement begins after it. A
    /// binary ([`Gpu::load_binary`]) has no list of kernels: look them up instead.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let module = gpu.load(".version 7.0 .target sm_70 .address_size 64 .visible .entry nothing() { ret; }")?;
    /// module.preload()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// A kernel cannot be loaded: the device has no memory for it, for example.
    // covers: LAZY-04
    pub fn preload(&self) -> Result<()> {
        for name in &self.inner.kernels {
            let function = self.inner.function(name)?;
            // SAFETY: the function is the module's, which `self` keeps loaded.
            match unsafe { call!(cuFuncLoad(function)) } {
                // A driver of before CUDA 12.4 has loaded it when it was looked up.
                Err(error) if error.code() == Some(Code::NOT_SUPPORTED) => {}
                other => other?,
            }
        }
        Ok(())
    }

    /// What the driver's compiler had to say: warnings, and registers with [`ModuleOptions::verbose`].
    // covers: ERROR-08
    pub fn jit_log(&self) -> &str {
        &self.inner.log
    }

    /// The device.
    pub fn gpu(&self) -> Gpu {
        Gpu::from(&self.inner.gpu)
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
    /// The driver's handle of a kernel, valid as long as the module.
    pub(crate) fn function(&self, name: &str) -> Result<raw::CUfunction> {
        self.gpu.bind()?;
        let missing = || not_found("cuModuleGetFunction", "kernel", name, &self.kernels);
        if name.contains('\0') {
            return Err(missing());
        }
        match self.owner.get_function(name) {
            Ok(function) => Ok(function.to_raw().cast()),
            Err(cust::error::CudaError::NotFound) => Err(missing()),
            Err(error) => Err(driver_call::cust_failed("cuModuleGetFunction", error)
                .while_doing(|| format!("kernel `{name}`"))),
        }
    }

    /// The address and size of a variable.
    // covers: MEM-10
    pub(crate) fn variable(&self, name: &str) -> Result<Variable> {
        self.gpu.bind()?;
        let missing = || not_found("cuModuleGetGlobal", "variable", name, &self.globals);
        let text = CString::new(name).map_err(|_| missing())?;
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: the driver writes to `address` and `bytes`, and reads `text`, a `CString`; all outlive the call. `self` owns the module.
        unsafe {
            call!(cuModuleGetGlobal_v2(
                &mut address,
                &mut bytes,
                self.raw.raw(),
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
        Ok(Variable { address, bytes })
    }
}

impl Drop for ModuleInner {
    fn drop(&mut self) {
        // SAFETY: this is the only place that takes the field, and `drop` runs once.
        let module = unsafe { ManuallyDrop::take(&mut self.owner) };
        let retired = RetiredModule::new(module);
        // A kernel of it may be in any stream.
        self.gpu
            .call_driver_later(|gpu| gpu.retire_from_all(Box::new(retired)));
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

const MEND: &str = "mend the PTX where the log says, or have the builder make it anew";

#[cold]
fn rejected(gpu: &OpenDevice, call: &'static str, code: Code, log: String, ptx: &str) -> Error {
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
        Code::NO_BINARY_FOR_GPU => Some(newer(gpu, &header(".target"))),
        Code::INVALID_PTX if is_newer(gpu, &header(".target")) => {
            Some(newer(gpu, &header(".target")))
        }
        Code::INVALID_IMAGE => Some(
            "`load` takes PTX, as the builder writes it or `nvcc --ptx`; a cubin is loaded by `load_binary`"
                .into(),
        ),
        Code::INVALID_PTX if log.trim().is_empty() => Some(format!(
            "the PTX is version {} for {}",
            header(".version"),
            header(".target")
        )),
        code => general_hint(code).or_else(|| Some(MEND.into())),
    };
    Error::Ptx(Box::new(PtxError {
        call,
        code,
        log,
        hint,
    }))
}

/// Whether a `.target` is an architecture that the device came before.
fn is_newer(gpu: &OpenDevice, target: &str) -> bool {
    let digits = target.trim_start_matches("sm_");
    let end = digits
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(digits.len());
    let own = gpu.context().capability;
    digits[..end]
        .parse()
        .is_ok_and(|number: u32| number > 10 * own.major + own.minor)
}

/// What to do about PTX for another architecture.
fn newer(gpu: &OpenDevice, target: &str) -> String {
    let own = gpu.context().capability;
    format!(
        "the PTX is for {target}, and the device has compute capability {own}: build for that or an older one (`CudaBuilder::arch`), which newer ones run, too"
    )
}
