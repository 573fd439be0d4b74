//! What ptxas says of modifiers, whichever the instruction: a table of their kinds, found by asking it.
//!
//! `cargo xtask isa --check` compares the sentences with ptxas's.

use crate::operand::type_bits;

/// A kind of modifiers.
#[derive(Debug)]
pub(crate) struct WordKind {
    /// The words, separated by spaces; empty: all others.
    words: &'static str,
    /// Words of one list stand in the order of the form's line, apart from all others, which stand anywhere: their order says
    /// what each of them is for. 0: no list.
    list: u8,
    /// What ptxas says of one that the instruction does not take; `{word}` is the word, `{name}` the instruction.
    pub(crate) illegal: &'static str,
    /// What it says of more of them than the instruction takes.
    pub(crate) several: &'static str,
}

const fn kind(words: &'static str, illegal: &'static str, several: &'static str) -> WordKind {
    WordKind {
        words,
        list: 0,
        illegal,
        several,
    }
}

impl WordKind {
    const fn list(mut self, list: u8) -> WordKind {
        self.list = list;
        self
    }
}

const ILLEGAL: &str = "Illegal modifier '.{word}' for instruction '{name}'";
const OPERATION: &str = "Illegal reduction operation for instruction '{name}'";
const OPERATIONS: &str = "Multiple instruction post-operation flags set";
const DUPLICATE: &str = "Duplicate .{word} modifier";
const TYPES: &str = "Unexpected instruction types specified for '{name}'";

/// Types; their words are those with a width.
static TYPE: WordKind = kind("", TYPES, TYPES).list(TYPE_LIST);
/// Shapes of matrices: `m16n8k16`.
static SHAPE: WordKind = kind("", ILLEGAL, "Multiple matrix shape modifiers specified");
/// All words of no other kind: none of them stands twice.
static OTHER: WordKind = kind("", ILLEGAL, "Multiple .{word} modifiers specified");

