//! The comparison of device and host sees what it is there for: programs that say on which of the two they run are found out.

use std::process::Command;
use std::time::Duration;

use warpsmith_testkit::process::output;

const LIMIT: Duration = Duration::from_secs(600);

/// Whether device and host differ, and how they do, for each of the programs.
fn compare(programs: &[&str]) -> Vec<Option<String>> {
    let folder = std::env::temp_dir().join(format!("warpsmith-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpsmith-fuzz"));
    command
        .args(["cases", "scalar"])
        .env("WARPSMITH_REPORT", "0");
    let files: Vec<_> = (0..programs.len())
        .map(|number| folder.join(format!("{number}.rs")))
        .collect();
    for (file, program) in files.iter().zip(programs) {
        let head = "//! arch sm_70\n//! overflow-checks on\n//! input 1 2 3 4 5 6\n//! input 0 0 0 0 0 0\n\
                    const DEVICE: bool = cfg!(target_arch = \"nvptx64\");\n";
        let text = format!("{head}pub fn program(x: &[u64; 6]) -> u64 {{ {program} }}\n");
        std::fs::write(file, text).unwrap();
        command.arg(file);
    }
    let output = output(&mut command, LIMIT).expect_success();
    std::fs::remove_dir_all(&folder).unwrap();
    let said = |file: &std::path::PathBuf| {
        let start = format!("@found {}\t", file.display());
        let mut lines = output.stdout.lines();
        lines.find_map(|line| line.strip_prefix(&start).map(str::to_owned))
    };
    files.iter().map(said).collect()
}

#[test]
fn differences_are_found_and_what_is_equal_is_not() {
    let found = compare(&[
        // Alike: values, and panics with all that is told of them.
        "x[0].wrapping_mul(7) ^ x[5]",
        "assert!(x[0] != 1, \"number {}\", x[1]); x[0]",
        "[1, 2, 3][x[2] as usize]",
        "x[0] - x[1]",
        // Different: a value; a panic on one side, on the other; its message; its place.
        "x[0] + u64::from(DEVICE && x[3] == 4)",
        "if DEVICE { panic!(\"here\") } else { 5 }",
        "if DEVICE { 5 } else { panic!(\"here\") }",
        "panic!(\"on the {}\", if DEVICE { \"device\" } else { \"host\" })",
        "if DEVICE { panic!(\"here\") } else {\npanic!(\"here\") }",
    ]);
    let parts = [
        None,
        None,
        None,
        None,
        Some("for 1 of 2 inputs"),
        Some("for 2 of 2 inputs"),
        Some("for 2 of 2 inputs"),
        Some("on the device"),
        Some("of which the host says"),
    ];
    for (number, (found, part)) in found.iter().zip(parts).enumerate() {
        match (found, part) {
            (None, None) => {}
            (Some(found), Some(part)) if found.contains(part) => {}
            _ => panic!("program {number}: expected {part:?}, found {found:?}"),
        }
    }
}
