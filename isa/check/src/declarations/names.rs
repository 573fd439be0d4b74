//! Names: two of one kind or of two, in one scope or one inside of the other; used where they mean nothing, or before they are declared.

use super::Declaration;

/// What may be called `x` at module scope.
const OUTSIDE: &[&str] = &[
    ".global .b32 x;",
    ".extern .global .b32 x;",
    ".extern .global .b64 x;",
    ".extern .global .b32 x[];",
    ".visible .global .b32 x;",
    ".weak .global .b32 x;",
    ".common .global .b32 x;",
    ".const .b32 x;",
    ".shared .b32 x;",
    ".extern .shared .b32 x[];",
    ".extern .shared .b8 x[];",
    ".func x() { ret; }",
    ".func x();",
    ".extern .func x();",
    ".entry x() { ret; }",
    ".func g() { ret; } .func x(); .alias x, g;",
];

/// What may be called `x` in a body.
const INSIDE: &[&str] = &[
    ".reg .b32 x;",
    ".reg .b64 x;",
    ".reg .pred x;",
    ".reg .v2 .b32 x;",
    ".reg .b32 x<4>;",
    ".reg .b32 x0;",
    ".reg .b32 x3;",
    ".reg .b32 x4;",
    ".local .b32 x;",
    ".shared .b32 x;",
    ".global .b32 x;",
    ".const .b32 x;",
    ".param .b32 x;",
    "x:",
    "x: .branchtargets E;",
    "x: .callprototype _ ();",
];

/// Uses of a name.
const USES: &[&str] = &[
    "mov.u32 %r1, x;",
    "mov.u64 %d1, x;",
    "mov.u32 x, 1;",
    "mov.u64 x, 1;",
    "mov.u32 %r1, x.x;",
    "mov.u32 %r1, x.y;",
    "mov.u32 %r1, x.z;",
    "mov.u32 %r1, x.r;",
    "mov.u32 %r1, x.q;",
    "mov.u32 x.x, 1;",
    "mov.u32 %r1, x+4;",
    "mov.u64 %d1, x+4;",
    "mov.u32 %r1, x0;",
    "mov.u32 %r1, x4;",
    "mov.u32 %r1, x[1];",
    "mov.b64 %d1, {x, x};",
    "ld.global.u32 %r1, [x];",
    "ld.shared.u32 %r1, [x];",
    "ld.local.u32 %r1, [x];",
    "ld.const.u32 %r1, [x];",
    "ld.param.u32 %r1, [x];",
    "ld.u32 %r1, [x];",
    "ld.global.v2.u32 x, [%d1];",
    "st.global.u32 [x], 1;",
    "st.const.u32 [x], 1;",
    "st.param.u32 [x], 1;",
    "st.global.u32 [%d1], x;",
    "cvta.global.u64 %d1, x;",
    "cvta.shared.u64 %d1, x;",
    "add.u32 %r1, %r2, x;",
    "setp.eq.u32 x, %r1, %r2;",
    "setp.eq.and.u32 %p1, %r1, %r2, x;",
    "setp.eq.and.u32 %p1, %r1, %r2, !x;",
    "@x bra E;",
    "@!x bra E;",
    "bra x;",
    "brx.idx %r1, x;",
    "call x;",
    "call x, ();",
    "call %d1, x;",
    "call %d1, (), x;",
    "vote.sync.all.pred x, x, -1;",
    "bar.sync x;",
    "neg.s32 %r1, -x;",
];

/// Labels and lists of them.
const LABELS: &[&str] = &[
    "bra L;",
    "L: bra L;",
    "L: L:",
    "L: { L: }",
    "{ L: } { L: }",
    "{ L: } bra L;",
    "bra L; { L: }",
    "{ bra L; } L:",
    "{ bra L; } { L: }",
    "L bra L;",
    "L:: bra L;",
    "%L: bra %L;",
    "$L: bra $L;",
    "L.M: bra L.M;",
    "bra L+4; L:",
    "bra [L]; L:",
    "bra 4;",
    "bra %r1;",
    "bra;",
    "bra L, L; L:",
    "bra.uni L; L:",
    "bra.banana L; L:",
    "T: .branchtargets L; L: brx.idx %r1, T;",
    "T: .branchtargets L, L; L: brx.idx %r1, T;",
    "T: .branchtargets L, M; L: brx.idx %r1, T;",
    "T: .branchtargets; L: brx.idx %r1, T;",
    "T: .branchtargets L",
    "T: .branchtargets k; brx.idx %r1, T;",
    "T: .branchtargets %r1; brx.idx %r1, T;",
    "T: .branchtargets T; brx.idx %r1, T;",
    "T: .branchtargets 1; brx.idx %r1, T;",
    "T: T: .branchtargets L; L:",
    "T: .branchtargets L; T: .branchtargets L; L:",
    "L: brx.idx %r1, T; T: .branchtargets L;",
    "L: brx.idx %r1, L;",
    "L: brx.idx %r1, undeclared;",
    "L: brx.idx 1, T; T: .branchtargets L;",
    "{ T: .branchtargets L; } L: brx.idx %r1, T;",
    "T: .branchtargets L; { L: } brx.idx %r1, T;",
    "T: .branchtargets L; { brx.idx %r1, T; } L:",
    ".branchtargets L; L:",
    "T: .branchtargets L L; L:",
    "bra T; T: .branchtargets L; L:",
    "bra P; P: .callprototype _ ();",
    "L: mov.u32 %r1, L;",
];

/// Adds the faults of names.
pub fn add(all: &mut Vec<Declaration>) {
    let end = "E:";
    for one in OUTSIDE {
        for other in OUTSIDE {
            all.push(Declaration::at_module_scope(format!("{one} {other}")));
        }
        for other in INSIDE {
            all.push(Declaration::of(*one, format!("{other} {end}")));
            all.push(Declaration::of(
                format!(".func f() {{ {other} E: ret; }} {one}"),
                "",
            ));
        }
        for usage in USES {
            all.push(Declaration::of(*one, format!("{usage} {end}")));
            all.push(Declaration::at_module_scope(format!(
                ".func f() {{ .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p<4>; {usage} E: ret; }} {one}"
            )));
        }
    }
    for one in INSIDE {
        for other in INSIDE {
            all.push(Declaration::in_body(format!("{one} {other} {end}")));
            all.push(Declaration::in_body(format!("{one} {{ {other} }} {end}")));
            all.push(Declaration::in_body(format!("{{ {one} }} {other} {end}")));
        }
        for name in ["p", "k", "%r1", "%r9", "%tid"] {
            let one = one.replace('x', name);
            all.push(Declaration::in_body(format!("{one} {end}")));
            all.push(Declaration::in_body(format!("{{ {one} }} {end}")));
        }
        for usage in USES {
            all.push(Declaration::in_body(format!("{one} {usage} {end}")));
            all.push(Declaration::in_body(format!("{usage} {one} {end}")));
            all.push(Declaration::in_body(format!("{{ {one} }} {usage} {end}")));
            all.push(Declaration::in_body(format!("{one} {{ {usage} }} {end}")));
        }
    }
    for usage in USES {
        all.push(Declaration::in_body(format!("{usage} {end}")));
    }
    all.extend(LABELS.iter().map(|&labels| Declaration::in_body(labels)));
}
