//! `cargo xtask build-ptx`: compiles kernel crates to PTX, writes it, and reports on each kernel.

use super::setup;
use crate::{progress::Step, workspace};
use anyhow::{Context, Result, bail};
use comfy_table::{Table, presets};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use warpsmith_builder::ptxas::{KernelUsage, Ptxas};
use warpsmith_builder::{Arch, CudaBuilder, PanicStrategy, PtxOutput};

/// The workspace's kernel crates, by package name and folder.
const CRATES: [(&str, &str); 2] = [
    ("warpsmith-kernels", "kernels"),
    ("warpsmith-test-kernels", "tests/kernels"),
];

/// The options of `cargo xtask build-ptx`.
#[derive(clap::Args)]
pub struct Options {
    /// The architectures to build for: `sm_70` ... `sm_120`, `sm_90a` ...
    #[arg(long, value_delimiter = ',', default_value = "sm_90")]
    arch: Vec<String>,
    /// The kernel crate: a package of this workspace, or the folder of any kernel crate. All of this workspace's where it is
    /// left out.
    #[arg(short, long = "package", value_name = "CRATE")]
    package: Vec<String>,
    /// Where to write `CRATE.ARCH.ptx`.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// What a panic says: `message`, `location` or `trap`. The difference in registers is what saying it costs.
    #[arg(long, default_value = "message")]
    panic: Panic,
    /// Have ptxas compile the PTX, and fail if it is not to be found. Without this, it is asked where it is found.
    #[arg(long)]
    check: bool,
}

/// The panic strategies by their names.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Panic {
    Message,
    Location,
    Trap,
}

impl From<Panic> for PanicStrategy {
    fn from(panic: Panic) -> PanicStrategy {
        match panic {
            Panic::Message => PanicStrategy::Message,
            Panic::Location => PanicStrategy::Location,
            Panic::Trap => PanicStrategy::Trap,
        }
    }
}

/// Builds, writes and reports; fails at the first crate that does not build or that ptxas rejects.
pub fn run(options: &Options) -> Result<ExitCode> {
    let archs = options
        .arch
        .iter()
        .map(|name| name.parse::<Arch>())
        .collect::<Result<Vec<_>, _>>()?;
    let crates = chosen(&options.package)?;
    let ptxas = Ptxas::find();
    if options.check && ptxas.is_none() {
        bail!("--check needs ptxas, and none was found: `cargo xtask setup --ptxas` fetches it");
    }
    setup::prepare()?;
    let out = match &options.out {
        Some(out) => out.clone(),
        None => workspace::root().join("target").join("ptx"),
    };
    fs::create_dir_all(&out)
        .with_context(|| format!("could not make the folder {}", out.display()))?;
    for (name, folder) in &crates {
        for &arch in &archs {
            let step = Step::begin(format!("{name} for {}", arch.name()));
            let output = CudaBuilder::new(folder)
                .arch(arch)
                .panic(options.panic.into())
                .build()?;
            let path = write(&out, name, arch, &output.ptx)?;
            let usage = match &ptxas {
                Some(ptxas) => ptxas.check(&output.ptx, arch)?,
                None => Vec::new(),
            };
            step.finish(&path.display().to_string());
            println!("{}", report(&output, &usage));
        }
    }
    if ptxas.is_none() {
        println!(
            "Registers, stack and spills are ptxas' to say: `cargo xtask setup --ptxas` fetches it."
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// The crates that were asked for, by name and folder.
fn chosen(asked: &[String]) -> Result<Vec<(String, PathBuf)>> {
    let known = || {
        CRATES
            .iter()
            .map(|(name, folder)| ((*name).to_owned(), workspace::root().join(folder)))
    };
    if asked.is_empty() {
        return Ok(known().collect());
    }
    asked
        .iter()
        .map(|asked| {
            if let Some(found) = known().find(|(name, _)| name == asked) {
                return Ok(found);
            }
            let folder = Path::new(asked);
            if folder.join("Cargo.toml").is_file() {
                let folder = folder.canonicalize()?;
                let name = folder.file_name().map_or_else(|| asked.clone(), |name| name.to_string_lossy().into_owned());
                return Ok((name, folder));
            }
            let names: Vec<&str> = CRATES.iter().map(|(name, _)| *name).collect();
            bail!(
                "`{asked}` is neither a kernel crate of this workspace ({}) nor a folder with a Cargo.toml",
                names.join(", ")
            )
        })
        .collect()
}

/// Writes the PTX under a temporary name and renames it.
fn write(out: &Path, name: &str, arch: Arch, ptx: &str) -> Result<PathBuf> {
    let path = out.join(format!("{name}.{}.ptx", arch.name()));
    let mut file = tempfile::NamedTempFile::new_in(out)?;
    std::io::Write::write_all(&mut file, ptx.as_bytes())?;
    file.persist(&path)
        .with_context(|| format!("could not write {}", path.display()))?;
    Ok(path)
}

/// A table of the kernels: what PTX says, and what ptxas made of it.
fn report(output: &PtxOutput, usage: &[KernelUsage]) -> Table {
    let usage: HashMap<&str, &KernelUsage> = usage
        .iter()
        .map(|usage| (usage.name.as_str(), usage))
        .collect();
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY).set_header([
        "kernel",
        "parameters",
        "static shared",
        "registers",
        "stack",
        "spills",
    ]);
    for kernel in output.kernels() {
        let parameters: Vec<String> = kernel.parameters.iter().map(ToString::to_string).collect();
        let [registers, stack, spills] = match usage.get(kernel.name.as_str()) {
            Some(usage) => [
                usage.registers.to_string(),
                format!("{} B", usage.stack),
                format!("{} B", usage.spill_stores + usage.spill_loads),
            ],
            None => ["?", "?", "?"].map(str::to_owned),
        };
        table.add_row([
            kernel.name.clone(),
            parameters.join(", "),
            format!("{} B", kernel.static_shared),
            registers,
            stack,
            spills,
        ]);
    }
    table
}
