//! The simulator's file tests, through the driver interface, on whatever device there is: what the simulator answers is what a GPU
//! answers. Left out are those that expect a fault, an error or printed text, and those that need settings of the simulator.

mod common;

use std::ffi::CString;

use common::*;
use include_dir::{Dir, include_dir};
use warpsmith_testkit::file_test::{Directive, ParameterKind, Run, Section, sections, show};

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
    let elsewhere = section.simulator.is_some() && device != Backend::Simulator;
    (values && !settings && !freed && !elsewhere).then_some(run)
}

/// Runs a section; the lines that show its buffers.
fn perform(module: CUmodule, section: &Section, run: &Run) -> Vec<String> {
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
    ok!(cuLaunchKernelEx(
        &config,
        function,
        parameters.as_mut_ptr(),
        null_mut()
    ));
    ok!(cuCtxSynchronize());
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
    lines
}

#[test]
fn the_device_answers_what_the_files_say() {
    let device = gpu();
    let wanted = std::env::var("WARPSMITH_FILES").unwrap_or_default();
    let mut files = Vec::new();
    collect(&FILES, "", &mut files);
    collect(&FAMILIES, "isa/", &mut files);
    files.sort();
    let (mut failures, mut count, mut left_out) = (String::new(), 0, 0);
    for (name, text) in files.iter().filter(|(name, _)| name.contains(&wanted)) {
        let sections = sections(text).expect("a file test");
        if !sections.iter().any(|s| runnable(s, device).is_some()) {
            continue;
        }
        let ptx = CString::new(*text).expect("PTX has no zero bytes");
        let module: CUmodule = get!(cuModuleLoadData(ptx.as_ptr().cast()));
        for section in &sections {
            let Some(run) = runnable(section, device) else {
                left_out += 1;
                continue;
            };
            let found: Vec<String> = perform(module, section, run)
                .iter()
                .map(|line| format!("//! = {line}").trim_end().to_owned())
                .collect();
            count += 1;
            if found != section.expected {
                failures += &format!(
                    "{name}: `{}`: expected\n  {}\nfound\n  {}\n\n",
                    section.text,
                    section.expected.join("\n  "),
                    found.join("\n  ")
                );
            }
        }
        ok!(cuModuleUnload(module));
    }
    eprintln!("{count} sections run, {left_out} left out");
    assert!(count > 0, "no file matches `{wanted}`");
    assert!(failures.is_empty(), "\n{failures}");
}
