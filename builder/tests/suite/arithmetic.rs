//! Floating-point switches.

use super::support::*;

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
