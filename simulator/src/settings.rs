//! Settings of the simulator itself, and the only place that reads environment variables.
//!
//! [`Settings`] can be changed by `warpsmithSimulatorConfigure` later; [`ProcessSettings`] are fixed for the process.

use std::sync::{OnceLock, RwLock};
use std::time::Duration;

use crate::engine::{Checks, Environment, VectorLevel};
use crate::sync::{read, write};

/// The settings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// `WARPSMITH_CHECKS`: `all`, `default`, `none`, or a list of `bounds`, `races`, `uninitialised`, `barriers`,
    /// `mbarriers`, `stream-order`; and, not among all, `leaks` and `loading`.
    pub(crate) checks: Checks,
    /// `leaks` in `WARPSMITH_CHECKS`: memory that is left at the end of its context is named.
    pub(crate) leaks: bool,
    /// `loading` in `WARPSMITH_CHECKS`: the first launch of a kernel waits for its context, as lazy loading may.
    pub(crate) loading: bool,
    /// `WARPSMITH_SEED`: draws the order of whatever has none.
    pub(crate) seed: u64,
    /// `WARPSMITH_SIMULATOR_THREADS`: worker threads of a launch; 0 means one for each core.
    pub(crate) threads: usize,
    /// `WARPSMITH_REPORT`: whether reports of faults go to stderr.
    pub(crate) stderr: bool,
    /// `CUDA_LAUNCH_BLOCKING`: launches wait for their kernel.
    pub(crate) launch_blocking: bool,
    /// `WARPSMITH_PATIENCE`, in seconds: how long all threads of a grid may poll memory without any change of it.
    pub(crate) patience: Duration,
    /// `WARPSMITH_SIMULATOR_GRIDS`: how many grids a device executes at a time, at least one.
    pub(crate) resident_grids: usize,
    /// Passes of a conditional node after which it counts as endless.
    pub(crate) iterations: u64,
}

/// How many grids a device of compute capability 9.0 executes at a time (CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability").
const MOST_RESIDENT_GRIDS: usize = 128;

/// What is fixed for the process: read at the first use.
#[derive(Clone, Debug)]
pub(crate) struct ProcessSettings {
    /// `WARPSMITH_SIMULATOR_DEVICES`: how many devices the machine has.
    pub(crate) devices: usize,
    /// `CUDA_VISIBLE_DEVICES`: which of them this process sees, in which order; `None` for all.
    pub(crate) visible_devices: Option<String>,
    /// `WARPSMITH_SIMULATOR_MEMORY`: the bytes of memory of each device; `None` for a profile's.
    pub(crate) memory: Option<usize>,
    /// `WARPSMITH_SIMULATOR_ATTRIBUTES`: device attributes to report instead, as `89=0,120=0`.
    pub(crate) attributes: String,
    /// `CUDA_DISABLE_PTX_JIT` or `CUDA_DISABLE_JIT`: PTX cannot be loaded.
    pub(crate) disable_jit: bool,
    /// `CUDA_MODULE_LOADING` is `EAGER`.
    pub(crate) eager_loading: bool,
    /// `CUDA_MODULE_DATA_LOADING` is `EAGER`, or says nothing and all loading is eager.
    pub(crate) eager_data_loading: bool,
    /// `CUDA_GRAPHS_USE_NODE_PRIORITY`: whether kernels of graphs have their nodes' priorities, whatever the graphs were instantiated with.
    pub(crate) use_node_priority: Option<bool>,
    /// `WARPSMITH_SIMULATOR_ISA`: the vector instructions that modules may use.
    pub(crate) vector_level: VectorLevel,
}

