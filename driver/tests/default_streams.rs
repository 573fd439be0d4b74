//! The default streams, in a process of their own: what other tests did on the legacy stream would stand between these gates.

mod common;
use std::time::Duration;

use common::*;

#[test]
fn the_legacy_stream_waits_for_blocking_streams_and_they_for_it() {
    // covers: STREAM-09, STREAM-18
    let _turn = turn();
    gpu();
    let blocking: CUstream = get!(cuStreamCreate(0));
    let free = stream();
    let gate = Gate::new();
    let (after, beside) = (Flag::new(), Flag::new());
    gate.block(blocking);
    after.set_on(null_mut(), 1);
    beside.set_on(free, 1);
    ok!(cuStreamSynchronize(free));
    assert_eq!(beside.get(), 1, "a non-blocking stream does not care");
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(after.get(), 0, "the legacy stream waits");
    gate.open();
    ok!(cuStreamSynchronize(null_mut()));
    assert_eq!(after.get(), 1);

    let gate = Gate::new();
    gate.block(CU_STREAM_LEGACY);
    after.set_on(blocking, 2);
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(after.get(), 1, "and blocking streams wait for it");
    gate.open();
    ok!(cuStreamSynchronize(blocking));
    assert_eq!(after.get(), 2);
    ok!(cuStreamDestroy_v2(blocking));
    ok!(cuStreamDestroy_v2(free));
}

#[test]
fn each_thread_can_have_its_own_default_stream() {
    // covers: DRV-21, STREAM-09
    let _turn = turn();
    gpu();
    let gate = Gate::new();
    gate.block(CU_STREAM_PER_THREAD);
    std::thread::spawn(|| {
        gpu();
        let flag = Flag::new();
        flag.set_on(CU_STREAM_PER_THREAD, 1);
        ok!(cuStreamSynchronize(CU_STREAM_PER_THREAD));
        assert_eq!(flag.get(), 1);
    })
    .join()
    .unwrap();
    fails!(600, cuStreamQuery(CU_STREAM_PER_THREAD));
    gate.open();
    ok!(cuStreamSynchronize(CU_STREAM_PER_THREAD));
}
