//! Six kernels with a mistake each: the simulator names every one, with kernel, block, thread, file and line.

use warpsmith_host::prelude::*;
use warpsmith_kernels::broken;
use warpsmith_testkit::{Side, own_process};

/// Device, stream, and the module of the broken kernels.
fn device() -> (Module, Stream) {
    let gpu = Gpu::open(DeviceChoice::Simulator).unwrap();
    let module = gpu.load(warpsmith_suite::BROKEN_PTX).unwrap();
    let stream = gpu.stream().unwrap();
    (module, stream)
}

/// The report of a launch that must fail, which has to hold all of `words`, the file and one of its lines.
fn report(launched: Result<()>, stream: &Stream, kernel: &str, marker: &str, words: &[&str]) {
    let error = launched
        .and_then(|()| stream.synchronize())
        .expect_err("the mistake goes unnoticed");
    let report = error
        .report()
        .map_or_else(|| error.to_string(), str::to_owned);
    for word in words.iter().chain([&kernel, &"broken.rs"]) {
        assert!(report.contains(word), "no `{word}` in:\n{report}");
    }
    // The line of the mistake, found by its text, so that the test survives edits elsewhere in the file.
    let source = include_str!("../../src/broken.rs");
    let lines: Vec<usize> = source
        .lines()
        .enumerate()
        .filter(|(_, l)| l.contains(marker))
        .map(|(i, _)| i + 1)
        .collect();
    assert!(!lines.is_empty(), "no line with `{marker}` in broken.rs");
    let named = lines
        .iter()
        .any(|line| report.contains(&format!("broken.rs:{line}")));
    assert!(named, "none of the lines {lines:?} in:\n{report}");
}

macro_rules! broken_tests {
    ($($(#[$doc:meta])* $name:ident $body:block)*) => {$(
        $(#[$doc])*
        #[test]
        fn $name() {
            // A fault ends what can be done with the device in a process.
            if let Side::Child = own_process(&[("WARPSMITH_CHECKS", "all")]) $body
        }
    )*};
}

broken_tests! {
    // covers: MODEL-01
    off_by_one_is_an_access_out_of_bounds {
        let (module, stream) = device();
        let kernel = module.kernel(broken::broken_saxpy).unwrap();
        let (x, y) = (stream.zeroed::<f32>(1000).unwrap(), stream.zeroed::<f32>(1000).unwrap());
        // SAFETY: the simulator finds the access out of bounds before it happens.
        let launched = unsafe { stream.launch_unchecked(&kernel, Grid::cover(1000, 128), (2.0f32, &x, &y, 1000)) };
        report(launched, &stream, "broken_saxpy", "*y.add(i) += a * *x.add(i)", &["block (7,0,0)", "thread (104,0,0)"]);
    }

    // covers: MODEL-05
    missing_barrier_is_a_race {
        let (module, stream) = device();
        let kernel = module.kernel(broken::broken_reduce).unwrap();
        let (x, sum) = (stream.zeroed::<f32>(128).unwrap(), stream.zeroed::<f32>(1).unwrap());
        // SAFETY: a race on the simulator is reported, not undefined.
        let launched = unsafe { stream.launch_unchecked(&kernel, Grid::new(1, 128), (&x, &sum)) };
        report(launched, &stream, "broken_reduce", "*partial.add(", &["race", "block (0,0,0)"]);
    }

    // covers: SYNC-02
    barrier_in_a_branch_is_divergent {
        let (module, stream) = device();
        let kernel = module.kernel(broken::broken_transpose).unwrap();
        let (src, dst) = (stream.zeroed::<f32>(100).unwrap(), stream.zeroed::<f32>(100).unwrap());
        // SAFETY: barriers that do not match are reported by the simulator.
        let launched = unsafe { stream.launch_unchecked(&kernel, Grid::new(1, 128), (&src, &dst, 100)) };
        report(launched, &stream, "broken_transpose", "block::sync", &["barrier"]);
    }

    // covers: MODEL-11
    uncleared_counts_are_uninitialised {
        let (module, stream) = device();
        let kernel = module.kernel(broken::broken_histogram).unwrap();
        let (data, bins) = (stream.zeroed::<u8>(128).unwrap(), stream.zeroed::<u32>(16).unwrap());
        // SAFETY: reading uninitialised shared memory is reported by the simulator.
        let launched = unsafe { stream.launch_unchecked(&kernel, Grid::new(1, 128), (&data, &bins)) };
        report(launched, &stream, "broken_histogram", ".add(1, Relaxed)", &["ninitiali"]);
    }

    // covers: MODEL-12
    wrong_stride_leaves_the_allocation {
        let (module, stream) = device();
        let kernel = module.kernel(broken::broken_convolution).unwrap();
        let (input, output) = (stream.zeroed::<f32>(40 * 100).unwrap(), stream.zeroed::<f32>(100).unwrap());
        // SAFETY: the simulator finds the access out of bounds before it happens.
        let launched = unsafe { stream.launch_unchecked(&kernel, Grid::new(1, 128), (&input, &output, 40, 100)) };
        report(launched, &stream, "broken_convolution", "*input.add", &["block (0,0,0)"]);
    }

    // covers: MODEL-17
    waiting_for_a_value_that_is_never_published_is_a_deadlock {
        let (module, stream) = device();
        let kernel = module.kernel(broken::broken_scan).unwrap();
        let (state, out) = (stream.zeroed::<u32>(4).unwrap(), stream.zeroed::<u32>(4).unwrap());
        // SAFETY: a grid that cannot end is reported by the simulator.
        let launched = unsafe { stream.launch_unchecked(&kernel, Grid::new(4, 128), (&state, &out)) };
        report(launched, &stream, "broken_scan", "previous.load(Acquire)", &["deadlock"]);
    }
}
