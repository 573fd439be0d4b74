//! Errors that a build script leaves to the compilation of the package for the host, which editors read.
//!
//! What rustc finds for the host as well needs nothing. Any other error becomes a line of a file whose path `#[kernel]` finds in
//! the environment (`device/macros/src/kernel/device_errors.rs`): the kernel that reports it, its place, and the text. That is
//! the kernel whose attribute is the last above the place.
//!
//! The package must not be built without its kernels: cargo is told to link a library that does not exist.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::build::PtxOutput;
use crate::cache;
use crate::environment;
use crate::error::BuildError;
use crate::module_crate;
use crate::options::KernelSource;
use crate::source_location::SourceLocation;

/// The variable that tells `#[kernel]` the files with errors, with tabs between.
const VARIABLE: &str = "WARPSMITH_DEVICE_ERRORS";

/// What the linker says it cannot find if a package whose kernels do not compile gets so far.
const MISSING_LIBRARY: &str = "the kernels, which do not compile for the GPU";

/// The files of this build script's failed builds.
static FILES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// An error that rustc does not find for the host.
struct Problem {
    text: String,
    location: Option<SourceLocation>,
}

/// A place where `#[kernel]` stands.
struct Kernel {
    file: PathBuf,
    line: u32,
}

/// Leaves `error` to the host's compilation, if that can report it and the build script of a package is running.
pub(crate) fn defer(
    kernels: &KernelSource,
    copy_to: Option<&Path>,
    error: &BuildError,
) -> Option<PtxOutput> {
    let package = environment::build_script_package()?;
    let out = environment::out_folder()?;
    let copy_to = package.join(copy_to?);
    let name = copy_to.strip_prefix(&out).ok()?.to_string_lossy();
    let problems = problems(error)?;
    let mut report = String::new();
    if !problems.is_empty() {
        let files = match kernels {
            KernelSource::Module(module) => module_crate::files_of(module).ok()?.1,
            KernelSource::OwnCrate(manifest) => module_crate::library_files(manifest).ok()?,
            // Another package is compiled before this one, and does not know of it.
            KernelSource::Crate(_) => return None,
        };
        let reporters = find_kernels(files)?;
        for problem in &problems {
            report += &line(problem, reporter(&reporters, problem)?, &package);
        }
    }
    let file = out.join(format!("{}.errors", name.replace('/', "-")));
    let stub = format!(
        "// The kernels do not compile for the GPU:\n//\n// {}\n",
        error.to_string().replace('\n', "\n// ")
    );
    cache::write_atomically(&file, report.as_bytes()).ok()?;
    cache::write_atomically(&copy_to, stub.as_bytes()).ok()?;
    tell_cargo(&file, &out);
    Some(PtxOutput {
        ptx: stub,
        sources: Vec::new(),
        warnings: String::new(),
        rebuilt: true,
        deferred: true,
        compiled: Vec::new(),
    })
}

fn tell_cargo(file: &Path, out: &Path) {
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    files.push(file.display().to_string());
    println!("cargo::rustc-env={VARIABLE}={}", files.join("\t"));
    println!("cargo::rustc-link-lib=static={MISSING_LIBRARY}");
    // A file that is not there makes cargo run the script again each time, as it does with one that failed.
    println!(
        "cargo::rerun-if-changed={}",
        out.join("kernels-that-compile").display()
    );
    println!(
        "cargo::warning=the kernels do not compile for the GPU; the errors stand where the kernels are compiled for the host, and \
         nothing can be linked until they are mended"
    );
}

