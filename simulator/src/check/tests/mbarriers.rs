//! Writes over initialised mbarriers, against a list of who has initialised what.

use proptest::prelude::*;

use super::*;

/// The blocks' shared memory, one behind the other.
const BYTES: u32 = 2 * 4096;

fn machine() -> SharedMemory {
    let mut shared = SharedMemory::new(2, THREADS, 4096, false, false).with_mbarriers();
    shared.start();
    shared
}

/// An access of lane 0 of a warp of the first block.
#[derive(Clone, Copy, Debug)]
struct Step {
    object: ObjectUse,
    warp: u32,
    offset: u32,
    size: u32,
}

fn step() -> impl Strategy<Value = Step> {
    let data = (0..5u32, 0..64u32).prop_map(|(log, at)| (1 << log, at << log));
    let object = prop_oneof![
        Just(ObjectUse::Mbarrier),
        Just(ObjectUse::MbarrierInit),
        Just(ObjectUse::MbarrierInval),
    ];
    prop_oneof![
        (data, 0..2u32).prop_map(|((size, offset), block)| {
            (ObjectUse::Data, (block * 4096 + offset) % BYTES, size)
        }),
        (object, 0..16u32, 0..2u32).prop_map(|(object, at, block)| (
            object,
            block * 4096 + at * 8,
            8
        )),
    ]
    .prop_flat_map(|(object, offset, size)| {
        (0..4u32).prop_map(move |warp| Step {
            object,
            warp,
            offset,
            size,
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(warpsmith_testkit::cases(256)) })]
    #[test]
    fn findings_are_those_of_a_list(steps in prop::collection::vec(step(), 1..60)) {
        let mut shared = machine();
        let mut list: Vec<(u32, u32)> = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            let offsets = [step.offset; 32];
            let access = Access {
                object: step.object,
                ..access_by(step.warp, 1, &offsets, step.size, WRITE, number as u32)
            };
            let found = shared.access(&access, &());
            let (start, end) = (step.offset, step.offset + step.size);
            let hit = list
                .iter()
                .filter(|&&(at, _)| at < end && start < at + 8)
                .min();
            let writes = matches!(step.object, ObjectUse::Data | ObjectUse::MbarrierInit);
            if let Some(&(at, site)) = hit.filter(|_| writes) {
                let Some(Finding::MbarrierOverwritten { access, initialised, block, offset, object, size }) = found else {
                    panic!("step {number} writes over the mbarrier at {at}: {found:?}");
                };
                prop_assert_eq!((access.site, access.thread), (number as u32, step.warp * 32));
                prop_assert_eq!((initialised.site, object, size), (site, step.object, step.size));
                prop_assert_eq!(block * 4096 + offset, at.max(start));
            } else {
                prop_assert_eq!(found, None);
                match step.object {
                    ObjectUse::MbarrierInit => list.push((step.offset, number as u32)),
                    ObjectUse::MbarrierInval => list.retain(|&(at, _)| at != step.offset),
                    ObjectUse::Data | ObjectUse::Mbarrier => {}
                }
            }
        }
        // The next cluster has none.
        shared.start();
        let offsets = [0; 32];
        prop_assert_eq!(shared.access(&access_by(0, 1, &offsets, 32, WRITE, 0), &()), None);
    }
}

#[test]
fn asynchronous_operations_write_over_mbarriers_too() {
    let mut shared = machine();
    let offsets = [512; 32];
    let init = Access {
        object: ObjectUse::MbarrierInit,
        ..access_by(1, 1, &offsets, 8, WRITE, 7)
    };
    assert_eq!(shared.access(&init, &()), None);
    let copy = |kind, offset| AsyncAccess {
        block: 1,
        warp: 2,
        lane: 3,
        offset,
        bytes: 256,
        kind,
        proxy: Proxy::Async,
        site: 9,
        completion: AsyncCompletion::BulkGroup,
    };
    assert!(shared.issue(&copy(AccessKind::Read, 512)).is_ok());
    assert!(shared.issue(&copy(AccessKind::Write, 256)).is_ok());
    assert!(shared.issue(&copy(AccessKind::Write, 520)).is_ok());
    let found = shared.issue(&copy(AccessKind::Atomic, 264)).unwrap_err();
    let Finding::MbarrierOverwritten {
        access,
        initialised,
        offset,
        ..
    } = found
    else {
        panic!("{found:?}");
    };
    assert_eq!((access.block, access.thread, offset), (1, 67, 512));
    assert_eq!(access.to_string(), "asynchronous reduction");
    assert_eq!((initialised.thread, initialised.site), (32, 7));
}
