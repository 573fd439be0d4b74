//! Settings of the simulator itself: from the environment at first, changed by `warpsmithSimulatorConfigure` later.

use std::sync::{OnceLock, PoisonError, RwLock};

use crate::engine::Checks;

/// The settings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// `WARPSMITH_CHECKS`: `all`, `none`, or a list of `bounds`, `races`, `uninitialised`, `barriers`.
    pub(crate) checks: Checks,
    /// `WARPSMITH_SEED`: draws the order of whatever has none.
    pub(crate) seed: u64,
    /// `WARPSMITH_SIMULATOR_THREADS`: worker threads of a launch; 0 means one for each core.
    pub(crate) threads: usize,
    /// `WARPSMITH_REPORT`: whether reports of faults go to stderr.
    pub(crate) stderr: bool,
    /// `CUDA_LAUNCH_BLOCKING`: launches wait for their kernel.
    pub(crate) launch_blocking: bool,
    /// Passes of a conditional node after which it counts as endless.
    pub(crate) iterations: u64,
}

fn cell() -> &'static RwLock<Settings> {
    static SETTINGS: OnceLock<RwLock<Settings>> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        let mut settings = Settings {
            checks: Checks::ALL,
            seed: 0,
            threads: 0,
            stderr: true,
            launch_blocking: false,
            iterations: 10_000_000,
        };
        for (variable, name) in [
            ("WARPSMITH_CHECKS", "checks"),
            ("WARPSMITH_SEED", "seed"),
            ("WARPSMITH_SIMULATOR_THREADS", "threads"),
            ("WARPSMITH_REPORT", "stderr"),
            ("CUDA_LAUNCH_BLOCKING", "launch_blocking"),
        ] {
            if let Ok(value) = std::env::var(variable)
                && !value.is_empty()
                && !settings.set(name, &value)
            {
                eprintln!("warpsmith simulator: {variable}={value} is not understood and ignored");
            }
        }
        RwLock::new(settings)
    })
}

/// The settings at present.
pub(crate) fn get() -> Settings {
    *cell().read().unwrap_or_else(PoisonError::into_inner)
}

/// Changes one setting; `false` if there is no such setting or value.
pub(crate) fn configure(name: &str, value: &str) -> bool {
    cell()
        .write()
        .unwrap_or_else(PoisonError::into_inner)
        .set(name, value)
}

impl Settings {
    fn set(&mut self, name: &str, value: &str) -> bool {
        match name {
            "checks" => parse_checks(value).map(|checks| self.checks = checks),
            "seed" => value.parse().ok().map(|seed| self.seed = seed),
            "threads" => value.parse().ok().map(|threads| self.threads = threads),
            "stderr" => parse_switch(value).map(|on| self.stderr = on),
            "launch_blocking" => parse_switch(value).map(|on| self.launch_blocking = on),
            "iterations" => value
                .parse()
                .ok()
                .map(|iterations| self.iterations = iterations),
            _ => None,
        }
        .is_some()
    }
}

fn parse_switch(value: &str) -> Option<bool> {
    match value {
        "1" | "on" | "true" => Some(true),
        "0" | "off" | "false" => Some(false),
        _ => None,
    }
}

fn parse_checks(value: &str) -> Option<Checks> {
    let mut checks = Checks::NONE;
    for name in value
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
    {
        match name {
            "all" => checks = Checks::ALL,
            "none" => checks = Checks::NONE,
            "bounds" => checks.bounds = true,
            "races" => checks.races = true,
            "uninitialised" => checks.uninitialised = true,
            "barriers" => checks.barriers = true,
            _ => return None,
        }
    }
    Some(checks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_named_singly_or_together() {
        assert_eq!(parse_checks("all"), Some(Checks::ALL));
        assert_eq!(parse_checks("none"), Some(Checks::NONE));
        assert_eq!(
            parse_checks("races, bounds"),
            Some(Checks {
                races: true,
                bounds: true,
                ..Checks::NONE
            })
        );
        assert_eq!(parse_checks("race"), None);
    }
}
