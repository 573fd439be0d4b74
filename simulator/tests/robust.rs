//! No PTX may bring the process down: the file tests' modules, randomly damaged, are loaded and, where they still load, run
//! with nonsense for parameters. Everything that may come out is an error, a fault or a result.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

mod support;

use support::{Memory, Nothing};
use warpsmith_simulator::engine::{Checks, DeviceMemory, Environment, Launch, Module, run};
use warpsmith_testkit::{Random, ptx};

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
        let path = entry.expect("a folder can be read").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "ptx") {
            found.push(path);
        }
    }
}

/// Swaps, drops, doubles or replaces a few words.
fn damage(text: &str, random: &mut Random) -> String {
    let mut words: Vec<String> = text
        .split_inclusive([' ', ',', '\n', ';', '.', '[', ']', '{', '}'])
        .map(Into::into)
        .collect();
    for _ in 0..1 + random.index(3) {
        let at = random.index(words.len());
        let other = random.index(words.len());
        match random.index(6) {
            0 => words.swap(at, other),
            1 => words[at].clear(),
            2 => words[at] = words[other].clone(),
            3 => words[at].insert_str(
                0,
                [
                    "-",
                    "0x",
                    "99999999999999999999",
                    "%",
                    "{",
                    "0d",
                    "u64",
                    "4294967295 ",
                ][random.index(8)],
            ),
            4 => {
                words[at] = words[at].replace(
                    ['1', '2', '4'],
                    ["0", "8", "64", "999999999"][random.index(4)],
                )
            }
            _ => words.truncate(at.max(8)),
        }
    }
    words.concat()
}

#[test]
fn damaged_modules_do_no_harm() {
    let mut paths = Vec::new();
    files(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files"),
        &mut paths,
    );
    paths.sort();
    let (mut random, mut loaded, mut ran) = (Random::new(1), 0, 0);
    for path in &paths {
        let text = std::fs::read_to_string(path).expect("a test file can be read");
        for _ in 0..60 {
            let text = damage(&text, &mut random);
            let memory = Memory {
                words: vec![0; 1 << 14],
                generation: AtomicU64::new(1),
            };
            let (base, len) = memory.arena();
            let mut next = base;
            let module = Module::load(&text, &mut |global| {
                let at = next.next_multiple_of(global.align.max(256));
                next = at
                    .checked_add(global.size)
                    .filter(|&end| end <= base + len)?;
                Some(at)
            });
            let Ok(module) = module else { continue };
            loaded += 1;
            for kernel in module.kernels() {
                // The cancellation stops what would run for ever, after each warp had a time slice.
                let cancel = AtomicBool::new(true);
                let params: Vec<u8> = base
                    .to_le_bytes()
                    .into_iter()
                    .cycle()
                    .take(kernel.parameter_bytes() as usize)
                    .collect();
                let launch = Launch {
                    kernel,
                    grid: [2, 1, 1],
                    block: [33, 1, 1],
                    cluster: [2, 1, 1],
                    dynamic_shared: 64,
                    cooperative: false,
                    params: &params,
                };
                let environment = Environment {
                    checks: if random.index(2) == 0 {
                        Checks::ALL
                    } else {
                        Checks::NONE
                    },
                    threads: 1,
                    cancel: Some(&cancel),
                    ..Environment::new(&memory, &Nothing)
                };
                // Any outcome will do.
                let _ = run(&launch, &environment).map_err(|fault| fault.to_string());
                ran += 1;
            }
        }
    }
    assert!(
        loaded > 100 && ran > 200,
        "the damage leaves too little: {loaded} modules loaded, {ran} kernels run"
    );
}

/// A lock that is taken and never given back.
const LOCKED: &str = ptx!(
    "8.0",
    "sm_90",
    r#"
.file 1 "src/locked.rs"
.visible .entry locked(.param .u64 lock)
{
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [lock];
$again:
    .loc 1 7 14
    atom.global.cas.b32 %r1, [%rd1], 0, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra $again;
    ret;
}
"#
);

#[test]
fn polling_for_what_nobody_does_is_a_deadlock() {
    let memory = Memory {
        words: vec![0; 8],
        generation: AtomicU64::new(1),
    };
    let module = Module::load(LOCKED, &mut |_| None).expect("it is right");
    let launch = Launch {
        kernel: module.kernel("locked").expect("it is there"),
        grid: [3, 1, 1],
        block: [40, 1, 1],
        cluster: [1; 3],
        dynamic_shared: 0,
        cooperative: false,
        params: &memory.arena().0.to_le_bytes(),
    };
    let environment = Environment {
        threads: 2,
        patience: Duration::from_millis(300),
        ..Environment::new(&memory, &Nothing)
    };
    let fault = run(&launch, &environment).expect_err("it cannot end");
    let report = fault.to_string();
    assert!(
        report.contains("deadlock") && report.contains("src/locked.rs:7:14"),
        "{report}"
    );
}
