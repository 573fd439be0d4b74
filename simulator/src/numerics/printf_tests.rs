//! The formatter against the C library of the host, and CUDA's own rules.

use super::*;
use std::ffi::{CString, c_char, c_int};

unsafe extern "C" {
    fn snprintf(buffer: *mut c_char, size: usize, format: *const c_char, ...) -> c_int;
}

/// A kernel's memory: the format at 0x1000, arguments at 0x2000, strings from 0x8000 on.
#[derive(Default)]
struct Kernel {
    arguments: Vec<u8>,
    strings: Vec<u8>,
}

impl Kernel {
    fn int(mut self, value: i32) -> Kernel {
        self.align(4);
        self.arguments.extend(value.to_le_bytes());
        self
    }
    fn long(mut self, value: i64) -> Kernel {
        self.align(8);
        self.arguments.extend(value.to_le_bytes());
        self
    }
    fn double(self, value: f64) -> Kernel {
        self.long(value.to_bits() as i64)
    }
    fn text(mut self, value: &str) -> Kernel {
        let address = 0x8000 + self.strings.len() as i64;
        self.strings.extend(value.bytes().chain([0]));
        self.long(address)
    }
    fn align(&mut self, to: usize) {
        self.arguments
            .resize(self.arguments.len().next_multiple_of(to), 0xee);
    }
    fn print(&self, format: &str) -> Result<(String, i32), Unreadable> {
        let mut memory = |address: u64| match address {
            0x1000..0x2000 => format.bytes().chain([0]).nth((address - 0x1000) as usize),
            0x2000..0x8000 => self.arguments.get((address - 0x2000) as usize).copied(),
            0x8000.. => self.strings.get((address - 0x8000) as usize).copied(),
            _ => None,
        };
        vprintf(&mut memory, 0x1000, 0x2000)
            .map(|(text, n)| (String::from_utf8_lossy(&text).into_owned(), n))
    }
}

fn printed(kernel: Kernel, format: &str) -> String {
    kernel.print(format).unwrap().0
}

// covers: PRINTF-03
#[test]
fn numbers_are_formatted_as_by_the_c_library() {
    fn host_double(format: &str, value: f64) -> String {
        let format = CString::new(format).unwrap();
        let mut buffer = [0u8; 2048];
        // SAFETY: the buffer's size is passed, and the format has exactly one conversion, which takes a double.
        let length = unsafe {
            snprintf(
                buffer.as_mut_ptr().cast(),
                buffer.len(),
                format.as_ptr(),
                value,
            )
        };
        String::from_utf8(buffer[..length as usize].to_vec()).unwrap()
    }
    fn host_long(format: &str, value: i64) -> String {
        let format = CString::new(format).unwrap();
        let mut buffer = [0u8; 2048];
        // SAFETY: the buffer's size is passed, and the format has exactly one conversion, which takes an integer.
        let length = unsafe {
            snprintf(
                buffer.as_mut_ptr().cast(),
                buffer.len(),
                format.as_ptr(),
                value,
            )
        };
        String::from_utf8(buffer[..length as usize].to_vec()).unwrap()
    }
    let flags = [
        "", "-", "+", " ", "#", "0", "-#", "+0", " 0", "-+", "#0", "#+0",
    ];
    let sizes = [
        "", "1", "12", "25", ".0", ".1", ".3", ".10", ".15", "12.4", "20.", "30.25",
    ];
    let doubles = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        1.5,
        2.5,
        0.1,
        1.0 / 3.0,
        123456.0,
        1234567.0,
        999999.5,
        9.9995,
        1e-4,
        9.9999e-5,
        1e-5,
        1e10,
        1e100,
        -1e-100,
        f64::MAX,
        f64::MIN_POSITIVE,
        5e-324,
        1.2345,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        1.5.p3f64(),
        255.96875,
        1.96875,
    ];
    let integers = [
        0i64,
        1,
        -1,
        42,
        -42,
        255,
        65535,
        65536,
        1 << 31,
        i64::MAX,
        i64::MIN,
        -32769,
    ];
    for flag in flags {
        for size in sizes {
            for kind in ["e", "E", "f", "g", "G", "a", "A"] {
                let format = format!("<%{flag}{size}{kind}>");
                for value in doubles {
                    // glibc forgets the zeros of `%#g` when rounding carries into a new digit.
                    if kind.eq_ignore_ascii_case("g")
                        && flag.contains('#')
                        && [999999.5, 9.9995, 9.9999e-5].contains(&value)
                    {
                        continue;
                    }
                    assert_eq!(
                        printed(Kernel::default().double(value), &format),
                        host_double(&format, value),
                        "{format}"
                    );
                }
            }
            for kind in ["d", "i", "u", "o", "x", "X"] {
                // `0` with a precision and `+` or space with unsigned conversions are undefined or ignored in C.
                for length in ["h", "", "l", "ll"] {
                    let format = format!("<%{flag}{size}{length}{kind}>");
                    for value in integers {
                        let kernel = Kernel::default();
                        let kernel = if length.contains('l') {
                            kernel.long(value)
                        } else {
                            kernel.int(value as i32)
                        };
                        assert_eq!(
                            printed(kernel, &format),
                            host_long(&format, value),
                            "{format} {value}"
                        );
                    }
                }
            }
        }
    }
}

