//! A code of different lengths decoded.

use super::prelude::*;
use kernels::huffman_decode::{BITS, LINE};

case!(huffman_decode: "lines of 64 symbols from a Huffman code", "lines", simulator [60, 1], gpu 1 << 20);

/// The bits of each symbol.
const LENGTHS: [u32; 12] = [2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 6, 6];

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    // The next code of a length is the last one plus one; the first bit of a code is the lowest of a word.
    let mut codes = [0u32; 12];
    for i in 1..12 {
        codes[i] = (codes[i - 1] + 1) << (LENGTHS[i] - LENGTHS[i - 1]);
    }
    for (code, length) in codes.iter_mut().zip(LENGTHS) {
        *code = code.reverse_bits() >> (32 - length);
    }
    let mut table = [[0u8; 2]; 1 << BITS];
    for (symbol, (&code, length)) in codes.iter().zip(LENGTHS).enumerate() {
        for entry in table.iter_mut().skip(code as usize).step_by(1 << length) {
            *entry = [b'a' + symbol as u8, length as u8];
        }
    }
    let entries = below(1, LINE * n, 1 << BITS);
    let (mut words, mut starts) = (Vec::new(), Vec::new());
    let mut want = Vec::new();
    for line in entries.chunks_exact(LINE) {
        starts.push(words.len() as u32);
        let (mut bits, mut count) = (0u64, 0);
        for &entry in line {
            let [symbol, length] = table[entry as usize];
            want.push(symbol);
            bits |= u64::from(codes[usize::from(symbol - b'a')]) << count;
            count += length;
            if count >= 32 {
                words.push(bits as u32);
                bits >>= 32;
                count -= 32;
            }
        }
        words.push(bits as u32);
    }
    // The last line may be read a word further.
    words.push(0);
    let check = exactly(want);
    let kernel = session.pair(kernels::huffman_decode::huffman_decode, "huffman_decode")?;
    let words = session.stream.upload(&words)?;
    let starts = session.stream.upload(&starts)?;
    let table = session.stream.upload(&table)?;
    problem(
        session,
        format!("{n} lines, {} words", words.len()),
        &vec![[0u8; LINE]; n],
        move |session, side, lines| {
            let grid = Grid::cover(n, 256);
            let arguments = (&words, &starts, &table, lines);
            launch_pair!(session, side, kernel, grid, arguments);
            Ok(())
        },
        move |got| check(got.as_flattened()),
    )
}
