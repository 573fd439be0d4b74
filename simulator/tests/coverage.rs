//! Which forms of the PTX ISA the simulator executes, and which file tests hold each of them.
//!
//! The page `docs/src/reference/ptx-coverage.md` is made here, from the instruction tables, from what the front end takes,
//! and from the file tests. `WARPSMITH_BLESS=1 cargo test -p warpsmith-simulator --test coverage`
//! rewrites it.

#[path = "files/cases.rs"]
mod cases;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use warpsmith_isa::form::Form;
use warpsmith_isa::forms::FAMILIES;
use warpsmith_isa::operand::{Base, Elements, Shape};
use warpsmith_isa::sample::{self, Example, Origin, Sample};
use warpsmith_isa::{PtxVersion, Target, matches};
use warpsmith_simulator::engine::Module;
use warpsmith_simulator::ptx;
use warpsmith_simulator::ptx::ast::{Float, Instruction, Operand, OperandKind, Statement};

/// What the front end says of the examples of a form.
#[derive(Default)]
struct Support {
    /// Whether it takes the plainest example.
    executed: bool,
    /// What of it is refused, as written in PTX.
    lacks: Vec<String>,
    /// Files that hold it.
    files: BTreeSet<String>,
}

/// A form, by its address: each stands once in the tables.
type Key = *const Form;

fn newest() -> (PtxVersion, Target) {
    let target = Target::parse("sm_90a").expect("an architecture");
    (PtxVersion::NEWEST, target)
}

/// Whether the front end takes an example; it panics if it refuses it for another reason than that it lacks it.
fn is_executed(sample: &Sample) -> bool {
    let (version, target) = newest();
    let (text, _) = sample::module(version, target, &[&sample.text]);
    match Module::load(&text, &mut |_| Some(0x1000)) {
        Ok(_) => true,
        Err(error) => {
            let message = error.to_string();
            assert!(
                message.contains("is not supported by the simulator"),
                "`{}` is refused, but not by name: {message}",
                sample.text
            );
            false
        }
    }
}

/// Goes through all examples that a module for sm_90a may have.
fn support() -> BTreeMap<Key, Support> {
    let (version, target) = newest();
    let mut all: BTreeMap<Key, Support> = BTreeMap::new();
    for sample in sample::all() {
        let Origin::Form { found, example, .. } = &sample.origin else {
            continue;
        };
        if !sample.is_allowed(version, target) {
            continue;
        }
        let entry = all.entry(std::ptr::from_ref(found.form)).or_default();
        let executed = is_executed(&sample);
        match example {
            Example::Form => entry.executed = executed,
            Example::Alternative(_, word) if !executed => entry.lacks.push(format!(".{word}")),
            Example::Operand(name) if !executed => entry.lacks.push((*name).to_owned()),
            _ => entry.executed |= executed,
        }
    }
    all
}

fn shape<'a>(operand: &Operand<'a>) -> Shape<'a> {
    let count = |parts: &[Operand<'_>]| u8::try_from(parts.len()).unwrap_or(u8::MAX);
    match &operand.kind {
        OperandKind::Int(value) => Shape::Integer(*value),
        OperandKind::Float(value) => Shape::Float(matches!(value, Float::Single(_))),
        OperandKind::Sink => Shape::Sink,
        OperandKind::Not(_) => Shape::Not,
        OperandKind::Pair(..) => Shape::Pair(Some("")),
        OperandKind::Vector(parts) => Shape::Vector(count(parts), Elements::Unknown),
        OperandKind::List(_) => Shape::List,
        OperandKind::Address { rest, .. } => Shape::Address(count(rest), Base::Unknown),
        OperandKind::Offset(..) => Shape::Offset,
        _ => Shape::Unknown,
    }
}

fn instructions<'t, 'a>(statements: &'t [Statement<'a>], all: &mut Vec<&'t Instruction<'a>>) {
    for statement in statements {
        match statement {
            Statement::Instruction(instruction) => all.push(instruction),
            Statement::Block(inner) => instructions(inner, all),
            _ => {}
        }
    }
}

