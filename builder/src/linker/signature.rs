//! What the host library is told about the module: see `warpsmith_signature`.

use std::collections::HashMap;

use warpsmith_signature::{INTERNAL, Kernel, Signature, Variable};

use super::globals;
use super::records::Record;
use super::units::TranslatedKernel;
use crate::llvm::{Module, Value};

/// The variables that the host can name.
pub(super) fn visible<'c>(module: &Module<'c>) -> Vec<Value<'c>> {
    module
        .globals()
        .into_iter()
        .filter(|global| !global.is_declaration() && globals::is_host_visible(*global))
        .filter(|global| !global.name().starts_with("llvm."))
        .collect()
}

/// Those of them that the host library's users may name, with their sizes.
pub(super) fn variables(module: &Module<'_>) -> Vec<Variable> {
    visible(module)
        .into_iter()
        .filter(|variable| !variable.name().starts_with(INTERNAL))
        .map(|variable| Variable {
            name: variable.name(),
            bytes: module.size_of(variable.value_type()),
        })
        .collect()
}

/// Describes the kernels as they were translated.
pub(super) fn describe(
    kernels: Vec<TranslatedKernel>,
    variables: Vec<Variable>,
    records: &[Record],
) -> Signature {
    let records: HashMap<&str, &Record> = records
        .iter()
        .map(|record| (record.kernel.as_str(), record))
        .collect();
    let kernels = kernels
        .into_iter()
        .map(|kernel| {
            let record = records.get(kernel.name.as_str());
            Kernel {
                record: record.map_or_else(Vec::new, |record| record.words.clone()),
                takes_launch: kernel.takes_launch,
                variables: (0..)
                    .zip(&variables)
                    .filter(|(_, variable)| kernel.variables.contains(&variable.name))
                    .map(|(index, _)| index)
                    .collect(),
                panics: kernel.panics,
                name: kernel.name,
            }
        })
        .collect();
    Signature {
        kernels,
        variables,
        common_panics: Vec::new(),
    }
}
