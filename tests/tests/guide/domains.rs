//! Memory synchronisation domains (3.2.7.1): order that passes on.

use std::sync::atomic::Ordering;

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::guide;
use warpsmith_tests::fixture;

// covers: EX1-15
#[test]
fn the_host_sees_what_a_thread_wrote_that_another_one_has_waited_for() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let pass_on = f.module.kernel(guide::pass_on)?;
    for _ in 0..100 {
        let mut a = stream.zeroed::<u32>(1)?;
        let mut seen = stream.zeroed::<u32>(1)?;
        let x_and_b = f.gpu.shared_atomics::<u32>(2)?;
        stream.launch(&pass_on, Grid::new(2, 32), (&mut a, &x_and_b, &mut seen))?;
        while x_and_b.load(1, Ordering::Acquire) != 1 {
            std::hint::spin_loop();
        }
        assert_eq!(x_and_b.load(0, Ordering::Relaxed), 1);
        assert_eq!(stream.download(&seen)?, [1]);
    }
    Ok(())
}
