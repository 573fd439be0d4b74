//! The simulator's file tests: each `tests/files/**/*.ptx`, and `src/engine/isa/FAMILY.ptx`
//! beside an instruction family, holds PTX, how to run it, and what must come out.
//!
//! The language is that of [`warpsmith_testkit::file_test`]. After a change that is meant,
//! `WARPSMITH_BLESS=1 cargo test -p warpsmith-simulator --test files` rewrites the `=` lines; read the difference before
//! you commit it. `WARPSMITH_FILES=name` runs the files whose path contains it, `one,other` those of either.
//! Each is run with the vector instructions that the machine has, and with fewer. `driver/tests/files.rs` runs them through the driver
//! interface, on a GPU too.

#[path = "files/cases.rs"]
mod cases;
#[path = "files/memory.rs"]
mod memory;

use memory::Arena;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;
use warpsmith_simulator::engine::{Checks, Environment, Launch, Module, VectorLevel, run};
use warpsmith_testkit::file_test::{Directive, ParameterKind, Section, sections, show};

/// The vector instructions that the files are run with: what the machine has, and each lower level.
fn vector_levels() -> impl Iterator<Item = VectorLevel> {
    let highest = VectorLevel::of_machine();
    let lower = VectorLevel::ALL
        .into_iter()
        .filter(move |&level| level < highest);
    std::iter::once(highest).chain(lower)
}

/// A file's module, loaded for a level of vector instructions, and the memory that it and its kernels use.
struct Loaded {
    arena: Arena,
    /// The module, or why it is refused.
    module: Result<Module, String>,
}

impl Loaded {
    fn new(ptx: &str, level: VectorLevel) -> Loaded {
        let mut arena = Arena::new();
        let module = Module::load_for(level, ptx, &mut |global| {
            let what = format!("global variable {}", global.name);
            Some(arena.allocate(global.size, global.align, &what))
        });
        arena.keep();
        let module = module.map_err(|error| error.to_string());
        Loaded { arena, module }
    }
}

/// Runs a section; the lines that it should have.
fn perform(loaded: &mut Loaded, section: &Section) -> Result<Vec<String>, String> {
    let Loaded { arena, module } = loaded;
    let mut lines = Vec::new();
    let module = match module {
        Ok(module) => module,
        Err(error) => {
            lines.push(format!("error: {error}"));
            return Ok(lines);
        }
    };
    let Directive::Run(how) = &section.directive else {
        lines.push("ok".into());
        return Ok(lines);
    };
    // As new, whatever the section before has done.
    arena.forget();
    for global in module.globals() {
        arena.write(global.address, &global.image);
    }
    let name = &how.kernel;
    let kernel = module
        .kernel(name)
        .ok_or_else(|| format!("no kernel `{name}`"))?;
    let mut params = vec![0u8; kernel.parameter_bytes() as usize];
    if section.parameters.len() != kernel.parameters.len() {
        return Err(format!(
            "{name} has {} parameters, {} given",
            kernel.parameters.len(),
            section.parameters.len()
        ));
    }
    let mut shown = Vec::new();
    let given = section.parameters.iter().zip(&kernel.parameters);
    for (index, (given, parameter)) in given.enumerate() {
        let bytes = &given.bytes;
        let value = if given.kind == ParameterKind::Scalar {
            bytes.clone()
        } else {
            let address = arena.allocate(bytes.len() as u64, 256, &format!("argument {index}"));
            arena.write(address, bytes);
            match given.kind {
                ParameterKind::Freed => arena.free(address),
                ParameterKind::Out => shown.push((index, given.ty, address, bytes.len())),
                ParameterKind::Multicast => {
                    arena.make_multicast(address);
                    shown.push((index, given.ty, address, bytes.len()));
                }
                ParameterKind::In | ParameterKind::Scalar => {}
            }
            address.to_le_bytes().to_vec()
        };
        if value.len() != parameter.size as usize {
            return Err(format!(
                "parameter {index} has {} bytes, `{}` has {}",
                parameter.size,
                given.text,
                value.len()
            ));
        }
        params[parameter.offset as usize..][..value.len()].copy_from_slice(&value);
    }
    let output = arena.output();
    let environment = Environment {
        checks: if how.checked {
            Checks::ALL
        } else {
            Checks::NONE
        },
        seed: how.seed,
        threads: 2,
        notes: Some(&output),
        ..Environment::new(&*arena, &output)
    };
    let launch = Launch {
        kernel,
        grid: how.grid,
        block: how.block,
        cluster: how.cluster.or(kernel.cluster).unwrap_or([1; 3]),
        dynamic_shared: how.dynamic_shared,
        cooperative: how.cooperative,
        params: &params,
    };
    let outcome = run(&launch, &environment);
    let notes = output.notes();
    lines.extend(
        notes
            .iter()
            .map(|line| format!("note: {}", arena.with_names(line))),
    );
    if let Err(fault) = outcome {
        let text = arena.with_names(&fault.to_string());
        lines.extend(text.lines().map(|line| format!("fault: {line}")));
        return Ok(lines);
    }
    lines.extend(output.lines().map(|line| format!("prints: {line}")));
    for (index, ty, address, length) in shown {
        lines.extend(show(index, ty, &arena.read(address, length)));
    }
    Ok(lines)
}

