//! Variables and registers: state spaces, types, vectors, alignment, sizes, initialisers, linkage.

use super::Declaration;

const SPACES: &[&str] = &[
    ".global", ".const", ".shared", ".local", ".reg", ".param", ".sreg", ".banana", "",
];

const LINKAGES: &[&str] = &[
    ".visible",
    ".extern",
    ".weak",
    ".common",
    ".visible .extern",
    ".extern .weak",
    ".weak .weak",
    ".visible .visible",
    ".banana",
];

const TYPES: &[&str] = &[
    ".pred", ".b8", ".b16", ".b32", ".b64", ".b128", ".u8", ".u16", ".u32", ".u64", ".u128", ".s8",
    ".s16", ".s32", ".s64", ".f16", ".f16x2", ".f32", ".f64", ".f32x2", ".bf16", ".bf16x2",
    ".tf32", ".e4m3", ".e5m2x2", ".u8x4", ".b1", ".u4", ".b32x2", ".banana", "",
];

const VECTORS: &[&str] = &[".v1", ".v2", ".v3", ".v4", ".v8"];

/// What may follow the name `x`.
const SIZES: &[&str] = &[
    "[]",
    "[0]",
    "[1]",
    "[4]",
    "[-1]",
    "[][]",
    "[2][]",
    "[][2]",
    "[2][3]",
    "[2][0]",
    "[1.5]",
    "[x]",
    "[banana]",
    "[2+3]",
    "[2-3]",
    "[(2)]",
    "[WARP_SZ]",
    "[0x10]",
    "<4>",
    "<0>",
    "<1>",
    "<-1>",
    "<1.5>",
    "<x>",
    "<>",
    "<2+3>",
    "<4><4>",
    "<4>[2]",
    "[2]<4>",
    "[2",
    "2]",
    "(2)",
    ".x",
    ", y",
    ", x",
    ", y[4]",
    "[4], y",
    ",",
    " y",
];

const INITIALIZERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "255",
    "256",
    "65536",
    "-129",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "1+2",
    "1/0",
    "(1)",
    "1.0",
    "-1.0",
    "0f3F800000",
    "0d3FF0000000000000",
    "1e3",
    "{1}",
    "{}",
    "{1, 2}",
    "{1.0}",
    "{1, 1.0}",
    "{{1}}",
    "{{1}, {2}}",
    "{1, 2, 3, 4, 5}",
    "{1,}",
    "{,}",
    "{1",
    "y",
    "y+4",
    "y-4",
    "4+y",
    "{y}",
    "{y, 1}",
    "generic(y)",
    "generic(y)+4",
    "y+z",
    "0xFF(y)",
    "0xFF00(y)",
    "0x1FF(y)",
    "0(y)",
    "{0xFF(y), 0xFF00(y)}",
    "z",
    "f",
    "k",
    "e",
    "x",
    "undeclared",
    "generic(undeclared)",
    "generic(z)",
    "&y",
    "\"abc\"",
    "'a'",
    "WARP_SZ",
    "s",
    "c",
    "generic(c)",
    "%r1",
];

const ALIGNMENTS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "4",
    "8",
    "16",
    "32",
    "64",
    "128",
    "256",
    "512",
    "1024",
    "4096",
    "65536",
    "1073741824",
    "4294967296",
    "-4",
    "1.5",
    "x",
    "",
    "(4)",
    "2+2",
];

