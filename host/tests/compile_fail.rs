//! Programs that must not compile, and what the compiler says about them; and such that must. `TRYBUILD=overwrite cargo test -p warpsmith-host --test
//! compile_fail` writes the messages anew; read the difference before keeping it.

// covers: DRV-14, GRAPH-19, STREAM-21, MODEL-23
#[test]
fn programs_that_must_not_compile_and_such_that_must() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
    cases.pass("tests/pass/*.rs");
}
