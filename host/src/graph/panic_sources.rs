//! Where the kernels of a graph tell of panics: one place a device, as the names of kernels are a device's.

use std::sync::Arc;

use crate::error::Result;
use crate::panics::reports::{PanicSource, Panics};

/// Those of one executable graph. They know devices weakly: what waits in a device's list of things to free may have them.
#[derive(Clone, Default)]
pub(super) struct PanicSources(Vec<Arc<PanicSource>>);

impl PanicSources {
    /// The one of a device, which is made where it is missing.
    ///
    /// # Errors
    ///
    /// The driver has no more memory.
    pub(super) fn of(&mut self, panics: &Arc<Panics>) -> Result<&Arc<PanicSource>> {
        let index = match self.0.iter().position(|source| source.is_of(panics)) {
            Some(index) => index,
            None => {
                self.0.push(panics.add_graph()?);
                self.0.len() - 1
            }
        };
        Ok(&self.0[index])
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, Arc<PanicSource>> {
        self.0.iter()
    }

    /// The next launch does other things than the last one.
    pub(super) fn separate_next_launch(&self) {
        self.iter().for_each(|source| source.separate_next_launch());
    }
}

impl From<Arc<PanicSource>> for PanicSources {
    fn from(source: Arc<PanicSource>) -> PanicSources {
        PanicSources(vec![source])
    }
}
