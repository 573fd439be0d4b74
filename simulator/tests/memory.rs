//! The simulated address space: what an address tells.

use std::sync::{Mutex, MutexGuard, PoisonError};

use warpsmith_simulator::engine::{AccessError, DeviceMemory};
use warpsmith_simulator::memory::{AllocationKind, AllocationState, Memory, RegisteredRange};

/// No driver call of these tests' process knows this context.
const CONTEXT: u64 = 1;

/// The memory is the process's: how long a freed address is remembered depends on what else is freed.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn allocate(len: usize) -> usize {
    Memory::global()
        .allocate(len, AllocationKind::Device, CONTEXT, 0, "a test")
        .expect("there is room")
}

#[test]
fn the_first_byte_behind_an_allocation_is_in_none() {
    let _turn = turn();
    let memory = Memory::global();
    let (one, two) = (allocate(100), allocate(5000));
    for (base, len) in [(one, 100u64), (two, 5000)] {
        let base = base as u64;
        assert!(memory.seen_by(0, 0).validate(base, 4, true).is_ok());
        assert!(
            memory
                .seen_by(0, 0)
                .validate(base + len - 4, 4, true)
                .is_ok()
        );
        assert_eq!(
            memory.seen_by(0, 0).validate(base + len - 3, 4, false),
            Err(AccessError::OutOfBounds)
        );
        assert_eq!(
            memory.seen_by(0, 0).validate(base + len, 1, false),
            Err(AccessError::OutOfBounds)
        );
        assert_eq!(
            memory.seen_by(0, 0).validate(base - 1, 1, false),
            Err(AccessError::OutOfBounds)
        );
        // Far enough not to be a neighbour's either.
        assert_eq!(
            memory.seen_by(0, 0).validate(base + len + 4096, 4, true),
            Err(AccessError::OutOfBounds)
        );
    }
    let extent = memory
        .seen_by(0, 0)
        .validate(one as u64 + 50, 1, true)
        .unwrap();
    assert_eq!(
        (extent.base, extent.end, extent.writable),
        (one as u64, one as u64 + 100, true)
    );
}

#[test]
fn the_nearest_allocation_is_named_with_who_made_and_freed_it() {
    let _turn = turn();
    let memory = Memory::global();
    let base = allocate(64) as u64;
    for address in [base, base + 64, base + 70, base + 5000] {
        let near = memory
            .seen_by(0, 0)
            .nearest(address)
            .expect("something is near");
        assert_eq!(
            (near.base, near.size, near.freed),
            (base, 64, false),
            "{address:#x}"
        );
        assert!(near.what.contains("a test"), "{}", near.what);
    }
    memory
        .free(base as usize, "the test's end")
        .expect("it was live");
    assert_eq!(
        memory.seen_by(0, 0).validate(base, 4, false),
        Err(AccessError::Freed)
    );
    let near = memory.seen_by(0, 0).nearest(base).unwrap();
    assert!(
        near.freed && near.what.contains("the test's end"),
        "{}",
        near.what
    );
    assert!(memory.free(base as usize, "again").is_none());
}

#[test]
fn freed_addresses_are_not_used_again_soon() {
    let _turn = turn();
    let memory = Memory::global();
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..1000 {
        let base = allocate(1 << 16);
        assert!(seen.insert(base), "{base:#x} came twice");
        assert_eq!(memory.find(base).unwrap().state, AllocationState::Live);
        memory.free(base, "the test").unwrap();
        assert_eq!(memory.find(base).unwrap().state, AllocationState::Freed);
    }
}

