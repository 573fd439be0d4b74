//! Which buffers of an imported pool this process has.

use std::sync::Arc;

use super::handle::PoolHandle;
use crate::sync::lock;

/// A buffer of an imported pool that this process has taken, until its free is enqueued.
#[derive(Debug)]
pub(crate) struct TakenBuffer {
    pool: Arc<PoolHandle>,
    pointer: [u8; 64],
}

impl TakenBuffer {
    /// None where this process has the buffer already.
    pub(super) fn new(pool: &Arc<PoolHandle>, pointer: [u8; 64]) -> Option<TakenBuffer> {
        lock(&pool.taken).insert(pointer).then(|| TakenBuffer {
            pool: pool.clone(),
            pointer,
        })
    }
}

impl Drop for TakenBuffer {
    fn drop(&mut self) {
        lock(&self.pool.taken).remove(&self.pointer);
    }
}