/// The settings that are fixed for the process.
pub(crate) fn process() -> &'static ProcessSettings {
    static SETTINGS: OnceLock<ProcessSettings> = OnceLock::new();
    SETTINGS.get_or_init(|| ProcessSettings {
        eager_loading: is_eager("CUDA_MODULE_LOADING").unwrap_or(false),
        eager_data_loading: is_eager("CUDA_MODULE_DATA_LOADING")
            .or_else(|| is_eager("CUDA_MODULE_LOADING"))
            .unwrap_or(false),
        use_node_priority: parsed("CUDA_GRAPHS_USE_NODE_PRIORITY", |value| match value {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        }),
        devices: variable("WARPSMITH_SIMULATOR_DEVICES")
            .and_then(|count| count.parse().ok())
            .unwrap_or(1),
        visible_devices: variable("CUDA_VISIBLE_DEVICES"),
        memory: parsed("WARPSMITH_SIMULATOR_MEMORY", parse_bytes),
        attributes: variable("WARPSMITH_SIMULATOR_ATTRIBUTES").unwrap_or_default(),
        disable_jit: ["CUDA_DISABLE_PTX_JIT", "CUDA_DISABLE_JIT"]
            .into_iter()
            .find_map(|name| variable(name).filter(|value| !value.is_empty()))
            .is_some_and(|value| value != "0"),
        vector_level: parsed("WARPSMITH_SIMULATOR_ISA", parse_vector_level)
            .unwrap_or_else(VectorLevel::of_machine),
    })
}

/// Whether a variable asks for eager or lazy loading; `None` where it leaves that to the driver.
fn is_eager(name: &str) -> Option<bool> {
    match variable(name)?.as_str() {
        "EAGER" => Some(true),
        "LAZY" => Some(false),
        _ => None,
    }
}

/// What an environment variable says; `None` if it is not set or empty, and with a warning if it is not understood.
fn parsed<T>(name: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
    let value = variable(name).filter(|value| !value.is_empty())?;
    let found = parse(&value);
    if found.is_none() {
        not_understood(name, &value);
    }
    found
}

fn not_understood(variable: &str, value: &str) {
    eprintln!("warpsmith simulator: {variable}={value} is not understood and ignored");
}

/// An environment variable; `None` if it is not set or no Unicode.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn cell() -> &'static RwLock<Settings> {
    static SETTINGS: OnceLock<RwLock<Settings>> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        let mut settings = Settings {
            checks: Checks::DEFAULT,
            leaks: false,
            loading: false,
            seed: 0,
            threads: 0,
            stderr: true,
            launch_blocking: false,
            patience: Environment::DEFAULT_PATIENCE,
            resident_grids: MOST_RESIDENT_GRIDS,
            iterations: 10_000_000,
        };
        for (key, name) in [
            ("WARPSMITH_CHECKS", "checks"),
            ("WARPSMITH_SEED", "seed"),
            ("WARPSMITH_SIMULATOR_THREADS", "threads"),
            ("WARPSMITH_SIMULATOR_GRIDS", "resident_grids"),
            ("WARPSMITH_PATIENCE", "patience"),
            ("WARPSMITH_REPORT", "stderr"),
            ("CUDA_LAUNCH_BLOCKING", "launch_blocking"),
        ] {
            if let Some(value) = variable(key)
                && !value.is_empty()
                && !settings.set(name, &value)
            {
                not_understood(key, &value);
            }
        }
        RwLock::new(settings)
    })
}

/// The settings at present.
pub(crate) fn get() -> Settings {
    *read(cell())
}

/// Changes one setting; `false` if there is no such setting or value.
pub(crate) fn configure(name: &str, value: &str) -> bool {
    write(cell()).set(name, value)
}

