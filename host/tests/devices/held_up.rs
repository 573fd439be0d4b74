//! What one device frees and makes beside work of another one that is held up.

use crate::common::two::with_two;
use crate::common::watch::Watch;

const LEN: usize = 100;

/// To free host memory the driver waits for its device, in whose streams the free of other memory may wait for another device.
#[test]
fn nothing_waits_for_another_device_that_is_held_up() {
    with_two(|one, other| {
        let watch = Watch::new();
        let (here, there) = (one.stream().unwrap(), other.stream().unwrap());
        let access = one.default_pool().unwrap().allow_peer(&other).unwrap();
        let words = here.filled(LEN, 7_u32).unwrap();
        let mut far = there.zeroed::<u32>(LEN).unwrap();
        let pinned = one.pinned::<u32>(LEN).unwrap();
        there.copy(&access.view(&words).unwrap(), &mut far).unwrap();
        one.synchronize().unwrap();
        other.synchronize().unwrap();

        watch.begin("beside a device that is held up".into());
        watch.hold_up(&there).unwrap();
        there.copy(&access.view(&words).unwrap(), &mut far).unwrap();
        watch.step("dropping what the other device uses");
        drop(words);
        watch.step("dropping host memory");
        drop(pinned);
        watch.step("waiting for the stream of this device");
        here.synchronize().unwrap();
        watch.step("making unified memory");
        drop(one.unified::<u32>(LEN).unwrap());
        watch.let_go();
        assert_eq!(there.download(&far).unwrap(), [7; LEN]);
        let found = watch.take_found();
        assert!(found.is_empty(), "these wait for the work: {found:#?}");
    });
}
