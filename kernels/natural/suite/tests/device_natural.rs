//! Every natural kernel against its oracle at small sizes, on whichever device there is; and the report of the comparison.

use warpsmith_host::prelude::*;
use warpsmith_natural_suite::NATURAL;
use warpsmith_suite::Session;
use warpsmith_suite::bench::Options;

#[test]
fn all_kernels_are_right_at_small_sizes() {
    let session = Session::of(&NATURAL, &Gpu::open_default().unwrap()).unwrap();
    for case in (NATURAL.cases)() {
        for &size in case.ragged {
            let outcome = case
                .run(&session, Some(size), 1, &mut |_| ())
                .unwrap_or_else(|error| panic!("{error:#}"));
            if let Err(wrong) = outcome.verified {
                panic!("{} at {}: {wrong}", case.name, outcome.shape);
            }
        }
    }
}

#[test]
fn the_report_has_a_row_a_kernel() {
    let gpu = Gpu::open(DeviceChoice::Simulator).unwrap();
    let options = Options {
        names: vec!["saxpy".into(), "nbody".into()],
        repetitions: 2,
        twins: false,
        size: Some(40),
        on_simulator: true,
        ..Options::default()
    };
    let written = (NATURAL.bench)(&gpu, &options, &mut |_| ()).unwrap();
    assert!(
        written.markdown.contains("| saxpy | 40 elements |")
            && written.markdown.contains("| nbody | 40 bodies |")
            && written.markdown.contains("the times mean nothing"),
        "{}",
        written.markdown
    );
    assert!(
        written.terminal.contains("2 kernels, no twins"),
        "{}",
        written.terminal
    );
}
