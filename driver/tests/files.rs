//! The simulator's file tests, through the driver interface, on whatever device there is: what the simulator answers is what a GPU
//! answers. Left out are those that expect a fault, an error or printed text, and those that need settings of the simulator.

mod common;
use std::ffi::CString;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::*;
use include_dir::{Dir, include_dir};
use warpsmith_testkit::file_test::{Directive, ParameterKind, Run, Section, sections, show};
use warpsmith_testkit::process::{is_child, run_in_child};

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../simulator/tests/files");
static FAMILIES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../simulator/src/engine/isa");

/// The PTX files of a folder and of those in it.
fn collect<'a>(folder: &'a Dir<'a>, prefix: &str, all: &mut Vec<(String, &'a str)>) {
    for file in folder.files() {
        if file.path().extension().is_some_and(|e| e == "ptx") {
            let name = format!("{prefix}{}", file.path().display());
            all.push((name, file.contents_utf8().expect("PTX is text")));
        }
    }
    for inner in folder.dirs() {
        collect(inner, prefix, all);
    }
}

/// How a section is run, if it can be run here.
fn runnable(section: &Section, device: Backend) -> Option<&Run> {
    let Directive::Run(run) = &section.directive else {
        return None;
    };
    let values = section.expected.iter().all(|line| {
        let text = line.trim_start_matches("//! = ");
        ["fault:", "error:", "prints:"]
            .iter()
            .all(|word| !text.starts_with(word))
    });
    let settings = !run.checked || run.seed != 0;
    let freed = section
        .parameters
        .iter()
        .any(|parameter| parameter.kind == ParameterKind::Freed);
    // Never on a GPU: objects across GPUs are not made by tests. `virtual_memory/multicast.rs` has them on the simulator.
    let multicast =
        (section.parameters.iter()).any(|parameter| parameter.kind == ParameterKind::Multicast);
    let elsewhere = section.simulator.is_some() && device != Backend::Simulator;
    (values && !settings && !freed && !multicast && !elsewhere).then_some(run)
}

/// Runs a section; the lines that show its buffers, or what the driver answered instead.
fn perform(module: CUmodule, section: &Section, run: &Run) -> Result<Vec<String>, String> {
    let name = CString::new(run.kernel.as_str()).expect("a kernel's name");
    let function: CUfunction = get!(cuModuleGetFunction(module, name.as_ptr()));
    let mut buffers = Vec::new();
    let mut values: Vec<Vec<u64>> = Vec::new();
    for parameter in &section.parameters {
        let bytes = if parameter.kind == ParameterKind::Scalar {
            parameter.bytes.clone()
        } else {
            let address = upload(&parameter.bytes);
            buffers.push(address);
            address.to_le_bytes().to_vec()
        };
        // In words, so that any value is aligned.
        let words = bytes.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        });
        values.push(words.collect());
    }
    let mut parameters: Vec<*mut c_void> = values
        .iter_mut()
        .map(|value| value.as_mut_ptr().cast())
        .collect();
    let mut attributes: Vec<CUlaunchAttribute> = Vec::new();
    if let Some([x, y, z]) = run.cluster {
        let mut cluster = CUlaunchAttribute {
            id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
            ..CUlaunchAttribute::default()
        };
        cluster.value.clusterDim = CUlaunchAttributeValue_union__bindgen_ty_1 { x, y, z };
        attributes.push(cluster);
    }
    if run.cooperative {
        let mut cooperative = CUlaunchAttribute {
            id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
            ..CUlaunchAttribute::default()
        };
        cooperative.value.cooperative = 1;
        attributes.push(cooperative);
    }
    let config = CUlaunchConfig {
        gridDimX: run.grid[0],
        gridDimY: run.grid[1],
        gridDimZ: run.grid[2],
        blockDimX: run.block[0],
        blockDimY: run.block[1],
        blockDimZ: run.block[2],
        sharedMemBytes: run.dynamic_shared,
        hStream: null_mut(),
        attrs: attributes.as_mut_ptr(),
        numAttrs: attributes.len() as u32,
    };
    // SAFETY: the parameters are the kernel's, as the file says, and outlive the call.
    let launched =
        unsafe { cuLaunchKernelEx(&config, function, parameters.as_mut_ptr(), null_mut()) };
    let result = match launched {
        // SAFETY: it has no arguments.
        CUresult::CUDA_SUCCESS => unsafe { cuCtxSynchronize() },
        failed => failed,
    };
    if result != CUresult::CUDA_SUCCESS {
        return Err(warpsmith_driver::error::name(result).to_string());
    }
    let mut lines = Vec::new();
    let mut next = buffers.iter();
    for (index, parameter) in section.parameters.iter().enumerate() {
        if parameter.kind == ParameterKind::Scalar {
            continue;
        }
        let &address = next.next().expect("one for each");
        if parameter.kind == ParameterKind::Out {
            let bytes: Vec<u8> = download(address, parameter.bytes.len());
            lines.extend(show(index, parameter.ty, &bytes));
        }
        ok!(cuMemFree_v2(address));
    }
    Ok(lines)
}

