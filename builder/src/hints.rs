//! What to write instead, where rustc's own words for an error do not tell that the code is for a GPU.

/// Functions of `f32` and `f64` that `std` has and `core` has not, and that `warpsmith_device::float::FloatExt` has not either. Those
/// with a name besides have an approximation in `FloatApprox`.
const FLOAT_METHODS: &[(&str, Option<&str>)] = &[
    ("sin", Some("sin_approx")),
    ("cos", Some("cos_approx")),
    ("exp", Some("exp_approx")),
    ("exp2", Some("exp2_approx")),
    ("ln", Some("ln_approx")),
    ("log2", Some("log2_approx")),
    ("tanh", Some("tanh_approx")),
    ("tan", None),
    ("sin_cos", None),
    ("asin", None),
    ("acos", None),
    ("atan", None),
    ("atan2", None),
    ("sinh", None),
    ("cosh", None),
    ("asinh", None),
    ("acosh", None),
    ("atanh", None),
    ("exp_m1", None),
    ("ln_1p", None),
    ("log", None),
    ("log10", None),
    ("powf", None),
    ("powi", None),
    ("cbrt", None),
    ("hypot", None),
];

/// Methods of `FloatExt`, which are there if the trait is.
const FLOAT_EXT: &[&str] = &[
    "sqrt",
    "mul_add",
    "floor",
    "ceil",
    "trunc",
    "round",
    "round_ties_even",
    "fract",
];

/// The way out of an error of rustc's in device code, by its message.
pub(crate) fn hint(message: &str) -> Option<String> {
    let quoted = |n: usize| message.split('`').nth(2 * n + 1);
    if message.starts_with("cannot find macro") {
        return match quoted(0)? {
            "println" => Some("print from a kernel with `gpu_println!`".into()),
            "print" => Some("print from a kernel with `gpu_print!`".into()),
            "eprintln" | "eprint" | "dbg" => Some(
                "print from a kernel with `gpu_println!`, which writes to the host's standard output".into(),
            ),
            "format" | "vec" => Some(
                "a kernel has no heap by itself: use arrays of fixed size, or the crate `alloc` with a `#[global_allocator]`".into(),
            ),
            _ => None,
        };
    }
    if message.starts_with("no method named") {
        let (method, ty) = (quoted(0)?, quoted(1)?);
        if !matches!(ty, "f32" | "f64" | "{float}") {
            return None;
        }
        if FLOAT_EXT.contains(&method) {
            return Some(format!(
                "`{method}` of floats is a method of `FloatExt`: `use warpsmith_device::prelude::*;`"
            ));
        }
        let (_, approximation) = FLOAT_METHODS.iter().find(|(name, _)| *name == method)?;
        let approximate = match approximation {
            Some(name) => format!(
                "use the hardware's approximation `{name}` (of `f32`, in `FloatApprox`), or "
            ),
            None => "use ".into(),
        };
        return Some(format!(
            "`{method}` of floats is in `std`, which the GPU does not have: {approximate}the crate `libm`"
        ));
    }
    if message.starts_with("environment variable `OUT_DIR` not defined") {
        return Some(
            "for the GPU the crate is compiled without its build script; what embeds the PTX is for the host: write \
             `#[cfg(not(target_arch = \"nvptx64\"))]` before it"
                .into(),
        );
    }
    if names_program(message) {
        return Some(
            "a module of kernels is a crate of its own on the GPU, where the program around it is not: code for both goes into the \
             module. A static of the host's is out of reach there: pass its value, or the address of memory that the device reaches, as \
             an argument; a static of the device's is made with `device_static!`, `managed_static!` or `constant!`"
                .into(),
        );
    }
    let is_path = message.starts_with("failed to resolve")
        || message.starts_with("cannot find")
        || message.starts_with("unresolved import");
    if is_path && quoted(0).is_some_and(|path| path == "std" || path.starts_with("std::")) {
        return Some("kernels have `core`, not `std`".into());
    }
    None
}

/// Whether it is about something outside of the kernels' module: a path that begins with `crate` or `super` and leads to the root of
/// the crate, where nothing but the module is.
fn names_program(message: &str) -> bool {
    let import = message
        .strip_prefix("unresolved import `")
        .is_some_and(|path| path.starts_with("crate::") || path.starts_with("super::"));
    import
        || (message.starts_with("cannot find") && message.ends_with("in the crate root"))
        || (message.starts_with("cannot find") && message.ends_with("in module `super`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_rustc_get_their_hints() {
        for (message, expected) in [
            (
                "cannot find macro `println` in this scope",
                "`gpu_println!`",
            ),
            (
                "no method named `sin` found for type `f32` in the current scope",
                "`sin_approx`",
            ),
            (
                "no method named `powf` found for type `f64` in the current scope",
                "the crate `libm`",
            ),
            (
                "no method named `sqrt` found for type `f32` in the current scope",
                "`FloatExt`",
            ),
            ("unresolved import `std`", "`core`"),
            (
                "cannot find value `COUNT` in the crate root",
                "`device_static!`",
            ),
            ("unresolved import `super::COUNT`", "`device_static!`"),
            (
                "environment variable `OUT_DIR` not defined at compile time",
                "nvptx64",
            ),
        ] {
            let found = hint(message).unwrap_or_default();
            assert!(found.contains(expected), "{message}: {found}");
        }
        for message in [
            "mismatched types",
            "cannot find macro `mine` in this scope",
            "no method named `sin` found for struct `Angle` in the current scope",
        ] {
            assert_eq!(hint(message), None);
        }
    }
}
