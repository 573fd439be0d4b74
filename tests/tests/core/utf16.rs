//! Decoding of UTF-16, in which the device's `core` has a loop of its own, gives what the host's gives.

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::utf16 as kernels;
use warpsmith_tests::fixture;

/// Words of each kind, two of each half of a pair.
const WORDS: [u16; 8] = [
    0x41,
    0x3b1,
    0xd800,
    0xdbff,
    0xdc00,
    0xdfff,
    0xe000,
    kernels::PAUSE,
];

#[test]
fn letters_of_utf16_are_the_hosts() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::letters_of_lines).unwrap();
    // Every five words in turn, with three more behind them.
    let lines: Vec<[u16; 8]> = (0..8_usize.pow(5))
        .map(|n| std::array::from_fn(|i| WORDS[(n >> (3 * (i % 5))) % 8]))
        .collect();
    let lines_on_device = stream.upload(&lines).unwrap();
    for taken in 0..4 {
        let mut out = stream.zeroed::<[u64; 2]>(lines.len()).unwrap();
        let arguments = (&lines_on_device, taken, &mut out);
        stream
            .launch(&kernel, Grid::cover(lines.len(), 128), arguments)
            .unwrap();
        for (line, found) in lines.iter().zip(stream.download(&out).unwrap()) {
            let expected = [
                kernels::digest_of_letters(line, taken),
                kernels::bytes_of_letters(line),
            ];
            assert_eq!(found, expected, "{line:04x?} behind {taken} letters");
        }
    }
}
