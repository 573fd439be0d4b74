//! Makes mistakes, and compares what their errors say with files: on a GPU, which has other numbers and logs, their codes.

use std::fmt::Write;

use crate::common::said::{compare_with_file, without_addresses};
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
        let said = without_addresses(&error.to_string());
        writeln!(text, "# {name}\n\n{said}\n").unwrap();
    }
    // None of that harmed anything.
    fixture.launch(Grid::new(1, 64)).unwrap();
    assert_eq!(fixture.stream.download(&fixture.words).unwrap(), [1; 64]);
    let path = format!("tests/diagnostics/messages/{file}");
    compare_with_file(&path, &text, gpu.is_simulator());
}