/// What a program has allocated and freed in all its life takes no more memory than what it has had lately.
#[test]
fn addresses_that_were_freed_long_ago_are_used_again() {
    let _turn = turn();
    let memory = Memory::global();
    let kept = allocate(100);
    let (mut seen, mut last) = (std::collections::BTreeSet::new(), 0);
    for _ in 0..20_000 {
        let base = allocate(100);
        let (info, detail) = memory.detail(base).expect("it is live");
        assert_eq!((info.base, info.state), (base, AllocationState::Live));
        // By this a program tells the one from what was there before.
        assert!(detail.serial > last);
        last = detail.serial;
        seen.insert(base);
        memory.free(base, "the test").expect("it was live");
        let (info, detail) = memory.detail(base).expect("it was freed just now");
        assert_eq!(info.state, AllocationState::Freed);
        assert_eq!(detail.freed_by, Some("the test"));
    }
    assert!((4000..10_000).contains(&seen.len()), "{}", seen.len());
    assert!(!seen.contains(&kept));
    assert_eq!(
        memory.find(kept).expect("it is live").state,
        AllocationState::Live
    );
}

#[test]
fn every_address_of_the_arena_can_be_touched() {
    let _turn = turn();
    let memory = Memory::global();
    let (base, len) = Memory::arena(memory);
    let freed = allocate(1 << 20);
    memory.free(freed, "the test").unwrap();
    for address in [
        base,
        base + len / 2,
        base + len - 8,
        freed,
        freed + (1 << 20),
    ] {
        // SAFETY: what this test is about: the arena is mapped in full. Nobody else uses these bytes.
        unsafe {
            let word = address as *mut u64;
            let before = word.read_volatile();
            word.write_volatile(before);
        }
    }
}

#[test]
fn fresh_memory_is_zero_even_after_a_free() {
    let _turn = turn();
    let memory = Memory::global();
    let base = allocate(1 << 16);
    // SAFETY: 64 KiB that were just allocated.
    unsafe { (base as *mut u8).write_bytes(0xff, 1 << 16) };
    memory.free(base, "the test").unwrap();
    // SAFETY: freed memory of the arena can still be read.
    let first = unsafe { (base as *const u64).read_volatile() };
    assert_eq!(first, 0, "the pages went back to the system");
}

#[test]
fn registered_ranges_are_known_exactly_and_may_be_read_only() {
    let _turn = turn();
    let memory = Memory::global();
    let range = vec![0u8; 3000];
    let base = range.as_ptr() as usize;
    assert_eq!(
        memory.seen_by(0, 0).validate(base as u64, 1, false),
        Err(AccessError::OutOfBounds)
    );
    let read_only = RegisteredRange {
        len: 3000,
        flags: 8,
        context: CONTEXT,
    };
    assert!(memory.register(base, read_only));
    assert!(
        !memory.register(base + 2999, read_only),
        "they may not overlap"
    );
    assert!(
        memory
            .seen_by(0, 0)
            .validate(base as u64 + 2999, 1, false)
            .is_ok()
    );
    assert_eq!(
        memory.seen_by(0, 0).validate(base as u64 + 2999, 2, false),
        Err(AccessError::OutOfBounds)
    );
    assert_eq!(
        memory.seen_by(0, 0).validate(base as u64, 1, true),
        Err(AccessError::ReadOnly)
    );
    assert!(memory.unregister(base));
    assert!(!memory.unregister(base));
    assert_eq!(
        memory.seen_by(0, 0).validate(base as u64, 1, false),
        Err(AccessError::OutOfBounds)
    );
}

#[test]
fn each_change_moves_the_generation() {
    let _turn = turn();
    use std::sync::atomic::Ordering::SeqCst;
    let memory = Memory::global();
    let before = memory.seen_by(0, 0).generation().load(SeqCst);
    let base = allocate(16);
    let between = memory.seen_by(0, 0).generation().load(SeqCst);
    memory.free(base, "the test").unwrap();
    assert!(before < between && between < memory.seen_by(0, 0).generation().load(SeqCst));
}

#[test]
fn a_size_that_cannot_be_is_refused() {
    let _turn = turn();
    assert!(
        Memory::global()
            .allocate(usize::MAX, AllocationKind::Device, CONTEXT, 0, "a test")
            .is_none()
    );
    assert!(
        Memory::global()
            .allocate(1 << 50, AllocationKind::Device, CONTEXT, 0, "a test")
            .is_none()
    );
}
