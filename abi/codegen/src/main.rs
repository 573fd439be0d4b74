//! Generates `warpsmith-abi`'s sources: for each description in `abi/interfaces` a folder of Rust files, from NVIDIA's headers.
//!
//! The headers come as a pinned wheel from PyPI and stay in the user's cache; so does libclang, which `bindgen` reads them with. What
//! the generated files say therefore follows from the description alone, on every machine, and `--check` compares them with it.
//!
//! | module | what |
//! | --- | --- |
//! | `description` | a description, as its file has it |
//! | `header` | a header as `bindgen` understands it: types and functions |
//! | `types` | the files of types, one a topic |
//! | `functions` | the file of functions: lists for macros |
//! | `facts` | constants, pinned versions, and their proof in C |
//! | `versions` | which symbol a name stands for since which version |
//! | `imports` | what a generated module takes from the others |
//! | `rust_text` | Rust source as text |
//! | `output` | writes the files, or compares them |

mod description;
mod facts;
mod functions;
mod header;
mod imports;
mod output;
mod rust_text;
mod types;
mod versions;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;
use warpsmith_builder::setup::PinnedWheel;

use description::Description;
use output::Files;

/// Generates warpsmith-abi's sources from the descriptions of NVIDIA's interfaces.
#[derive(Parser)]
struct Options {
    /// Write nothing; fail if a file is not what would be written.
    #[arg(long)]
    check: bool,
}

fn main() -> Result<ExitCode> {
    let options = Options::parse();
    let libclang = libclang().find_or_fetch()?.join("clang").join("native");
    // SAFETY: this program has only this thread yet, so no other thread reads the environment meanwhile.
    unsafe { std::env::set_var("LIBCLANG_PATH", &libclang) };

    let abi = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .context("this package lies in warpsmith-abi's folder")?;
    let mut differences = Vec::new();
    for path in descriptions(&abi.join("interfaces"))? {
        let description = Description::read(&path)?;
        let files = generate(&description, &path)
            .with_context(|| format!("cannot generate what {} describes", path.display()))?;
        let folder = abi.join(&description.output);
        if options.check {
            differences.extend(files.differences(&folder)?);
        } else {
            files.write(&folder)?;
        }
    }
    for difference in &differences {
        eprintln!("{difference}");
    }
    if differences.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!(
        "the generated sources are not what their description says: run `cargo xtask codegen`"
    );
    Ok(ExitCode::FAILURE)
}

/// libclang for this machine.
fn libclang() -> PinnedWheel {
    PinnedWheel {
        package: "libclang".into(),
        version: "18.1.1".into(),
        sha256: vec![
            // x86_64
            "c533091d8a3bbf7460a00cb6c1a71da93bffe148f172c7d03b1c31fbf8aa2a0b".into(),
            // aarch64
            "54dda940a4a0491a9d1532bf071ea3ef26e6dbaf03b5000ed94dd7174e8f9592".into(),
        ],
        platform: None,
    }
}

/// All descriptions, in the order of their names.
fn descriptions(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = folder
        .read_dir()
        .with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>>>()?;
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "toml")
    });
    paths.sort();
    Ok(paths)
}

/// The files of one interface.
fn generate(description: &Description, path: &Path) -> Result<Files> {
    let include = description
        .wheel
        .pinned()
        .find_or_fetch()?
        .join(&description.wheel.include);
    let names = header::names(description, &include)?;
    let versions = versions::find(description, &names)?;
    let proof = facts::proof(description) + &versions::proof(description, &versions);
    let header = header::read(description, &include, names, &proof)?;
    let mut files = Files::new(description, path);
    types::add(&mut files, description, &header)?;
    functions::add(&mut files, description, &header)?;
    facts::add(&mut files, description)?;
    versions::add(&mut files, &versions)?;
    files.finish()
}
