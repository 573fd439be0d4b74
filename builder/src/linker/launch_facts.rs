//! What is known of every launch of a kernel, put in the place of the special registers that would say it.
//!
//! A block of exact launch bounds has the extents that they name, so its `%ntid` are constants, and an extent of one makes that `%tid` 0.
//! Where a parameter hands out elements by an index of fewer than three dimensions, the host library launches in no more of them
//! (`launch_dimensions` of the record): the rest of `%tid` and `%ctaid` is 0, of `%ntid` and `%nctaid` 1. What is left of `%tid` is below the
//! extent of exact bounds along its own axis:
//!
//! ```text
//! launch_bounds(16, 16, exact)       call range(i32 0, 16) i32 @llvm.nvvm.read.ptx.sreg.tid.y()
//! ```
//!
//! LLVM has all three below the product of the extents, 256 here; of bounds that are not exact nothing more is known.
//!
//! Units that several kernels have in common are left as they are: their kernels may differ.

use super::is_kernel;
use crate::llvm::{Attribute, Module, Value};

/// The attribute of a kernel that is launched in fewer than three dimensions.
pub(super) const DIMENSIONS: &str = "warpsmith-launch-dimensions";

/// How the intrinsics are called that read special registers.
pub(super) const REGISTERS: &str = "llvm.nvvm.read.ptx.sreg.";

/// Replaces what is known in the unit of one kernel.
pub(super) fn fold(module: &Module<'_>) {
    let functions = module.functions().into_iter();
    let mut kernels = functions.filter(|function| is_kernel(*function));
    let (Some(kernel), None) = (kernels.next(), kernels.next()) else {
        return;
    };
    let shape = Shape::of(kernel);
    for function in module.functions() {
        let name = function.name();
        let Some(register) = name.strip_prefix(REGISTERS) else {
            continue;
        };
        let Some(value) = shape.value(register) else {
            if let Some(end) = shape.end(register) {
                for call in function.calls() {
                    call.add_result_range(0, end.into());
                }
            }
            continue;
        };
        for call in function.calls() {
            call.replace_by(Value::integer_like(value.into(), call));
        }
    }
}

/// The shape of all launches of a kernel.
struct Shape {
    /// The block's extents, if they are always the same.
    block: Option<[u32; 3]>,
    /// In how many dimensions grid and block extend at most.
    dimensions: usize,
}

impl Shape {
    fn of(kernel: Value<'_>) -> Shape {
        let text = |name| kernel.text_attribute(Attribute::Function, name);
        let block = text("nvvm.reqntid").and_then(|bounds| {
            let extents: Vec<u32> = bounds.split(',').map_while(|n| n.parse().ok()).collect();
            extents.try_into().ok()
        });
        Shape {
            block,
            dimensions: text(DIMENSIONS)
                .and_then(|number| number.parse().ok())
                .unwrap_or(3),
        }
    }

    /// What a special register is always below, named as in PTX without the percent sign.
    fn end(&self, register: &str) -> Option<u32> {
        let axis = axis_of(register.strip_prefix("tid.")?)?;
        Some(self.block?[axis])
    }

    /// The value of a special register, named as in PTX without the percent sign.
    fn value(&self, register: &str) -> Option<u32> {
        let (register, axis) = register.split_once('.')?;
        let axis = axis_of(axis)?;
        let extent = self.block.map(|extents| extents[axis]);
        let is_flat = axis >= self.dimensions;
        match register {
            "ntid" => extent.or(is_flat.then_some(1)),
            "tid" => (is_flat || extent == Some(1)).then_some(0),
            "nctaid" => is_flat.then_some(1),
            "ctaid" => is_flat.then_some(0),
            _ => None,
        }
    }
}

fn axis_of(name: &str) -> Option<usize> {
    ["x", "y", "z"].iter().position(|axis| *axis == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_every_launch_has_is_known() {
        let shape = Shape {
            block: Some([32, 8, 1]),
            dimensions: 2,
        };
        let values = |shape: &Shape| {
            [
                "ntid.x", "ntid.y", "ntid.z", "tid.x", "tid.z", "nctaid.y", "nctaid.z", "ctaid.z",
            ]
            .map(|register| shape.value(register))
        };
        assert_eq!(
            values(&shape),
            [
                Some(32),
                Some(8),
                Some(1),
                None,
                Some(0),
                None,
                Some(1),
                Some(0)
            ]
        );
        let ends = ["tid.x", "tid.y", "ntid.x", "ctaid.x", "laneid"];
        let ends = ends.map(|register| shape.end(register));
        assert_eq!(ends, [Some(32), Some(8), None, None, None]);
        let any = Shape {
            block: None,
            dimensions: 3,
        };
        assert_eq!(values(&any), [None; 8]);
        assert_eq!(any.end("tid.x"), None);
        let flat = Shape {
            block: None,
            dimensions: 1,
        };
        assert_eq!(
            values(&flat),
            [
                None,
                Some(1),
                Some(1),
                None,
                Some(0),
                Some(1),
                Some(1),
                Some(0)
            ]
        );
        assert_eq!(any.value("clusterid.x"), None);
        assert_eq!(any.value("laneid"), None);
    }
}
