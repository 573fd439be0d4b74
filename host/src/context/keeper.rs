//! What somebody else owns, kept as long as this crate uses it.

use std::any::Any;
use std::sync::{Mutex, PoisonError};

use super::primary::Context;
use crate::error::Result;

/// The owner of a stream or of memory that this crate was given by its handle or address.
pub(crate) struct Keeper(Mutex<Box<dyn Any + Send>>);

impl Keeper {
    pub(crate) fn new(owner: impl Any + Send) -> Keeper {
        Keeper(Mutex::new(Box::new(owner)))
    }

    /// Drops the owner. Whatever its destructor makes current, `context` is current after this, as it was before.
    ///
    /// # Errors
    ///
    /// The context is lost.
    pub(crate) fn give_up(self, context: &Context) -> Result<()> {
        drop(self.0.into_inner().unwrap_or_else(PoisonError::into_inner));
        context.bind()
    }
}
