//! Whole projects: module kernels, features, the fingerprint, a build script, the cache.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use warpsmith_builder::{Arch, CudaBuilder};
use warpsmith_testkit::process;

use super::support::*;

/// A crate in a temporary folder.
pub struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    pub fn new(files: &[(&str, &str)]) -> Project {
        Project::with_dependencies("", files)
    }

    pub fn with_dependencies(dependencies: &str, files: &[(&str, &str)]) -> Project {
        let folder = tempfile::Builder::new()
            .prefix("project")
            .tempdir()
            .unwrap();
        let project = Project { folder };
        project.write(
            "Cargo.toml",
            &format!(
                "[package]\nname = \"kernels-under-test\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[features]\nloud = []\n\n\
                 [workspace]\n\n[dependencies]\n{dependencies}\n"
            ),
        );
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().to_path_buf()
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

const KERNELS: &str = "\
use helper::twice;

mod inner;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! { loop {} }

#[unsafe(export_name = \"doubled\")]
pub unsafe extern \"ptx-kernel\" fn doubled(x: *mut u32) {
    unsafe { *x = twice(*x) + crate::kernels::inner::offset() };
}
";

fn host_package() -> Project {
    Project::with_dependencies(
        "helper = { path = \"helper\" }\nhost-only = { path = \"host-only\" }",
        &[
            ("src/main.rs", "fn main() {}\n"),
            ("src/kernels.rs", KERNELS),
            (
                "src/kernels/inner.rs",
                "pub fn offset() -> u32 { if cfg!(feature = \"loud\") { 77777 } else { 5 } }\n",
            ),
            (
                "helper/Cargo.toml",
                "[package]\nname = \"helper\"\nversion = \"0.0.0\"\nedition = \"2024\"\n",
            ),
            (
                "helper/src/lib.rs",
                "#![no_std]\npub fn twice(x: u32) -> u32 { 2 * x }\n",
            ),
            (
                "host-only/Cargo.toml",
                "[package]\nname = \"host-only\"\nversion = \"0.0.0\"\nedition = \"2024\"\n",
            ),
            (
                "host-only/src/lib.rs",
                "pub fn now() -> std::time::Instant { std::time::Instant::now() }\n",
            ),
        ],
    )
}

#[test]
fn a_module_of_a_host_package_is_compiled_with_the_dependencies_that_it_names() {
    let project = host_package();
    let module = project.path().join("src/kernels.rs");
    let output = build(CudaBuilder::for_module(&module).arch(Arch::Sm80));
    assert!(output.ptx.contains(".entry doubled("));
    for source in [
        "src/kernels.rs",
        "src/kernels/inner.rs",
        "helper/src/lib.rs",
    ] {
        let path = project.path().canonicalize().unwrap().join(source);
        assert!(
            output.sources.contains(&path),
            "{source} is not in {:?}",
            output.sources
        );
    }
    let line = output
        .ptx
        .lines()
        .find(|l| l.contains(".file") && l.contains("kernels.rs"))
        .unwrap();
    let folder = project.path().canonicalize().unwrap();
    assert!(
        line.contains(&format!("{}/src/kernels.rs", folder.display())),
        "{line}"
    );
    assert!(
        build(CudaBuilder::for_module(&module).feature("loud"))
            .ptx
            .contains("77777")
    );

    project.write(
        "src/kernels.rs",
        &KERNELS.replace("twice(*x)", "twice(\"two\")"),
    );
    let text = error(CudaBuilder::for_module(&module).arch(Arch::Sm80)).to_string();
    assert!(
        text.contains("--> src/kernels.rs:10:25"),
        "diagnostics name the user's file:\n{text}"
    );
}

#[test]
fn a_crate_root_is_no_module() {
    let project = host_package();
    let text = error(CudaBuilder::for_module(project.path().join("src/main.rs"))).to_string();
    assert!(
        text.contains("is a crate root; give a module file such as src/kernels.rs"),
        "{text}"
    );
}

#[test]
fn features_and_cfgs_reach_the_kernels() {
    let built = || {
        CudaBuilder::new(fixture("features"))
            .arch(Arch::Sm90)
            .feature("extra")
    };
    assert!(!build(built()).ptx.contains("12345"));
    assert!(build(built().cfg("my_switch")).ptx.contains("12345"));
    assert!(!features().contains("only_with_feature"));
}

#[test]
fn nothing_changed_means_nothing_done() {
    let source = |value| {
        format!(
            "#![no_std]\n#[panic_handler] fn panic(_: &core::panic::PanicInfo<'_>) -> ! {{ loop {{}} }}\n\
             #[unsafe(no_mangle)] pub unsafe extern \"ptx-kernel\" fn k(x: *mut u32) {{ unsafe {{ *x = {value} }} }}\n"
        )
    };
    let project = Project::new(&[("src/lib.rs", &source(111))]);
    let build = |arch| CudaBuilder::new(project.path()).arch(arch).build().unwrap();
    // A file that is as new as the build is not trusted: it may have changed while it was compiled.
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert!(build(Arch::Sm80).rebuilt);
    assert!(!build(Arch::Sm80).rebuilt);
    assert!(
        build(Arch::Sm90).rebuilt,
        "another architecture is another build"
    );
    // The same text with a new time is no change; another text is.
    project.write("src/lib.rs", &source(111));
    assert!(!build(Arch::Sm80).rebuilt);
    project.write("src/lib.rs", &source(222));
    std::thread::sleep(std::time::Duration::from_millis(20));
    let rebuilt = build(Arch::Sm80);
    assert!(rebuilt.rebuilt && rebuilt.ptx.contains("222"));
    assert!(!build(Arch::Sm80).rebuilt);
    // A new lock or configuration file counts.
    project.write(".cargo/config.toml", "[term]\nquiet = true\n");
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert!(build(Arch::Sm80).rebuilt);
}

