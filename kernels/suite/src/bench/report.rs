//! What the benchmark found: for the terminal, as JSON, and as the page in the docs.

use super::overhead::Overhead;
use super::roofs::Roofs;
use super::statistics::Timing;
use super::{Options, date};
use crate::case::{Case, Roof, Work};
use crate::table;
use comfy_table::Table;
use serde::Serialize;
use std::fmt::Write;
use warpsmith_host::prelude::*;

/// A whole run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The day, UTC.
    pub date: String,
    /// The device's name.
    pub device: String,
    /// Whether that is the simulator, and the times mean nothing.
    pub simulator: bool,
    /// The driver's CUDA version.
    pub driver: String,
    /// nvcc's version, if there were twins.
    pub compiler: Option<String>,
    /// Timed launches of each implementation.
    pub repetitions: usize,
    /// The measured roofs.
    pub roofs: Roofs,
    /// A row for each kernel.
    pub rows: Vec<Row>,
    /// What a launch costs the CPU.
    pub launch: Overhead,
}

/// One kernel.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The case's name.
    pub kernel: String,
    /// The problem.
    pub shape: String,
    /// The roof that it is held against.
    pub roof: Roof,
    /// Bytes or operations a second that ours reached.
    pub rate: f64,
    /// That as a share of the roof.
    pub of_roof: f64,
    /// The twin's median time over ours: above 1, ours is faster.
    pub of_twin: Option<f64>,
    /// Ours.
    pub ours: Side,
    /// The twin.
    pub twin: Option<Side>,
}

/// One implementation of a kernel.
#[derive(Clone, Debug, Serialize)]
pub struct Side {
    /// Its times.
    pub timing: Timing,
    /// What was verified after timing.
    pub verified: String,
    /// What its entries use.
    pub resources: Vec<Resources>,
}

/// What an entry uses.
#[derive(Clone, Debug, Serialize)]
pub struct Resources {
    /// The entry's name.
    pub entry: String,
    /// Registers a thread.
    pub registers: u32,
    /// Bytes of local memory a thread: spills and arrays that are not in registers.
    pub local_bytes: usize,
    /// Bytes of static shared memory a block.
    pub static_shared_bytes: usize,
}

impl Row {
    pub(super) fn new(
        case: &Case,
        shape: String,
        work: Work,
        roofs: &Roofs,
        ours: Side,
        twin: Option<Side>,
    ) -> Row {
        let amount = if work.roof == Roof::Copy {
            work.bytes
        } else {
            work.flops
        };
        let rate = amount / (ours.timing.median_us * 1e-6);
        Row {
            kernel: case.name.into(),
            shape,
            roof: work.roof,
            rate,
            of_roof: rate / roofs.of(work.roof),
            of_twin: twin
                .as_ref()
                .map(|twin| twin.timing.median_us / ours.timing.median_us),
            ours,
            twin,
        }
    }

    fn cells(&self) -> [String; 9] {
        let dash = || "-".to_owned();
        let unit = if self.roof == Roof::Copy { "B" } else { "FLOP" };
        let (ours, twin) = (&self.ours, self.twin.as_ref());
        let timing = |t: &Timing| format!("{:.1} ± {:.1}%", t.median_us, t.spread() * 100.0);
        let resources = |side: &Side| {
            let each: Vec<_> = side
                .resources
                .iter()
                .map(|r| match r.local_bytes {
                    0 => r.registers.to_string(),
                    local => format!("{} + {local} B local", r.registers),
                })
                .collect();
            each.join(" / ")
        };
        [
            self.kernel.clone(),
            self.shape.clone(),
            timing(&ours.timing),
            twin.map_or_else(dash, |twin| timing(&twin.timing)),
            self.of_twin
                .map_or_else(dash, |ratio| format!("{ratio:.3}")),
            format!("{:.2} T{unit}/s", self.rate * 1e-12),
            format!(
                "{:.1}% of {}",
                self.of_roof * 100.0,
                format!("{:?}", self.roof).to_lowercase()
            ),
            resources(ours),
            twin.map_or_else(dash, resources),
        ]
    }
}

const COLUMNS: [&str; 9] = [
    "kernel",
    "size",
    "ours, µs",
    "twin, µs",
    "twin / ours",
    "rate",
    "roof",
    "registers",
    "twin's",
];

impl Report {
    pub(super) fn new(
        gpu: &Gpu,
        compiler: Option<String>,
        roofs: Roofs,
        rows: Vec<Row>,
        launch: Overhead,
        options: &Options,
    ) -> Report {
        Report {
            date: date::today(),
            device: crate::session::device(gpu),
            simulator: gpu.is_simulator(),
            driver: format!(
                "CUDA {}{}",
                gpu.driver_version(),
                kernel_driver().map_or(String::new(), |v| format!(", driver {v}"))
            ),
            compiler,
            repetitions: options.repetitions,
            roofs,
            rows,
            launch,
        }
    }

    /// The kernels as a table for the terminal.
    pub fn table(&self) -> Table {
        let mut table = table::empty(&COLUMNS);
        for row in &self.rows {
            table.add_row(row.cells());
        }
        table
    }

    /// The lines below the table: roofs and the cost of a launch.
    pub fn summary(&self) -> String {
        let Overhead { typed, plain } = &self.launch;
        format!(
            "copy {:.2} TB/s, f32 {:.1} TFLOP/s, f16 through wmma {:.0} TFLOP/s\n\
             a launch costs the CPU {:.2} µs typed, {:.2} µs by a plain cuLaunchKernelEx ({:+.1}%)",
            self.roofs.copy * 1e-12,
            self.roofs.fma * 1e-12,
            self.roofs.tensor * 1e-12,
            typed.median_us,
            plain.median_us,
            (typed.median_us / plain.median_us - 1.0) * 100.0,
        )
    }

    /// The page for the docs.
    pub fn markdown(&self) -> String {
        let mut page = String::from(
            "<!-- Written by `cargo xtask bench`; do not edit. -->\n\n# Benchmarks\n\n",
        );
        if self.simulator {
            page += "**On the simulator: the times mean nothing.**\n\n";
        }
        let compiler = self.compiler.as_deref().unwrap_or("no twins");
        let _ = writeln!(
            page,
            "{}, {}, {}, twins by {compiler}.\n",
            self.date, self.device, self.driver
        );
        let _ = writeln!(
            page,
            "Medians of {} launches each, timed between two events, ± half the distance of the quartiles. Before each \
             launch new inputs are drawn and the L2 cache is flushed; ours and the CUDA C++ twin (`kernels/twins`) take \
             turns; both are verified again after timing. \"twin / ours\" above 1 means that ours is faster. The roofs \
             are measured in the same run. Ours are built with `PanicStrategy::Trap`: CUDA C++ has no bounds checks to \
             report from; what a report costs stands in \"Hear of a panic on the device\".\n",
            self.repetitions
        );
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        page += &line(&COLUMNS.map(String::from));
        page += &line(&COLUMNS.map(|_| "---".into()));
        for row in &self.rows {
            page += &line(&row.cells());
        }
        for (number, sentence) in self.summary().lines().enumerate() {
            let _ = write!(
                page,
                "{}{}: {sentence}.",
                if number == 0 { "\n" } else { "\n\n" },
                ["Roofs", "Launches"][number.min(1)]
            );
        }
        page.push('\n');
        page
    }
}

/// The version of the kernel's driver, where the system tells it.
fn kernel_driver() -> Option<String> {
    let text = std::fs::read_to_string("/proc/driver/nvidia/version").ok()?;
    let word = text
        .split_whitespace()
        .find(|word| word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit()))?;
    Some(word.to_owned())
}
