//! The printf formats that `gpu_println!`'s format strings become.
// covers: PRINTF-01, PRINTF-03

use warpsmith_device::__private::__gpu_format;

macro_rules! format_is {
    ($expected:literal, $($arguments:tt)*) => {
        assert_eq!(__gpu_format!($($arguments)*).to_str().unwrap(), $expected);
    };
}

#[test]
fn integers_by_width() {
    let (a, b, c, d) = (1i8, 2u16, 3i32, 4u32);
    format_is!("%d %u %d %u", "{} {} {} {}", a, b, c, d);
    format_is!(
        "%lld %llu %lld %llu",
        "{} {} {} {}",
        1i64,
        2u64,
        3isize,
        4usize
    );
    format_is!(
        "%x %llX %0#10x %llo",
        "{:x} {:X} {:#010x} {:o}",
        1i8,
        2u64,
        3u32,
        4i64
    );
    format_is!(
        "%5d|%-5d|%05d|%+d|%5d",
        "{:5}|{:<5}|{:05}|{:+}|{:>5}",
        a,
        a,
        a,
        a,
        a
    );
}

#[test]
fn floats_with_and_without_precision() {
    let (x, y) = (1.5f32, 2.5f64);
    format_is!(
        "%g %.3f %8.2f %.9g %.17g %e %.1E",
        "{x} {x:.3} {y:8.2} {x:?} {y:?} {x:e} {y:.1E}"
    );
    format_is!("%g", "{}", half::f16::ONE);
}

#[test]
fn texts_characters_and_pointers() {
    let name = "warp";
    format_is!("%s %s %s %s", "{} {name} {} {:?}", true, 'x', c"text");
    // Rust puts texts left in their width, and numbers right.
    format_is!("%-8s|%8s|%8u", "{name:8}|{name:>8}|{:8}", 1u32);
    let value = 3;
    format_is!("%p %p", "{:p} {:p}", &raw const value, &value);
}

#[test]
fn positions_names_and_widths_from_arguments() {
    let width = 12usize;
    format_is!("%u %d %u", "{0} {1} {0}", 1u32, 2i32);
    format_is!(
        "%d and %g",
        "{first} and {second}",
        first = 1,
        second = 2.0f64
    );
    format_is!("%*d %-*s", "{:width$} {:2$}", 5, "x", width = width);
}

#[test]
fn braces_and_percent_signs() {
    format_is!("100%% {%d}", "100% {{{}}}", 1);
    format_is!("", "");
    format_is!("no arguments", "no arguments");
}

#[test]
fn long_formats_are_whole() {
    let expected = concat!(
        "0123456789012345678901234567890123456789012345678901234567890123456789",
        "%d"
    );
    assert_eq!(
        __gpu_format!(
            "0123456789012345678901234567890123456789012345678901234567890123456789{}",
            1
        )
        .to_str(),
        Ok(expected)
    );
    // One byte more than the smallest size has room for, and just fitting.
    assert_eq!(
        __gpu_format!("0123456789012345678901234567890")
            .to_bytes()
            .len(),
        31
    );
    assert_eq!(
        __gpu_format!("01234567890123456789012345678901")
            .to_bytes()
            .len(),
        32
    );
}
