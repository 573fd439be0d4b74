//! The simulator's file tests: each `tests/files/**/*.ptx`, and `src/engine/isa/FAMILY.ptx`
//! beside an instruction family, holds PTX, how to run it, and what must come out.
//!
//! Lines that begin with `//!` are directives; PTX takes them for comments:
//!
//! ```text
//! //! run KERNEL grid=2,1,1 block=32 shared=1024 cluster=2 checks=none seed=7 cooperative
//! //! arg u32 5             a scalar parameter (any type below)
//! //! in f32 1 2.5 nan      a buffer with these values; its address is the parameter
//! //! in u32 iota 64        0, 1, 2 ...; `fill V N`: N times V
//! //! inout f16 fill 0 32   likewise, shown afterwards
//! //! out s32 64            N values (each byte 0xCD) shown afterwards
//! //! freed u32 16          a buffer that was freed before the launch
//! //! = ...                 what is expected: the buffers shown, printed text, the fault
//! //! load                  only loads the module; expects an error or `ok`
//! ```
//!
//! Types: `u8 .. u64`, `s8 .. s64`, `x8 .. x64` (shown in hexadecimal), `f16 bf16 f32 f64`. After a change that is meant,
//! `WARPSMITH_BLESS=1 cargo test -p warpsmith-simulator --test files` rewrites the `=` lines; read the difference before
//! you commit it. `WARPSMITH_FILES=name` runs the files whose path contains it. Each is run with the vector instructions that the
//! machine has, and with fewer.

#[path = "files/cases.rs"]
mod cases;
#[path = "files/memory.rs"]
mod memory;
#[path = "files/values.rs"]
mod values;

use memory::Arena;
use std::fmt::Write as _;
use std::path::Path;
use values::Type;
use warpsmith_simulator::engine::{Checks, Environment, Launch, Module, VectorLevel, run};

/// A directive with its expectations.
struct Section<'a> {
    /// Line of the directive in the file, from 0.
    line: usize,
    directive: &'a str,
    parameters: Vec<&'a str>,
    expected: Vec<&'a str>,
    /// Where the expectations stand or belong.
    place: std::ops::Range<usize>,
}

fn sections<'a>(lines: &[&'a str]) -> Result<Vec<Section<'a>>, String> {
    let mut sections: Vec<Section> = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let Some(text) = line.strip_prefix("//!").map(str::trim) else {
            continue;
        };
        let word = text.split_whitespace().next().unwrap_or("");
        match (word, sections.last_mut()) {
            ("" | "#", _) => {}
            ("run" | "load", _) => sections.push(Section {
                line: number,
                directive: text,
                parameters: Vec::new(),
                expected: Vec::new(),
                place: number + 1..number + 1,
            }),
            ("arg" | "in" | "inout" | "out" | "freed", Some(section)) => {
                section.parameters.push(text);
                section.place = number + 1..number + 1;
            }
            ("=", Some(section)) => {
                section.expected.push(line);
                section.place.end = number + 1;
            }
            _ => return Err(format!("line {}: unknown directive `{text}`", number + 1)),
        }
    }
    Ok(sections)
}

/// The vector instructions that the files are run with: what the machine has, and each lower level.
fn vector_levels() -> impl Iterator<Item = VectorLevel> {
    let highest = VectorLevel::of_machine();
    let lower = VectorLevel::ALL
        .into_iter()
        .filter(move |&level| level < highest);
    std::iter::once(highest).chain(lower)
}

