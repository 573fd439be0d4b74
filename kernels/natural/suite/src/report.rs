//! What the comparison on a GPU found: for the terminal, as JSON, and as the page of the book.

use anyhow::{Context, Result};
use comfy_table::Table;
use serde::Serialize;
use warpsmith_host::prelude::*;
use warpsmith_suite::bench::{self, Measured, Options, Setting, Side};
use warpsmith_suite::case::Progress;
use warpsmith_suite::session::Session;
use warpsmith_suite::set::Written;
use warpsmith_suite::table;

/// A whole run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// When, where and with what it was.
    #[serde(flatten)]
    pub setting: Setting,
    /// The geometric mean of the ratios, where there were twins.
    pub mean: Option<f64>,
    /// A row for each pair, the slowest beside its twin first.
    pub rows: Vec<Row>,
}

/// One pair.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The kernel's name.
    pub kernel: String,
    /// The problem.
    pub shape: String,
    /// Our median time over the twin's: above 1, ours is slower.
    pub ratio: Option<f64>,
    /// Ours.
    pub ours: Side,
    /// The twin.
    pub twin: Option<Side>,
}

const COLUMNS: [&str; 7] = [
    "kernel",
    "size",
    "ours, µs",
    "nvcc, µs",
    "ours / nvcc",
    "registers",
    "nvcc's",
];

impl Report {
    /// Measures the pairs. Both results of each are compared with the oracle's, or this fails.
    pub fn measure(
        gpu: &Gpu,
        options: &Options,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Report> {
        bench::check(&crate::NATURAL, gpu, options)?;
        let setting = Setting::of(gpu, options)?;
        let mut session = Session::of(&crate::NATURAL, gpu)?;
        let measured = bench::measure_all(&mut session, options, progress)
            .context("cannot measure the natural kernels")?;
        Ok(Report::new(setting, measured))
    }

    fn new(setting: Setting, measured: Vec<Measured>) -> Report {
        let mut rows: Vec<Row> = measured.into_iter().map(Row::new).collect();
        rows.sort_by(|a, b| b.ratio.unwrap_or(0.0).total_cmp(&a.ratio.unwrap_or(0.0)));
        let logarithms: Vec<f64> = rows
            .iter()
            .filter_map(|row| row.ratio)
            .map(f64::ln)
            .collect();
        let mean = (!logarithms.is_empty())
            .then(|| (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp());
        Report {
            setting,
            mean,
            rows,
        }
    }

    /// The report as text.
    pub fn written(&self) -> Result<Written> {
        Ok(Written {
            terminal: format!("{}\n{}", self.table(), self.summary()),
            json: serde_json::to_string_pretty(self)? + "\n",
            markdown: self.markdown(),
        })
    }

    fn table(&self) -> Table {
        let mut table = table::empty(&COLUMNS);
        for row in &self.rows {
            table.add_row(row.cells());
        }
        table
    }

    fn summary(&self) -> String {
        match self.mean {
            Some(mean) => format!(
                "{} pairs, geometric mean of ours / nvcc: {mean:.3}",
                self.rows.len()
            ),
            None => format!("{} kernels, no twins", self.rows.len()),
        }
    }

    fn markdown(&self) -> String {
        let mut page = self
            .setting
            .heading("cargo xtask bench natural", "Natural kernels beside nvcc");
        page += &format!(
            "The kernels of `kernels/natural`, written as a newcomer writes them, beside the same algorithms in plain CUDA C++ \
             (`kernels/natural/twins`); nothing is tuned on either side. Medians of {} launches each, timed between two events, ± half the \
             distance of the quartiles; before each launch the L2 cache is flushed, and both sides take turns. The results of both are \
             compared with a CPU oracle's after timing. \"ours / nvcc\" above 1 means that ours is slower. Ours are built as a project is, \
             with panic messages.\n\n",
            self.setting.repetitions
        );
        page += &table::markdown(&COLUMNS, self.rows.iter().map(Row::cells));
        page + &format!("\n{}.\n", self.summary())
    }
}

impl Row {
    fn new(measured: Measured) -> Row {
        let Measured {
            case,
            shape,
            ours,
            twin,
            ..
        } = measured;
        Row {
            kernel: case.name.into(),
            shape,
            ratio: twin
                .as_ref()
                .map(|twin| ours.timing.median_us / twin.timing.median_us),
            ours,
            twin,
        }
    }

    fn cells(&self) -> [String; 7] {
        let dash = || "-".to_owned();
        let twin = self.twin.as_ref();
        [
            self.kernel.clone(),
            self.shape.clone(),
            self.ours.timing.to_string(),
            twin.map_or_else(dash, |twin| twin.timing.to_string()),
            self.ratio.map_or_else(dash, |ratio| format!("{ratio:.3}")),
            self.ours.used(),
            twin.map_or_else(dash, Side::used),
        ]
    }
}