/// 12.0, written so that the list above shows what it tests.
trait Hex {
    fn p3f64(self) -> f64;
}
impl Hex for f64 {
    fn p3f64(self) -> f64 {
        self * 8.0
    }
}

// covers: PRINTF-01
#[test]
fn arguments_are_packed_at_their_natural_alignment() {
    let kernel = Kernel::default()
        .int(7)
        .double(1.2345)
        .int(-3)
        .text("warp")
        .int(65)
        .long(1 << 40)
        .int(9);
    let (text, count) = kernel.print("%d %f %i [%6s] %c %lld %u%%\n").unwrap();
    assert_eq!(text, "7 1.234500 -3 [  warp] A 1099511627776 9%\n");
    assert_eq!(count, 7);
    let stars = Kernel::default()
        .int(6)
        .int(42)
        .int(-6)
        .int(42)
        .int(2)
        .double(0.125);
    assert_eq!(printed(stars, "%*d|%-*d|%.*f"), "    42|42    |0.12");
    assert_eq!(
        printed(
            Kernel::default().long(0x7f00_1234).long(0).long(0),
            "%p %p %s"
        ),
        "0x7f001234 (nil) (null)"
    );
    assert_eq!(
        printed(Kernel::default().text("abcdef").text("xy"), "%.3s|%-4s|"),
        "abc|xy  |"
    );
}

// covers: PRINTF-02
#[test]
fn return_values() {
    assert_eq!(
        Kernel::default().print("plain %%").unwrap(),
        ("plain %".into(), 0)
    );
    assert_eq!(Kernel::default().int(1).int(2).print("%d%d").unwrap().1, 2);
    assert_eq!(vprintf(&mut |_: u64| None, 0, 0), Ok((vec![], -1)));
    assert_eq!(vprintf(&mut |_: u64| None, 64, 0), Err(Unreadable(64)));
    assert_eq!(
        Kernel::default().long(0x9999).print("%s"),
        Err(Unreadable(0x9999))
    );
}

// covers: PRINTF-04
#[test]
fn arguments_beyond_thirty_two_are_ignored() {
    let kernel = (0..40).fold(Kernel::default(), |k, i| k.int(i));
    let (text, count) = kernel.print(&"%d ".repeat(34)).unwrap();
    assert!(text.ends_with("30 31 %d %d "), "{text}");
    assert_eq!(count, 32);
}

#[test]
fn what_is_no_conversion_stands_for_itself() {
    assert_eq!(
        printed(Kernel::default().int(5), "100%% %d %y %"),
        "100% 5 %y %"
    );
    assert_eq!(printed(Kernel::default().int(5), "%z %d"), "%z 5");
}
