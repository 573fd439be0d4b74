//! The default streams, and what a stream handle means.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, RwLock};

use super::stream::{STREAMS, Stream};
use crate::context::{Context, current};
use crate::error::Result;
use crate::registry::ContextObjects;
use crate::sync::{read, write};
use warpsmith_abi::{CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, CUstream};

/// The legacy default streams, by context.
struct LegacyStreams {
    by_context: RwLock<BTreeMap<u64, Arc<Stream>>>,
}

static LEGACY: LegacyStreams = LegacyStreams {
    by_context: RwLock::new(BTreeMap::new()),
};

impl ContextObjects for LegacyStreams {
    fn release(&self, context: u64) {
        drop(write(&self.by_context).remove(&context));
    }
}

thread_local! {
    /// How many calls of per-thread variants are running on this thread.
    static PER_THREAD_CALLS: Cell<u32> = const { Cell::new(0) };
    /// This thread's own default streams, by the context's identity and its epoch.
    static PER_THREAD: RefCell<HashMap<(u64, u64), Arc<Stream>>> = RefCell::default();
}

/// While one lives, the null stream means the calling thread's own default stream.
pub(crate) struct PerThreadDefault(());

impl PerThreadDefault {
    pub(crate) fn enter() -> Self {
        PER_THREAD_CALLS.set(PER_THREAD_CALLS.get() + 1);
        Self(())
    }
}

impl Drop for PerThreadDefault {
    fn drop(&mut self) {
        PER_THREAD_CALLS.set(PER_THREAD_CALLS.get() - 1);
    }
}

/// The stream of a handle; null and the two special handles mean default streams of the current context.
pub(crate) fn find(handle: CUstream) -> Result<Arc<Stream>> {
    if handle == CU_STREAM_LEGACY || (handle.is_null() && PER_THREAD_CALLS.get() == 0) {
        return Ok(legacy(&current()?));
    }
    if handle == CU_STREAM_PER_THREAD || handle.is_null() {
        return Ok(per_thread(&current()?));
    }
    let stream = STREAMS.get(handle)?;
    stream.context()?;
    Ok(stream)
}

/// The legacy default stream of a context.
pub(crate) fn legacy(context: &Arc<Context>) -> Arc<Stream> {
    if let Some(stream) = read(&LEGACY.by_context).get(&context.id()) {
        return Arc::clone(stream);
    }
    context.keeps_objects_in(&LEGACY);
    let make = || Arc::new(Stream::new(CU_STREAM_LEGACY as usize, context, 0, 0));
    let mut streams = write(&LEGACY.by_context);
    Arc::clone(streams.entry(context.id()).or_insert_with(make))
}

fn per_thread(context: &Arc<Context>) -> Arc<Stream> {
    let key = (context.id(), context.epoch());
    PER_THREAD.with_borrow_mut(|streams| {
        streams.retain(|_, stream| stream.has_context());
        let make = || Arc::new(Stream::new(CU_STREAM_PER_THREAD as usize, context, 0, 0));
        Arc::clone(streams.entry(key).or_insert_with(make))
    })
}
