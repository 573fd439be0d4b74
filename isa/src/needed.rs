//! What ptxas says of a modifier that is not there: a table, found by asking it.

use crate::form::Slot;
use crate::modifier::ModifierClass;
use crate::name::Name;
use crate::words::is_shape;

/// What it says where one belongs.
struct Needed {
    /// The instructions' names, separated by spaces; empty: all.
    names: &'static str,
    /// The slots' names, separated by spaces; empty: all.
    slots: &'static str,
    /// What may stand there first, separated by spaces; empty: anything.
    words: &'static str,
    /// `{name}` is the instruction, `{type}` its first type, `{shape}` its matrices' shape.
    sentence: &'static str,
}

const fn of(
    names: &'static str,
    slots: &'static str,
    words: &'static str,
    sentence: &'static str,
) -> Needed {
    Needed {
        names,
        slots,
        words,
        sentence,
    }
}

const TYPES: &str = "Unexpected instruction types specified for '{name}'";
const ROUNDING: &str = "Rounding modifier required for instruction '{name}'";
const APPROXIMATE: &str =
    "Rounding modifier or '.approx' modifier required for instruction '{name}'";
const SHAPE: &str = "Shape modifier required for instruction '{name}'";

/// Of several that meet a slot, the first.
static NEEDED: &[Needed] = &[
    of(
        "tensormap.replace",
        "b1024",
        "",
        "Tensormap size modifier required for instruction '{name}'",
    ),
    of(
        "tensormap.replace",
        "field",
        "",
        "Tensormap field modifier required for instruction '{name}'",
    ),
    of(
        "tensormap.replace",
        "mode",
        "",
        ".tile modifier required for instruction '{name}'",
    ),
    of(
        "",
        "layout",
        "",
        "layout modifier required for instruction '{name}'",
    ),
    of(
        "",
        "",
        "row col",
        "'.blayout' modifier required for instruction '{name}'",
    ),
    of(
        "",
        "",
        "x1 x2 x4",
        ".num modifier required for instruction '{name}'",
    ),
    of(
        "mma wgmma.mma_async wmma.mma",
        "",
        "and xor",
        "Boolean operation is required for instruction '{name}'",
    ),
    of(
        "",
        "",
        "add min max and or xor popc",
        "Reduction operation is required for instruction '{name}'",
    ),
    of(
        "",
        "op redOp",
        "",
        "Reduction operation is required for instruction '{name}'",
    ),
    of(
        "",
        "geom",
        "",
        "Geometry modifier required for instruction '{name}'",
    ),
    of(
        "",
        "",
        "trap clamp",
        "Clamp modifier required for instruction '{name}'",
    ),
    of(
        "",
        "",
        "up",
        "Shuffle modifier required for instruction '{name}'",
    ),
    of(
        "tld4",
        "comp",
        "",
        "Component modifier required for instruction '{name}'",
    ),
    of(
        "",
        "query",
        "",
        "Query modifier required for instruction '{name}'",
    ),
    of(
        "clusterlaunchcontrol.try_cancel.async",
        "completion",
        "",
        ".mbarrier::complete_tx::bytes modifier required for instruction '{name}'",
    ),
    of(
        "clusterlaunchcontrol.query_cancel",
        "get_first_ctaid::dimension",
        "",
        "is_success or get_first_ctaid modifier required for instruction '{name}'",
    ),
    of(
        "",
        "completion",
        "",
        ".completion_mechanism modifier required for instruction '{name}'",
    ),
    of(
        "red.async st.async",
        "completion_mechanism",
        "",
        "Modifier '.cluster' requires modifier '.completion_mechanism' for instruction '{name}'",
    ),
    of(
        "red.async",
        "sem",
        "",
        "order modifier required for instruction '{name}'",
    ),
    of(
        "cp.async.bulk.prefetch cp.async.bulk.prefetch.tensor",
        "L2",
        "",
        ".level modifier required for instruction '{name}'",
    ),
    of(
        "bar bar.cta barrier barrier.cta",
        "sync",
        "",
        "Barrier modifier required for instruction '{name}'",
    ),
    of(
        "cp.async",
        "",
        "ca cg",
        "'.ca or .cg' modifier required for instruction '{name}'",
    ),
    of(
        "fence.proxy",
        "to_proxy::from_proxy async async::generic proxykind",
        "",
        ".proxykind modifier required for instruction '{name}'",
    ),
    of(
        "fence.proxy",
        "sync_restrict::shared::cta sync_restrict::shared::cluster",
        "",
        ".sync_restrict modifier required for instruction '{name}'",
    ),
    of(
        "fence.proxy",
        "acquire release sem",
        "",
        ".acquire/.release modifier required for instruction '{name}'",
    ),
    of(
        "createpolicy.fractional createpolicy.range",
        "primary",
        "",
        "cache eviction priority modifier required for instruction '{name}'",
    ),
    of(
        "prefetch",
        "tensormap level",
        "",
        "Cache level modifier required for instruction '{name}'",
    ),
    of(
        "",
        "level",
        "",
        "Cache level modifier required for instruction '{name}'",
    ),
    of(
        "cvt",
        "satfinite",
        "",
        "'.satfinite' modifier required for instruction '{name}' with destination type '.{type}'",
    ),
    of(
        "atom red",
        "noftz",
        "",
        "'.noftz' modifier required for instruction '{name}' with type '.{type}'",
    ),
    of(
        "ldmatrix stmatrix",
        "trans",
        "",
        "Modifier '.trans' require for instruction {name} with shape '.{shape}'",
    ),
    of(
        "mma",
        "spvariant",
        "",
        ".sp modifier required for instruction '{name}'",
    ),
];

/// What is said of an empty slot: `{word}` is the first that may stand there, `{other}` the second, `{slot}` the slot's name.
pub(crate) fn sentence(slot: &Slot, instruction: Name<'_>, approximate: bool) -> &'static str {
    let mut words = slot.alternatives().map(|alternative| alternative.word);
    let first = words.next().unwrap_or_default();
    match (slot.class(), slot.name) {
        (ModifierClass::Type, _) | (ModifierClass::Comparison, "mode") => return TYPES,
        (ModifierClass::Rounding, _) | (_, "approx") if approximate => return APPROXIMATE,
        (ModifierClass::Rounding, _) => return ROUNDING,
        (ModifierClass::Comparison, _) => {
            return "Comparison modifier required for instruction '{name}'";
        }
        (ModifierClass::Space, _) => {
            return "State space modifier required for instruction '{name}'";
        }
        (ModifierClass::Vector, _) => return "Vector modifier required for instruction '{name}'",
        _ if is_shape(first) => return SHAPE,
        _ => {}
    }
    let lists = |list: &str, word: &str| list.is_empty() || list.split(' ').any(|one| one == word);
    let row = NEEDED.iter().find(|row| {
        (row.names.is_empty() || row.names.split(' ').any(|name| instruction.is(name)))
            && lists(row.slots, slot.name)
            && lists(row.words, first)
    });
    match (row, words.next(), words.next()) {
        (Some(row), ..) => row.sentence,
        (None, Some(_), None) => {
            "'.{word}' or '.{other}' modifier required for instruction '{name}'"
        }
        _ => ".{slot} modifier required for instruction '{name}'",
    }
}