/// The kinds of which ptxas says something of its own.
static KINDS: &[WordKind] = &[
    kind("texref samplerref surfref", TYPES, TYPES).list(TYPE_LIST),
    kind(
        "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan",
        "Comparison qualifier is not allowed for instruction '{name}'",
        "Multiple comparisons set",
    ),
    kind(
        "rn rz rm rp rna rs rni rzi rmi rpi",
        "Illegal rounding modifier for instruction '{name}'",
        "Multiple rounding modifiers specified",
    ),
    kind(
        "global shared local const param param::entry param::func shared::cta shared::cluster",
        "No state space qualifier expected for instruction '{name}'",
        "Unexpected number of state spaces specified in instruction '{name}'",
    )
    .list(SPACE_LIST),
    kind(
        "v2 v4 v8",
        "Vector qualifier is not allowed for instruction '{name}'",
        "Multiple vector modifiers specified",
    ),
    kind(
        "cta cluster gpu sys",
        ILLEGAL,
        "Multiple scope modifiers specified",
    ),
    kind(
        "1d 2d 3d 4d 5d",
        "Illegal modifier 'dimension' for instruction '{name}'",
        "Multiple dimension modifiers specified",
    ),
    kind(
        "a1d a2d cube acube 2dms a2dms",
        "Illegal modifier 'Geometry' for instruction '{name}'",
        "Multiple texture modifiers specified",
    ),
    kind(
        "a b r g",
        "Illegal modifier 'Component' for instruction '{name}'",
        "Multiple component modifiers specified",
    ),
    kind(
        "trap clamp zero wrap",
        "Illegal modifier 'Clamp' for instruction '{name}'",
        "Multiple clamp modifiers specified",
    ),
    kind(
        "row col",
        "Illegal modifier '.alayout or .blayout' for instruction '{name}'",
        "Parsing error near '.{word}': too many layout specifiers",
    )
    .list(3),
    kind("add min max and or xor popc cas", ILLEGAL, OPERATIONS).list(OPERATION_LIST),
    kind("exch inc dec", OPERATION, OPERATIONS).list(OPERATION_LIST),
    kind(
        "width height depth channel_data_type channel_order normalized_coords array_size num_mipmap_levels num_samples \
         memory_layout force_unnormalized_coords filter_mode addr_mode_0 addr_mode_1 addr_mode_2",
        "Illegal query modifier for instruction '{name}'",
        "Multiple query modifiers specified",
    ),
    kind(
        "ca cg cs lu cv wb wt L1 L2 tensormap",
        ILLEGAL,
        "Multiple cache operation modifiers specified",
    ),
    kind(
        "L2::64B L2::128B L2::256B",
        ILLEGAL,
        "Multiple cache prefetching modifiers specified",
    ),
    kind(
        "L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate",
        "Illegal modifier '.level::eviction_priority' for instruction '{name}'",
        "Unexpected number of '.level::eviction_priority' modifiers specified",
    ),
    kind(
        "L2::evict_normal L2::evict_unchanged L2::evict_first L2::evict_last",
        "Illegal modifier '.level::eviction_priority' for instruction '{name}'",
        "Unexpected number of '.level::eviction_priority' modifiers specified",
    )
    .list(5),
    kind(
        "f4e b4e rc8 ecl ecr rc16",
        "Illegal modifier 'Permute' for instruction '{name}'",
        "Multiple permute modifiers specified",
    ),
    kind(
        "shr7 shr15",
        "Illegal modifier 'Shift-right' for instruction '{name}'",
        "Multiple shift-right modifiers specified",
    ),
    kind("x1 x2 x4", ILLEGAL, "Multiple .num modifiers specified"),
    kind(
        "tile im2col im2col_no_offs",
        ILLEGAL,
        "Multiple .load_mode modifiers specified",
    ),
    kind(
        "up down bfly idx",
        ILLEGAL,
        "Multiple shuffle modifiers specified",
    ),
    kind("any all", ILLEGAL, "Multiple .any/.all modifiers specified"),
    kind(
        "sp sp::ordered_metadata",
        ILLEGAL,
        "Multiple sparsity modifiers specified",
    ),
    kind(
        "b8x16 b6x16_p32 b4x16_p64",
        ILLEGAL,
        "Unexpected number of 'format conversion' modifiers specified",
    )
    .list(6),
    kind(
        "ftz volatile weak relaxed acquire release acq_rel sc nc noftz oob launch_dependents wait",
        ILLEGAL,
        DUPLICATE,
    ),
];

/// Words that may be repeated.
const REPEATABLE: &str = "NaN approx cc relu sat satfinite shiftamt sync uni";

/// Words that ptxas takes where they mean nothing: the names of the instructions (empty: of all), and the words. An instruction
/// that has a place for them is not meant.
static MEANINGLESS: &[(&str, &str)] = &[
    (
        "",
        "acc::f32 b4x16_p64 b6x16_p32 b8x16 box_dim element_stride elemtype fill_mode finite global_address global_dim \
         global_stride infinite interleave_layout normal notanumber number rank subnormal swizzle_atomicity swizzle_mode",
    ),
    (
        "abs add atom cos cp.reduce.async.bulk cvt cvt.pack ex2 fma ldmatrix lg2 max min mul multimem.ld_reduce multimem.red \
         multimem.st neg rcp red rsqrt set setp sin sqrt sub tanh wgmma.mma_async wmma.mma",
        "pred texref samplerref surfref",
    ),
    ("wgmma.mma_async ldmatrix stmatrix movmatrix", "row col"),
    (
        "cp.async.bulk.tensor cp.reduce.async.bulk.tensor",
        "cta cluster gpu sys",
    ),
    (
        "cp.async.bulk.wait_group",
        "sync_restrict::shared::cta sync_restrict::shared::cluster",
    ),
    ("tex tex.base tex.level tex.grad tld4", "uni"),
    ("bar", "any all"),
    ("bar.arrive bar.red", "any"),
    ("fence", "async"),
];

