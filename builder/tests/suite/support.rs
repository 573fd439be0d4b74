//! Builds fixtures and cuts their PTX into instructions.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use warpsmith_builder::ptxas::Ptxas;
use warpsmith_builder::toolchain::Toolchain;
use warpsmith_builder::{Arch, BuildError, CudaBuilder, PtxOutput};

/// The folder of a fixture.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

/// The fixture `features` for `sm_90`, with default options.
pub fn features() -> &'static str {
    static BUILT: OnceLock<String> = OnceLock::new();
    BUILT.get_or_init(|| {
        let output = build(CudaBuilder::new(fixture("features")).arch(Arch::Sm90));
        output.ptx
    })
}

/// The fixture `features` for `sm_90`, with other options.
pub fn features_with(change: impl FnOnce(CudaBuilder) -> CudaBuilder) -> String {
    build(change(
        CudaBuilder::new(fixture("features")).arch(Arch::Sm90),
    ))
    .ptx
}

/// Builds, and has ptxas check the result where there is one.
pub fn build(builder: CudaBuilder) -> PtxOutput {
    let output = builder.build().unwrap();
    assemble(&output.ptx);
    output
}

/// ptxas must accept the text for the architecture that it names.
pub fn assemble(ptx: &str) {
    if let Some(ptxas) = Ptxas::find() {
        let target = ptx
            .lines()
            .find_map(|l| l.strip_prefix(".target "))
            .unwrap();
        let arch: Arch = target.split(',').next().unwrap().parse().unwrap();
        ptxas.check(ptx, arch).unwrap();
    }
}

/// The LLVM that the tests run with: what it does in another way than others, a test says with this.
pub fn llvm_major() -> u32 {
    let toolchain = Toolchain::find().expect("the tests run with a rustc");
    toolchain.llvm_major().expect("rustc names its LLVM")
}

/// The error of a build that must fail.
pub fn error(builder: CudaBuilder) -> BuildError {
    builder.build().expect_err("this build must fail")
}

/// A kernel's or function's instructions, one a line, without comments, locations and declarations.
pub fn body<'a>(ptx: &'a str, name: &str) -> Vec<&'a str> {
    let head = ptx
        .match_indices(name)
        .find(|(at, _)| {
            let before = &ptx[..*at];
            let after = &ptx[at + name.len()..];
            let line = before.rsplit('\n').next().unwrap_or_default();
            // Of a longer name it is the end only.
            let is_name = !before.ends_with(|c: char| c == '_' || c.is_ascii_alphabetic());
            is_name
                && (line.contains(".entry") || line.contains(".func"))
                && after.starts_with('(')
                && is_defined(after)
        })
        .unwrap_or_else(|| panic!("no `{name}` in the PTX"))
        .0;
    let start = head + ptx[head..].find("\n{").unwrap() + 2;
    let end = start + ptx[start..].find("\n}").unwrap();
    ptx[start..end]
        .lines()
        .map(str::trim)
        .filter(|l| {
            !l.is_empty()
                && !l.starts_with("//")
                && !l.starts_with(".loc")
                && !l.starts_with(".reg")
        })
        .filter(|l| !l.starts_with("$L__tmp") && !l.starts_with("$L__func"))
        .collect()
}

/// Whether a body follows, not the semicolon of a declaration.
fn is_defined(after_name: &str) -> bool {
    let brace = after_name.find("\n{").unwrap_or(usize::MAX);
    let semicolon = after_name.find("\n;").unwrap_or(usize::MAX);
    brace < semicolon
}

/// How many lines contain `part`.
pub fn count(body: &[&str], part: &str) -> usize {
    body.iter().filter(|l| l.contains(part)).count()
}

/// The number of the first line that contains `part`.
#[track_caller]
pub fn position(body: &[&str], part: &str) -> usize {
    body.iter()
        .position(|l| l.contains(part))
        .unwrap_or_else(|| panic!("no `{part}` in:\n{}", body.join("\n")))
}

/// Everything before the body: parameters and performance directives.
pub fn head<'a>(ptx: &'a str, kernel: &str) -> &'a str {
    let start = ptx
        .find(&format!(".entry {kernel}("))
        .unwrap_or_else(|| panic!("no kernel `{kernel}`"));
    &ptx[start..start + ptx[start..].find("\n{").unwrap()]
}

/// The lines of a body that may follow one.
pub fn successors(body: &[&str], line: usize) -> impl Iterator<Item = usize> {
    let text = body[line];
    let goal = text
        .split_whitespace()
        .last()
        .filter(|_| text.contains("bra"));
    let goal = goal.map(|label| position(body, &label.replace(';', ":")));
    let ends = ["bra", "ret", "exit"]
        .iter()
        .any(|end| text.starts_with(end));
    let behind = (!ends && line + 1 < body.len()).then_some(line + 1);
    behind.into_iter().chain(goal)
}

/// How many zeros a kernel stores in local memory, in words.
pub fn stored_zeros(kernel: &str) -> usize {
    let body = body(features(), kernel);
    assert!(count(&body, ".local") > 0, "{kernel}: {body:#?}");
    let stores = body.iter().filter(|line| line.starts_with("st.local."));
    let zeros = stores.filter_map(|line| {
        let value = line.rsplit_once("], ")?.1;
        let words = match line.contains(".b64") {
            true => 2,
            false => 1,
        };
        (value == "0;" || value == "{0, 0, 0, 0};" || value == "{0, 0};")
            .then(|| words * value.matches('0').count())
    });
    zeros.sum()
}
