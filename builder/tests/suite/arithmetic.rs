//! Arithmetic: floating-point switches and remainders, conversions and divisions of 128-bit integers.

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

// covers: MATH-13
#[test]
fn remainders_are_exact() {
    // What they compute is tested with the function that they become, and on a device.
    for (kernel, reciprocals) in [
        ("remainder_single", 2),
        ("remainder_half", 2),
        ("remainder_vector", 8),
    ] {
        let body = body(features(), kernel);
        assert_eq!(count(&body, "div."), 0, "{body:#?}");
        assert!(
            count(&body, "rcp.approx.ftz.f32") <= reciprocals,
            "{body:#?}"
        );
        assert!(count(&body, "fma.rn.f32") >= reciprocals, "{body:#?}");
    }
    let double = body(features(), "remainder_double");
    assert_eq!(count(&double, "div."), 0, "{double:#?}");
    assert!(count(&double, "fma.rn.f64") >= 2, "{double:#?}");
    // Of constants, LLVM computes them.
    let constant = body(features(), "remainder_constant");
    let expected = (7.0f32 % 0.1).to_bits();
    let stored = [format!("0f{expected:08X}"), expected.to_string()];
    assert!(
        constant
            .iter()
            .any(|l| stored.iter().any(|s| l.contains(s))),
        "{constant:#?}"
    );
    assert_eq!(count(&constant, "rcp."), 0, "{constant:#?}");
}

// covers: MATH-13
#[test]
fn remainders_do_not_depend_on_the_switches() {
    let ptx = features_with(|b| b.fast_math(true).fmad(false));
    let single = body(&ptx, "remainder_single");
    assert_eq!(count(&single, "div."), 0, "{single:#?}");
    assert!(count(&single, "fma.rn.f32") >= 2, "{single:#?}");
}

#[test]
fn wide_integers_and_floats_convert() {
    // They link, and ptxas takes them; what they compute is tested on a device.
    for kernel in ["wide_to_float", "float_to_wide"] {
        assert!(body(features(), kernel).len() > 10);
    }
}

#[test]
fn approximations_of_zero_are_constants() {
    let body = body(features(), "approximations_of_zero");
    assert_eq!(count(&body, "cos.approx"), 1, "of one: {body:#?}");
    assert_eq!(
        count(&body, "sin.approx") + count(&body, "ex2.approx"),
        0,
        "{body:#?}"
    );
    // The number times one, and one divided by a zero that has a sign.
    assert_eq!(count(&body, "mul."), 0, "{body:#?}");
    assert_eq!(
        count(&body, "0fFF800000") + count(&body, "-8388608"),
        1,
        "{body:#?}"
    );
}
/// How many branches go back.
fn loops(body: &[&str]) -> usize {
    let label = |line: &str| {
        let target = line.split_whitespace().last()?.trim_end_matches(';');
        body.iter().position(|l| l.trim_end_matches(':') == target)
    };
    (0..)
        .zip(body)
        .filter(|(_, line)| line.contains("bra"))
        .filter(|&(at, line)| label(line).is_some_and(|target| target < at))
        .count()
}

#[test]
fn wide_integers_are_divided_without_a_loop() {
    // What they compute is tested with the functions, and on a device.
    for (kernel, most) in [
        ("wide_modulo", 120),
        ("wide_quotient", 170),
        ("wide_remainder", 170),
        ("wide_quotient_and_remainder", 180),
        ("wide_signed", 220),
    ] {
        let body = body(features(), kernel);
        assert_eq!(loops(&body), 0, "{body:#?}");
        // Quotient and remainder have one division.
        assert_eq!(count(&body, "rcp.approx.ftz.f32"), 1, "{body:#?}");
        assert!(body.len() < most, "{kernel}: {body:#?}");
    }
}

#[test]
fn many_wide_divisions_are_calls() {
    let body = body(features(), "many_wide_quotients");
    assert_eq!(count(&body, "rcp.approx.ftz.f32"), 0, "{body:#?}");
    assert_eq!(count(&body, "__warpsmith_quotient_u128"), 17, "{body:#?}");
}

#[test]
fn what_depends_on_a_divisor_alone_leaves_the_loop() {
    let body = body(features(), "wide_power");
    let labels = body.iter().position(|line| line.starts_with("$L__BB"));
    let (before, within) = body.split_at(labels.unwrap_or(0));
    assert_eq!(count(before, "rcp.approx.ftz.f32"), 1, "{body:#?}");
    assert_eq!(count(within, "rcp.approx.ftz.f32"), 0, "{body:#?}");
    // Of the reciprocal; and in the loop of each product, and of one word or two that are divided.
    let high_products = [before, within].map(|lines| count(lines, "mul.hi.u64"));
    assert_eq!(high_products, [2, 6], "{body:#?}");
}

#[test]
fn wide_divisions_by_constants_take_products_or_shifts() {
    let modulo = body(features(), "wide_modulo_constant");
    assert_eq!(count(&modulo, "bra"), 0, "{modulo:#?}");
    assert_eq!(count(&modulo, "rcp.") + count(&modulo, "div."), 0);
    assert!(modulo.len() < 30, "{modulo:#?}");
    let shifted = body(features(), "wide_by_powers_of_two");
    assert_eq!(count(&shifted, "bra"), 0, "{shifted:#?}");
    assert_eq!(count(&shifted, "mul."), 0, "{shifted:#?}");
}

#[test]
fn wide_divisions_of_words_are_narrow() {
    let body = body(features(), "wide_of_words");
    assert_eq!(count(&body, "div.u64"), 1, "{body:#?}");
    // Of the division of 128 bits there is nothing.
    assert_eq!(count(&body, "clz."), 0, "{body:#?}");
}

#[test]
fn short_minima_and_maxima_are_made_in_32_bits() {
    let body = body(features(), "short_extremes");
    for (wide, short) in [("max.u32", "max.u16"), ("min.s32", "min.s16")] {
        // That of a byte and 0 is the byte.
        assert!(count(&body, wide) >= 3, "{body:#?}");
        assert_eq!(count(&body, short), 0, "{body:#?}");
    }
    // From one to the next nothing is extended.
    assert!(count(&body, "cvt.") <= 10, "{body:#?}");
}
