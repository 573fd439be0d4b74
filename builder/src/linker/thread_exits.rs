//! Keeps a block's last thread where other blocks of its cluster may still reach the block's shared memory.
//!
//! The phases `across_cluster` and `atomic_across_cluster` of the device library lend memory of other blocks between two barriers of the
//! cluster. A block whose threads have all exited is not waited for, and its memory is gone. So in kernels that lead to such a phase:
//!
//! - the block counts the threads that exit, by a return or by `thread::exit`, in a word of shared memory, which the kernel clears first;
//! - all but the last exit at once, so that no barrier of the block waits for them;
//! - the last one passes the cluster's barrier once, by which all blocks have begun, and adds one to a second word in each block of the
//!   cluster. It exits when its own block's word says that all blocks have ended, and until then takes part in the cluster's barriers.
//!
//! A block is written to only by blocks that it waits for, and nobody reads another block's words. How often the blocks that
//! have not ended use the cluster's barrier, and which half of a pair they are at, does not matter. Blocks that are clusters by themselves
//! do none of this.
//!
//! Each way to a kernel's plain `ret` counts by itself. Counting in the one block where they join would ask the threads of a warp to meet
//! there, while some wait at a barrier for the others to exit.
//!
//! An arrival at the cluster's barrier that is not waited for (`cluster::arrive`) must not be open when a thread exits, and no type can say
//! so: such kernels are refused.

use std::collections::HashSet;
use std::path::PathBuf;

use super::globals::SHARED;
use super::reach::IndirectCalls;
use super::{short_names, user_code};
use crate::error::BuildError;
use crate::llvm::{Attribute, Module, Value, ValueKind, calling_convention::PTX_KERNEL, opcode};

/// The device library's marker before `exit`.
pub(super) const EXITS: &str = "__warpsmith_thread_exits";
/// Its marker in phases that lend other blocks' memory.
const LENDS: &str = "__warpsmith_lends_cluster_memory";
/// Its marker where a thread arrives at the cluster's barrier and does not wait.
const ARRIVES: &str = "__warpsmith_arrives_at_cluster";

/// The attribute of kernels, and of functions that kernels have in common, in which exits are counted.
const COUNTS: &str = "warpsmith-counts-exits";
/// Its value for a kernel whose blocks wait for each other.
const STAYS: &str = "stays";
/// Its value for a kernel that only has functions in common with such a one, and for these functions.
const PASSES: &str = "passes";

/// Where a kernel begins to count whose blocks do not wait: a block has fewer threads than are missing to the next 0.
const NEVER: u32 = 1 << 31;

/// The two words: the block's threads that have exited, and the cluster's blocks that have ended.
const WORDS: &str = "__warpsmith_exits";

/// Decides for the whole module which kernels count, and takes the other markers away. Gives what the functions need then.
pub(super) fn decide(
    module: &Module<'_>,
    libraries: &[PathBuf],
) -> Result<Vec<(String, String)>, BuildError> {
    let calls = IndirectCalls::of(module);
    let leading_to = |marker: &str| {
        let marker = module.function(marker);
        marker
            .map(|marker| calls.reaching(marker))
            .unwrap_or_default()
    };
    let is_kernel = |function: &Value<'_>| function.calling_convention() == PTX_KERNEL;
    let lending = leading_to(LENDS);
    let mut staying: Vec<Value<'_>> = lending.iter().copied().filter(is_kernel).collect();
    staying.sort_by_key(|kernel| kernel.name());
    let arriving = leading_to(ARRIVES);
    if let Some(kernel) = staying.iter().find(|kernel| arriving.contains(kernel)) {
        return Err(refuse(module, *kernel, &calls, libraries));
    }
    erase_calls(module, LENDS);
    erase_calls(module, ARRIVES);
    if staying.is_empty() {
        erase_calls(module, EXITS);
        return Ok(Vec::new());
    }
    // A function with a unit of its own does not know which kernel called it.
    let apart: Vec<Value<'_>> = leading_to(EXITS)
        .into_iter()
        .filter(|function| !is_kernel(function) && stays_a_function(*function))
        .collect();
    let users: HashSet<Value<'_>> = apart
        .iter()
        .flat_map(|function| calls.reaching(*function))
        .collect();
    let mut counting = staying.clone();
    if staying.iter().any(|kernel| users.contains(kernel)) {
        let passing = users.into_iter().filter(is_kernel).chain(apart);
        for function in passing.filter(|function| !staying.contains(function)) {
            function.add_text(Attribute::Function, COUNTS, PASSES);
            counting.push(function);
        }
    }
    for kernel in &staying {
        kernel.add_text(Attribute::Function, COUNTS, STAYS);
    }
    let words = module.add_global(WORDS, module.bytes_type(8), SHARED);
    words.set_initialiser(Value::undefined(words.value_type(), words));
    words.internalise();
    words.set_alignment(8);
    let with_exits = calls_of(module, EXITS)
        .into_iter()
        .filter_map(Value::function);
    Ok(counting
        .into_iter()
        .chain(with_exits)
        .map(|function| (function.name(), WORDS.to_owned()))
        .collect())
}

