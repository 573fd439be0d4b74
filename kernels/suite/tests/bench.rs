//! The benchmark on the simulator: refused unless asked for, and then it works, though its times mean nothing.

use warpsmith_host::prelude::*;
use warpsmith_suite::bench::{Options, run};
use warpsmith_suite::suite::SUITE;

#[test]
fn the_simulator_is_refused_unless_asked_for() {
    let gpu = Gpu::open(DeviceChoice::Simulator).unwrap();
    let refusal = run(&SUITE, &gpu, &Options::default(), &mut |_| ())
        .unwrap_err()
        .to_string();
    assert!(
        refusal.contains("needs a GPU") && refusal.contains("--device simulator"),
        "{refusal}"
    );
}

#[test]
fn a_report_has_a_row_a_kernel_and_says_that_it_is_the_simulators() {
    let gpu = Gpu::open(DeviceChoice::Simulator).unwrap();
    let options = Options {
        names: vec!["saxpy".into(), "power_iteration".into()],
        repetitions: 2,
        twins: false,
        size: Some(50),
        on_simulator: true,
        ..Options::default()
    };
    let mut steps = 0;
    let report = run(&SUITE, &gpu, &options, &mut |_| steps += 1).unwrap();
    assert_eq!(
        report
            .rows
            .iter()
            .map(|row| row.kernel.as_str())
            .collect::<Vec<_>>(),
        ["saxpy", "power_iteration"]
    );
    assert_eq!(
        (
            report.rows[0].ours.timing.repetitions,
            report.rows[1].ours.resources.len()
        ),
        (2, 3)
    );
    assert!(steps >= 6);
    let page = report.markdown();
    assert!(
        page.contains("| saxpy |") && page.contains("the times mean nothing"),
        "{page}"
    );
    assert!(report.table().to_string().contains("power_iteration"));
}

#[test]
fn a_timing_without_a_warm_up_is_refused() {
    // covers: LAZY-07
    let gpu = Gpu::open(DeviceChoice::Simulator).unwrap();
    let options = |warm_ups| Options {
        names: vec!["saxpy".into()],
        warm_ups,
        repetitions: 1,
        twins: false,
        size: Some(50),
        on_simulator: true,
        ..Options::default()
    };
    let refused = run(&SUITE, &gpu, &options(0), &mut |_| ()).unwrap_err();
    let text = format!("{refused:#}");
    assert!(
        text.contains("saxpy: cannot time") && text.contains("loading the kernel"),
        "{text}"
    );
    let report = run(&SUITE, &gpu, &options(2), &mut |_| ()).unwrap();
    assert_eq!(report.rows[0].ours.timing.repetitions, 1);
}

#[test]
fn an_unknown_kernel_is_answered_with_the_known_ones() {
    let gpu = Gpu::open(DeviceChoice::Simulator).unwrap();
    let options = Options {
        names: vec!["sacspy".into()],
        on_simulator: true,
        ..Options::default()
    };
    let error = run(&SUITE, &gpu, &options, &mut |_| ())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("`sacspy`") && error.contains("saxpy, transpose"),
        "{error}"
    );
}

#[test]
fn a_problem_of_nothing_is_refused() {
    let session =
        warpsmith_suite::Session::new(&Gpu::open(DeviceChoice::Simulator).unwrap()).unwrap();
    for case in warpsmith_suite::cases() {
        let error = case
            .run(&session, Some(0), 1, &mut |_| ())
            .unwrap_err()
            .to_string();
        assert!(error.contains("at least one"), "{error}");
    }
}
