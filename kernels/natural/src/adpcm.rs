//! Sound that was packed to four bits a sample (IMA ADPCM), a thread a block.

use warpsmith_device::prelude::*;

/// Bytes of a block: four of them are its head.
pub const BLOCK: usize = 36;
/// Samples of a block.
pub const SAMPLES: usize = 64;

/// The sizes of steps.
pub const STEPS: [i32; 89] = [
    7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 21, 23, 25, 28, 31, 34, 37, 41, 45, 50, 55, 60, 66,
    73, 80, 88, 97, 107, 118, 130, 143, 157, 173, 190, 209, 230, 253, 279, 307, 337, 371, 408, 449,
    494, 544, 598, 658, 724, 796, 876, 963, 1060, 1166, 1282, 1411, 1552, 1707, 1878, 2066, 2272,
    2499, 2749, 3024, 3327, 3660, 4026, 4428, 4871, 5358, 5894, 6484, 7132, 7845, 8630, 9493,
    10442, 11487, 12635, 13899, 15289, 16818, 18500, 20350, 22385, 24623, 27086, 29794, 32767,
];
/// How far the next step lies from a step in the list, by how far that one went.
pub const MOVES: [i32; 8] = [-1, -1, -1, -1, 2, 4, 6, 8];

/// Where the sound is, and which step is next.
struct Decoder {
    sample: i32,
    step: i32,
}

impl Decoder {
    /// The sample of a code.
    fn next(&mut self, code: u8) -> i16 {
        let step = STEPS[self.step as usize];
        let mut difference = step >> 3;
        for bit in 0..3 {
            if code >> bit & 1 == 1 {
                difference += step >> (2 - bit);
            }
        }
        if code & 8 != 0 {
            difference = -difference;
        }
        self.sample = (self.sample + difference).clamp(i16::MIN.into(), i16::MAX.into());
        self.step = (self.step + MOVES[usize::from(code & 7)]).clamp(0, STEPS.len() as i32 - 1);
        self.sample as i16
    }
}

/// The samples of each block, whose head has the sample before and the first step.
#[kernel]
pub fn adpcm(bytes: &[u8], mut samples: PerThread<[[i16; SAMPLES]]>) {
    let block = bytes.chunks_exact(BLOCK).nth(thread::index());
    let (Some([low, high, step, _, codes @ ..]), Some(samples)) = (block, samples.mine()) else {
        return;
    };
    let mut decoder = Decoder {
        sample: i16::from_le_bytes([*low, *high]).into(),
        step: i32::from(*step).min(88),
    };
    for (codes, samples) in codes.iter().zip(samples.chunks_exact_mut(2)) {
        samples[0] = decoder.next(codes & 15);
        samples[1] = decoder.next(codes >> 4);
    }
}
