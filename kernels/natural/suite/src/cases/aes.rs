//! Blocks enciphered by AES.

use super::prelude::*;
use kernels::aes::{ROUNDS, THREADS};

case!(aes: "AES with a key of 128 bits, by a table", "blocks", simulator [300, 1], gpu 1 << 22);

const KEY: [u8; 16] = [
    0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6, 0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c,
];

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let plain: Vec<[u32; 4]> = draw::<u32>(1, 4 * n).as_chunks().0.to_vec();
    let substitutes = substitutes();
    let keys = expand(KEY, &substitutes);
    let step = n.div_ceil(1000);
    let want: Vec<u32> = plain
        .iter()
        .step_by(step)
        .flat_map(|block| {
            let bytes = encipher(*bytemuck::cast_ref(block), &keys, &substitutes);
            bytemuck::cast::<[u8; 16], [u32; 4]>(bytes)
        })
        .collect();
    let check = exactly(want);
    let table = substitutes.map(|s| u32::from_le_bytes([double(s), s, s, double(s) ^ s]));
    let kernel = session.pair(kernels::aes::aes, "aes")?;
    let plain = session.stream.upload(&plain)?;
    let keys = session
        .stream
        .upload(&keys.map(bytemuck::cast::<[u8; 16], [u32; 4]>))?;
    let table = session.stream.upload(&table)?;
    problem(
        session,
        format!("{n} blocks"),
        &vec![[0u32; 4]; n],
        move |session, side, enciphered| {
            let grid = Grid::cover(n, THREADS as u32);
            let arguments = (&plain, &keys, &table, enciphered);
            launch_pair!(session, side, kernel, grid, arguments);
            Ok(())
        },
        every_array(step, check),
    )
}

/// Twice an element of the field of bytes.
fn double(x: u8) -> u8 {
    x << 1 ^ if x & 0x80 == 0 { 0 } else { 0x1b }
}

/// The substitute of each byte.
fn substitutes() -> [u8; 256] {
    let mut substitutes = [0x63; 256];
    // `x` runs through the powers of 3, `inverse` through those of its inverse.
    let (mut x, mut inverse) = (1u8, 1u8);
    for _ in 0..255 {
        x ^= double(x);
        inverse ^= inverse << 1;
        inverse ^= inverse << 2;
        inverse ^= inverse << 4;
        if inverse & 0x80 != 0 {
            inverse ^= 9;
        }
        let turned = (1..5).fold(inverse, |sum, n| sum ^ inverse.rotate_left(n));
        substitutes[usize::from(x)] = turned ^ 0x63;
    }
    substitutes
}

/// The keys of the rounds.
fn expand(key: [u8; 16], substitutes: &[u8; 256]) -> [[u8; 16]; ROUNDS + 1] {
    let mut keys = [key; ROUNDS + 1];
    let mut constant = 1;
    for round in 1..=ROUNDS {
        let before = keys[round - 1];
        let mut word = [13, 14, 15, 12].map(|i| substitutes[usize::from(before[i])]);
        word[0] ^= constant;
        constant = double(constant);
        for i in 0..16 {
            word[i % 4] ^= before[i];
            keys[round][i] = word[i % 4];
        }
    }
    keys
}

/// A block enciphered step by step, as the standard has it.
fn encipher(
    mut block: [u8; 16],
    keys: &[[u8; 16]; ROUNDS + 1],
    substitutes: &[u8; 256],
) -> [u8; 16] {
    for (round, key) in keys.iter().enumerate() {
        if round > 0 {
            let moved: [u8; 16] = std::array::from_fn(|i| block[(i + 4 * (i % 4)) % 16]);
            block = moved.map(|byte| substitutes[usize::from(byte)]);
            if round < ROUNDS {
                let before = block;
                for (i, byte) in block.iter_mut().enumerate() {
                    let of_row = |row: usize| before[i / 4 * 4 + (i + row) % 4];
                    *byte = double(of_row(0) ^ of_row(1)) ^ of_row(1) ^ of_row(2) ^ of_row(3);
                }
            }
        }
        for (byte, key) in block.iter_mut().zip(key) {
            *byte ^= key;
        }
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_standard() {
        let block = [
            0x32, 0x43, 0xf6, 0xa8, 0x88, 0x5a, 0x30, 0x8d, 0x31, 0x31, 0x98, 0xa2, 0xe0, 0x37,
            0x07, 0x34,
        ];
        let want = [
            0x39, 0x25, 0x84, 0x1d, 0x02, 0xdc, 0x09, 0xfb, 0xdc, 0x11, 0x85, 0x97, 0x19, 0x6a,
            0x0b, 0x32,
        ];
        let substitutes = substitutes();
        let keys = expand(KEY, &substitutes);
        assert_eq!(encipher(block, &keys, &substitutes), want);
    }
}
