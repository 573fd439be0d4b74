//! What the host library is told about the module: see `warpsmith_signature`.

use std::collections::{HashMap, HashSet};

use warpsmith_signature::{INTERNAL, Kernel, Signature, Variable};

use super::globals;
use super::reach::IndirectCalls;
use super::records::Record;
use crate::llvm::{Module, Value, calling_convention::PTX_KERNEL};

/// Describes the module as it is emitted; the kernels of `take_launch` have parameters for the launch.
pub(super) fn describe(
    module: &Module<'_>,
    records: &[Record],
    take_launch: &HashSet<String>,
) -> Signature {
    let records: HashMap<&str, &Record> = records
        .iter()
        .map(|record| (record.kernel.as_str(), record))
        .collect();
    let variables: Vec<Value<'_>> = module
        .globals()
        .into_iter()
        .filter(|global| !global.is_declaration() && globals::is_host_visible(*global))
        .filter(|global| {
            let name = global.name();
            !name.starts_with("llvm.") && !name.starts_with(INTERNAL)
        })
        .collect();
    let calls = IndirectCalls::of(module);
    let users: Vec<_> = variables
        .iter()
        .map(|variable| calls.reaching(*variable))
        .collect();
    let kernels = module
        .functions()
        .into_iter()
        .filter(|f| !f.is_declaration() && f.calling_convention() == PTX_KERNEL)
        .map(|kernel| {
            let name = kernel.name();
            let record = records.get(name.as_str());
            Kernel {
                record: record.map_or_else(Vec::new, |record| record.words.clone()),
                takes_launch: take_launch.contains(&name),
                variables: (0..)
                    .zip(&users)
                    .filter(|(_, users)| users.contains(&kernel))
                    .map(|(index, _)| index)
                    .collect(),
                name,
            }
        })
        .collect();
    Signature {
        kernels,
        variables: variables
            .iter()
            .map(|variable| Variable {
                name: variable.name(),
                bytes: module.size_of(variable.value_type()),
            })
            .collect(),
    }
}
