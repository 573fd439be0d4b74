//! Libraries: code that belongs to no context. A kernel or a variable is asked for by name, and the code is loaded into a context when one of
//! them is first needed there (CUDA C++ Programming Guide, "Lazy Loading").

use std::collections::{BTreeMap, HashMap};
use std::ffi::CString;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, Weak};

use super::attributes::{attribute, set_attribute};
use super::function::{FUNCTIONS, Function};
use super::load::{LoadFailure, compile, load_placed};
use super::loaded::{MODULES, Module, Owner};
use crate::context::Context;
use crate::engine;
use crate::error::{Result, code};
use crate::memory::{self, Memory};
use crate::registry::Registry;
use crate::report;
use crate::sync::lock;
use warpsmith_abi::{CUfunction, CUfunction_attribute, CUmodule};

/// All libraries.
pub(crate) static LIBRARIES: Registry<Library> = Registry::new();

/// The kernels of libraries that have been handed out.
pub(crate) static KERNELS: Registry<LibraryKernel> = Registry::new();

/// A library.
pub(crate) struct Library {
    pub(crate) handle: usize,
    ptx: String,
    /// The code as it is compiled, for questions about it; what is executed is the contexts' own.
    pub(crate) code: engine::Module,
    /// The kernels handed out so far, by name.
    kernels: Mutex<HashMap<String, Arc<LibraryKernel>>>,
    loaded: Mutex<Loaded>,
}

/// What contexts have of a library.
#[derive(Default)]
struct Loaded {
    /// The handles of the modules. Those whose context has ended are gone.
    modules: Vec<usize>,
    /// Where the managed variables are, which all contexts share: in memory of the context that was the first.
    managed: BTreeMap<String, usize>,
}

/// A kernel of a library.
pub(crate) struct LibraryKernel {
    pub(crate) handle: usize,
    pub(crate) library: usize,
    name: String,
    /// The name as a C string, for `cuKernelGetName`.
    pub(crate) c_name: CString,
    pub(crate) code: Arc<engine::Kernel>,
    target: u32,
    state: Mutex<KernelState>,
}

#[derive(Default)]
struct KernelState {
    /// What is set for it on each device that was asked about.
    settings: HashMap<usize, Arc<Function>>,
    /// What it is in contexts.
    functions: Vec<Weak<Function>>,
}

impl Library {
    /// Makes a library of PTX, for devices like this one.
    pub(crate) fn load(ptx: String, device: usize) -> core::result::Result<Arc<Self>, LoadFailure> {
        let code = compile(&ptx, device)?;
        Ok(LIBRARIES.add(|handle| Self {
            handle,
            ptx,
            code,
            kernels: Mutex::default(),
            loaded: Mutex::default(),
        }))
    }

    /// Its kernels' names, in order.
    pub(crate) fn kernel_names(&self) -> Vec<String> {
        let mut names: Vec<_> = self
            .code
            .kernels()
            .map(|kernel| kernel.name.clone())
            .collect();
        names.sort();
        names
    }

    /// The kernel of this name; the same each time.
    ///
    /// # Errors
    ///
    /// Not found.
    pub(crate) fn kernel(&self, name: &str) -> Result<Arc<LibraryKernel>> {
        let mut kernels = lock(&self.kernels);
        if let Some(kernel) = kernels.get(name) {
            return Ok(Arc::clone(kernel));
        }
        let code = Arc::clone(self.code.kernel(name).ok_or(code::NOT_FOUND)?);
        let kernel = KERNELS.add(|handle| LibraryKernel {
            handle,
            library: self.handle,
            name: name.to_owned(),
            c_name: CString::new(name).unwrap_or_default(),
            code,
            target: u32::from(self.code.target.level),
            state: Mutex::default(),
        });
        kernels.insert(name.to_owned(), Arc::clone(&kernel));
        Ok(kernel)
    }

