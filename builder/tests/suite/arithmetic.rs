//! Floating-point switches and line information.

use warpsmith_builder::{Arch, CudaBuilder, DebugInfo};

use super::support::*;

fn features_with(change: impl FnOnce(CudaBuilder) -> CudaBuilder) -> String {
    build(change(
        CudaBuilder::new(fixture("features")).arch(Arch::Sm90),
    ))
    .ptx
}

// covers: MATH-02
#[test]
fn products_and_sums_fuse_unless_told_otherwise() {
    let fused = |ptx: &str, kernel: &str| count(&body(ptx, kernel), "fma.rn.f32") == 1;
    assert!(fused(features(), "multiply_add"));
    assert!(!fused(features(), "multiply_add_strict"));
    let strict = body(features(), "multiply_add_strict");
    // With the rounding named, ptxas does not fuse them either.
    assert_eq!(
        (count(&strict, "mul.rn.f32"), count(&strict, "add.rn.f32")),
        (1, 1)
    );

    let ptx = features_with(|b| b.fmad(false));
    assert!(!fused(&ptx, "multiply_add"));
    assert!(
        fused(&ptx, "multiply_add_fused"),
        "a kernel may override the build"
    );
}

// covers: MATH-03
// covers: PERF-14
#[test]
fn division_square_root_and_subnormals_are_exact_unless_told_otherwise() {
    let body_of = |ptx: &str, kernel: &str| body(ptx, kernel).join("\n");
    assert!(body_of(features(), "divide").contains("div.rn.f32"));
    assert!(body_of(features(), "divide_fast").contains("div.approx.ftz.f32"));
    assert!(body_of(features(), "square_root").contains("sqrt.rn.f32"));
    assert!(body_of(features(), "multiply_add").contains("fma.rn.f32"));

    let ptx = features_with(|b| b.approximate_division(true).approximate_square_root(true));
    assert!(
        body_of(&ptx, "divide").contains("div.approx.f32")
            || body_of(&ptx, "divide").contains("div.full.f32")
    );
    assert!(body_of(&ptx, "square_root").contains("sqrt.approx.f32"));
    assert!(
        body_of(&ptx, "divide_double").contains("div.rn.f64"),
        "f64 is never approximate"
    );

    let ptx = features_with(|b| b.ftz(true));
    assert!(body_of(&ptx, "multiply_add").contains("fma.rn.ftz.f32"));
}

#[test]
fn instructions_name_their_source_lines() {
    let source = std::fs::read_to_string(fixture("features/src/arithmetic.rs")).unwrap();
    let line = 1 + source
        .lines()
        .position(|l| l.contains("*data * a + b"))
        .unwrap();
    let file = features()
        .lines()
        .find(|l| l.trim().starts_with(".file") && l.contains("src/arithmetic.rs"))
        .and_then(|l| l.split_whitespace().nth(1))
        .unwrap();
    assert!(
        features().contains(&format!(".loc\t{file} {line} ")),
        "line {line} of file {file}"
    );

    let ptx = features_with(|b| b.debug(DebugInfo::None));
    assert!(!ptx.contains(".loc\t") && !ptx.contains(".file"));
}

#[test]
fn inlined_code_has_the_line_of_the_kernel_that_called_it() {
    let text = features();
    let start = text.find(".entry traits_and_closures(").unwrap();
    let kernel = &text[start..start + text[start..].find("\n}").unwrap()];
    let files = |number: &str| {
        let prefix = format!(".file\t{number} ");
        text.lines()
            .find(|l| l.trim().starts_with(&prefix))
            .unwrap_or_else(|| panic!("no file {number}"))
    };
    let mut seen = 0;
    for location in kernel.lines().filter(|l| l.trim().starts_with(".loc\t")) {
        let file = files(location.split_whitespace().nth(1).unwrap());
        assert!(
            file.contains("fixtures/features/src/language.rs"),
            "{location} is in {file}"
        );
        seen += 1;
    }
    assert!(seen > 3);
}
