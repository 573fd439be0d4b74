//! The kernels that can panic, by the numbers that their launches pass: their names, and the places at which they do.

use std::sync::{Arc, RwLock};

use warpsmith_device::panic::KERNEL_BITS;
use warpsmith_signature::{COMMON_PANICS, Panic};

use crate::sync::{read, write};

/// Where a kernel panics, by the numbers that its threads record.
#[derive(Default, PartialEq)]
pub(crate) struct PanicSites {
    /// In its own code.
    pub(crate) own: Vec<Panic>,
    /// In what the kernels of its module have in common.
    pub(crate) common: Arc<[Panic]>,
}

impl PanicSites {
    fn at(&self, number: u32) -> Option<&Panic> {
        match number.checked_sub(COMMON_PANICS) {
            Some(number) => self.common.get(number as usize),
            None => self.own.get(number as usize),
        }
    }
}

/// A kernel that can panic.
struct Known {
    name: String,
    sites: PanicSites,
}

/// The kernels of one device that can panic.
#[derive(Default)]
pub(crate) struct KernelNames(RwLock<Vec<Known>>);

/// The number of all kernels for which there is no other.
const UNNAMED: u32 = (1 << KERNEL_BITS) - 1;

impl KernelNames {
    /// The number that launches of this kernel pass. Kernels of one name that panic at other places are others.
    pub(crate) fn number(&self, name: &str, sites: PanicSites) -> u32 {
        let mut kernels = write(&self.0);
        let index = kernels
            .iter()
            .position(|known| known.name == name && known.sites == sites)
            .unwrap_or_else(|| {
                kernels.push(Known {
                    name: name.into(),
                    sites,
                });
                kernels.len() - 1
            });
        u32::try_from(index).map_or(UNNAMED, |index| index.min(UNNAMED))
    }

    /// The name of the kernel of a launch's id.
    pub(super) fn of_launch(&self, id: u64) -> String {
        let kernels = read(&self.0);
        let kernel = kernels.get(index_of(id));
        kernel.map_or("(unknown)", |known| &known.name).into()
    }

    /// The place of this number at which the kernel of a launch's id panicked.
    pub(super) fn panic_at(&self, id: u64, number: u32) -> Option<Panic> {
        let kernels = read(&self.0);
        kernels.get(index_of(id))?.sites.at(number).cloned()
    }
}

fn index_of(id: u64) -> usize {
    (id & u64::from(UNNAMED)) as usize
}
