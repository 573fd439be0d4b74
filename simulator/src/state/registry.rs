//! Handles: numbers that are never used twice, so that a stale handle is found out instead of meaning another object.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::{Context, Result, code};
use crate::graph::{Exec, Graph, Node, UserObject};
use crate::module::{Function, Module};
use crate::pool::Pool;
use crate::streams::{Event, Stream};

/// All live objects of one kind.
pub(crate) struct Registry<T> {
    objects: RwLock<HashMap<usize, Arc<T>>>,
}

impl<T> Default for Registry<T> {
    fn default() -> Self {
        Self {
            objects: RwLock::default(),
        }
    }
}

/// A fresh handle. It looks like an aligned address, but none that a program could have mapped.
pub(crate) fn fresh() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0x10_0000);
    NEXT.fetch_add(16, Ordering::Relaxed)
}

impl<T> Registry<T> {
    /// Adds an object that is made knowing its handle.
    pub(crate) fn add(&self, make: impl FnOnce(usize) -> T) -> Arc<T> {
        let handle = fresh();
        let object = Arc::new(make(handle));
        self.objects
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(handle, Arc::clone(&object));
        object
    }

    /// The object of a handle.
    pub(crate) fn get<H>(&self, handle: *mut H) -> Result<Arc<T>> {
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        objects
            .get(&(handle as usize))
            .cloned()
            .ok_or(code::INVALID_HANDLE)
    }

    /// Takes an object out; its handle is invalid from now on.
    pub(crate) fn remove<H>(&self, handle: *mut H) -> Result<Arc<T>> {
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        objects
            .remove(&(handle as usize))
            .ok_or(code::INVALID_HANDLE)
    }

    /// Takes out all objects for which `wanted` holds.
    pub(crate) fn drain(&self, wanted: impl Fn(&T) -> bool) -> Vec<Arc<T>> {
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        objects
            .extract_if(|_, object| wanted(object))
            .map(|(_, object)| object)
            .collect()
    }

    /// All objects for which `wanted` holds.
    pub(crate) fn filter(&self, wanted: impl Fn(&T) -> bool) -> Vec<Arc<T>> {
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        objects
            .values()
            .filter(|object| wanted(object))
            .cloned()
            .collect()
    }
}

/// The registries of the process.
#[derive(Default)]
pub(crate) struct Registries {
    pub(crate) contexts: Registry<Context>,
    pub(crate) streams: Registry<Stream>,
    pub(crate) events: Registry<Event>,
    pub(crate) modules: Registry<Module>,
    pub(crate) functions: Registry<Function>,
    pub(crate) graphs: Registry<Graph>,
    pub(crate) nodes: Registry<Node>,
    pub(crate) execs: Registry<Exec>,
    pub(crate) objects: Registry<UserObject>,
    pub(crate) pools: Registry<Pool>,
}
