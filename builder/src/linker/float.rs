//! Floating-point switches: contraction to `fma`, flush to zero, approximate division and square root.
//!
//! rustc never fuses `a * b + c`; nvcc does by default, and so does the builder. The switches hold for a whole
//! build, and a kernel may override them. They are applied after optimisation, when nearly everything is
//! inlined into the kernels: a function that several kernels have in common gets what all of them allow.

use std::collections::HashMap;

use super::reachable::reachable;
use super::records::Record;
use crate::llvm::{Attribute, Module, Value, calling_convention, fast_math, opcode};

/// How floating-point arithmetic may be translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FloatOptions {
    pub fmad: bool,
    pub ftz: bool,
    pub approximate_division: bool,
    pub approximate_square_root: bool,
}

impl FloatOptions {
    /// A kernel's own.
    fn of(self, record: Option<&Record>) -> FloatOptions {
        let Some(record) = record else { return self };
        FloatOptions {
            fmad: record.fmad.unwrap_or(self.fmad),
            ftz: record.ftz.unwrap_or(self.ftz),
            approximate_division: record
                .approximate_division
                .unwrap_or(self.approximate_division),
            approximate_square_root: record
                .approximate_square_root
                .unwrap_or(self.approximate_square_root),
        }
    }

    /// The switches as the value of an attribute.
    pub(super) fn to_text(self) -> String {
        let switches = [
            self.fmad,
            self.ftz,
            self.approximate_division,
            self.approximate_square_root,
        ];
        switches
            .map(|on| if on { '1' } else { '0' })
            .iter()
            .collect()
    }

    /// The switches of such a value.
    fn from_text(text: &str) -> Option<FloatOptions> {
        let &[fmad, ftz, approximate_division, approximate_square_root] = text.as_bytes() else {
            return None;
        };
        Some(FloatOptions {
            fmad: fmad == b'1',
            ftz: ftz == b'1',
            approximate_division: approximate_division == b'1',
            approximate_square_root: approximate_square_root == b'1',
        })
    }

    /// What two kernels allow.
    pub(super) fn both(self, other: FloatOptions) -> FloatOptions {
        FloatOptions {
            fmad: self.fmad && other.fmad,
            ftz: self.ftz && other.ftz,
            approximate_division: self.approximate_division && other.approximate_division,
            approximate_square_root: self.approximate_square_root && other.approximate_square_root,
        }
    }
}

/// The attribute that holds the switches of a function, and of those that it calls.
pub(super) const MARK: &str = "warpsmith-float";

/// Notes its switches at each kernel; gives them by the kernels' names.
pub(crate) fn mark(
    module: &Module<'_>,
    build: FloatOptions,
    records: &[Record],
) -> HashMap<String, FloatOptions> {
    let mut of_kernel = HashMap::new();
    for kernel in module
        .functions()
        .into_iter()
        .filter(|f| f.calling_convention() == calling_convention::PTX_KERNEL)
    {
        let name = kernel.name();
        let options = build.of(records.iter().find(|r| r.kernel == name));
        kernel.add_text(Attribute::Function, MARK, &options.to_text());
        of_kernel.insert(name, options);
    }
    of_kernel
}

/// Applies the switches that functions are marked with, and the build's where none is.
pub(crate) fn apply(module: &Module<'_>, build: FloatOptions) {
    let mut of_function: HashMap<Value<'_>, FloatOptions> = HashMap::new();
    for marked in module.functions() {
        let Some(options) = marked
            .text_attribute(Attribute::Function, MARK)
            .and_then(|text| FloatOptions::from_text(&text))
        else {
            continue;
        };
        for function in reachable(marked) {
            of_function
                .entry(function)
                .and_modify(|o| *o = o.both(options))
                .or_insert(options);
        }
    }
    for function in module
        .functions()
        .into_iter()
        .filter(|f| !f.is_declaration())
    {
        // Not called from any of them directly: reached through a pointer, so from any of them.
        let options = of_function.get(&function).copied().unwrap_or(build);
        apply_to(function, options);
    }
}

fn apply_to(function: Value<'_>, options: FloatOptions) {
    if options.ftz {
        function.flush_subnormals();
    }
    for instruction in function.instructions() {
        if !instruction.takes_fast_math() {
            continue;
        }
        let mut flags = 0;
        match instruction.opcode() {
            opcode::FADD | opcode::FSUB | opcode::FMUL | opcode::FNEG if options.fmad => {
                flags |= fast_math::CONTRACT
            }
            opcode::FDIV if options.approximate_division => {
                flags |= fast_math::APPROXIMATE | fast_math::RECIPROCAL
            }
            opcode::CALL if options.approximate_square_root => {
                let name = instruction.callee().map(|f| f.name()).unwrap_or_default();
                if name.starts_with("llvm.sqrt.") {
                    flags |= fast_math::APPROXIMATE;
                }
            }
            _ => {}
        }
        if flags != 0 {
            instruction.add_fast_math(flags);
        }
    }
}
