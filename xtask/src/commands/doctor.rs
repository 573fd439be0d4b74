//! `cargo xtask doctor`: each ingredient, what is wrong with it and the command that remedys it.

use crate::driver::{self, Driver};
use anyhow::Result;
use comfy_table::{Table, presets};
use std::process::ExitCode;

/// The options of `cargo xtask doctor`.
#[derive(clap::Args)]
pub struct Options {}

/// One line of the report.
struct Finding {
    name: String,
    state: &'static str,
    what: String,
    remedy: String,
}

/// Prints the report; fails where something that is needed is not good.
pub fn run(_options: &Options) -> Result<ExitCode> {
    let mut findings: Vec<Finding> = Vec::new();
    let mut sick = false;
    for ingredient in warpsmith_builder::doctor() {
        let state = match (ingredient.is_good(), ingredient.optional) {
            (true, _) => "ok",
            (false, true) => "absent",
            (false, false) => {
                sick = true;
                "BAD"
            }
        };
        let what = [ingredient.found, ingredient.problem]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join("; ");
        findings.push(Finding {
            name: ingredient.name.to_owned(),
            state,
            what,
            remedy: ingredient.remedy.unwrap_or_default(),
        });
    }
    findings.extend(devices(driver::probe()));
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY).set_header([
        "ingredient",
        "state",
        "what was found",
        "remedy",
    ]);
    for finding in findings {
        table.add_row([
            finding.name.as_str(),
            finding.state,
            &finding.what,
            &finding.remedy,
        ]);
    }
    println!("{table}");
    Ok(if sick {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// The driver and its devices; the simulator is always there.
fn devices(driver: Driver) -> Vec<Finding> {
    let finding = |name: &str, state, what: String, remedy: &str| Finding {
        name: name.to_owned(),
        state,
        what,
        remedy: remedy.to_owned(),
    };
    let mut findings = match driver {
        Driver::Absent(why) => vec![finding(
            "CUDA driver",
            "absent",
            why,
            "only a GPU needs it: install NVIDIA's driver",
        )],
        Driver::Broken(why) => vec![finding(
            "CUDA driver",
            "absent",
            why,
            "`nvidia-smi` tells more; WARPSMITH_DEVICE=simulator works without it",
        )],
        Driver::Works {
            version: (major, minor),
            devices,
        } => {
            let mut findings = vec![finding(
                "CUDA driver",
                "ok",
                format!("takes CUDA {major}.{minor}"),
                "",
            )];
            for (ordinal, name) in devices.into_iter().enumerate() {
                findings.push(finding(&format!("device cuda:{ordinal}"), "ok", name, ""));
            }
            findings
        }
    };
    findings.push(finding(
        "device simulator",
        "ok",
        "on the CPU, part of this workspace".to_owned(),
        "",
    ));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_a_driver_still_has_the_simulator() {
        let findings = devices(Driver::Absent("libcuda.so.1: cannot open".to_owned()));
        assert_eq!(findings[0].state, "absent");
        assert_eq!(findings.last().expect("a device").name, "device simulator");
        let works = Driver::Works {
            version: (13, 0),
            devices: vec!["NVIDIA H200".to_owned()],
        };
        assert!(
            devices(works)
                .iter()
                .any(|finding| finding.what == "NVIDIA H200")
        );
    }
}
