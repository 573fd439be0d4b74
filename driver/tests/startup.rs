//! Before and during initialisation: one test, because it is about the process's first calls.

mod common;
use common::*;

#[test]
fn nothing_works_before_initialisation() {
    // covers: DRV-01
    let chosen = choose_driver();
    let (mut count, mut memory) = (0, 0);
    fails!(3, cuDeviceGetCount(&mut count));
    fails!(3, cuMemAlloc_v2(&mut memory, 16));
    let mut mode = CUmoduleLoadingMode(0);
    fails!(3, cuModuleGetLoadingMode(&mut mode));
    fails!(1, cuInit(1));
    ok!(cuInit(0));
    ok!(cuInit(0));
    ok!(cuDeviceGetCount(&mut count));
    assert!(get!(cuDriverGetVersion()) >= 12000);

    // The choice is made for good.
    assert_eq!(choose_driver(), chosen);
    assert_eq!(warpsmith_driver::backend(), Some(chosen));
    if chosen == Backend::Simulator {
        assert!(warpsmith_driver::select(Choice::Cuda).is_err());
    }
}
