//! Optimises one unit and translates it to PTX.

use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::items::Items;
use crate::error::BuildError;
use crate::linker::call_chains::CallChains;
use crate::linker::panic_sites::{self, Site, Sites};
use crate::linker::untranslatable::Optimised;
use crate::linker::{
    LinkJob, address_alignment, approximations, assumptions, atomics, barriers, bit_tests,
    branch_values, certain_cases, chosen_slots, chunk_ends, cold_values, constant_copies, copies,
    counted_ends, dump, early_loads, exchanged_slots, exit_values, fall_through, float, halves,
    inclusive_ranges, invariant_loads, is_kernel, joined_checks, joined_conditions, late_stores,
    launch_facts, launch_parameters, long_copies, loop_exits,
};
use crate::linker::{
    lines, loads_first, local_alignment, local_arrays, moved_elements, narrow, needless_barriers,
    one_way_back, optional_references, other_rounds, overwritten_arrays, panic_tails, panics,
    pointer_values,
};
use crate::linker::{
    replaced, short_minima, spaces, stores_of_parts, swaps, symbols, thread_exits, three_ways,
    twin_counters, unroll,
};
use crate::llvm::{self, Context, Module, TargetMachine, guarded};

/// What all units of a module are compiled with.
#[derive(Debug)]
pub(super) struct Common {
    pub job: Arc<LinkJob>,
    /// The code generator's features: the PTX version.
    pub features: String,
    /// Whether the PTX version has chains of inlined calls.
    pub has_chains: bool,
    /// Whether functions that are called through pointers take the parameters of the launch.
    pub pointers_take_launch: bool,
}

/// A unit's PTX, as it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Compiled {
    pub ptx: Items,
    /// What lines in the PTX mean, if they are numbers of chains.
    pub chains: Option<CallChains>,
    /// The kernels that take the parameters of the launch.
    pub take_launch: Vec<String>,
    /// The places at which it panics, by number.
    pub panics: Vec<Site>,
}

/// Why a unit was not compiled.
pub(super) enum Failure {
    /// The builder knows what is wrong.
    Known(BuildError),
    /// LLVM cannot translate what is left in the module; it says why.
    Untranslatable {
        reason: String,
        optimised: Option<Box<Optimised>>,
    },
}

/// Compiles the text of a unit.
pub(super) fn compile(
    common: &Arc<Common>,
    name: &str,
    text: Arc<String>,
) -> Result<Compiled, Failure> {
    let optimised = Arc::new(Mutex::new(None));
    let compiled = guarded::run({
        let (common, optimised, name) = (common.clone(), optimised.clone(), name.to_owned());
        move || compile_here(&common, &name, &text, &optimised)
    });
    match compiled {
        Ok(Ok(Ok(compiled))) => Ok(compiled),
        Ok(Err(error)) => Err(Failure::Known(error)),
        Ok(Ok(Err(reason))) | Err(reason) => Err(Failure::Untranslatable {
            reason,
            optimised: optimised
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take()
                .map(Box::new),
        }),
    }
}