impl Settings {
    fn set(&mut self, name: &str, value: &str) -> bool {
        match name {
            "checks" => parse_checks(value).map(|wanted| {
                self.checks = wanted.checks;
                self.leaks = wanted.leaks;
                self.loading = wanted.loading;
            }),
            "seed" => value.parse().ok().map(|seed| self.seed = seed),
            "threads" => value.parse().ok().map(|threads| self.threads = threads),
            "resident_grids" => value
                .parse()
                .ok()
                .filter(|&grids| grids > 0)
                .map(|grids| self.resident_grids = grids),
            "patience" => parse_seconds(value).map(|patience| self.patience = patience),
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

/// Seconds, with a fraction; what is too long for a [`Duration`] is for ever.
fn parse_seconds(value: &str) -> Option<Duration> {
    let seconds: f64 = value.parse().ok().filter(|seconds| *seconds >= 0.0)?;
    Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

/// Bytes: a number, with `K`, `M`, `G` or `T` behind it for powers of 1024.
fn parse_bytes(value: &str) -> Option<usize> {
    let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match &value[digits.len()..] {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return None,
    };
    let number: usize = digits.parse().ok().filter(|&number| number > 0)?;
    number.checked_mul(1 << shift)
}

fn parse_switch(value: &str) -> Option<bool> {
    match value {
        "1" | "on" | "true" => Some(true),
        "0" | "off" | "false" => Some(false),
        _ => None,
    }
}

fn parse_vector_level(value: &str) -> Option<VectorLevel> {
    match value {
        "base" => Some(VectorLevel::Base),
        "avx2" => Some(VectorLevel::V3),
        "avx512" => Some(VectorLevel::V4),
        _ => None,
    }
}

/// What a list of checks asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WantedChecks {
    checks: Checks,
    leaks: bool,
    loading: bool,
}

fn parse_checks(value: &str) -> Option<WantedChecks> {
    let mut checks = Checks::NONE;
    let (mut leaks, mut loading) = (false, false);
    for name in value
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
    {
        match name {
            "all" => checks = Checks::ALL,
            "default" => checks = Checks::DEFAULT,
            "none" => checks = Checks::NONE,
            "bounds" => checks.bounds = true,
            "races" => checks.races = true,
            "uninitialised" => checks.uninitialised = true,
            "barriers" => checks.barriers = true,
            "mbarriers" => checks.mbarriers = true,
            "stream-order" => checks.stream_order = true,
            "leaks" => leaks = true,
            "loading" => loading = true,
            _ => return None,
        }
    }
    Some(WantedChecks {
        checks,
        leaks,
        loading,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_is_given_in_seconds() {
        assert_eq!(parse_seconds("0.25"), Some(Duration::from_millis(250)));
        assert_eq!(parse_seconds("inf"), Some(Duration::MAX));
        assert_eq!(parse_seconds("-1"), None);
        assert_eq!(parse_seconds("long"), None);
    }

    #[test]
    fn memory_is_given_in_bytes_or_larger_units() {
        assert_eq!(parse_bytes("4096"), Some(4096));
        assert_eq!(parse_bytes("16G"), Some(16 << 30));
        assert_eq!(parse_bytes("512M"), Some(512 << 20));
        for wrong in ["", "0", "G", "16GB", "1.5G", "-1", "99999999T", "16 G"] {
            assert_eq!(parse_bytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn vector_levels_are_named_as_in_the_reference() {
        assert_eq!(parse_vector_level("base"), Some(VectorLevel::Base));
        assert_eq!(parse_vector_level("avx2"), Some(VectorLevel::V3));
        assert_eq!(parse_vector_level("avx512"), Some(VectorLevel::V4));
        assert_eq!(parse_vector_level("sse"), None);
    }

    #[test]
    fn checks_are_named_singly_or_together() {
        let checks = |list| parse_checks(list).map(|wanted| wanted.checks);
        assert_eq!(checks("all"), Some(Checks::ALL));
        assert_eq!(checks("none"), Some(Checks::NONE));
        assert_eq!(checks("default"), Some(Checks::DEFAULT));
        assert_eq!(checks("default,stream-order"), Some(Checks::ALL));
        assert_eq!(
            checks("races, bounds,mbarriers"),
            Some(Checks {
                races: true,
                bounds: true,
                mbarriers: true,
                ..Checks::NONE
            })
        );
        assert_eq!(checks("race"), None);
    }

    #[test]
    fn leaks_and_loading_are_looked_at_only_where_they_are_named() {
        for list in ["all", "default", "none", ""] {
            let wanted = parse_checks(list).expect(list);
            assert!(!wanted.leaks && !wanted.loading, "{list}");
        }
        let wanted = parse_checks("default,leaks").expect("a list");
        assert_eq!(wanted.checks, Checks::DEFAULT);
        assert!(wanted.leaks && !wanted.loading);
        assert!(parse_checks("loading").expect("a list").loading);
    }
}
