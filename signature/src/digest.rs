//! A digest of text, to find changes by mistake. It is no secret: who wants to can compute one.

/// FNV-1a over words of 8 bytes, the last one filled up with zeros, and the length.
pub(crate) fn digest(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    words
        .iter()
        .chain([&last])
        .map(|word| u64::from_le_bytes(*word))
        .chain([bytes.len() as u64])
        .fold(0xcbf2_9ce4_8422_2325, |hash, word| {
            // Multiplying carries bits upwards only: the rotation brings them down again.
            (hash ^ word)
                .wrapping_mul(0x0000_0100_0000_01b3)
                .rotate_left(29)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_and_the_length_count() {
        let text = "mov.u32 %r1, %tid.x; ret;";
        let whole = digest(text);
        for at in 0..text.len() {
            let mut bytes = text.as_bytes().to_vec();
            bytes[at] ^= 1;
            let changed = String::from_utf8(bytes).unwrap();
            assert_ne!(digest(&changed), whole, "byte {at}");
        }
        assert_ne!(digest("a"), digest("a\0"));
        assert_ne!(digest(""), digest("\0\0\0\0\0\0\0\0"));
    }
}