/// The same on this thread, with LLVM's reason if it cannot translate the module that is left in `kept`.
fn compile_here(
    common: &Common,
    name: &str,
    text: &str,
    kept: &Mutex<Option<Optimised>>,
) -> Result<Result<Compiled, String>, BuildError> {
    let job = &common.job;
    let context = Context::new(llvm::load(&job.llvm)?);
    let module = Module::parse_text(&context, text, name)
        .map_err(|e| format!("internal error: the linker wrote a broken unit `{name}`: {e}"))?;
    // What comes from the cache was verified when it was compiled.
    module
        .verify()
        .map_err(|e| format!("internal error: the linker made a broken unit `{name}`: {e}"))?;
    let machine = TargetMachine::new(&context, job.arch.name(), &common.features)?;

    thread_exits::begin(&module);
    let literal_handler = symbols::keep(&module, &[panics::LITERAL]);
    let replacements = symbols::keep(&module, &replaced::FUNCTIONS);
    let site_handlers = symbols::keep(&module, &panic_sites::HANDLERS);
    let mut sites = Sites::of(&module);
    one_way_back::join(&module);
    let mut exchanging = exchanged_slots::hold(&module);
    module.run_passes(THREAD_JUMPS, None)?;
    if exchanged_slots::release_others(&module, &mut exchanging) {
        module.run_passes(THREAD_JUMPS, None)?;
    }
    module.run_passes(THREAD_AGAIN, None)?;
    one_way_back::keep(&module);
    panics::redirect_literals(&module);
    sites.replace_formatted(&module, is_kernel);
    replaced::replace(&module);
    for handler in literal_handler.into_iter().chain(replacements) {
        handler.internalise();
    }
    // Not before: it takes away declarations, too, of what only now is used.
    module.run_passes("globaldce", None)?;
    // What formats may panic, too: no place of it has a number if nothing formats any more.
    sites.replace_formatted(&module, |_| true);
    sites.replace(&module);
    panic_sites::hold(&module);
    launch_facts::fold(&module);
    pointer_values::restore(&module);
    copies::widen_of_slots(&module);
    chosen_slots::resolve(&module);
    local_arrays::mark(&module)?;
    three_ways::decide(&module);
    stores_of_parts::split(&module);
    inclusive_ranges::count(&module);
    joined_conditions::join(&module);
    module.run_passes(PIPELINE, Some(&machine))?;
    // Each time it may decide something more, which is rare.
    for _ in 0..MOST_TIMES {
        if !branch_values::replace(&module) {
            break;
        }
        module.run_passes(THREAD_DECIDED, None)?;
        module.run_passes(PIPELINE, Some(&machine))?;
    }
    if constant_copies::replace(&module) {
        local_arrays::mark(&module)?;
        module.run_passes(PIPELINE, Some(&machine))?;
    }
    if exchanged_slots::resolve(&module, &exchanging) {
        module.run_passes(PIPELINE, Some(&machine))?;
    }
    if exchanged_slots::release(&module, exchanging) {
        module.run_passes(THREAD_JUMPS, None)?;
        module.run_passes(PIPELINE, Some(&machine))?;
    }
    one_way_back::release_needless(&module);
    if moved_elements::are_there(&module) {
        module.run_passes(THREAD_DECIDED, None)?;
    }
    let moving = moved_elements::separate(&module);
    if !moving.is_empty() {
        module.run_passes(REFERENCES, Some(&machine))?;
        moved_elements::split(&module, &moving);
        module.run_passes(PIPELINE, Some(&machine))?;
        if moved_elements::join(&module, &moving) {
            module.run_passes(REFERENCES, Some(&machine))?;
        }
    }
    if chosen_slots::resolve(&module) {
        module.run_passes(CHOSEN_SLOTS, Some(&machine))?;
    }
    if optional_references::resolve(&module) {
        module.run_passes(REFERENCES, Some(&machine))?;
    }
    // Of rounds that are unrolled by now.
    approximations::fold(&module)?;
    module.run_passes(INFER_ADDRESS_SPACES, Some(&machine))?;
    address_alignment::raise(&module);
    needless_barriers::remove(&module)?;
    counted_ends::replace(&module)?;
    chunk_ends::replace(&module)?;
    narrow::decide(&module, &machine)?;
    other_rounds::join(&module)?;
    late_stores::delay(&module)?;
    // Before kernels are copied whose size it takes a part of.
    overwritten_arrays::leave_out(&module)?;
    narrow::short_lengths::run(&module);
    narrow::short_elements::run(&module);
    invariant_loads::hoist(&module)?;
    early_loads::make(&module);
    unroll::run(&module)?;
    twin_counters::join(&module);
    // After unrolling: the copies of a round have the counter of their remainders in common.
    narrow::run(&module, &machine)?;
    barriers::merge(&module);
    joined_checks::merge(&module);
    narrow::implied::leave_out(&module);
    // Of what was inlined meanwhile, too.
    sites.replace_formatted(&module, |_| true);
    sites.replace(&module);
    for handler in site_handlers {
        handler.internalise();
    }
    one_way_back::release(&module);
    cold_values::sink(&module);
    panic_tails::merge(&module)?;

    loads_first::come(&module);

    // What must not disturb them.
    thread_exits::end(&module);
    local_alignment::raise(&module);
    let take_launch = launch_parameters::pass(&module, common.pointers_take_launch);
    copies::widen(&module);
    halves::pair(&module);
    short_minima::widen(&module);
    swaps::through_registers(&module);
    long_copies::split(&module);
    bit_tests::make(&module);
    let joined = loop_exits::join(&module);
    exit_values::copy_behind(&module, &joined);
    atomics::restore(&module);
    module.run_passes(EXPAND_ATOMICS, Some(&machine))?;
    atomics::restore(&module);
    spaces::resolve(&module)?;
    float::apply(&module, job.float);
    stores_of_parts::split(&module);
    // After all that LLVM's passes could make of the certainty.
    certain_cases::release(&module);
    assumptions::forget(&module)?;
    let chains = if common.has_chains {
        Some(lines::number(&module, &job.foreign))
    } else {
        lines::flatten(&module, &job.foreign);
        None
    };
    debug_assert_eq!(module.verify(), Ok(()), "the passes broke `{name}`");
    dump(&module, &format!("after-{}", name.replace(' ', "-")));
    *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(Optimised {
        bitcode: module.to_bitcode(),
        features: common.features.clone(),
        chains: chains.clone(),
    });
    let mut take_launch: Vec<String> = take_launch.into_iter().collect();
    take_launch.sort();
    Ok(module.emit(&machine).map(|ptx| Compiled {
        ptx: Items::parse(&fall_through::reverse_conditions(&ptx)),
        chains,
        take_launch,
        panics: sites.into_all(),
    }))
}

