//! Faults in the operands of an instruction.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use super::Sieve;
use crate::Match;
use crate::operand::Presence;
use crate::sample::operands::{line, operands};

/// What stands in place of each operand: registers, constants, special registers, names, vectors and addresses of the
/// [`module`](crate::sample::module).
const SUBSTITUTES: &[&str] = &[
    "%p1",
    "%b1",
    "%h1",
    "%r1",
    "%d1",
    "%q1",
    "%hf1",
    "%hx1",
    "%hs1",
    "%ru1",
    "%rs1",
    "%f1",
    "%df1",
    "%du1",
    "0",
    "1",
    "-1",
    "2",
    "3",
    "4",
    "8",
    "15",
    "16",
    "17",
    "31",
    "32",
    "33",
    "128",
    "255",
    "256",
    "65535",
    "65536",
    "4294967295",
    "4294967296",
    "1.0",
    "0f3F800000",
    "0d3FF0000000000000",
    "_",
    "!%p2",
    "!%r2",
    "-%r2",
    "%r1|%p3",
    "%p1|%p3",
    "%p1|_",
    "_|%p3",
    "%tid.x",
    "%tid",
    "%clock64",
    "%laneid",
    "%is_explicit_cluster",
    "L1",
    "ts",
    "proto",
    "fn",
    "gv",
    "sv",
    "lv",
    "cv",
    "q",
    "gv+4",
    "{%r1}",
    "{%r1, %r2}",
    "{%r1, %r2, %r3}",
    "{%r1, %r2, %r3, %r4}",
    "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}",
    "{%h1, %h2}",
    "{%d1, %d2}",
    "{%f1, %f2}",
    "{%b1, %b2, %b3, %b4}",
    "{_, %r2}",
    "{%r1, %d2}",
    "{1, 2}",
    "{%r1, 2}",
    "{0f00000000, 0f3F800000}",
    "{%p1, %p2}",
    "[%d2]",
    "[%r2]",
    "[%d2+4]",
    "[%r2+4]",
    "[16]",
    "[gv]",
    "[gv+4]",
    "[sv]",
    "[lv]",
    "[cv]",
    "[q]",
    "[p]",
    "[fn]",
    "[%f1]",
    "[%h2]",
    "[%p1]",
    "[%df1]",
    "[%ru2]",
    "[%rs2]",
    "[%du2]",
    "[%q1]",
    "[%d2, {%r1}]",
    "[%d2, {%r1, %r2}]",
    "[%d2, {%d1}]",
    "[%d2, {%f1}]",
    "[%d2, %r1]",
    "[%r2, {%r1}]",
    "(%r1)",
    "()",
    "%undeclared",
    "undeclared",
];

/// An instruction with each change of its operands.
pub(super) fn of_instruction(found: &Match, sieve: Sieve, all: &mut BTreeSet<String>) {
    let words: Vec<&str> = found.words().collect();
    let optional: Vec<&str> = found
        .operands()
        .filter(|operand| operand.presence == Presence::Optional && operand.with.is_empty())
        .map(|operand| operand.name)
        .collect();
    for optional in [&[][..], &optional] {
        let given = operands(found, optional);
        let mut add = |operands: &[String]| {
            if sieve.keeps(&(found.form.syntax, &words, operands)) {
                all.insert(line(found.form.opcode, &words, operands));
            }
        };
        add(&given);
        for at in 0..given.len() {
            let mut fewer = given.clone();
            fewer.remove(at);
            add(&fewer);
            for &substitute in SUBSTITUTES {
                let mut replaced = given.clone();
                substitute.clone_into(&mut replaced[at]);
                add(&replaced);
            }
        }
        for more in ["%r1", "%p1", "0", "[%d2]", "{%r1}"] {
            let mut longer = given.clone();
            longer.push(more.to_owned());
            add(&longer);
        }
    }
}
