//! What must not compile, and what the compiler says then: errors of the macros, and the promises of safe code.
//!
//! `TRYBUILD=overwrite cargo test -p warpsmith-device --test compile_fail` takes new messages.
// covers: ATOM-17, WMMA-01, WMMA-13, SPACE-01, LDST-04, SHFL-06, LANG-29, LANG-EX19, PRINTF-04, LAUNCH-08, LAUNCH-11, DEBUG-01

#[test]
fn wrong_programs_do_not_compile() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/kernel/*.rs");
    cases.compile_fail("tests/ui/intrinsics/*.rs");
    cases.compile_fail("tests/ui/print/*.rs");
    cases.compile_fail("tests/ui/safety/*.rs");
}