/// Notes which files that run a kernel hold which forms.
fn scan(all: &mut BTreeMap<Key, Support>) {
    for cases::Case { name, path } in cases::those(|_| true) {
        let text = std::fs::read_to_string(&path).expect("a case can be read");
        if !text.lines().any(|line| line.starts_with("//! run")) {
            continue;
        }
        let module = ptx::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut found = Vec::new();
        for function in &module.functions {
            instructions(function.body.as_deref().unwrap_or(&[]), &mut found);
        }
        for instruction in found {
            let shapes: Vec<Shape> = instruction.operands.iter().map(shape).collect();
            let forms = matches(instruction.opcode, &instruction.modifiers);
            let forms = forms.unwrap_or_else(|error| panic!("{name}: {error}"));
            for form in forms.filter(|form| form.fits(&shapes)) {
                let key = std::ptr::from_ref(form.form);
                all.entry(key).or_default().files.insert(name.clone());
            }
        }
    }
}

/// The page, and the forms that are executed without a test.
fn page(all: &BTreeMap<Key, Support>) -> (String, Vec<&'static str>) {
    let mut untested = Vec::new();
    let mut families = String::new();
    let (mut executed, mut refused, mut newer, mut unchecked) = (0, 0, 0, 0);
    for family in FAMILIES {
        let _ = write!(
            families,
            "\n## {}\n\n| Form | Simulator |\n|---|---|\n",
            family.title
        );
        for form in family.forms {
            let support = all.get(&std::ptr::from_ref(form));
            let state = match support {
                _ if form.unchecked.is_some() => {
                    unchecked += 1;
                    "not yet".to_owned()
                }
                None => {
                    newer += 1;
                    "not on sm_90a".to_owned()
                }
                Some(support) if support.executed => {
                    executed += 1;
                    let mut state = match (support.files.first(), support.files.len()) {
                        (None, _) => {
                            untested.push(form.syntax);
                            "executed, no test".to_owned()
                        }
                        (Some(first), 1) => format!("executed: `{first}`"),
                        (Some(first), count) => {
                            format!("executed: `{first}` and {} more", count - 1)
                        }
                    };
                    if !support.lacks.is_empty() {
                        let _ = write!(state, "; not yet: `{}`", support.lacks.join("` `"));
                    }
                    state
                }
                Some(_) => {
                    refused += 1;
                    "refused by name".to_owned()
                }
            };
            let _ = writeln!(
                families,
                "| `{}` | {state} |",
                form.syntax.replace('|', "\\|")
            );
        }
    }
    let total = executed + refused + newer + unchecked;
    let tested = executed - untested.len();
    let head = format!(
        "# PTX coverage\n\n\
         <!-- Made by `WARPSMITH_BLESS=1 cargo test -p warpsmith-simulator --test coverage`. -->\n\n\
         Which forms of the PTX ISA the simulator executes, and a file test that runs each: `isa/…` beside the instruction family in `simulator/src/engine/isa`, the others under `simulator/tests/files`. The \
         forms are those of `warpsmith-isa`, which `cargo xtask isa --check` compares with ptxas; a form is one syntax line of \
         the PTX ISA manual, in which a colon ends a name of several words, and the \
         constants that an operand may be follow an `@`. What a module for sm_90a may have and the simulator lacks, it refuses by name when the module \
         is loaded.\n\n\
         Of {total} forms, {executed} are executed ({tested} of them in a file test), {refused} are refused by name, {newer} \
         exist on no sm_90a, and {unchecked} cannot be tried by an example of their own.\n"
    );
    (head + &families, untested)
}

#[test]
fn the_page_is_up_to_date() {
    let mut all = support();
    scan(&mut all);
    let (page, untested) = page(&all);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/src/reference/ptx-coverage.md");
    if std::env::var_os("WARPSMITH_BLESS").is_some() {
        std::fs::write(&path, &page).expect("the page can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == page,
        "{} is out of date: WARPSMITH_BLESS=1 rewrites it",
        path.display()
    );
    assert!(
        untested.is_empty(),
        "{} forms are executed, but no file test runs them:\n{}",
        untested.len(),
        untested.join("\n")
    );
}
