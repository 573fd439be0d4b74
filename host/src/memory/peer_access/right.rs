//! What the driver was told: which device reaches which memory of another, and how often that was asked for.

use std::sync::{Arc, Mutex};

use crate::context::primary::Context;
use crate::driver_call::call;
use crate::error::{Code, Result};
use crate::memory::pool::handle::PoolHandle;
use crate::memory::virtual_memory::range::AddressRange;
use crate::sync::lock;

/// Memory of a device, as another one is let use it.
#[derive(Clone)]
pub(crate) enum ReachedMemory {
    /// What is allocated for itself, neither from a pool nor mapped.
    Plain,
    /// What comes from a pool.
    Pool(Arc<PoolHandle>),
    /// What is mapped into reserved addresses.
    Mapped(Arc<AddressRange>),
}

/// The driver lets a device reach memory of another one as long as a right to it exists. It keeps both contexts.
pub(super) struct Right {
    /// Gone only while it ends.
    granted: Option<Granted>,
}

struct Granted {
    /// The context of the device that reaches the memory.
    accessor: Arc<Context>,
    /// That of the memory's device.
    owner: Arc<Context>,
    memory: ReachedMemory,
}

/// Tells one right from another; good as long as a right of it exists.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    accessor: usize,
    memory: KeyOfMemory,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum KeyOfMemory {
    /// By the context.
    Plain(usize),
    /// By the driver's handle.
    Pool(usize),
    /// By what describes the reserved addresses, which others may have later.
    Mapped(usize),
}

/// What some rights are of.
struct Held {
    key: Key,
    /// How many.
    rights: usize,
    /// The driver had been told by somebody else, who has not asked for it to end.
    was_there: bool,
}

/// Calls of the driver that grant and end rights are made under this lock, with what they change here.
static HELD: Mutex<Vec<Held>> = Mutex::new(Vec::new());

impl Right {
    /// Lets `accessor` reach memory of `owner`.
    ///
    /// # Errors
    ///
    /// What the driver says.
    pub(super) fn grant(
        accessor: &Arc<Context>,
        owner: &Arc<Context>,
        memory: ReachedMemory,
    ) -> Result<Right> {
        let granted = Granted {
            accessor: accessor.clone(),
            owner: owner.clone(),
            memory,
        };
        let key = granted.key();
        let mut held = lock(&HELD);
        match held.iter_mut().find(|held| held.key == key) {
            Some(held) => held.rights += 1,
            None => {
                let was_there = granted.begin()?;
                held.push(Held {
                    key,
                    rights: 1,
                    was_there,
                });
            }
        }
        Ok(Right {
            granted: Some(granted),
        })
    }

    pub(super) fn memory(&self) -> Option<&ReachedMemory> {
        self.granted.as_ref().map(|granted| &granted.memory)
    }

    /// Ends it. The device does not use the memory any more, unless by another right.
    pub(super) fn end(mut self) -> Result<()> {
        self.granted.take().map_or(Ok(()), Granted::end)
    }
}

impl Drop for Right {
    fn drop(&mut self) {
        if let Some(granted) = self.granted.take() {
            let accessor = granted.accessor.clone();
            accessor.destroy(move || granted.end());
        }
    }
}

impl Granted {
    fn key(&self) -> Key {
        Key {
            accessor: self.accessor.raw().addr(),
            memory: match &self.memory {
                ReachedMemory::Plain => KeyOfMemory::Plain(self.owner.raw().addr()),
                ReachedMemory::Pool(pool) => KeyOfMemory::Pool(pool.raw().addr()),
                ReachedMemory::Mapped(range) => KeyOfMemory::Mapped(Arc::as_ptr(range).addr()),
            },
        }
    }

    /// Tells the driver; whether it had been told by somebody else.
    fn begin(&self) -> Result<bool> {
        let device = self.accessor.device;
        match &self.memory {
            ReachedMemory::Plain => {
                self.accessor.bind()?;
                // SAFETY: `self.owner` keeps the context.
                match unsafe { call!(cuCtxEnablePeerAccess(self.owner.raw(), 0)) } {
                    Err(error) if error.code() == Some(Code::PEER_ACCESS_ALREADY_ENABLED) => {
                        Ok(true)
                    }
                    enabled => enabled.map(|()| false),
                }
            }
            ReachedMemory::Pool(pool) => {
                let was_there = pool.is_reached_by(device)?;
                if !was_there {
                    pool.set_reached_by(device, true)?;
                }
                Ok(was_there)
            }
            ReachedMemory::Mapped(range) => range.allow(device).map(|()| false),
        }
    }

    /// Takes the right off the list, and where it was the last one of its kind tells the driver.
    fn end(self) -> Result<()> {
        let key = self.key();
        let mut all = lock(&HELD);
        let Some(index) = all.iter().position(|held| held.key == key) else {
            return Ok(());
        };
        all[index].rights -= 1;
        if all[index].rights > 0 || all.swap_remove(index).was_there {
            return Ok(());
        }
        let device = self.accessor.device;
        match &self.memory {
            ReachedMemory::Plain => {
                self.accessor.bind()?;
                // SAFETY: `self.owner` keeps the context.
                unsafe { call!(cuCtxDisablePeerAccess(self.owner.raw())) }
            }
            ReachedMemory::Pool(pool) => pool.set_reached_by(device, false),
            ReachedMemory::Mapped(range) => range.forbid(device),
        }
    }
}