/// Inlines, and threads jumps through what is known on the way: without it a plain `for i in 0..16` keeps the
/// `Option` that its iterator returns, its trip count stays unknown and it is never unrolled. LLVM skips jump
/// threading for GPUs, so this runs without the target machine (and leaves convergent code alone all the same).
/// MIR has a pass for it, too, but that one duplicates barriers and is off.
const THREAD_JUMPS: &str = "cgscc(devirt<4>(inline,function(sroa<modify-cfg>,early-cse<memssa>,jump-threading,\
    correlated-propagation,simplifycfg,instcombine<no-verify-fixpoint>)))";

/// Threads jumps through what only the last of these passes has decided: the address of an element of a slot, of which a comparison with null was not known
/// to fail while it was computed from two pointers. LLVM's own pipeline threads them twice, too.
const THREAD_AGAIN: &str = "function(jump-threading,simplifycfg,instcombine<no-verify-fixpoint>)";

/// Threads jumps through what a branch has decided: an iterator's `Option` that is a phi of null and of an element's address.
const THREAD_DECIDED: &str = "function(instcombine<no-verify-fixpoint>,jump-threading)";

/// LLVM's ordinary pipeline.
const PIPELINE: &str = "default<O3>";

/// How often it runs again after values were replaced that branches decide.
const MOST_TIMES: usize = 3;

/// For what the linker does after the pipeline. Not within it: of pointers into global memory, LLVM does not know that they are not null.
const INFER_ADDRESS_SPACES: &str = "function(infer-address-spaces)";

/// Makes values of stack slots between which LLVM's pipeline alone has let a pointer choose.
const CHOSEN_SLOTS: &str = "function(sroa<modify-cfg>,instcombine<no-verify-fixpoint>,early-cse<memssa>,simplifycfg,\
    instcombine<no-verify-fixpoint>)";

/// What follows references whose addresses are no longer asked for.
const REFERENCES: &str = "function(instcombine<no-verify-fixpoint>,simplifycfg)";

/// Makes wide atomics of the narrow ones that are left. LLVM 23 needs an analysis for it, and gives those with an order fences
/// instead, which is why the ones that have an instruction come first.
const EXPAND_ATOMICS: &str = "require<libcall-lowering-info>,function(atomic-expand)";
