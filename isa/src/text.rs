//! Reading the tables' text while the crate is compiled.

/// The part of `text` from `start` to `end`.
pub(crate) const fn part(text: &'static str, start: usize, end: usize) -> &'static str {
    text.split_at(end).0.split_at(start).1
}

/// Whether two texts are the same.
pub(crate) const fn equal(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// Whether `a` sorts before `b`.
pub(crate) const fn before(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() {
        if a[at] != b[at] {
            return a[at] < b[at];
        }
        at += 1;
    }
    a.len() < b.len()
}

/// Whether a byte belongs to a modifier or an operand's name.
pub(crate) const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b':' || byte == b'.'
}