    /// The module that it is in a context, which is loaded now if it is not.
    ///
    /// # Errors
    ///
    /// Those of a module's loading, which are told on standard error: nobody has asked for a log.
    pub(crate) fn module(&self, context: &Arc<Context>) -> Result<Arc<Module>> {
        let mut loaded = lock(&self.loaded);
        loaded
            .modules
            .retain(|&handle| MODULES.get(handle as CUmodule).is_ok());
        let known = loaded
            .modules
            .iter()
            .filter_map(|&handle| MODULES.get(handle as CUmodule).ok());
        if let Some(module) = known
            .into_iter()
            .find(|module| module.context() == context.id())
        {
            return Ok(module);
        }
        // The context that had made them may have ended.
        loaded
            .managed
            .retain(|_, &mut address| Memory::global().is_live(address, 1));
        let module = load_placed(context, &self.ptx, &loaded.managed, Owner::Library).map_err(
            |failure| {
                report::remark(&failure.text);
                failure.code
            },
        )?;
        for variable in module
            .code
            .globals()
            .iter()
            .filter(|variable| variable.managed)
        {
            loaded
                .managed
                .insert(variable.name.clone(), variable.address as usize);
        }
        loaded.modules.push(module.handle);
        Ok(module)
    }

    /// `cuLibraryUnload`: waits for the work of the contexts that have it, then ends it there, and its kernels.
    pub(crate) fn unload(&self) -> Result {
        const BY: &str = "cuLibraryUnload";
        LIBRARIES.remove(self.handle as *mut ())?;
        let loaded = std::mem::take(&mut *lock(&self.loaded));
        let managed: Vec<usize> = loaded.managed.into_values().collect();
        for handle in loaded.modules {
            // A context that has ended has taken its module along.
            let Ok(module) = MODULES.get(handle as CUmodule) else {
                continue;
            };
            if let Ok(context) = Context::of_id(module.context()) {
                module.end(&context, &managed, BY)?;
            }
        }
        for address in managed {
            if Memory::global().is_live(address, 1) {
                memory::release(address, BY);
            }
        }
        drop(KERNELS.drain(|kernel| kernel.library == self.handle));
        Ok(())
    }
}

impl LibraryKernel {
    /// What it is in a context, where its library is loaded if it is not.
    ///
    /// # Errors
    ///
    /// Those of [`Library::module`].
    pub(crate) fn function(&self, context: &Arc<Context>) -> Result<Arc<Function>> {
        let library = LIBRARIES.get(self.library as *mut ())?;
        let function = library.module(context)?.function(context, &self.name)?;
        let mut state = lock(&self.state);
        state.functions.retain(|known| known.strong_count() > 0);
        let weak = Arc::downgrade(&function);
        if !state.functions.iter().any(|known| known.ptr_eq(&weak)) {
            if let Some(set) = state.settings.get(&function.device) {
                function.set_as(set);
            }
            state.functions.push(weak);
        }
        Ok(function)
    }

    /// An attribute on a device.
    pub(crate) fn attribute(&self, which: CUfunction_attribute, device: usize) -> Result<i32> {
        attribute(&self.on_device(device), which)
    }

    /// Sets an attribute on a device, also for the functions that the kernel is in its contexts.
    pub(crate) fn set_attribute(
        &self,
        which: CUfunction_attribute,
        value: i32,
        device: usize,
    ) -> Result {
        set_attribute(&self.on_device(device), which, value)?;
        self.functions_on(device)
            .iter()
            .try_for_each(|function| set_attribute(function, which, value))
    }

    /// Sets what the kernel prefers on a device.
    pub(crate) fn set_cache_config(&self, config: u32, device: usize) {
        let own = self.on_device(device);
        let set = |function: &Function| function.cache_config.store(config, Relaxed);
        set(&own);
        self.functions_on(device)
            .iter()
            .for_each(|function| set(function));
    }

    fn functions_on(&self, device: usize) -> Vec<Arc<Function>> {
        let state = lock(&self.state);
        let functions = state.functions.iter().filter_map(Weak::upgrade);
        functions
            .filter(|function| function.device == device)
            .collect()
    }

    /// What is set for it on a device: a function of no context.
    fn on_device(&self, device: usize) -> Arc<Function> {
        let mut state = lock(&self.state);
        let set = state.settings.entry(device).or_insert_with(|| {
            Arc::new(Function::new(
                0,
                0,
                0,
                device,
                self.target,
                Arc::clone(&self.code),
            ))
        });
        Arc::clone(set)
    }
}

/// The function that a handle means: its own, or the one that a library's kernel is in a context.
///
/// # Errors
///
/// Invalid handle; those of the library's loading.
pub(crate) fn function_or_kernel(
    handle: CUfunction,
    context: impl FnOnce() -> Result<Arc<Context>>,
) -> Result<Arc<Function>> {
    match FUNCTIONS.get(handle) {
        Ok(function) => Ok(function),
        Err(_) => KERNELS.get(handle)?.function(&context()?),
    }
}
