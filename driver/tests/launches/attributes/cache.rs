//! The L2 cache's set-aside, and the other limits.

use super::*;

#[test]
fn the_device_says_how_much_of_its_cache_can_be_set_aside() {
    // covers: L2-01, DOMAIN-05
    let _turn = turn();
    gpu();
    type A = CUdevice_attribute;
    let cache = device_attribute(A::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    let most = device_attribute(A::CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE);
    let widest = device_attribute(A::CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE);
    assert!(most > 0 && most < cache && widest > 0);
    assert_eq!(
        device_attribute(A::CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT),
        4
    );
}

#[test]
fn a_set_aside_is_a_wish_that_is_read_back() {
    // covers: L2-02, L2-09
    let _turn = turn();
    gpu();
    let most =
        device_attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE);
    let limit = CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE;
    let before: usize = get!(cuCtxGetLimit(limit));
    for wish in [0, most / 2, most] {
        ok!(cuCtxSetLimit(limit, wish));
        let got: usize = get!(cuCtxGetLimit(limit));
        assert!(got <= most, "{got} of {most}");
        assert!(wish == 0 || got > 0);
    }
    fails!(expected::SET_ASIDE_BEYOND, cuCtxSetLimit(limit, 2 * most));
    assert!(get!(cuCtxGetLimit(limit)) <= most);
    ok!(cuCtxResetPersistingL2Cache());
    ok!(cuCtxSetLimit(limit, before));
}

#[test]
fn the_other_limits_can_be_asked_and_set() {
    // covers: ERROR-06
    let _turn = turn();
    gpu();
    for (limit, value) in [
        (CUlimit::CU_LIMIT_STACK_SIZE, 4096),
        (CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE, 2 << 20),
        (CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE, 16 << 20),
    ] {
        let before: usize = get!(cuCtxGetLimit(limit));
        ok!(cuCtxSetLimit(limit, value));
        assert!(get!(cuCtxGetLimit(limit)) >= value);
        // A heap that kernels have used cannot be changed; this process has none.
        ok!(cuCtxSetLimit(limit, before));
    }
    let granularity = CUlimit::CU_LIMIT_MAX_L2_FETCH_GRANULARITY;
    let before: usize = get!(cuCtxGetLimit(granularity));
    ok!(cuCtxSetLimit(granularity, 32));
    assert!(get!(cuCtxGetLimit(granularity)) <= 128);
    ok!(cuCtxSetLimit(granularity, before));
    fails!(expected::UNKNOWN_LIMIT, cuCtxSetLimit(CUlimit_enum(99), 1));
}
