//! Names of Rust functions for people: demangled, with generic arguments kept short.

use crate::names;

/// How the user's code in a kernel is called in what `#[kernel]` makes of it.
pub(super) const KERNEL_BODY: &str = "_::__kernel_body";

/// Generic arguments with more characters than this are left out.
const LONGEST_ARGUMENTS: usize = 24;

/// The name of a symbol.
pub(super) fn of_symbol(symbol: &str) -> String {
    shorten(&names::demangle(symbol))
}

/// `name` with `..` for generic arguments that are long. The type in `<Type as Trait>::function` is no argument.
fn shorten(name: &str) -> String {
    let mut short = String::with_capacity(name.len());
    // Where in `short` the brackets begin that are open, and whether generic arguments are in them.
    let mut open: Vec<(usize, bool)> = Vec::new();
    let mut last = ' ';
    for character in name.chars() {
        short.push(character);
        match character {
            '<' => {
                let is_arguments = last == ':' || last == '_' || last.is_alphanumeric();
                open.push((short.len(), is_arguments));
            }
            '>' if last != '-' => {
                if let Some((start, true)) = open.pop() {
                    let end = short.len() - 1;
                    if short[start..end].chars().count() > LONGEST_ARGUMENTS {
                        short.replace_range(start..end, "..");
                    }
                }
            }
            _ => {}
        }
        last = character;
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_arguments_stay() {
        for name in [
            "saxpy",
            "demo::store::<u32>",
            "<demo::Tile<4> as core::ops::index::Index<usize>>::index",
            "<demo::Stencil>::at::<fn(u32) -> u32>",
        ] {
            assert_eq!(shorten(name), name);
        }
    }

    #[test]
    fn long_arguments_do_not() {
        assert_eq!(
            shorten(
                "demo::map::<demo::first::Configuration, demo::second::Configuration>::{closure#0}"
            ),
            "demo::map::<..>::{closure#0}"
        );
        assert_eq!(
            shorten(
                "<demo::Matrix<demo::tiling::policy::Large, 16> as core::ops::Index<usize>>::index"
            ),
            "<demo::Matrix<..> as core::ops::Index<usize>>::index"
        );
    }

    #[test]
    fn inner_arguments_are_shortened_first() {
        assert_eq!(
            shorten("demo::f::<Option<demo::some::quite::long::Path>>"),
            "demo::f::<Option<..>>"
        );
    }

    #[test]
    fn symbols_are_demangled() {
        assert_eq!(
            of_symbol("_RINvNtCs49HdEyxKhnQ_4demo6helper5storemEB4_"),
            "demo::helper::store::<u32>"
        );
        assert_eq!(of_symbol("block_sums"), "block_sums");
    }
}