/// Words that ptxas knows, though no form of the tables has them outside of its name.
const KNOWN: &str = "alloc commit cp dealloc ld mma shift st";

/// Words that are looked for together with the types: the names of the instructions, and the words.
static SELECTING: &[(&str, &str)] = &[
    (
        "mma wmma.mma wgmma.mma_async",
        "add min max and or xor popc",
    ),
    ("mma", "satfinite"),
    ("cvt", "relu satfinite"),
];

/// Names of instructions whose types are looked at last.
pub(crate) const TYPED_LAST: &str = "bar bar.cta barrier barrier.cta";

/// Names of instructions whose types ptxas does not tell where it tells those of others.
pub(crate) const UNTYPED: &str = "multimem.ld_reduce multimem.red wmma.load.a wmma.load.b wmma.load.c red.async cp.reduce.async.bulk redux";

/// The names, separated by spaces, of instructions that this modifier is looked for in together with the types.
pub(crate) fn selected_by(word: &str) -> impl Iterator<Item = &'static str> {
    let rows = SELECTING
        .iter()
        .filter(move |(_, words)| lists(words, word));
    rows.map(|(names, _)| *names)
}

/// Whether a type stands for elements of matrices alone: `mma` passes over those where it looks for its types.
pub(crate) fn is_element(ty: &str) -> bool {
    matches!(
        ty,
        "bf16" | "tf32" | "u4" | "s4" | "b1" | "u2" | "s2" | "e3m2" | "e2m3" | "e2m1"
    )
}

/// Whether a modifier is the shape of matrices.
pub(crate) fn is_shape(word: &str) -> bool {
    matches!(word.as_bytes(), [b'm', b'0'..=b'9', ..])
}

/// Whether ptxas knows a modifier that no form of the tables takes.
pub(crate) fn is_known(word: &str) -> bool {
    lists(KNOWN, word)
}

fn lists(list: &str, word: &str) -> bool {
    list.split(' ').any(|other| other == word)
}

/// Whether a modifier may stand more than once.
pub(crate) fn is_repeatable(word: &str) -> bool {
    lists(REPEATABLE, word)
}

/// The names, separated by spaces, of instructions that may have this modifier without a place for it; an empty list: all.
pub(crate) fn meaningless_for(word: &str) -> impl Iterator<Item = &'static str> {
    let rows = MEANINGLESS
        .iter()
        .filter(move |(_, words)| lists(words, word));
    rows.map(|(names, _)| *names)
}

/// The kind of a modifier.
pub(crate) fn kind_of(word: &str) -> &'static WordKind {
    if type_bits(word) != 0 {
        return &TYPE;
    }
    if is_shape(word) {
        return &SHAPE;
    }
    KINDS
        .iter()
        .find(|kind| lists(kind.words, word))
        .unwrap_or(&OTHER)
}

/// Whether two modifiers are of one kind of which an instruction has one word alone, or are the same word.
pub(crate) fn are_alike(one: &str, other: &str) -> bool {
    one == other || {
        let (kind, other) = (kind_of(one), kind_of(other));
        core::ptr::eq(kind, other) && !core::ptr::eq(kind, &OTHER) && kind.several != DUPLICATE
    }
}

/// The number of lists, of which 0 is none.
pub(crate) const LISTS: usize = 7;
/// That of types.
pub(crate) const TYPE_LIST: u8 = 1;
/// That of state spaces.
pub(crate) const SPACE_LIST: u8 = 2;
/// That of operations.
pub(crate) const OPERATION_LIST: u8 = 4;

/// The list that a modifier belongs to; 0: none.
pub(crate) fn list_of(word: &str) -> u8 {
    if type_bits(word) != 0 {
        return TYPE.list;
    }
    let mut listed = KINDS.iter().filter(|kind| kind.list != 0);
    listed
        .find(|kind| lists(kind.words, word))
        .map_or(0, |kind| kind.list)
}
