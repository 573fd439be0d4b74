//! Registries turn the program's handles into objects. Handles are never used twice, so a stale handle is found out instead of meaning
//! another object. Each type of object has its registry where the type is defined.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};

use crate::error::{Result, code};
use crate::sync::{read, write};
use warpsmith_abi::CUresult;

/// All live objects of one type.
pub(crate) struct Registry<T> {
    objects: RwLock<BTreeMap<usize, Arc<T>>>,
    /// The answer to a null handle.
    null: CUresult,
}

/// An object that ends with its context.
pub(crate) trait ContextBound: Send + Sync {
    /// The identity of the context ([`crate::context::Context::id`]).
    fn context(&self) -> u64;
}

/// What a context asks of the owner of objects that belong to it.
pub(crate) trait ContextObjects: Sync {
    /// Drops all objects of a context that ends.
    fn release(&self, context: u64);
}

/// A fresh handle. It looks like an aligned address, but none that a program could have mapped.
pub(crate) fn fresh_handle() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0x10_0000);
    NEXT.fetch_add(16, Ordering::Relaxed)
}

impl<T> Registry<T> {
    /// An empty registry.
    pub(crate) const fn new() -> Self {
        Self {
            objects: RwLock::new(BTreeMap::new()),
            null: code::INVALID_HANDLE,
        }
    }

    /// An empty registry of objects whose null handle is an invalid value to the driver.
    pub(crate) const fn with_invalid_null() -> Self {
        Self {
            objects: RwLock::new(BTreeMap::new()),
            null: code::INVALID_VALUE,
        }
    }

    fn refusal<H>(&self, handle: *mut H) -> CUresult {
        match handle.is_null() {
            true => self.null,
            false => code::INVALID_HANDLE,
        }
    }

    /// Adds an object that is made knowing its handle.
    pub(crate) fn add(&self, make: impl FnOnce(usize) -> T) -> Arc<T> {
        let handle = fresh_handle();
        let object = Arc::new(make(handle));
        write(&self.objects).insert(handle, Arc::clone(&object));
        object
    }

    /// The object of a handle.
    pub(crate) fn get<H>(&self, handle: *mut H) -> Result<Arc<T>> {
        let objects = read(&self.objects);
        objects
            .get(&(handle as usize))
            .cloned()
            .ok_or(self.refusal(handle))
    }

    /// Takes an object out; its handle is invalid from now on.
    pub(crate) fn remove<H>(&self, handle: *mut H) -> Result<Arc<T>> {
        write(&self.objects)
            .remove(&(handle as usize))
            .ok_or(self.refusal(handle))
    }

    /// Takes out all objects for which `wanted` holds.
    pub(crate) fn drain(&self, wanted: impl Fn(&T) -> bool) -> Vec<Arc<T>> {
        write(&self.objects)
            .extract_if(.., |_, object| wanted(object))
            .map(|(_, object)| object)
            .collect()
    }

    /// All objects for which `wanted` holds.
    pub(crate) fn filter(&self, wanted: impl Fn(&T) -> bool) -> Vec<Arc<T>> {
        read(&self.objects)
            .values()
            .filter(|object| wanted(object))
            .cloned()
            .collect()
    }
}

impl<T: ContextBound> ContextObjects for Registry<T> {
    fn release(&self, context: u64) {
        // The objects are dropped after the lock: their destructors may use the registry.
        drop(self.drain(|object| object.context() == context));
    }
}