#[test]
fn a_failed_build_leaves_the_old_file() {
    let project = Project::new(&[("src/lib.rs", "#![no_std]\nfn f() -> u32 { }\n")]);
    let target = project.path().join("out/kernels.ptx");
    project.write("out/kernels.ptx", "old");
    error(CudaBuilder::new(project.path()).copy_to(&target));
    assert_eq!(fs::read_to_string(&target).unwrap(), "old");
    build(CudaBuilder::new(fixture("minimal")).copy_to(&target));
    assert!(
        fs::read_to_string(&target)
            .unwrap()
            .contains(".entry minimal(")
    );
    assert_eq!(
        fs::read_dir(target.parent().unwrap()).unwrap().count(),
        1,
        "no temporary file is left"
    );
}

/// A user's package with a `build.rs`, under `cargo build`, `clippy` and `doc`, in a target folder that stays.
#[test]
fn a_build_script() {
    let builder = env!("CARGO_MANIFEST_DIR");
    let project = host_package();
    project.write(
        "build.rs",
        "fn main() {\n    let out = std::env::var(\"OUT_DIR\").unwrap();\n    warpsmith_builder::CudaBuilder::for_module(\"src/kernels.rs\")\
         .copy_to(format!(\"{out}/kernels.ptx\")).build().unwrap();\n}\n",
    );
    project.write("src/main.rs", "fn main() {\n    print!(\"{}\", include_str!(concat!(env!(\"OUT_DIR\"), \"/kernels.ptx\")));\n}\n");
    let manifest = fs::read_to_string(project.path().join("Cargo.toml")).unwrap();
    project.write(
        "Cargo.toml",
        &format!(
            "{manifest}\n[build-dependencies]\nwarpsmith-builder = {{ path = {builder:?} }}\n"
        ),
    );
    // The versions that are at hand: no network.
    fs::copy(
        Path::new(builder).join("../Cargo.lock"),
        project.path().join("Cargo.lock"),
    )
    .unwrap();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("build-script");
    let cargo = |arguments: &[&str]| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args(arguments)
            .current_dir(project.path())
            .env("CARGO_TARGET_DIR", &target)
            .env("RUSTFLAGS", "-Dwarnings");
        let output = process::output(&mut cargo, process::BUILD_LIMIT).expect_success();
        (output.stdout, output.stderr)
    };
    assert!(cargo(&["run", "--quiet"]).0.contains(".entry doubled("));
    // A toolchain of rustup's minimal profile has no clippy.
    let mut clippy = Command::new(env!("CARGO"));
    if clippy
        .args(["clippy", "--version"])
        .output()
        .is_ok_and(|o| o.status.success())
    {
        cargo(&["clippy", "--quiet"]);
    }
    cargo(&["doc", "--quiet", "--no-deps"]);
    // An edit of a submodule runs the script again; nothing changed does not.
    project.write("src/kernels/inner.rs", "pub fn offset() -> u32 { 31337 }\n");
    assert!(cargo(&["run", "--quiet"]).0.contains("31337"));
    let fresh = cargo(&["build", "--verbose"]).1;
    assert!(fresh.contains("Fresh kernels-under-test"), "{fresh}");
}

/// Two processes that set up at once, what a killed one left, and damage: the cache is good afterwards.
#[test]
fn the_cache_survives() {
    if process::is_child() {
        return println!(
            "{}",
            CudaBuilder::new(fixture("minimal")).build().unwrap().ptx
        );
    }
    let cache = tempfile::tempdir().unwrap();
    // Builds in a process of its own, with this cache.
    let build_in_child = || {
        let variables = [("WARPSMITH_CACHE", cache.path().to_str().unwrap())];
        let output = process::run_in_child("projects::the_cache_survives", &variables);
        assert!(output.stdout.contains(".entry minimal("));
        output.stderr
    };
    // Somebody was killed in the middle.
    let toolchain = warpsmith_builder::toolchain::Toolchain::find().unwrap();
    let name = warpsmith_builder::sysroot::folder_name(&toolchain);
    fs::create_dir_all(cache.path().join(format!("{name}.partial-killed/lib"))).unwrap();
    // Two at once: one builds, the other waits for it.
    let outputs = std::thread::scope(|scope| {
        let runs = [(); 2].map(|()| scope.spawn(build_in_child));
        runs.map(|run| run.join().unwrap())
    });
    assert_eq!(
        outputs
            .iter()
            .filter(|o| o.contains("building `core`"))
            .count(),
        1,
        "{outputs:?}"
    );
    let left: Vec<_> = fs::read_dir(cache.path())
        .unwrap()
        .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|n| n.contains("partial"))
        .collect();
    assert_eq!(left, [""; 0]);
    // A truncated archive is noticed and made again.
    let library = cache
        .path()
        .join(name)
        .join("lib/rustlib/nvptx64-nvidia-cuda/lib");
    let core = fs::read_dir(library)
        .unwrap()
        .map(|e| e.unwrap().path())
        .find(|p| p.to_string_lossy().contains("libcore-"))
        .unwrap();
    fs::OpenOptions::new()
        .write(true)
        .open(core)
        .unwrap()
        .set_len(1000)
        .unwrap();
    fs::remove_dir_all(cache.path().join("ptx")).unwrap();
    assert!(build_in_child().contains("building `core`"));
}
