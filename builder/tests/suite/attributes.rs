//! Launch bounds, clusters, and by-value parameters.

use super::support::*;

// covers: LAUNCH-06
// covers: LAUNCH-07
#[test]
fn launch_bounds() {
    let head = head(features(), "bounded");
    assert!(
        head.contains(".maxntid 256, 2, 1") && head.contains(".minnctapersm 4"),
        "{head}"
    );
}

// covers: LAUNCH-11
#[test]
fn exact_block_and_registers() {
    let head = head(features(), "exact_with_registers");
    assert!(
        head.contains(".reqntid 128, 1, 1") && head.contains(".maxnreg 40"),
        "{head}"
    );
}

// covers: LAUNCH-04
#[test]
fn cluster_dimensions() {
    let head = head(features(), "clustered");
    assert!(
        head.contains(".reqnctapercluster 4, 1, 1") && head.contains(".explicitcluster"),
        "{head}"
    );
}

// covers: SPACE-13
#[test]
fn by_value_structs_are_read_from_parameter_space() {
    let head = head(features(), "by_value");
    assert!(
        head.contains(".param .align 8 .b8 by_value_param_0[32]"),
        "{head}"
    );
    let body = body(features(), "by_value");
    assert!(
        count(&body, "ld.param.b32") >= 1 && count(&body, "local") == 0,
        "{body:#?}"
    );
}

#[test]
fn records_leave_no_trace() {
    assert!(!features().contains("__warpsmith_kernel"));
}
