//! Compiles a module in units: one for each kernel, and one each for the functions and the variables that kernels have in common.
//!
//! A unit's text says everything that its PTX depends on, and nothing else (see `canonical`), so its digest is a name for its PTX, which is
//! kept in the user's cache (`store`). After an edit only the units are compiled whose text has changed, on all processors; then the PTX of
//! all units is put together (`merge`).

mod canonical;
mod compile;
mod declaration;
mod items;
mod locations;
mod merge;
mod names;
mod nodes;
mod partition;
mod store;
mod text;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::float::FloatOptions;
use super::untranslatable;
use super::{LinkJob, environment};
use crate::error::BuildError;
use crate::fingerprint;
use crate::parallel::in_parallel;
use canonical::Canonical;
use compile::{Common, Compiled, Failure};
use locations::PanicLocation;
use names::Names;
use store::Store;

pub(super) use partition::Facts;
use partition::Partition;
use text::ModuleText;
use warpsmith_signature::Panic;

/// A module that is ready to be optimised.
pub(super) struct Whole {
    /// The module as LLVM prints it.
    pub text: String,
    pub facts: Facts,
    /// The code generator's features: the PTX version.
    pub features: String,
    /// Whether the PTX version has chains of inlined calls.
    pub has_chains: bool,
    /// The variables that the host can name.
    pub visible: HashSet<String>,
    /// The switches of each kernel.
    pub float: HashMap<String, FloatOptions>,
}

/// The PTX of a module.
pub(super) struct Translated {
    pub ptx: String,
    pub kernels: Vec<TranslatedKernel>,
    /// Where functions panic that kernels have in common.
    pub common_panics: Vec<Panic>,
    /// The units that were compiled. The others were in the cache.
    pub compiled: Vec<String>,
    /// Whether it was compiled in units, and so the places of panics are written by the linker.
    pub is_cut: bool,
}

/// A kernel in it.
pub(super) struct TranslatedKernel {
    pub name: String,
    pub takes_launch: bool,
    /// The variables that it reaches, of those that the host can name.
    pub variables: HashSet<String>,
    /// Where it panics.
    pub panics: Vec<Panic>,
}

/// What is compiled by itself.
struct Unit {
    name: String,
    text: Arc<String>,
    /// Line `n` of its text is this one of the source, at `n - 1`; `None` if they are the source's.
    lines: Option<Vec<u32>>,
    locations: Vec<PanicLocation>,
}

impl Unit {
    /// Where it panics, with what the source says of these places now.
    fn panics(&self, compiled: &Compiled) -> Vec<Panic> {
        let panics = compiled.panics.iter();
        panics
            .map(|site| {
                let location = self.locations.get(site.location);
                location.map_or_else(Panic::default, |location| Panic {
                    message: site.message.clone(),
                    has_values: site.has_values,
                    ..location.panic()
                })
            })
            .collect()
    }
}

