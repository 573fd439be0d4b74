//! Elements of 2 to 16 bytes that consist of smaller ones.

use warpsmith_device::prelude::*;

/// Each pair with its numbers exchanged.
#[kernel]
pub fn turns_pairs(pairs: &[[u32; 2]], mut out: PerThread<[[u32; 2]]>) {
    for (i, out) in out.strided() {
        let [a, b] = pairs[i];
        *out = [b, a];
    }
}

/// Each colour with its parts reversed.
#[kernel]
pub fn reverses_colours(colours: &[[u8; 4]], mut out: PerThread<[[u8; 4]]>) {
    for (i, out) in out.strided() {
        let [r, g, b, a] = colours[i];
        *out = [a, b, g, r];
    }
}

/// A number that depends on all quads and their order.
#[kernel]
pub fn sums_quads(quads: &[[u32; 4]], mut out: PerThread<[u32]>) {
    let Some(out) = out.mine() else { return };
    for [a, b, c, d] in quads {
        *out = *out * 31 + (a ^ (b * 3) ^ (c * 5) ^ (d * 7));
    }
}

/// The same of triples, of which every second begins at no multiple of 8 bytes.
#[kernel]
pub fn sums_triples(triples: &[[u32; 3]], mut out: PerThread<[u32]>) {
    let Some(out) = out.mine() else { return };
    for [a, b, c] in triples {
        *out = *out * 31 + (a ^ (b * 3) ^ (c * 5));
    }
}

/// The sum of four numbers.
#[kernel]
pub fn sums_one_quad(quad: &[u32; 4], mut out: PerThread<[u32]>) {
    if let Some(out) = out.mine() {
        *out = quad[0] + quad[1] + quad[2] + quad[3];
    }
}
