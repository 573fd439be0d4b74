//! Kernels are compiled apart, and what was compiled is kept.

use std::fs;

use warpsmith_builder::{Arch, CudaBuilder, PtxOutput, cache};

use super::projects::Project;
use super::support::*;

/// What every crate here has: the last panic's line is written to memory.
const PANICS: &str = "#![no_std]
static mut LINE: u32 = 0;
#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    unsafe { LINE = info.location().map_or(0, |location| location.line()) };
    loop {}
}
";

fn kernel(name: &str, body: &str) -> String {
    format!(
        "#[unsafe(no_mangle)]\npub unsafe extern \"ptx-kernel\" fn {name}(x: *mut u32) {{\n    unsafe {{\n{body}\n    }}\n}}\n"
    )
}

struct Kernels {
    project: Project,
}

impl Kernels {
    fn new(source: &str) -> Kernels {
        let project = Project::new(&[]);
        let kernels = Kernels { project };
        kernels.write(source);
        kernels
    }

    fn write(&self, source: &str) {
        self.project
            .write("src/lib.rs", &format!("{PANICS}{source}"));
    }

    fn build(&self) -> PtxOutput {
        build(CudaBuilder::new(self.project.path()).arch(Arch::Sm90))
    }
}

#[test]
fn an_edit_compiles_the_unit_of_its_kernel() {
    let source = |factor: u32| {
        kernel("first", "*x += 1;")
            + &kernel("second", &format!("*x *= {factor};"))
            + &kernel("third", "*x = 100 / *x;")
    };
    let kernels = Kernels::new(&source(3));
    let whole = kernels.build();
    for name in ["first", "second", "third"] {
        assert!(
            whole.compiled.iter().any(|unit| unit == name),
            "{:?}",
            whole.compiled
        );
    }
    kernels.write(&source(5));
    let edited = kernels.build();
    assert_eq!(edited.compiled, ["second"]);
    assert_ne!(edited.ptx, whole.ptx);
    assert_eq!(body(&edited.ptx, "third"), body(&whole.ptx, "third"));
    // What was compiled once is never compiled again, and the text is the same to the last byte.
    kernels.write(&source(3));
    let back = kernels.build();
    assert_eq!(back.compiled, [""; 0]);
    assert_eq!(back.ptx, whole.ptx);
}

#[test]
fn a_new_kernel_changes_no_other_unit() {
    let shared = "static TABLE: [u32; 3] = [7, 8, 9];\n";
    let two = kernel("indexed", "*x = TABLE[*x as usize];")
        + &kernel("checked", "*x = [5u32, 6][*x as usize];");
    let kernels = Kernels::new(&format!("{shared}{two}"));
    kernels.build();
    let third = kernel("divided", "*x = 10 / *x;");
    kernels.write(&format!("{third}{shared}{two}"));
    let compiled = kernels.build().compiled;
    assert!(compiled.contains(&"divided".to_owned()), "{compiled:?}");
    for name in ["indexed", "checked"] {
        assert!(!compiled.contains(&name.to_owned()), "{compiled:?}");
    }
}

/// The lines of the places of panics in the PTX.
fn panic_lines(ptx: &str) -> Vec<u64> {
    ptx.lines()
        .filter(|line| line.starts_with(".global .align 8 .u64 $location_"))
        .map(|line| {
            let last = line.trim_end_matches("};").rsplit(", ").next().unwrap();
            last.parse::<u64>().unwrap() & u64::from(u32::MAX)
        })
        .collect()
}

/// The line of each location of a kernel's instructions.
fn lines(ptx: &str, kernel: &str) -> Vec<u32> {
    let start = ptx.find(&format!(".entry {kernel}(")).unwrap();
    let text = &ptx[start..start + ptx[start..].find("\n}").unwrap()];
    text.lines()
        .filter_map(|line| {
            line.strip_prefix("\t.loc\t")?
                .split(' ')
                .nth(1)?
                .parse()
                .ok()
        })
        .collect()
}

