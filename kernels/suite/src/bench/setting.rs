//! When, where and with what a benchmark ran.

use super::{Options, date};
use crate::session;
use crate::twins;
use anyhow::Result;
use serde::Serialize;
use warpsmith_host::prelude::*;

/// When, where and with what a benchmark ran.
#[derive(Clone, Debug, Serialize)]
pub struct Setting {
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
}

impl Setting {
    /// Asks device, driver and, where twins are wanted, nvcc.
    pub fn of(gpu: &Gpu, options: &Options) -> Result<Setting> {
        Ok(Setting {
            date: date::today(),
            device: session::device(gpu),
            simulator: gpu.is_simulator(),
            driver: format!(
                "CUDA {}{}",
                gpu.driver_version(),
                kernel_driver().map_or(String::new(), |v| format!(", driver {v}"))
            ),
            compiler: match options.twins {
                true => Some(twins::compiler()?),
                false => None,
            },
            repetitions: options.repetitions,
        })
    }

    /// The first lines of a page of the book: its heading, and this.
    pub fn heading(&self, command: &str, title: &str) -> String {
        let mut page = format!("<!-- Written by `{command}`; do not edit. -->\n\n# {title}\n\n");
        if self.simulator {
            page += "**On the simulator: the times mean nothing.**\n\n";
        }
        let compiler = self.compiler.as_deref().unwrap_or("no twins");
        page + &format!(
            "{}, {}, {}, twins by {compiler}.\n\n",
            self.date, self.device, self.driver
        )
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
