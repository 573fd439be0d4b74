//! What pools that other processes can import give back to the system.

use super::pools::{RESERVED, THRESHOLD, attribute, export, set, shareable_pool};
use crate::common::*;

/// The guide (11.11.4) says that such a pool gives nothing back, and that this may change; the drivers that were asked count as for others.
#[test]
fn an_exported_pool_keeps_to_its_threshold_and_is_trimmed() {
    // covers: POOL-35
    const BYTES: usize = 64 << 20;
    let _turn = turn();
    gpu();
    let stream = stream();
    let pool = shareable_pool();
    let descriptor = export(pool);
    let allocate_and_free = || {
        let memory: CUdeviceptr = get!(cuMemAllocFromPoolAsync(BYTES, pool, stream));
        ok!(cuStreamSynchronize(stream));
        assert!(attribute(pool, RESERVED) >= BYTES as u64);
        ok!(cuMemFreeAsync(memory, stream));
        ok!(cuStreamSynchronize(stream));
        attribute(pool, RESERVED)
    };
    set(pool, THRESHOLD, u64::MAX);
    assert!(allocate_and_free() >= BYTES as u64);
    ok!(cuMemPoolTrimTo(pool, 0));
    assert_eq!(attribute(pool, RESERVED), 0);
    set(pool, THRESHOLD, 0);
    assert_eq!(allocate_and_free(), 0);
    drop(descriptor);
    ok!(cuMemPoolDestroy(pool));
    ok!(cuStreamDestroy_v2(stream));
}