/// Loads a file's module.
fn load(text: &str) -> Result<CUmodule, String> {
    let ptx = CString::new(text).expect("PTX has no zero bytes");
    let mut module: CUmodule = null_mut();
    // SAFETY: the text ends with a zero byte.
    let result = unsafe { cuModuleLoadData(&mut module, ptx.as_ptr().cast()) };
    match result {
        CUresult::CUDA_SUCCESS => Ok(module),
        failed => Err(format!(
            "loading it answers {}",
            warpsmith_driver::error::name(failed)
        )),
    }
}

/// The name of the file that a child runs, and the number of the section that it begins with.
const FILE: &str = "WARPSMITH_FILE";
const FIRST: &str = "WARPSMITH_FIRST_SECTION";
/// How a child says what is wrong with a section, and that its context is lost. Its lines are joined by [`LINE`].
const WRONG: &str = "wrong: ";
const LOST: &str = "lost: ";
const LINE: &str = "\u{1}";

/// In a child: runs a file's sections from the given one on.
fn run_file(text: &str, first: usize) {
    let device = gpu();
    let all = sections(text).expect("a file test");
    let runs = all.iter().enumerate().skip(first);
    let runs =
        runs.filter_map(|(number, section)| Some((number, section, runnable(section, device)?)));
    let module = match load(text) {
        Ok(module) => module,
        Err(answer) => return println!("\n{WRONG}{answer}"),
    };
    let mut count = 0;
    for (number, section, run) in runs {
        count += 1;
        let found = perform(module, section, run);
        let lost = found.is_err();
        let found: Vec<String> = found
            .unwrap_or_else(|answer| vec![answer])
            .iter()
            .map(|line| format!("//! = {line}").trim_end().to_owned())
            .collect();
        // Notes are the simulator's, and go to stderr.
        let expected = section.expected.iter();
        let expected: Vec<&String> = expected
            .filter(|line| !line.starts_with("//! = note:"))
            .collect();
        if !found.iter().eq(expected) {
            let wrong = format!(
                "`{}`: expected\n  {}\nfound\n  {}",
                section.text,
                section.expected.join("\n  "),
                found.join("\n  ")
            );
            println!("\n{WRONG}{}", wrong.replace('\n', LINE));
        }
        if lost {
            println!("\n{LOST}{number}");
            break;
        }
    }
    println!("\n{count} run");
}

/// At most so many children run at once: each has a context, with memory of the device.
const MOST_CHILDREN: usize = 8;

/// What came of a file.
struct Outcome<'a> {
    name: &'a str,
    /// Sections that were run.
    count: usize,
    /// What is wrong, as text.
    failures: String,
}

/// Runs a file in children, each behind the section that cost the one before its context.
fn outcome(name: &str) -> Outcome<'_> {
    let (mut failures, mut count, mut first) = (String::new(), 0, 0);
    loop {
        let variables = [(FILE, name), (FIRST, &first.to_string())];
        let output = run_in_child("the_device_answers_what_the_files_say", &variables);
        let mut lost = None;
        for line in output.stdout.lines() {
            if let Some(wrong) = line.strip_prefix(WRONG) {
                failures += &format!("{name}: {}\n\n", wrong.replace(LINE, "\n"));
            } else if let Some(number) = line.strip_prefix(LOST) {
                lost = Some(number.parse::<usize>().expect("a section's number"));
            } else if let Some(run) = line.strip_suffix(" run") {
                count += run.parse::<usize>().expect("a count");
            }
        }
        match lost {
            Some(number) => first = number + 1,
            None => {
                return Outcome {
                    name,
                    count,
                    failures,
                };
            }
        }
    }
}

// A fault ends the context, and with some drivers the process's use of the device: so each file has a process of its own, and what
// stands behind a fault another one. On a GPU most of a process is making its context, some 200 ms: files of which nothing runs here, which
// are most, have none, and several run at once.
#[test]
fn the_device_answers_what_the_files_say() {
    let mut files = Vec::new();
    collect(&FILES, "", &mut files);
    collect(&FAMILIES, "isa/", &mut files);
    files.sort();
    if is_child() {
        let wanted = std::env::var(FILE).expect("the parent names a file");
        let first = std::env::var(FIRST).expect("the parent names a section");
        let (_, text) = files.iter().find(|(name, _)| *name == wanted).unwrap();
        return run_file(text, first.parse().unwrap());
    }
    let device = choose_driver();
    let wanted = std::env::var("WARPSMITH_FILES").unwrap_or_default();
    let runs_here = |name: &str, text: &str| {
        let sections = sections(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut sections = sections.iter();
        sections.any(|section| runnable(section, device).is_some())
    };
    let wanted: Vec<&str> = files
        .iter()
        .filter(|(name, text)| name.contains(&wanted) && runs_here(name, text))
        .map(|(name, _)| name.as_str())
        .collect();
    let children = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..children.min(MOST_CHILDREN) {
            scope.spawn(|| {
                while let Some(name) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = outcome(name);
                    outcomes.lock().unwrap().push(outcome);
                }
            });
        }
    });
    let mut outcomes = outcomes.into_inner().unwrap();
    outcomes.sort_by_key(|outcome| outcome.name);
    let count: usize = outcomes.iter().map(|outcome| outcome.count).sum();
    let failures: String = outcomes
        .into_iter()
        .map(|outcome| outcome.failures)
        .collect();
    eprintln!("{count} sections of {} files run", wanted.len());
    assert!(
        count > 0,
        "WARPSMITH_FILES names no file with a section that runs here"
    );
    assert!(failures.is_empty(), "\n{failures}");
}
