//! The programs that are recorded, by family.

use crate::program::Family;
use crate::{atomic, carry, lanewise, matrix, sweep, warpgroup, wmma};

/// All families but the sweeps.
pub fn families() -> Vec<Family> {
    let mut all = lanewise::families();
    all.push(carry::family());
    all.push(atomic::family());
    all.push(matrix::family());
    all.push(wmma::family());
    all.push(warpgroup::family());
    all.push(sweep::tables());
    all
}
