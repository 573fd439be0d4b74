//! The parameters of the launch, which the linker adds where they are asked for, and what the signature says of it.

use std::sync::OnceLock;

use warpsmith_builder::{Arch, CudaBuilder};
use warpsmith_signature::{Kernel, Reading, Signature, read};

use crate::support::{body, build, count, fixture, head, position};

fn ptx() -> &'static str {
    static BUILT: OnceLock<String> = OnceLock::new();
    BUILT.get_or_init(|| {
        let builder = CudaBuilder::new(fixture("minimal")).feature("launch");
        build(builder.arch(Arch::Sm90)).ptx
    })
}

/// The numbers of an entry's parameters.
fn parameters(kernel: &str) -> usize {
    head(ptx(), kernel).matches(".param ").count()
}

#[test]
fn kernels_that_ask_have_two_parameters_more() {
    assert_eq!(parameters("asks"), 3);
    assert_eq!(parameters("asks_in_calls"), 3);
    assert_eq!(parameters("asks_by_pointer"), 3);
    assert_eq!(parameters("asks_nothing"), 1);
    assert_eq!(parameters("minimal"), 1);
    assert!(
        !ptx().contains("__warpsmith_panic_log"),
        "the markers are gone"
    );
    assert!(
        !ptx().contains("__warpsmith_launch"),
        "the markers are gone"
    );
    let body = body(ptx(), "asks");
    for parameter in 0..3 {
        position(&body, &format!("[asks_param_{parameter}]"));
    }
}

#[test]
fn functions_pass_the_parameters_on() {
    for (function, calls) in [("tell_twice", 2), ("asks_in_calls", 1)] {
        let body = body(ptx(), function);
        assert_eq!(count(&body, "(param0, param1, param2)"), calls, "{body:#?}");
    }
    // One type for all that is called through pointers.
    let body = body(ptx(), "asks_by_pointer");
    assert_eq!(count(&body, "(param0, param1, param2)"), 1, "{body:#?}");
    let quiet = ptx().find("say_nothing(").expect("the function");
    let end = quiet + ptx()[quiet..].find(')').expect("its parameters");
    assert_eq!(ptx()[quiet..end].matches(".param ").count(), 3);
}

fn signature() -> Signature {
    match read(ptx()) {
        Reading::Signed(signature) => signature,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_signature_says_who_takes_the_launch_and_who_uses_what() {
    let signature = signature();
    let kernel = |name: &str| -> &Kernel {
        let found = signature.kernels.iter().find(|kernel| kernel.name == name);
        found.unwrap_or_else(|| panic!("{signature:?}"))
    };
    let variables = |name: &str| -> Vec<&str> {
        let indices = &kernel(name).variables;
        let mut names: Vec<_> = indices
            .iter()
            .map(|index| signature.variables[*index as usize].name.as_str())
            .collect();
        names.sort_unstable();
        names
    };
    for name in ["asks", "asks_in_calls", "asks_by_pointer"] {
        assert!(kernel(name).takes_launch, "{name}");
    }
    for name in ["asks_nothing", "minimal"] {
        assert!(!kernel(name).takes_launch, "{name}");
    }
    assert_eq!(variables("asks"), [""; 0]);
    assert_eq!(variables("asks_in_calls"), ["OTHERS"]);
    assert_eq!(variables("asks_by_pointer"), ["CALLS"]);
    assert_eq!(variables("asks_nothing"), ["OTHERS"]);
    assert!(
        signature
            .variables
            .iter()
            .all(|variable| variable.bytes == 4)
    );
    assert_eq!(
        signature.variables.len(),
        2,
        "the library's own are not shown"
    );
    assert!(
        kernel("asks").record.is_empty(),
        "`#[kernel]` did not make it"
    );
}