/// Runs a section with vector instructions up to a level; the lines that it should have.
fn perform(ptx: &str, section: &Section, level: VectorLevel) -> Result<Vec<String>, String> {
    let mut arena = Arena::new();
    let mut globals = Vec::new();
    let module = Module::load_for(level, ptx, &mut |global| {
        let address = arena.allocate(
            global.size,
            global.align,
            &format!("global variable {}", global.name),
        );
        globals.push(address);
        Some(address)
    });
    let mut lines = Vec::new();
    let module = match module {
        Ok(module) => module,
        Err(error) => {
            lines.push(format!("error: {error}"));
            return Ok(lines);
        }
    };
    if section.directive == "load" {
        lines.push("ok".into());
        return Ok(lines);
    }
    for global in module.globals() {
        arena.write(global.address, &global.image);
    }
    let mut words = section.directive.split_whitespace().skip(1);
    let name = words.next().ok_or("`run` needs a kernel's name")?;
    let kernel = module
        .kernel(name)
        .ok_or_else(|| format!("no kernel `{name}`"))?;
    let (mut grid, mut block, mut cluster) = ([1; 3], [1; 3], kernel.cluster.unwrap_or([1; 3]));
    let (mut dynamic_shared, mut cooperative, mut checks, mut seed) = (0, false, Checks::ALL, 0);
    for word in words {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let number = || {
            value
                .parse::<u32>()
                .map_err(|_| format!("`{word}`: not a number"))
        };
        match key {
            "grid" => grid = values::dimensions(value)?,
            "block" => block = values::dimensions(value)?,
            "cluster" => cluster = values::dimensions(value)?,
            "shared" => dynamic_shared = number()?,
            "seed" => seed = number()?.into(),
            "cooperative" => cooperative = true,
            "checks" if value == "none" => checks = Checks::NONE,
            "checks" if value == "all" => checks = Checks::ALL,
            _ => return Err(format!("unknown setting `{word}`")),
        }
    }
    let mut params = vec![0u8; kernel.parameter_bytes() as usize];
    if section.parameters.len() != kernel.parameters.len() {
        return Err(format!(
            "{name} has {} parameters, {} given",
            kernel.parameters.len(),
            section.parameters.len()
        ));
    }
    let mut shown = Vec::new();
    for (index, (text, parameter)) in section
        .parameters
        .iter()
        .zip(&kernel.parameters)
        .enumerate()
    {
        let (kind, rest) = text.split_once(' ').ok_or("a parameter needs a type")?;
        let (ty, rest) = rest
            .trim()
            .split_once(' ')
            .ok_or("a parameter needs values")?;
        let ty = Type::parse(ty).ok_or_else(|| format!("unknown type `{ty}`"))?;
        let bytes = if kind == "out" {
            let count: usize = rest
                .trim()
                .parse()
                .map_err(|_| format!("`{rest}`: not a number"))?;
            vec![0xCD; count * ty.size()]
        } else {
            ty.encode(rest)?
        };
        let value = if kind == "arg" {
            bytes
        } else {
            let address = arena.allocate(bytes.len() as u64, 256, &format!("argument {index}"));
            arena.write(address, &bytes);
            match kind {
                "freed" => arena.free(address),
                "out" | "inout" => shown.push((index, ty, address, bytes.len())),
                _ => {}
            }
            address.to_le_bytes().to_vec()
        };
        if value.len() != parameter.size as usize {
            return Err(format!(
                "parameter {index} has {} bytes, `{text}` has {}",
                parameter.size,
                value.len()
            ));
        }
        params[parameter.offset as usize..][..value.len()].copy_from_slice(&value);
    }
    let output = arena.output();
    let environment = Environment {
        memory: &arena,
        runtime: &output,
        checks,
        seed,
        threads: 2,
        stack_limit: 1024,
        patience: Environment::DEFAULT_PATIENCE,
        observer: None,
        cancel: None,
    };
    let launch = Launch {
        kernel,
        grid,
        block,
        cluster,
        dynamic_shared,
        cooperative,
        params: &params,
    };
    if let Err(fault) = run(&launch, &environment) {
        let text = arena.with_names(&fault.to_string());
        lines.extend(text.lines().map(|line| format!("fault: {line}")));
        return Ok(lines);
    }
    lines.extend(output.lines().map(|line| format!("prints: {line}")));
    for (index, ty, address, length) in shown {
        for (row, values) in ty
            .decode(&arena.read(address, length))
            .chunks(16)
            .enumerate()
        {
            let mut line = if row == 0 {
                format!("{index}:")
            } else {
                " ".into()
            };
            for value in values {
                let _ = write!(line, " {value}");
            }
            lines.push(line);
        }
    }
    Ok(lines)
}

/// Runs a file; what is wrong with it, and its text with the expectations that would be right.
fn check(path: &Path) -> Result<(Vec<String>, String), String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let lines: Vec<&str> = text.lines().collect();
    let sections = sections(&lines)?;
    if sections.is_empty() {
        return Err("no `//! run` or `//! load` in this file".into());
    }
    let (mut wrong, mut blessed, mut done) = (Vec::new(), String::new(), 0);
    for section in &sections {
        // The first level's lines are those that would be right.
        let mut right = None;
        for level in vector_levels() {
            let found = perform(&text, section, level)
                .map_err(|error| format!("line {}: {error}", section.line + 1))?;
            let found: Vec<String> = found
                .iter()
                .map(|line| format!("//! = {line}").trim_end().to_owned())
                .collect();
            if found != section.expected {
                let expected = section.expected.join("\n  ");
                wrong.push(format!(
                    "`{}` ({level:?}): expected\n  {expected}\nfound\n  {}",
                    section.directive,
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
    for case in cases::all()
        .iter()
        .filter(|case| case.name.contains(&wanted))
    {
        let (name, path) = (&case.name, &case.path);
        count += 1;
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
    }
    assert!(count > 0, "no file matches `{wanted}`");
    assert!(
        failures.is_empty(),
        "\n{failures}\nSet WARPSMITH_BLESS=1 if the new results are right."
    );
}