/// What the host's compilation does not find by itself; `None` if something has no place in a file of the user's.
fn problems(error: &BuildError) -> Option<Vec<Problem>> {
    match error {
        BuildError::Rustc { errors, .. } if !errors.is_empty() => errors
            .iter()
            .filter(|error| !error.on_host)
            .map(|error| {
                let code = error.code.as_ref().map(|code| format!("{code}, "));
                let mut text = format!(
                    "{} [{}compiling for the GPU]",
                    error.message,
                    code.unwrap_or_default()
                );
                for detail in &error.details {
                    text += &format!("\n{detail}");
                }
                let location = Some(error.location.clone()?);
                Some(Problem { text, location })
            })
            .collect(),
        BuildError::UnresolvedSymbols(symbols) => Some(
            symbols
                .iter()
                .map(|symbol| Problem {
                    text: symbol.to_string(),
                    location: symbol.location.clone(),
                })
                .collect(),
        ),
        BuildError::ArchLacks(what) => Some(vec![Problem {
            text: error.to_string(),
            location: what.location.clone(),
        }]),
        BuildError::Untranslatable(what) => Some(vec![Problem {
            text: error.to_string(),
            location: what.location.clone(),
        }]),
        _ => None,
    }
}

/// The attributes `#[kernel]` in the kernels' files, in their order.
fn find_kernels(files: Vec<PathBuf>) -> Option<Vec<Kernel>> {
    let mut kernels = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).ok()?;
        let lines = (1..)
            .zip(text.lines())
            .filter(|(_, line)| is_kernel_attribute(line));
        kernels.extend(lines.map(|(line, _)| Kernel {
            file: file.clone(),
            line,
        }));
    }
    Some(kernels)
}

fn is_kernel_attribute(line: &str) -> bool {
    let Some(attribute) = line.trim_start().strip_prefix("#[") else {
        return false;
    };
    let path = attribute.split(['(', ']']).next().unwrap_or_default();
    path.rsplit("::").next().map(str::trim) == Some("kernel")
}

/// The kernel that reports a problem: the last above its place, else the first in the same file, else the first of all.
fn reporter<'a>(kernels: &'a [Kernel], problem: &Problem) -> Option<&'a Kernel> {
    let in_file = |kernel: &&Kernel| {
        let file = problem
            .location
            .as_ref()
            .map(|location| Path::new(&location.file));
        file == Some(&kernel.file)
    };
    let line = problem.location.as_ref().map_or(0, |place| place.line);
    let above = kernels
        .iter()
        .filter(in_file)
        .rfind(|kernel| kernel.line <= line);
    above
        .or_else(|| kernels.iter().find(in_file))
        .or(kernels.first())
}

/// Fields with tabs between: the kernel's file and line, the place's file, line and column, its file for people, and the text,
/// where a backslash stands before what would end a field or the line.
fn line(problem: &Problem, kernel: &Kernel, package: &Path) -> String {
    let (file, line, column) = match &problem.location {
        Some(location) => (location.file.as_str(), location.line, location.column),
        None => ("", 0, 0),
    };
    let shown = Path::new(file)
        .strip_prefix(package)
        .unwrap_or(Path::new(file));
    let escaped = problem
        .text
        .replace('\\', "\\\\")
        .replace('\t', "\\t")
        .replace('\n', "\\n");
    format!(
        "{}\t{}\t{file}\t{line}\t{column}\t{}\t{escaped}\n",
        kernel.file.display(),
        kernel.line,
        shown.display(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_attribute_is_found() {
        for line in [
            "#[kernel]",
            "  #[kernel(launch_bounds(256))]",
            "#[warpsmith_device::kernel]",
            "#[kernel(",
        ] {
            assert!(is_kernel_attribute(line), "{line}");
        }
        for line in ["// #[kernel]", "#[cfg(kernel)]", "#[kernels]", "kernel"] {
            assert!(!is_kernel_attribute(line), "{line}");
        }
    }

    #[test]
    fn the_kernel_above_reports() {
        let kernels = [("a", 3), ("a", 10), ("b", 5)].map(|(file, line)| Kernel {
            file: file.into(),
            line,
        });
        for (file, line, expected) in [
            ("a", 12, ("a", 10)),
            ("a", 9, ("a", 3)),
            ("a", 1, ("a", 3)),
            ("b", 70, ("b", 5)),
            ("c", 70, ("a", 3)),
        ] {
            let problem = Problem {
                text: String::new(),
                location: Some(SourceLocation {
                    file: file.into(),
                    line,
                    column: 1,
                }),
            };
            let found = reporter(&kernels, &problem).expect("a kernel");
            assert_eq!((found.file.to_str().unwrap(), found.line), expected);
        }
    }
}
