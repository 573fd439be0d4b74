//! What the benchmark found: for the terminal, as JSON, and as the page in the docs.

use super::overhead::Overhead;
use super::roofs::Roofs;
use super::setting::Setting;
use super::{Measured, Side};
use crate::case::Roof;
use crate::set::Written;
use crate::table;
use anyhow::Result;
use comfy_table::Table;
use serde::Serialize;
use std::fmt::Write;

/// A whole run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// When, where and with what it was.
    #[serde(flatten)]
    pub setting: Setting,
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

impl Row {
    pub(super) fn new(measured: Measured, roofs: &Roofs) -> Row {
        let Measured {
            case,
            shape,
            work,
            ours,
            twin,
        } = measured;
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
        [
            self.kernel.clone(),
            self.shape.clone(),
            ours.timing.to_string(),
            twin.map_or_else(dash, |twin| twin.timing.to_string()),
            self.of_twin
                .map_or_else(dash, |ratio| format!("{ratio:.3}")),
            format!("{:.2} T{unit}/s", self.rate * 1e-12),
            format!(
                "{:.1}% of {}",
                self.of_roof * 100.0,
                format!("{:?}", self.roof).to_lowercase()
            ),
            ours.used(),
            twin.map_or_else(dash, Side::used),
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
    /// The report as text.
    pub fn written(&self) -> Result<Written> {
        Ok(Written {
            terminal: format!("{}\n{}", self.table(), self.summary()),
            json: serde_json::to_string_pretty(self)? + "\n",
            markdown: self.markdown(),
        })
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
        let mut page = self.setting.heading("cargo xtask bench", "Benchmarks");
        let _ = writeln!(
            page,
            "Medians of {} launches each, timed between two events, ± half the distance of the quartiles. Before each \
             launch new inputs are drawn and the L2 cache is flushed; ours and the CUDA C++ twin (`kernels/twins`) take \
             turns; both are verified again after timing. \"twin / ours\" above 1 means that ours is faster. The roofs \
             are measured in the same run. Ours are built with `PanicStrategy::Trap`: CUDA C++ has no bounds checks to \
             report from; what a report costs stands in \"Hear of a panic on the device\".\n",
            self.setting.repetitions
        );
        page += &table::markdown(&COLUMNS, self.rows.iter().map(Row::cells));
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