/// The parts of a declaration in places where they may not belong.
const ORDERS: &[&str] = &[
    ".align 4 .global .b32 x;",
    ".global .b32 .align 4 x;",
    ".global .align 4 .align 8 .b32 x;",
    ".global .align 8 .align 4 .b32 x;",
    ".global .v2 .align 8 .b32 x;",
    ".global .align 8 .v2 .b32 x;",
    ".global .v2 .v2 .b32 x;",
    ".global .b32 .v2 x;",
    ".v2 .global .b32 x;",
    ".b32 .global x;",
    ".b32 x;",
    ".global .b32 .b32 x;",
    ".global .global .b32 x;",
    ".global .shared .b32 x;",
    ".global .b32;",
    ".global .b32 x",
    ".global .b32 1;",
    ".global .b32 %x;",
    ".global .b32 $x;",
    ".global .b32 _x;",
    ".global .b32 _;",
    ".global .b32 %;",
    ".global .b32 x.y;",
    ".global .b32 mov;",
    ".global .b32 WARP_SZ;",
    ".global .b32 .x;",
    ".global .b32 x, y = 1;",
    ".global .b32 x = 1, y = 2;",
    ".global .b32 .ptr x;",
    ".global .attribute(.managed) .b32 x;",
    ".visible .global .attribute(.managed) .b32 x;",
    ".visible .shared .attribute(.managed) .b32 x;",
    ".visible .const .attribute(.managed) .b32 x;",
    ".global .attribute(.unified(1, 2)) .b32 x;",
    ".global .attribute(.banana) .b32 x;",
    ".global .attribute() .b32 x;",
    ".global .attribute(.managed, .managed) .b32 x;",
    ".global .b32 .attribute(.managed) x;",
    ".global .texref x;",
    ".global .samplerref x;",
    ".global .surfref x;",
    ".tex .u32 x;",
    ".tex .u64 x;",
    ".const[2] .b32 x;",
    ".extern .const[2] .b32 x[];",
    ".global .visible .b32 x;",
    ".weak .global .b32 x = 1; .weak .global .b32 x = 1;",
    ".global .b32 x[2][2] = {1, 2, 3, 4};",
    ".global .b32 x[2][2] = {{1, 2}, {3, 4}};",
    ".global .b32 x[2][2] = {{1, 2, 3}, {4}};",
    ".global .b32 x[2][2] = {{1, 2}, {3, 4}, {5, 6}};",
    ".global .b32 x[2][2] = {1, {3, 4}};",
    ".global .b32 x[2][2] = {{1}, 2};",
    ".global .b32 x[2][2] = {{{1}}};",
    ".global .b32 x[2][2] = {1, 2, 3, 4, 5};",
    ".global .b32 x[][2] = {{1, 2}, {3, 4}, {5, 6}};",
    ".global .b32 x[2][] = {{1, 2}, {3, 4}};",
    ".global .b32 x[][] = {{1, 2}, {3, 4}};",
    ".global .b32 x[] = 1;",
    ".global .v2 .b32 x = {1, 2};",
    ".global .v2 .b32 x = {1};",
    ".global .v2 .b32 x = {1, 2, 3};",
    ".global .v2 .b32 x = 1;",
    ".global .v2 .b32 x[2] = {{1, 2}, {3, 4}};",
    ".global .v2 .b32 x[2] = {1, 2, 3, 4};",
    ".global .v2 .b32 x[2] = {{1, 2, 3}};",
    ".global .v4 .b32 x = {1, 2, 3, 4};",
];

/// Adds the faults of variables and registers.
pub fn add(all: &mut Vec<Declaration>) {
    let both = |text: &str, all: &mut Vec<Declaration>| {
        all.push(Declaration::at_module_scope(text));
        all.push(Declaration::in_body(text));
    };
    for space in SPACES {
        for linkage in [""].iter().chain(LINKAGES) {
            for end in ["", "[]", "[4]", " = 1", "[] = {1, 2}"] {
                both(&format!("{linkage} {space} .b32 x{end};"), all);
            }
        }
        for ty in TYPES {
            both(&format!("{space} {ty} x;"), all);
            for vector in VECTORS {
                all.push(Declaration::in_body(format!("{space} {vector} {ty} x;")));
            }
        }
        for size in SIZES {
            both(&format!("{space} .b32 x{size};"), all);
        }
        for alignment in ALIGNMENTS {
            both(&format!("{space} .align {alignment} .b32 x;"), all);
        }
        for order in ORDERS {
            both(&order.replace(".global", space), all);
        }
    }
    let others =
        ".global .b32 y[4]; .shared .b32 s; .const .b32 c; .func f() { ret; } .entry e() { ret; }";
    for ty in TYPES {
        for initializer in INITIALIZERS {
            all.push(Declaration::at_module_scope(format!(
                "{others} .global {ty} x = {initializer}; .global .b32 z;"
            )));
        }
        for list in ["{1, 2}", "{1.0, 2.0}", "{1, 2, 3}", "{y, 0}"] {
            all.push(Declaration::at_module_scope(format!(
                "{others} .global {ty} x[2] = {list};"
            )));
        }
    }
}
