//! The format string, put together by the compiler from the macro's pieces and the arguments' types.

use core::marker::PhantomData;

use super::conversion::{Argument, Conversion};

/// A part of the format, as the macro found it.
pub enum Piece {
    /// Text, with `%` doubled already.
    Text(&'static str),
    /// A placeholder.
    Argument {
        /// printf's flags, `-` aside.
        flags: &'static str,
        /// The alignment, if given.
        left: Option<bool>,
        /// The width, if any.
        width: Width,
        /// The precision, if any.
        precision: Option<u32>,
    },
}

/// A placeholder's width.
pub enum Width {
    /// Not given.
    None,
    /// A number in the format.
    Fixed(u32),
    /// The argument before the one that is printed.
    Argument,
}

/// The pieces of one call's format.
pub trait Format {
    /// In order.
    const PIECES: &'static [Piece];
}

/// The conversions of a call's arguments, as a linked list of constants.
pub struct Node {
    conversion: Conversion,
    rest: Option<&'static Node>,
}

/// The types of a call's arguments.
pub trait List {
    /// The first argument's node.
    const NODE: Option<&'static Node>;
}

/// The end of the list.
pub struct Nil;

/// An argument's style and type, and those after it.
pub struct Cons<S, T: ?Sized, Rest>(PhantomData<(S, PhantomData<T>, Rest)>);

impl List for Nil {
    const NODE: Option<&'static Node> = None;
}

impl<S, T: Argument<S> + ?Sized, Rest: List> List for Cons<S, T, Rest> {
    const NODE: Option<&'static Node> = Some(&Node {
        conversion: T::CONVERSION,
        rest: Rest::NODE,
    });
}

/// Puts an argument before a list.
#[inline(always)]
pub fn cons<S, T: Argument<S> + ?Sized, Rest: List>(_: &T, _: Rest) -> Cons<S, T, Rest> {
    Cons(PhantomData)
}

/// The longest format.
const CAPACITY: usize = 2048;

/// A text under construction.
struct Text {
    bytes: [u8; CAPACITY],
    length: usize,
}

impl Text {
    const fn push(&mut self, text: &str) {
        let text = text.as_bytes();
        let mut i = 0;
        while i < text.len() {
            assert!(self.length + 1 < CAPACITY, "the format is too long");
            self.bytes[self.length] = text[i];
            self.length += 1;
            i += 1;
        }
    }

    const fn push_number(&mut self, number: u32) {
        if number >= 10 {
            self.push_number(number / 10);
        }
        let digits = "0123456789";
        self.push(digits.split_at((number % 10) as usize).1.split_at(1).0);
    }
}

const fn build(pieces: &[Piece], list: Option<&'static Node>) -> Text {
    let mut text = Text {
        bytes: [0; CAPACITY],
        length: 0,
    };
    let mut next = list;
    let mut i = 0;
    while i < pieces.len() {
        match &pieces[i] {
            Piece::Text(literal) => text.push(literal),
            Piece::Argument {
                flags,
                left,
                width,
                precision,
            } => {
                if let (Width::Argument, Some(node)) = (width, next) {
                    next = node.rest;
                }
                let Some(node) = next else {
                    panic!("fewer arguments than placeholders")
                };
                next = node.rest;
                placeholder(&mut text, flags, *left, width, *precision, &node.conversion);
            }
        }
        i += 1;
    }
    text
}

const fn placeholder(
    text: &mut Text,
    flags: &str,
    left: Option<bool>,
    width: &Width,
    precision: Option<u32>,
    conversion: &Conversion,
) {
    text.push("%");
    text.push(flags);
    let left = match left {
        Some(left) => left,
        None => conversion.left,
    };
    match width {
        Width::None => {}
        _ if left => text.push("-"),
        _ => {}
    }
    match width {
        Width::None => {}
        Width::Fixed(n) => text.push_number(*n),
        Width::Argument => text.push("*"),
    }
    match precision {
        Some(n) => {
            assert!(
                conversion.precise,
                "a precision is for floating-point numbers"
            );
            text.push(".");
            text.push_number(n);
            text.push(conversion.with_precision);
        }
        None => text.push(conversion.plain),
    }
}

/// The format, ending in zero, no longer than need be (in steps).
#[inline(always)]
pub(super) fn text<F: Format, L: List>() -> &'static [u8] {
    struct Of<F, L>(PhantomData<(F, L)>);
    impl<F: Format, L: List> Of<F, L> {
        const TEXT: Text = build(F::PIECES, L::NODE);
        const LENGTH: usize = Self::TEXT.length + 1;
        const UP_TO_32: [u8; 32] = Self::cut();
        const UP_TO_64: [u8; 64] = Self::cut();
        const UP_TO_128: [u8; 128] = Self::cut();
        const UP_TO_256: [u8; 256] = Self::cut();
        const WHOLE: [u8; CAPACITY] = Self::cut();

        /// The beginning; all of it in the size that is used (the others are evaluated too).
        const fn cut<const N: usize>() -> [u8; N] {
            let mut bytes = [0; N];
            let mut i = 0;
            while i < Self::TEXT.length && i < N {
                bytes[i] = Self::TEXT.bytes[i];
                i += 1;
            }
            bytes
        }
    }
    if const { Of::<F, L>::LENGTH <= 32 } {
        const { &Of::<F, L>::UP_TO_32 }
    } else if const { Of::<F, L>::LENGTH <= 64 } {
        const { &Of::<F, L>::UP_TO_64 }
    } else if const { Of::<F, L>::LENGTH <= 128 } {
        const { &Of::<F, L>::UP_TO_128 }
    } else if const { Of::<F, L>::LENGTH <= 256 } {
        const { &Of::<F, L>::UP_TO_256 }
    } else {
        const { &Of::<F, L>::WHOLE }
    }
}
