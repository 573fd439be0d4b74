//! Where a module comes from: the builder, which signs its PTX, or elsewhere.

use warpsmith_signature::{Kernel, Reading, Signature};

use crate::error::{Code, Error, Result};
use crate::panics::names::PanicSites;

/// What is known of a module beyond what the driver knows.
pub(crate) enum Origin {
    /// The builder made the PTX.
    Builder(Signature),
    /// The builder made the PTX, or something that it was made into; what it says does not count, for this reason.
    Unusable(&'static str),
    /// PTX of another compiler.
    Foreign {
        /// It declares variables, which each of its kernels may use.
        variables: bool,
    },
    /// Machine code, of which nothing is known.
    Binary,
}

/// Whether an entry has the two parameters of the launch: where panics are told, and which launch it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LaunchParameters {
    Absent,
    Present,
    Unknown,
}

impl Origin {
    pub(crate) fn of_text(ptx: &str, variables: bool) -> Origin {
        match warpsmith_signature::read(ptx) {
            Reading::Signed(signature) => Origin::Builder(signature),
            Reading::Unusable(reason) => Origin::Unusable(reason),
            Reading::Absent => Origin::Foreign { variables },
        }
    }

    fn kernel(&self, name: &str) -> Option<&Kernel> {
        match self {
            Origin::Builder(signature) => {
                signature.kernels.iter().find(|kernel| kernel.name == name)
            }
            _ => None,
        }
    }

    /// Whether a kernel may use variables of the module.
    pub(crate) fn uses_variables(&self, kernel: &str) -> bool {
        match self {
            Origin::Builder(_) => self
                .kernel(kernel)
                .is_none_or(|kernel| !kernel.variables.is_empty()),
            Origin::Foreign { variables } => *variables,
            Origin::Unusable(_) | Origin::Binary => true,
        }
    }

    /// Whether an entry has the parameters of the launch.
    pub(crate) fn launch_parameters(&self, kernel: &str) -> LaunchParameters {
        match (self, self.kernel(kernel)) {
            (Origin::Builder(_), Some(kernel)) if kernel.takes_launch => LaunchParameters::Present,
            (Origin::Builder(_), Some(_)) | (Origin::Foreign { .. }, _) => LaunchParameters::Absent,
            _ => LaunchParameters::Unknown,
        }
    }

    /// Where a kernel panics, as far as the PTX says it.
    pub(crate) fn panic_sites(&self, kernel: &str) -> PanicSites {
        let Origin::Builder(signature) = self else {
            return PanicSites::default();
        };
        PanicSites {
            own: self
                .kernel(kernel)
                .map_or_else(Vec::new, |kernel| kernel.panics.clone()),
            common: signature.common_panics.as_slice().into(),
        }
    }

    /// Whether the host may have a variable of this name.
    pub(crate) fn shows_variable(&self, name: &str) -> bool {
        match self {
            Origin::Builder(signature) => signature
                .variables
                .iter()
                .any(|variable| variable.name == name),
            Origin::Unusable(_) | Origin::Foreign { .. } | Origin::Binary => {
                !name.starts_with(warpsmith_signature::INTERNAL)
            }
        }
    }

    /// # Errors
    ///
    /// The entry was not built from the kernel whose record this is, as far as one can tell.
    pub(crate) fn check_kernel(&self, name: &str, record: &[u32]) -> Result<()> {
        let refuse = |why: String, hint: &str| {
            Err(Error::misuse(
                "Module::kernel",
                Code::INVALID_IMAGE,
                format!("kernel `{name}`: {why}"),
                hint,
            ))
        };
        const UNCHECKED: &str = "if it is the code of this kernel all the same, `unsafe { module.kernel_unchecked(..) }` takes your word for it; \
                                 `untyped_kernel` is for kernels of other compilers";
        match self {
            Origin::Foreign { .. } => refuse(
                "the PTX has no signature, so the builder did not make it".into(),
                UNCHECKED,
            ),
            Origin::Binary => refuse("machine code has no signature".into(), UNCHECKED),
            Origin::Unusable(reason) => refuse(
                format!("the PTX's signature does not count: {reason}"),
                "build it again, and load what the builder wrote",
            ),
            Origin::Builder(_) => match self.kernel(name) {
                Some(kernel) if kernel.record == record => Ok(()),
                Some(kernel) => refuse(
                    difference(&kernel.record, record),
                    "the PTX was not built from this source: build it again",
                ),
                None => refuse(
                    "the PTX has no signature for it".into(),
                    "is it a kernel that `#[kernel]` made?",
                ),
            },
        }
    }
}

/// What differs between the PTX's record and the launcher's, in words. The layout is that of [`warpsmith_device::launch::Kernel::RECORD`].
fn difference(ptx: &[u32], launcher: &[u32]) -> String {
    const COUNT: usize = 2;
    const DIMENSIONS: usize = 14;
    const SAFE: usize = 15;
    const HEADER: usize = 16;
    let word = |record: &[u32], index: usize| record.get(index).copied().unwrap_or(0);
    let (has, passes) = (word(ptx, COUNT), word(launcher, COUNT));
    if has != passes {
        return format!("it has {has} parameters in the PTX, its launcher passes {passes}");
    }
    if word(ptx, SAFE) != word(launcher, SAFE) {
        return "only one of the PTX's and the launcher's is an `unsafe fn`".into();
    }
    if word(ptx, DIMENSIONS) != word(launcher, DIMENSIONS) {
        return format!(
            "the PTX's may be launched in {} dimensions, the launcher's in {}",
            word(ptx, DIMENSIONS),
            word(launcher, DIMENSIONS)
        );
    }
    let row = |record: &[u32], number: usize| -> [u32; 4] {
        std::array::from_fn(|column| word(record, HEADER + 4 * number + column))
    };
    match (0..has as usize).find(|&number| row(ptx, number) != row(launcher, number)) {
        Some(number) => format!(
            "parameter {number} (slices count as two; matrices, textures and surfaces as four) has another type in the PTX than in the launcher"
        ),
        None => "its `#[kernel(...)]` was another one when the PTX was built".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_named() {
        let mut record = [0_u32; 24];
        record[2] = 2;
        record[14] = 1;
        let changed = |index: usize| {
            let mut other = record;
            other[index] += 1;
            difference(&record, &other)
        };
        assert!(changed(2).contains("2 parameters in the PTX, its launcher passes 3"));
        assert!(changed(14).contains("launched in 1 dimensions, the launcher's in 2"));
        assert!(changed(15).contains("unsafe fn"));
        assert!(changed(21).contains("parameter 1 "));
        assert!(changed(3).contains("#[kernel(...)]"));
        // A record that is cut off is different, and no reason to panic.
        assert!(!difference(&record[..3], &record).is_empty());
    }
}