/// Whether a function may be compiled apart from its callers.
fn stays_a_function(function: Value<'_>) -> bool {
    let has = |name| function.has_flag(Attribute::Function, name);
    !has("alwaysinline") && (has("cold") || has("noinline"))
}

fn refuse(
    module: &Module<'_>,
    kernel: Value<'_>,
    calls: &IndirectCalls<'_>,
    libraries: &[PathBuf],
) -> BuildError {
    // The user's code of this kernel that leads to the marker.
    let place = |marker: &str| {
        let marker = module.function(marker)?;
        let leading = calls.reaching(marker);
        let mut places: Vec<String> = leading
            .iter()
            .filter(|f| **f == kernel || calls.reaching(**f).contains(&kernel))
            .flat_map(|function| function.instructions())
            .filter(|i| {
                i.is_call()
                    && i.callee()
                        .is_some_and(|c| c == marker || leading.contains(&c))
            })
            .map(|call| user_code::leading_to(module, call, libraries))
            .filter(|user| user.is_users_own)
            .filter_map(|user| Some(format!("`{}` ({})", user.function?, user.location?)))
            .collect();
        places.sort();
        places.into_iter().next()
    };
    let within = |marker| match place(marker) {
        Some(place) => format!(" in {place}"),
        None => String::new(),
    };
    BuildError::Link(format!(
        "the kernel `{}` lends shared memory across its cluster{}, and arrives at the cluster's barrier without waiting{}. A thread that \
         exits between arrival and wait would let neighbours read memory that is gone. Use `cluster::sync` there, or reach the neighbours' \
         memory by `cluster::map_shared` instead of the phase",
        short_names::of_symbol(&kernel.name()),
        within(LENDS),
        within(ARRIVES),
    ))
}

/// All calls of a marker.
fn calls_of<'c>(module: &Module<'c>, marker: &str) -> Vec<Value<'c>> {
    let users = module.function(marker).map(Value::users);
    users
        .unwrap_or_default()
        .into_iter()
        .filter(|user| user.kind() == ValueKind::Instruction && user.is_call())
        .collect()
}

fn erase_calls(module: &Module<'_>, marker: &str) {
    for call in calls_of(module, marker) {
        call.erase();
    }
}

/// Puts the beginning into the kernels of a unit in which exits are counted, and counting before the exits that are called; nothing in
/// other units.
pub(super) fn begin(module: &Module<'_>) {
    let defined = module
        .functions()
        .into_iter()
        .filter(|function| !function.is_declaration());
    let defined: Vec<Value<'_>> = defined.collect();
    let counts = defined.iter().any(|function| role(*function).is_some());
    let words = module.global(WORDS).filter(|_| counts);
    for call in calls_of(module, EXITS) {
        if let Some(words) = words {
            build(module, call, COUNT, words);
            build(module, call, STAY, words);
        }
        call.erase();
    }
    let kernels = defined
        .into_iter()
        .filter(|function| function.calling_convention() == PTX_KERNEL);
    for (kernel, words) in kernels.zip(words.into_iter().cycle()) {
        let first = if stays(kernel) { 0 } else { NEVER };
        if let Some(start) = kernel.instructions().first() {
            let text = BEGIN.replace("FIRST", &first.to_string());
            build(module, *start, &text, words);
        }
    }
}

