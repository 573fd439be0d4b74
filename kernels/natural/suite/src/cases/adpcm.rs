//! Sound unpacked.

use super::prelude::*;
use kernels::adpcm::{BLOCK, MOVES, SAMPLES, STEPS};

case!(adpcm: "sound of four bits a sample, a thread a block", "blocks", simulator [60, 1], gpu 1 << 19);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let mut bytes = draw::<u8>(1, n * BLOCK);
    for (i, block) in bytes.chunks_exact_mut(BLOCK).enumerate() {
        // A step that there is, and codes that go far in a few blocks only.
        block[2] %= STEPS.len() as u8;
        if i % 4 != 0 {
            block[4..].iter_mut().for_each(|codes| *codes &= 0xbb);
        }
    }
    let step = n.div_ceil(50_000);
    let want = bytes
        .chunks_exact(BLOCK)
        .step_by(step)
        .flat_map(samples)
        .collect();
    let check = every_array(step, exactly(want));
    let kernel = session.pair(kernels::adpcm::adpcm, "adpcm")?;
    let bytes = session.stream.upload(&bytes)?;
    problem(
        session,
        format!("{n} blocks of {SAMPLES} samples"),
        &vec![[0i16; SAMPLES]; n],
        move |session, side, samples| {
            let grid = Grid::cover(n, 256);
            launch_pair!(session, side, kernel, grid, (&bytes, samples));
            Ok(())
        },
        check,
    )
}

/// The samples of a block.
fn samples(block: &[u8]) -> Vec<i16> {
    let mut sample = i64::from(i16::from_le_bytes([block[0], block[1]]));
    let mut step = i64::from(block[2]);
    let codes = block[4..].iter().flat_map(|codes| [codes & 15, codes >> 4]);
    codes
        .map(|code| {
            let size = i64::from(STEPS[step as usize]);
            // Each part of the step is cut by itself.
            let parts = [(0, size / 4), (1, size / 2), (2, size)];
            let taken = parts.iter().filter(|(bit, _)| code >> bit & 1 == 1);
            let difference = size / 8 + taken.map(|(_, part)| part).sum::<i64>();
            let is_down = code >= 8;
            sample += if is_down { -difference } else { difference };
            sample = sample.clamp(-(1 << 15), (1 << 15) - 1);
            step += i64::from(MOVES[usize::from(code % 8)]);
            step = step.max(0).min(STEPS.len() as i64 - 1);
            sample as i16
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_rises_and_falls() {
        let mut block = [0; BLOCK];
        block[4] = 0xf7;
        assert_eq!(samples(&block)[..4], [11, -19, -15, -12]);
    }
}