/// Compiles a module.
pub(super) fn translate(job: &Arc<LinkJob>, whole: &Whole) -> Result<Translated, BuildError> {
    let Cut {
        units,
        pointers_take_launch,
        users,
    } = cut(whole);
    let common = Arc::new(Common {
        job: job.clone(),
        features: whole.features.clone(),
        has_chains: whole.has_chains,
        pointers_take_launch,
    });
    let store = Store::open();
    // Who asks for LLVM's text wants all of it.
    let reads = environment::ir_folder().is_none();
    let fingerprint = options(&common);
    let keys = in_parallel(&units, |unit| key(&fingerprint, unit));
    let mut results: Vec<Option<Compiled>> =
        in_parallel(&keys, |key| store.as_ref().filter(|_| reads)?.get(key));
    let mut missing: Vec<usize> = (0..units.len()).filter(|&n| results[n].is_none()).collect();
    // The longest first, so that no processor is left with it alone in the end.
    missing.sort_by_key(|&n| std::cmp::Reverse(units[n].text.len()));
    let new = in_parallel(&missing, |&n| {
        let unit = &units[n];
        let compiled = compile::compile(&common, &unit.name, unit.text.clone());
        if let (Ok(compiled), Some(store)) = (&compiled, &store) {
            store.put(&keys[n], compiled);
        }
        compiled
    });
    let mut new: Vec<_> = missing.into_iter().zip(new).collect();
    new.sort_by_key(|(n, _)| *n);
    let mut compiled = Vec::new();
    for (n, result) in new {
        match result {
            Ok(result) => results[n] = Some(result),
            Err(Failure::Known(error)) => return Err(error),
            Err(Failure::Untranslatable { reason, optimised }) => {
                let unit = &units[n];
                let lines = unit.lines.as_deref();
                return Err(untranslatable::explain(
                    job, optimised, &reason, lines, &users,
                ));
            }
        }
        compiled.push(units[n].name.clone());
    }
    if let Some(store) = store.filter(|_| !compiled.is_empty()) {
        store.sweep();
    }
    let units: Vec<(Unit, Compiled)> = units
        .into_iter()
        .zip(results.into_iter().flatten())
        .collect();
    let (ptx, kernels) = merge::merge(&units, &whole.visible);
    let is_common = |(_, compiled): &&(Unit, Compiled)| {
        let mut items = compiled.ptx.items.iter();
        items.all(|item| item.kind != items::ItemKind::Entry)
    };
    let common = units.iter().filter(is_common);
    Ok(Translated {
        ptx,
        kernels,
        common_panics: common
            .flat_map(|(unit, compiled)| unit.panics(compiled))
            .collect(),
        compiled,
        is_cut: units.iter().all(|(unit, _)| unit.lines.is_some()),
    })
}

/// A module in units.
struct Cut {
    units: Vec<Unit>,
    pointers_take_launch: bool,
    /// The kernels that reach each function that is in no kernel's unit.
    users: HashMap<String, Vec<String>>,
}

fn cut(whole: &Whole) -> Cut {
    try_cut(whole).unwrap_or_else(|| Cut {
        units: vec![Unit {
            name: "module".into(),
            text: Arc::new(whole.text.clone()),
            lines: None,
            locations: Vec::new(),
        }],
        pointers_take_launch: false,
        users: HashMap::new(),
    })
}

/// `None` if the module has something that only a whole module can have.
fn try_cut(whole: &Whole) -> Option<Cut> {
    let mut module = ModuleText::parse(&whole.text)?;
    let partition = Partition::of(&mut module, &whole.facts);
    let name = |n: usize| text::bare(module.definitions[n].symbol).to_owned();
    let users: HashMap<String, Vec<String>> = partition
        .users
        .iter()
        .map(|(&function, kernels)| (name(function), kernels.iter().map(|&k| name(k)).collect()))
        .collect();
    // A function that several kernels have in common may do what all of them may.
    let float: HashMap<usize, FloatOptions> = partition
        .users
        .iter()
        .filter_map(|(&function, kernels)| {
            let options = kernels
                .iter()
                .filter_map(|&kernel| whole.float.get(&name(kernel)));
            Some((function, options.copied().reduce(FloatOptions::both)?))
        })
        .filter(|(function, _)| module.definitions[*function].kind == text::Kind::Function)
        .collect();
    let names = Names::of(&module);
    let units = in_parallel(&partition.parts, |part| {
        let Canonical {
            text,
            lines,
            locations,
        } = canonical::write(&module, &partition, part, &names, &float)?;
        Some(Unit {
            name: part.name.clone(),
            text: Arc::new(text),
            lines: Some(lines),
            locations,
        })
    });
    Some(Cut {
        units: units.into_iter().collect::<Option<_>>()?,
        pointers_take_launch: partition.pointers_take_launch,
        users,
    })
}

/// What decides a unit's PTX beside its text.
fn options(common: &Common) -> String {
    let Common {
        job,
        features,
        has_chains,
        pointers_take_launch,
    } = common;
    let LinkJob {
        llvm,
        toolchain,
        arch,
        float,
        lines,
        foreign,
        // They have decided the text.
        crates: _,
        libraries: _,
        libdevice: _,
        ptx_version: _,
    } = &**job;
    format!(
        "{} {llvm:?} {toolchain} {arch} {float:?} {lines} {foreign:?} {features} {has_chains} {pointers_take_launch}",
        fingerprint::of_builder()
    )
}

/// The name of a unit's PTX.
fn key(options: &str, unit: &Unit) -> String {
    fingerprint::long_hash(&[options, &unit.name, &unit.text])
}