/// Runs a file; what is wrong with it, and its text with the expectations that would be right.
fn check(path: &Path) -> Result<(Vec<String>, String), String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let lines: Vec<&str> = text.lines().collect();
    let sections = sections(&text)?;
    if sections.is_empty() {
        return Err("no `//! run` or `//! load` in this file".into());
    }
    let mut loaded: Vec<(VectorLevel, Loaded)> = vector_levels()
        .map(|level| (level, Loaded::new(&text, level)))
        .collect();
    let (mut wrong, mut blessed, mut done) = (Vec::new(), String::new(), 0);
    for section in &sections {
        // The first level's lines are those that would be right.
        let mut right = None;
        for (level, loaded) in &mut loaded {
            let found = perform(loaded, section)
                .map_err(|error| format!("line {}: {error}", section.line + 1))?;
            let found: Vec<String> = found
                .iter()
                .map(|line| format!("//! = {line}").trim_end().to_owned())
                .collect();
            if found != section.expected {
                let expected = section.expected.join("\n  ");
                wrong.push(format!(
                    "`{}` ({level:?}): expected\n  {expected}\nfound\n  {}",
                    section.text,
                    found.join("\n  ")
                ));
            }
            right.get_or_insert(found);
        }
        let found = right.expect("there is at least one level");
        for line in &lines[done..section.place.start] {
            blessed.push_str(line);
            blessed.push('\n');
        }
        for line in &found {
            blessed.push_str(line);
            blessed.push('\n');
        }
        done = section.place.end;
    }
    for line in &lines[done..] {
        blessed.push_str(line);
        blessed.push('\n');
    }
    Ok((wrong, blessed))
}

#[test]
fn files() {
    let wanted = std::env::var("WARPSMITH_FILES").unwrap_or_default();
    let bless = std::env::var_os("WARPSMITH_BLESS").is_some();
    let mut failures = String::new();
    let mut count = 0;
    let is_wanted = |name: &str| wanted.split(',').any(|part| name.contains(part));
    for case in &cases::those(is_wanted) {
        let (name, path) = (&case.name, &case.path);
        count += 1;
        let start = Instant::now();
        match check(path) {
            Ok((wrong, _)) if wrong.is_empty() => {}
            Ok((_, blessed)) if bless => {
                std::fs::write(path, blessed).expect("the case can be rewritten");
                eprintln!("blessed {name}");
            }
            Ok((wrong, _)) => {
                for text in wrong {
                    let _ = writeln!(failures, "{name}: {text}\n");
                }
            }
            Err(error) => {
                let _ = writeln!(failures, "{name}: {error}\n");
            }
        }
        if cfg!(miri) {
            eprintln!("{name}: {} s", start.elapsed().as_secs());
        }
    }
    assert!(count > 0, "no file matches `{wanted}`");
    assert!(
        failures.is_empty(),
        "\n{failures}\nSet WARPSMITH_BLESS=1 if the new results are right."
    );
}
