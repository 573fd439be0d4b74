//! arch sm_70
//! overflow-checks off
//! input 3 5 7 9 20 1
//! input 1 0 4 2 60 2
//! input ffffffff 8 6 1 2b 3
//! note barriers of the block, and exchanges through shared memory, in calls that are not inlined, below loops and common branches
use crate::lanes::*;

#[inline(never)]
fn step<W: Lanes>(w: &mut W, u: &[u32; 4], x: u32) -> u32 {
    if u[0] & 1 == 1 {
        w.block_sync();
    }
    let count = w.block_count(x % 3 == 0);
    w.exchange(x ^ count, x % 7)
}

#[inline(never)]
fn vote<W: Lanes>(w: &mut W, m: u32, x: u32) -> u32 {
    let c = x % 2 == 0;
    let k = w.ballot(m, c);
    if c {
        return w.shuffle(k, x, select(k, x));
    }
    let rest = m & !k;
    w.sum(rest, x) ^ w.shuffle(rest, x, select(rest, 3))
}

pub fn program<W: Lanes>(w: &mut W, m: u32, u: &[u32; 4], x: u32, y: u32) -> u32 {
    let mut x = x;
    for i in 0..u[3] % 5 {
        x = step(w, u, x.wrapping_add(i));
        let group = w.match_any(m, (x ^ y) % 3);
        x = x.wrapping_mul(5) ^ vote(w, group, x >> 3);
    }
    if x % 5 == 0 {
        return x;
    }
    if w.block_all(y < 5) { x ^ 1 } else { alone(x) }
}
