//! The head of a PTX module.

/// A PTX module as a string literal: `.version`, `.target` and 64-bit addresses, then the text.
///
/// ```
/// use warpsmith_testkit::ptx;
///
/// const STOP: &str = ptx!("7.0", "sm_70", ".visible .entry stop() { trap; ret; }");
/// assert!(STOP.starts_with(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry stop"));
/// ```
///
/// It may be a format string:
///
/// ```
/// # use warpsmith_testkit::ptx;
/// let bytes = 16;
/// let text = format!(ptx!("8.6", "sm_90", ".global .b8 data[{bytes}];"), bytes = bytes);
/// assert!(text.ends_with(".global .b8 data[16];"));
/// ```
#[macro_export]
macro_rules! ptx {
    ($version:literal, $target:literal, $($text:literal),+ $(,)?) => {
        concat!(
            ".version ", $version, "\n.target ", $target, "\n.address_size 64\n", $($text),+
        )
    };
}
