//! The CUDA C++ twins: found as source, compiled by the nvcc on the PATH, loaded as machine code.
//!
//! The source is looked for in `$WARPSMITH_TWINS`, then beside the program (a bundle carries it there), then in the
//! source tree. A set of kernels may have its own folder within the first two.

use crate::session::Session;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use warpsmith_host::ComputeCapability;

/// Where the twins of a set of kernels are.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// Their folder within `$WARPSMITH_TWINS` and within the folder `twins` beside the program; empty for these themselves.
    pub within: &'static str,
    /// Their folder in the source tree.
    pub tree: &'static str,
}

/// The folder with the source of these twins, which `stem` is one of.
pub fn folder(source: Source, stem: &str) -> Result<PathBuf> {
    let file = format!("{stem}.cu");
    let beside = std::env::current_exe()
        .ok()
        .and_then(|program| Some(program.parent()?.join("twins")));
    let carried = [
        std::env::var_os("WARPSMITH_TWINS").map(PathBuf::from),
        beside,
    ];
    carried
        .into_iter()
        .flatten()
        .map(|folder| folder.join(source.within))
        .chain([PathBuf::from(source.tree)])
        .find(|folder| folder.join(&file).is_file())
        .with_context(|| {
            let wanted = Path::new(source.within).join(&file);
            format!(
                "cannot find the CUDA C++ twins: set WARPSMITH_TWINS to the folder with {}",
                wanted.display()
            )
        })
}

/// nvcc's version line, or an error that says what to do.
pub fn compiler() -> Result<String> {
    let output = Command::new("nvcc").arg("--version").output().context(
        "there is no nvcc on the PATH, so the CUDA C++ twins cannot be built: install the CUDA toolkit, add its `bin` to the \
         PATH, or run without twins (`--no-twins`)",
    )?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text
        .lines()
        .find(|line| line.contains("release"))
        .unwrap_or("nvcc of unknown version");
    Ok(line.trim().to_owned())
}

/// Compiles those of these twins that the session does not have yet, several at a time, and adds them to it.
pub fn load(session: &mut Session, stems: &[&str]) -> Result<()> {
    let mut missing: Vec<&str> = stems.to_vec();
    missing.retain(|stem| !session.has_twin(stem));
    missing.sort_unstable();
    missing.dedup();
    let (source, capability) = (session.set.twins, session.gpu.compute_capability());
    let on_simulator = session.gpu.is_simulator();
    let next = AtomicUsize::new(0);
    let compile_some = || {
        let mut done = Vec::new();
        while let Some(&stem) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push((stem, compile(source, stem, capability, on_simulator)));
        }
        done
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let compiled: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(compile_some)).collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().expect("compiling does not panic"))
            .collect()
    });
    for (stem, image) in compiled {
        let module = match image? {
            Image::Ptx(text) => session.gpu.load(&text)?,
            // SAFETY: nvcc has just made this image, and said that it succeeded.
            Image::Cubin(image) => unsafe { session.gpu.load_binary(&image)? },
        };
        session.add_twin(stem, module);
    }
    Ok(())
}

/// What nvcc made of a twin.
enum Image {
    Ptx(String),
    Cubin(Vec<u8>),
}

fn compile(
    source: Source,
    stem: &str,
    ComputeCapability { major, minor }: ComputeCapability,
    on_simulator: bool,
) -> Result<Image> {
    let source = folder(source, stem)?.join(format!("{stem}.cu"));
    let work = tempfile::tempdir().context("cannot make a temporary folder")?;
    // A kernel that calls the device runtime is left as PTX, for the driver to link; the others become machine code.
    let text = std::fs::read_to_string(&source)
        .with_context(|| format!("cannot read {}", source.display()))?;
    let as_ptx = text.contains("cudaGraphSetConditional") || on_simulator;
    let target = work
        .path()
        .join(if as_ptx { "twin.ptx" } else { "twin.cubin" });
    let mut nvcc = Command::new("nvcc");
    nvcc.arg(format!("-arch=sm_{major}{minor}")).arg("-O3");
    nvcc.args(if as_ptx {
        &["-rdc=true", "-ptx"][..]
    } else {
        &["-cubin"][..]
    });
    let output = nvcc
        .arg("-o")
        .arg(&target)
        .arg(&source)
        .output()
        .context("cannot start nvcc")?;
    if !output.status.success() {
        bail!(
            "nvcc rejects {}:\n{}",
            source.display(),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(if as_ptx {
        Image::Ptx(std::fs::read_to_string(&target)?)
    } else {
        Image::Cubin(std::fs::read(&target)?)
    })
}
