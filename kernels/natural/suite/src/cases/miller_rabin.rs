//! Which numbers are prime.

use super::prelude::*;
use crate::problem::draw_long;
use kernels::miller_rabin::BASES;

case!(miller_rabin: "primes of 64 bits, by Montgomery's multiplication", "numbers", simulator [100, 1], gpu 1 << 18);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    // The last bits differ in how many twos the number before has.
    let numbers: Vec<u64> = draw_long(1, n)
        .iter()
        .enumerate()
        .map(|(i, bits)| match i % 4 {
            0 => bits >> 32 | 0x101,
            1 => (bits | 0xff) << 8 | 1,
            _ => bits | 0x101,
        })
        .collect();
    let step = n.div_ceil(20_000);
    let want = numbers
        .iter()
        .step_by(step)
        .map(|&number| u8::from(BASES.iter().all(|&base| passes(number, base))))
        .collect();
    let kernel = session.pair(kernels::miller_rabin::miller_rabin, "miller_rabin")?;
    let numbers = session.stream.upload(&numbers)?;
    problem(
        session,
        format!("{n} numbers"),
        &vec![9u8; n],
        move |session, side, primes| {
            let grid = Grid::cover(n, 256);
            launch_pair!(session, side, kernel, grid, (&numbers, primes));
            Ok(())
        },
        every(step, exactly(want)),
    )
}

/// The test by remainders.
fn passes(number: u64, base: u64) -> bool {
    let times = |a: u64, b: u64| (u128::from(a) * u128::from(b) % u128::from(number)) as u64;
    let twos = (number - 1).trailing_zeros();
    let odd = (number - 1) >> twos;
    let power = (0..64).rev().fold(1, |power, bit| {
        let square = times(power, power);
        if odd >> bit & 1 == 1 {
            times(square, base)
        } else {
            square
        }
    });
    let squares = std::iter::successors(Some(power), |&x| Some(times(x, x)));
    power == 1 || squares.take(twos as usize).any(|x| x == number - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primes_and_others() {
        let is_prime = |number| BASES.iter().all(|&base| passes(number, base));
        assert!(is_prime(11) && is_prime(0xffff_ffff_ffff_ffc5));
        assert!(!is_prime(15) && !is_prime(2047) && !is_prime(0xffff_ffff_ffff_ffc7));
    }
}
