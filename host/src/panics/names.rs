//! The names of kernels, by the numbers that their launches pass.

use std::sync::RwLock;

use warpsmith_device::panic::KERNEL_BITS;

use crate::sync::{read, write};

/// The kernels of one device that can panic.
#[derive(Default)]
pub(crate) struct KernelNames(RwLock<Vec<String>>);

/// The number of all kernels for which there is no other.
const UNNAMED: u32 = (1 << KERNEL_BITS) - 1;

impl KernelNames {
    /// The number that launches of this kernel pass.
    pub(crate) fn number(&self, name: &str) -> u32 {
        let mut names = write(&self.0);
        let index = names
            .iter()
            .position(|known| known == name)
            .unwrap_or_else(|| {
                names.push(name.into());
                names.len() - 1
            });
        u32::try_from(index).map_or(UNNAMED, |index| index.min(UNNAMED))
    }

    /// The name of the kernel of a launch's id.
    pub(super) fn of_launch(&self, id: u64) -> String {
        let index = (id & u64::from(UNNAMED)) as usize;
        let names = read(&self.0);
        names.get(index).map_or("(unknown)", |name| name).into()
    }
}
