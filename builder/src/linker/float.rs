//! Floating-point switches: contraction to `fma`, flush to zero, approximate division and square root.
//!
//! rustc never fuses `a * b + c`; nvcc does by default, and so does the builder. The switches hold for a whole
//! build, and a kernel may override them. They are applied after optimisation, when nearly everything is
//! inlined into the kernels: a function that several kernels call gets what all of them allow.

use std::collections::HashMap;

use super::reachable::reachable;
use super::records::Record;
use crate::llvm::{Module, Value, calling_convention, fast_math, opcode};

/// How floating-point arithmetic may be translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FloatOptions {
    pub fmad: bool,
    pub ftz: bool,
    pub approximate_division: bool,
    pub approximate_square_root: bool,
}

impl FloatOptions {
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

    fn both(self, other: FloatOptions) -> FloatOptions {
        FloatOptions {
            fmad: self.fmad && other.fmad,
            ftz: self.ftz && other.ftz,
            approximate_division: self.approximate_division && other.approximate_division,
            approximate_square_root: self.approximate_square_root && other.approximate_square_root,
        }
    }
}

/// Applies the build's switches and the kernels' own.
pub(crate) fn apply(module: &Module<'_>, build: FloatOptions, records: &[Record]) {
    let mut of_function: HashMap<Value<'_>, FloatOptions> = HashMap::new();
    for kernel in module
        .functions()
        .into_iter()
        .filter(|f| f.calling_convention() == calling_convention::PTX_KERNEL)
    {
        let name = kernel.name();
        let options = build.of(records.iter().find(|r| r.kernel == name));
        for function in reachable(kernel) {
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
        // Not called from any kernel directly: reached through a pointer, so from any of them.
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