#[test]
fn lines_that_move_are_followed_and_nothing_is_compiled() {
    let source = kernel("moved", "*x = 100 / *x;");
    let kernels = Kernels::new(&source);
    let before = kernels.build();
    let place = panic_lines(&before.ptx);
    let expected = 1 + format!("{PANICS}{source}")
        .lines()
        .position(|line| line.contains("100 / *x"))
        .unwrap() as u64;
    assert_eq!(place, [expected]);
    kernels.write(&format!("\n// A comment.\n{source}"));
    let after = kernels.build();
    assert_eq!(after.compiled, [""; 0]);
    assert_eq!(panic_lines(&after.ptx), [expected + 2]);
    let moved: Vec<u32> = lines(&before.ptx, "moved")
        .iter()
        .map(|line| line + 2)
        .collect();
    assert!(!moved.is_empty());
    assert_eq!(lines(&after.ptx, "moved"), moved);
}

#[test]
fn a_comment_that_moves_nothing_is_no_change() {
    let source = |comment: &str, more: &str| {
        format!(
            "/// Documentation.{more}\n{}",
            kernel("commented", &format!("*x = 100 / *x; // {comment}"))
        )
    };
    let kernels = Kernels::new(&source("one", ""));
    let first = kernels.build();
    assert!(first.rebuilt);
    kernels.write(&source("another comment", ""));
    let second = kernels.build();
    assert!(!second.rebuilt);
    assert_eq!(second.ptx, first.ptx);
    // Macros may read documentation.
    kernels.write(&source("one", " And more."));
    assert!(kernels.build().rebuilt);
    // What reads a source as text reads its comments.
    let text = "const TEXT: &str = include_str!(\"lib.rs\");\n".to_owned();
    let length = kernel("read", "*x = TEXT.len() as u32;");
    let source = |comment: &str| format!("{text}{length}// {comment}\n");
    kernels.write(&source("one"));
    let first = kernels.build();
    kernels.write(&source("another"));
    assert_ne!(kernels.build().ptx, first.ptx);
}

#[test]
fn what_kernels_share_is_one_object() {
    let source = "\
static mut COUNT: u32 = 5;
static TABLE: [fn(u32) -> u32; 2] = [halved, doubled];
#[inline(never)]
fn halved(x: u32) -> u32 { unsafe { COUNT += 1 }; x / 2 }
#[inline(never)]
fn doubled(x: u32) -> u32 { x * 2 }
"
    .to_owned()
        + &kernel("adds", "COUNT += *x; *x = halved(COUNT);")
        + &kernel("reads", "*x = TABLE[(*x & 1) as usize](COUNT);");
    let ptx = Kernels::new(&source).build().ptx;
    let definitions = |part: &str| {
        let lines = ptx.lines().filter(|line| line.contains(part));
        lines.filter(|line| line.starts_with(".global")).count()
    };
    assert_eq!(definitions("5COUNT"), 1, "{ptx}");
    let functions = ptx.matches("\n.func ").count();
    // Each has a declaration and a body: the two functions, and the panic of the index.
    assert_eq!(functions % 2, 0);
    for (name, part) in [("adds", "5COUNT"), ("reads", "5COUNT")] {
        assert_ne!(count(&body(&ptx, name), part), 0, "{name}");
    }
    let bodies = ptx
        .split("\n.func ")
        .filter(|text| text.contains("6halved") && text.contains("\n{\n"))
        .filter(|text| {
            text.split('\n')
                .next()
                .unwrap_or_default()
                .contains("6halved")
        })
        .count();
    assert_eq!(bodies, 1, "{ptx}");
}

#[test]
fn a_damaged_file_of_the_cache_is_made_again() {
    let source = |factor: u32| {
        kernel("kept_in_the_cache", "*x = *x / 3 + 11;")
            + &kernel("edited", &format!("*x *= {factor};"))
    };
    let kernels = Kernels::new(&source(3));
    let before = kernels.build();
    // The folder is shared by all projects; this one's path is in its files alone.
    let folder = kernels.project.path().to_string_lossy().into_owned();
    let mut damaged = 0;
    for file in fs::read_dir(cache::folder().unwrap().join("units")).unwrap() {
        let path = file.unwrap().path();
        let content = fs::read_to_string(&path).unwrap_or_default();
        if content.contains(&folder) && content.contains(".entry kept_in_the_cache") {
            fs::write(&path, content.replace(", 11;", ", 12;")).unwrap();
            damaged += 1;
        }
    }
    assert_eq!(damaged, 1);
    kernels.write(&source(5));
    let mut after = kernels.build();
    after.compiled.sort();
    assert_eq!(after.compiled, ["edited", "kept_in_the_cache"]);
    assert_eq!(
        body(&after.ptx, "kept_in_the_cache"),
        body(&before.ptx, "kept_in_the_cache")
    );
}