/// Puts counting before the returns of kernels. After LLVM's passes, which would join the ways to them.
pub(super) fn end(module: &Module<'_>) {
    let Some(words) = module.global(WORDS) else {
        return;
    };
    for kernel in module.functions().into_iter().filter(|f| stays(*f)) {
        let returns = kernel.instructions().into_iter();
        for ret in returns.filter(|instruction| instruction.opcode() == opcode::RET) {
            let mut ways = ret.split_ways();
            if ways.is_empty() {
                ways.push(ret);
            }
            for way in ways {
                build(module, way, COUNT, words);
            }
            build(module, ret, STAY, words);
        }
    }
}

fn role(function: Value<'_>) -> Option<String> {
    function.text_attribute(Attribute::Function, COUNTS)
}

fn stays(function: Value<'_>) -> bool {
    !function.is_declaration() && role(function).as_deref() == Some(STAYS)
}

/// Puts assembly before an instruction.
fn build(module: &Module<'_>, before: Value<'_>, text: &str, words: Value<'_>) {
    let call = before.build_asm_before(text, "l,~{memory}", module.void_type(), &[words]);
    call.add_call_flag("convergent");
}

/// Clears the words, before any thread of the block exits.
const BEGIN: &str = "{
    .reg .pred %wclustered, %wfirst; .reg .b32 %wblocks, %wthread, %waxis, %wcount;
    mov.u32 %wblocks, %cluster_nctarank;
    setp.ne.u32 %wclustered, %wblocks, 1;
    mov.u32 %wthread, %tid.x;
    mov.u32 %waxis, %tid.y;
    or.b32 %wthread, %wthread, %waxis;
    mov.u32 %waxis, %tid.z;
    or.b32 %wthread, %wthread, %waxis;
    setp.eq.and.u32 %wfirst, %wthread, 0, %wclustered;
    mov.u32 %waxis, 0;
    mov.u32 %wcount, FIRST;
    @%wfirst st.shared.v2.u32 [$0], {%wcount, %waxis};
    @%wclustered bar.sync 0;
    }";

/// Counts the thread; only the last one of a block with neighbours goes on.
const COUNT: &str = "{
    .reg .pred %wexits; .reg .b32 %wnumber, %waxis, %wlast;
    mov.u32 %wnumber, %cluster_nctarank;
    setp.eq.u32 %wexits, %wnumber, 1;
    @%wexits exit;
    mov.u32 %wlast, %ntid.x;
    mov.u32 %waxis, %ntid.y;
    mul.lo.u32 %wlast, %wlast, %waxis;
    mov.u32 %waxis, %ntid.z;
    mul.lo.u32 %wlast, %wlast, %waxis;
    sub.u32 %wlast, %wlast, 1;
    atom.acq_rel.cta.shared.add.u32 %wnumber, [$0], 1;
    setp.ne.u32 %wexits, %wnumber, %wlast;
    @%wexits exit;
    }";

/// Tells all blocks of the cluster that this one has ended, and exits when all have.
const STAY: &str = "{
    .reg .pred %wall, %wmore; .reg .b32 %wblocks, %wrank, %wended; .reg .b64 %wthere;
    barrier.cluster.arrive.release;
    barrier.cluster.wait.acquire;
    mov.u32 %wblocks, %cluster_nctarank;
    mov.u32 %wrank, 0;
    TELL:
    mapa.shared::cluster.u64 %wthere, $0, %wrank;
    red.release.cluster.shared::cluster.add.u32 [%wthere+4], 1;
    add.u32 %wrank, %wrank, 1;
    setp.lt.u32 %wmore, %wrank, %wblocks;
    @%wmore bra TELL;
    WAIT:
    ld.acquire.cluster.shared.u32 %wended, [$0+4];
    setp.eq.u32 %wall, %wended, %wblocks;
    @%wall exit;
    barrier.cluster.arrive.relaxed;
    barrier.cluster.wait.acquire;
    bra WAIT;
    }";
