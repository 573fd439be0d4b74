//! Powers in modular arithmetic.

use super::prelude::*;
use kernels::mod_pow::power;

case!(mod_pow: "modular powers in 64 bits", "numbers", simulator [40, 1], gpu 1 << 20);

const EXPONENT: u64 = 0xfedc_ba98;
const MODULUS: u64 = 0xffff_fffb;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let bases: Vec<u64> = draw::<u32>(1, 2 * n)
        .chunks_exact(2)
        .map(|words| u64::from(words[0]) << 32 | u64::from(words[1]))
        .collect();
    let want = bases
        .iter()
        .map(|&base| power(base, EXPONENT, MODULUS))
        .collect();
    let kernel = session.pair(kernels::mod_pow::mod_pow, "mod_pow")?;
    let bases = session.stream.upload(&bases)?;
    problem(
        session,
        format!("{n} numbers"),
        &vec![0u64; n],
        move |session, side, out| {
            let arguments = (&bases, EXPONENT, MODULUS, out);
            launch_pair!(session, side, kernel, Grid::cover(n, 256), arguments);
            Ok(())
        },
        exactly(want),
    )
}
