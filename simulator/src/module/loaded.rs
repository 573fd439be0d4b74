//! A loaded module.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::function::{FUNCTIONS, Function};
use crate::context::Context;
use crate::engine;
use crate::error::{Result, code};
use crate::memory;
use crate::registry::{ContextBound, Registry};
use crate::settings;
use crate::sync::lock;
use warpsmith_abi::CUmodule;

/// All loaded modules.
pub(crate) static MODULES: Registry<Module> = Registry::new();

/// Who unloads a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Program,
    /// The library that it was loaded for.
    Library,
}

/// A loaded module.
pub(crate) struct Module {
    pub(crate) handle: usize,
    context: u64,
    owner: Owner,
    pub(crate) code: engine::Module,
    /// The addresses of its variables.
    variables: Vec<usize>,
    /// The functions handed out so far, by name.
    functions: Mutex<HashMap<String, Arc<Function>>>,
}

impl ContextBound for Module {
    fn context(&self) -> u64 {
        self.context
    }
}

impl Module {
    /// Adds a module to its context.
    pub(super) fn add(
        context: &Context,
        code: engine::Module,
        variables: Vec<usize>,
        owner: Owner,
    ) -> Arc<Module> {
        context.add_to(&MODULES, |handle| Module {
            handle,
            context: context.id(),
            owner,
            code,
            variables,
            functions: Mutex::default(),
        })
    }

    /// The function of a kernel; the same each time.
    pub(crate) fn function(&self, context: &Context, name: &str) -> Result<Arc<Function>> {
        let known = lock(&self.functions).get(name).cloned();
        if let Some(function) = known {
            return Ok(function);
        }
        let kernel = Arc::clone(self.code.kernel(name).ok_or(code::NOT_FOUND)?);
        if !settings::process().eager_loading {
            context.wait_to_load(|| format!("kernel `{name}` (cuModuleGetFunction)"))?;
        }
        let mut functions = lock(&self.functions);
        if let Some(function) = functions.get(name) {
            return Ok(Arc::clone(function));
        }
        let target = u32::from(self.code.target.level);
        let function = context.add_to(&FUNCTIONS, |handle| {
            Function::new(
                handle,
                self.handle,
                self.context,
                context.device,
                target,
                kernel,
            )
        });
        functions.insert(name.to_owned(), Arc::clone(&function));
        Ok(function)
    }

    /// `cuModuleUnload`: waits for the context's work, then ends the module, its functions and its variables.
    ///
    /// # Errors
    ///
    /// Invalid handle if there is no such module; not permitted if it is a library's.
    pub(crate) fn unload(context: &Context, handle: CUmodule) -> Result {
        let module = MODULES.get(handle)?;
        if module.owner == Owner::Library {
            return Err(code::NOT_PERMITTED);
        }
        module.end(context, &[], "cuModuleUnload")
    }

    /// As [`unload`](Self::unload), of whichever owner; these variables stay.
    pub(super) fn end(&self, context: &Context, kept: &[usize], by: &'static str) -> Result {
        context.queues.wait_all();
        context.flush_output();
        MODULES.remove(self.handle as CUmodule)?;
        drop(FUNCTIONS.drain(|function| function.module == self.handle));
        let variables = self.variables.iter().copied();
        for base in variables.filter(|base| !kept.contains(base)) {
            memory::release(base, by);
        }
        Ok(())
    }

    /// The context that it is loaded in.
    pub(super) fn context(&self) -> u64 {
        self.context
    }
}
