//! The device answers what was recorded on a GPU, bit for bit; approximate functions within the bound of `bounds.rs`.

use std::path::Path;

use warpsmith_driver::Choice;
use warpsmith_recorder::compare::compare;
use warpsmith_recorder::device::Device;
use warpsmith_recorder::families::families;
use warpsmith_recorder::recording::Recording;

#[test]
fn the_device_answers_what_was_recorded() {
    let device = Device::new(Choice::Simulator).expect("a device");
    let capability = device.capability().expect("a compute capability");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("data")
        .join(format!("sm_{capability}"));
    if !folder.is_dir() {
        eprintln!("skipped: nothing was recorded on a device of compute capability {capability}");
        assert!(!device.is_simulator(), "{} is missing", folder.display());
        return;
    }
    let mut failures = String::new();
    let mut deviating = 0;
    for family in families() {
        let file = folder.join(format!("{}.lz", family.name));
        if !file.is_file() {
            eprintln!("{}: not recorded yet", family.name);
            continue;
        }
        let recording = Recording::read(&file).expect("a recording");
        let outcome = compare(&device, &family, &recording, "");
        eprintln!(
            "{}: {} programs, {} values; {} programs are not recorded yet",
            family.name,
            outcome.same,
            outcome.values,
            outcome.unrecorded.len()
        );
        assert!(outcome.same > 0, "nothing of {} was compared", family.name);
        deviating += outcome.deviating.len();
        for text in outcome.wrong.iter().chain(&outcome.stale) {
            failures += &format!("{}: {text}\n", family.name);
        }
        for text in &outcome.refused {
            failures += &format!("{}: refused: {text}\n", family.name);
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
    // On the GPU itself nothing does.
    assert_eq!(deviating > 0, device.is_simulator(), "{deviating} programs");
}
