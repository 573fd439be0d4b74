//! Panics whose messages have values: places, with the whole message, or formatted by `core`.

use std::num::TryFromIntError;
use std::sync::OnceLock;

use warpsmith_builder::{Arch, CudaBuilder};
use warpsmith_signature::{Panic, Reading, read};

use crate::support::{body, build, count, fixture};

fn ptx() -> &'static str {
    static BUILT: OnceLock<String> = OnceLock::new();
    BUILT.get_or_init(|| {
        let builder = CudaBuilder::new(fixture("minimal")).feature("panics");
        build(builder.arch(Arch::Sm90)).ptx
    })
}

/// The places at which a kernel panics.
fn places(kernel: &str) -> Vec<Panic> {
    let Reading::Signed(signature) = read(ptx()) else {
        panic!("the builder signs what it makes");
    };
    let mut kernels = signature.kernels.into_iter();
    let kernel = kernels.find(|known| known.name == kernel);
    kernel.expect("the kernel is there").panics
}

/// A kernel that formats nothing says this, each of the messages with these values, in the order of the alphabet.
#[track_caller]
fn says(kernel: &str, values: [u64; 2], messages: &[&str]) {
    let body = body(ptx(), kernel);
    assert_eq!(count(&body, "call"), 0, "{body:#?}");
    assert!(count(&body, "trap") > 0, "{body:#?}");
    let places = places(kernel);
    let mut said: Vec<String> = places.iter().map(|at| at.message_with(values)).collect();
    said.sort();
    assert_eq!(said, messages);
    assert!(
        places
            .iter()
            .all(|at| at.line > 0 && at.file.ends_with(".rs"))
    );
}

#[test]
fn bounds_out_of_order_are_told() {
    let values = [2.0_f32, f32::NAN].map(|number| number.to_bits().into());
    let message = "min > max, or either was NaN. min = 2.0, max = NaN";
    says("clamps", values, &[message]);
}

#[test]
fn values_in_assertions_are_told() {
    let values = [7, -3_i64 as u64];
    says("asserts_with_values", values, &["7 is not below -3"]);
    says("asserts_with_one_value_twice", [7, 8], &["7, 8, 8, 7"]);
    says("asserts_with_references", [7, 8], &["7 8"]);
    says("asserts_with_an_element", [100, 8], &["100 8"]);
}

#[test]
fn both_sides_are_told() {
    let message = "assertion `left == right` failed\n  left: 7\n right: 8";
    says("asserts_equal", [7, 8], &[message]);
    let message = "assertion `left != right` failed: both\n  left: -1\n right: -1";
    says("asserts_different", [u64::MAX; 2], &[message]);
    let values = [1.0_f32, -0.5].map(|number| number.to_bits().into());
    let message = "assertion `left == right` failed\n  left: 1.0\n right: -0.5";
    says("asserts_equal_floats", values, &[message]);
}

#[test]
fn errors_are_told() {
    let unwrapped = "called `Result::unwrap()` on an `Err` value: ";
    let converted = ["b is small: ", unwrapped].map(|what| format!("{what}TryFromIntError(())"));
    // Rust 1.97 has a value in it, which only it writes.
    if size_of::<TryFromIntError>() == 0 {
        says(
            "converts",
            [0; 2],
            &converted.each_ref().map(String::as_str),
        );
    }
    let message = format!("{unwrapped}TryFromSliceError(())");
    says("converts_to_an_array", [0; 2], &[&message]);
    says(
        "unwraps_a_number",
        [-5_i64 as u64, 0],
        &[&format!("{unwrapped}-5")],
    );
}

#[test]
fn lengths_are_told() {
    let message =
        "copy_from_slice: source slice length (7) does not match destination slice length (8)";
    says("copies", [7, 8], &[message]);
}

#[test]
fn what_is_not_known_exactly_is_formatted() {
    for kernel in [
        "asserts_with_three_values",
        "asserts_with_a_width",
        "asserts_with_a_precision",
        "asserts_in_hexadecimal",
        "asserts_with_wide_values",
        "asserts_with_an_own_type",
        "asserts_with_what_reads_as_a_placeholder",
        "asserts_equal_pairs",
        "asserts_equal_with_a_value",
        "unwraps_an_own_error",
    ] {
        // What formats may panic, too.
        let is_own = |place: &&Panic| place.file.ends_with("panics.rs");
        assert_eq!(places(kernel).iter().find(is_own), None, "{kernel}");
        let body = body(ptx(), kernel);
        assert!(count(&body, "call") > 0, "{body:#?}");
    }
}
