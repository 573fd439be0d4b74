//! `cargo xtask build-ptx`: compiles kernels to PTX, writes it, and reports on each kernel: of this workspace's kernel crates, of others,
//! and of projects whose build scripts compile them.

use super::setup;
use crate::project::{self, Project};
use crate::{against_nvcc, progress::Step, workspace};
use anyhow::{Context, Result, bail};
use comfy_table::{Table, presets};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use warpsmith_builder::ptx::KernelSummary;
use warpsmith_builder::ptxas::{KernelUsage, Ptxas};
use warpsmith_builder::{Arch, CudaBuilder, PanicStrategy};

/// The workspace's kernel crates, by package name and folder.
const CRATES: [(&str, &str); 3] = [
    ("warpsmith-kernels", "kernels"),
    (NATURAL, "kernels/natural"),
    ("warpsmith-test-kernels", "tests/kernels"),
];

/// The kernels that are compared with nvcc's where none are named.
const NATURAL: &str = "warpsmith-natural";

/// The options of `cargo xtask build-ptx`.
#[derive(clap::Args)]
pub struct Options {
    /// The folder of a project, whose build scripts are run, or of a kernel crate.
    #[arg(value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// The architectures to build kernel crates for: `sm_70` ... `sm_120`, `sm_90a` ...; `sm_90` where it is left out. A project's build
    /// script chooses for itself.
    #[arg(long, value_delimiter = ',')]
    arch: Vec<String>,
    /// A kernel crate of this workspace, by its package's name, or a folder as above. All of this workspace's where nothing is named.
    #[arg(short, long = "package", value_name = "CRATE")]
    package: Vec<String>,
    /// Where to write `NAME.ARCH.ptx`: left out, `target/ptx` of this workspace, or of the project.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// What a panic in a kernel crate says: `message` (where it is left out), `location` or `trap`. The difference in registers is
    /// what saying it costs. A project's build script chooses for itself.
    #[arg(long)]
    panic: Option<Panic>,
    /// Have ptxas compile the PTX, and fail if it is not to be found. Without this, it is asked where it is found.
    #[arg(long)]
    check: bool,
    /// Compare the kernels with those of the same names in CUDA C++ that stand in the folder `twins` of the kernel crate: registers, local
    /// memory, and the instructions of innermost loops. nvcc and nvdisasm are fetched from PyPI; nvcc needs a C++ compiler. Without names,
    /// the natural kernels are compared.
    #[arg(long)]
    against_nvcc: bool,
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
    let mut archs = options
        .arch
        .iter()
        .map(|name| name.parse::<Arch>())
        .collect::<Result<Vec<_>, _>>()?;
    let projects = chosen(options)?;
    let ptxas = Ptxas::find();
    if options.check && ptxas.is_none() {
        bail!("--check needs ptxas, and none was found: `cargo xtask setup --ptxas` fetches it");
    }
    let is_scripted = |project: &Project| matches!(project, Project::Scripted { .. });
    if projects.iter().any(is_scripted) && (!archs.is_empty() || options.panic.is_some()) {
        bail!(
            "the build script of a project says what to build its kernels for: leave `--arch` and `--panic` away, and change `.arch(..)` there"
        );
    }
    if projects.iter().any(is_scripted) && options.against_nvcc {
        bail!(
            "--against-nvcc is for kernel crates with a folder `twins`: name the kernel crate of the project"
        );
    }
    if archs.is_empty() {
        archs.push(Arch::Sm90);
    }
    let panic = options.panic.unwrap_or(Panic::Message);
    setup::prepare()?;
    let workspace_out = workspace::root().join("target").join("ptx");
    for project in &projects {
        match project {
            Project::KernelCrate { name, folder } if options.against_nvcc => {
                for &arch in &archs {
                    let step = Step::begin(format!("{name} for {} and nvcc", arch.name()));
                    let build = |panic: Panic| {
                        CudaBuilder::new(folder)
                            .arch(arch)
                            .panic(panic.into())
                            .build()
                    };
                    let (ptx, bare) = (build(panic)?.ptx, build(Panic::Trap)?.ptx);
                    let twins = folder.join("twins");
                    let found = against_nvcc::compare(&ptx, &bare, &twins, arch)?;
                    step.finish("compared");
                    println!("{}\n{}", found.table(), found.legend());
                }
            }
            Project::KernelCrate { name, folder } => {
                let report = Reporter::new(options, workspace_out.clone(), &ptxas)?;
                for &arch in &archs {
                    let step = Step::begin(format!("{name} for {}", arch.name()));
                    let output = CudaBuilder::new(folder)
                        .arch(arch)
                        .panic(panic.into())
                        .build()?;
                    report.finish(step, name, arch, &output.ptx)?;
                }
            }
            Project::Scripted { folder } => {
                let report = Reporter::new(options, folder.join("target").join("ptx"), &ptxas)?;
                eprintln!("the build script of {}:", folder.display());
                for built in project::run_build_scripts(folder)? {
                    let arch = target(&built.ptx)?;
                    let step = Step::begin(format!("{} for {}", built.name, arch.name()));
                    report.finish(step, &built.name, arch, &built.ptx)?;
                }
            }
        }
    }
    if ptxas.is_none() && !options.against_nvcc {
        println!(
            "Registers, stack and spills are ptxas' to say: `cargo xtask setup --ptxas` fetches it."
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Where PTX goes, and who judges it.
struct Reporter<'a> {
    out: PathBuf,
    ptxas: &'a Option<Ptxas>,
}

impl<'a> Reporter<'a> {
    fn new(options: &Options, out: PathBuf, ptxas: &'a Option<Ptxas>) -> Result<Reporter<'a>> {
        let out = options.out.clone().unwrap_or(out);
        fs::create_dir_all(&out)
            .with_context(|| format!("could not make the folder {}", out.display()))?;
        Ok(Reporter { out, ptxas })
    }

    /// Writes the PTX, has ptxas compile it, and prints the table.
    fn finish(&self, step: Step, name: &str, arch: Arch, ptx: &str) -> Result<()> {
        let path = write(&self.out, name, arch, ptx)?;
        let usage = match self.ptxas {
            Some(ptxas) => ptxas.check(ptx, arch)?,
            None => Vec::new(),
        };
        step.finish(&path.display().to_string());
        println!(
            "{}",
            report(&warpsmith_builder::ptx::summarise(ptx), &usage)
        );
        Ok(())
    }
}

/// The architecture that PTX is for.
fn target(ptx: &str) -> Result<Arch> {
    let name = ptx
        .lines()
        .find_map(|line| line.trim().strip_prefix(".target "))
        .and_then(|names| names.split(',').next())
        .context("the PTX names no architecture")?;
    Ok(name.trim().parse()?)
}

/// What was asked for: by default this workspace's kernel crates.
fn chosen(options: &Options) -> Result<Vec<Project>> {
    let known = || {
        CRATES.iter().map(|(name, folder)| Project::KernelCrate {
            name: (*name).to_owned(),
            folder: workspace::root().join(folder),
        })
    };
    if options.package.is_empty() && options.folders.is_empty() {
        let is_asked = |project: &Project| {
            !options.against_nvcc
                || matches!(project, Project::KernelCrate { name, .. } if name == NATURAL)
        };
        return Ok(known().filter(is_asked).collect());
    }
    let packages = options.package.iter().map(|asked| {
        let is_asked =
            |project: &Project| matches!(project, Project::KernelCrate { name, .. } if name == asked);
        match known().find(is_asked) {
            Some(found) => Ok(found),
            None => in_folder(Path::new(asked)),
        }
    });
    let folders = options.folders.iter().map(|folder| in_folder(folder));
    packages.chain(folders).collect()
}

fn in_folder(folder: &Path) -> Result<Project> {
    if folder.join("Cargo.toml").is_file() {
        return project::find(folder);
    }
    let names: Vec<&str> = CRATES.iter().map(|(name, _)| *name).collect();
    bail!(
        "`{}` is neither a kernel crate of this workspace ({}) nor a folder with a Cargo.toml",
        folder.display(),
        names.join(", ")
    )
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
fn report(kernels: &[KernelSummary], usage: &[KernelUsage]) -> Table {
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
    for kernel in kernels {
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
