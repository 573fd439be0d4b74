//! Makes mistakes, and compares what their errors say with files: on a GPU, which has other numbers and logs, their codes.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::common::{Add, add, gpu, module};
use warpsmith_host::prelude::*;

/// What the mistakes are made with.
pub struct Fixture<'a> {
    pub gpu: &'a Gpu,
    pub module: &'a Module,
    pub add: Add,
    pub stream: Stream,
    pub other: Stream,
    pub words: DeviceBuffer<u32>,
}

impl Fixture<'_> {
    pub fn launch(&mut self, grid: Grid) -> Result<()> {
        // SAFETY: the entry takes a slice and a number, and writes only the slice.
        unsafe {
            self.stream
                .launch_untyped(&self.add, grid, (&mut self.words, 1))
        }
    }
}

pub type Mistake = (&'static str, fn(&mut Fixture<'_>) -> Result<()>);

/// Makes the mistakes, and compares what the errors say with the file of this name.
pub fn check(file: &str, mistakes: &[Mistake]) {
    let gpu = gpu();
    let module = module(&gpu);
    let stream = gpu.stream().unwrap();
    let words = stream.zeroed::<u32>(64).unwrap();
    let mut fixture = Fixture {
        gpu: &gpu,
        module: &module,
        add: add(&module),
        other: gpu.stream().unwrap(),
        stream,
        words,
    };
    let mut text = String::new();
    for (name, mistake) in mistakes {
        let error = mistake(&mut fixture).expect_err(name);
        let said = without_numbers_of_this_run(&error.to_string());
        writeln!(text, "# {name}\n\n{said}\n").unwrap();
    }
    // None of that harmed anything.
    fixture.launch(Grid::new(1, 64)).unwrap();
    assert_eq!(fixture.stream.download(&fixture.words).unwrap(), [1; 64]);
    match gpu.is_simulator() {
        true => compare(file, &text),
        false => compare_codes(file, &text),
    }
}

/// The text with its addresses left out.
fn without_numbers_of_this_run(text: &str) -> String {
    let mut parts = text.split("0x");
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_hexdigit());
        write!(result, "0x..{rest}").unwrap();
    }
    result
}

fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/diagnostics/messages")
        .join(file)
}

fn compare(file: &str, text: &str) {
    let path = path(file);
    if std::env::var_os("WARPSMITH_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    for (is, was) in text.split("# ").zip(known.split("# ")) {
        assert_eq!(is, was, "WARPSMITH_BLESS=1 rewrites {}", path.display());
    }
    assert_eq!(
        text.len(),
        known.len(),
        "WARPSMITH_BLESS=1 rewrites {}",
        path.display()
    );
}

/// Compares the driver's codes.
fn compare_codes(file: &str, text: &str) {
    let known = std::fs::read_to_string(path(file)).unwrap();
    let (is, was) = (text.split("# "), known.split("# "));
    assert_eq!(is.clone().count(), was.clone().count());
    for (is, was) in is.zip(was) {
        assert_eq!(code(is), code(was), "{is}\nis on the simulator\n{was}");
    }
}

/// The first code in an error's text, with its number.
fn code(text: &str) -> Option<&str> {
    let begin = text.find("CUDA_ERROR_")?;
    let length = text[begin..].find(')')?;
    Some(&text[begin..begin + length])
}
