//! Packed lists of numbers.

use super::prelude::*;
use kernels::leb128::WRONG;

case!(leb128: "the largest number of packed lists", "lists", simulator [200, 1], gpu 1 << 19);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let counts = below(1, n, 30);
    let differences = draw::<u32>(2, 30 * n);
    let (mut bytes, mut starts) = (Vec::new(), vec![0u32]);
    let mut want = Vec::new();
    for (list, &count) in counts.iter().enumerate() {
        let mut number = 0i64;
        let mut largest = None;
        for &bits in &differences[30 * list..][..count as usize] {
            // Short ones and long ones.
            let difference = i64::from(bits as i32) << 10 >> (bits % 40);
            number += difference;
            largest = largest.max(Some(number));
            let mut code = (difference << 1 ^ difference >> 63) as u64;
            while code > 0x7f {
                bytes.push(code as u8 | 0x80);
                code >>= 7;
            }
            bytes.push(code as u8);
        }
        if list % 100 == 7 {
            bytes.push(0x80);
            largest = None;
        }
        starts.push(bytes.len() as u32);
        want.push(largest.unwrap_or(WRONG));
    }
    let kernel = session.pair(kernels::leb128::leb128, "leb128")?;
    let bytes = session.stream.upload(&bytes)?;
    let starts = session.stream.upload(&starts)?;
    problem(
        session,
        format!("{n} lists, {} bytes", bytes.len()),
        &vec![1i64; n],
        move |session, side, largest| {
            let grid = Grid::cover(n, 256);
            launch_pair!(session, side, kernel, grid, (&bytes, &starts, largest));
            Ok(())
        },
        exactly(want),
    )
}

#[cfg(test)]
mod tests {
    use super::kernels::leb128::largest_of;

    #[test]
    fn lists_and_their_largest_number() {
        assert_eq!(largest_of(&[2, 1, 0x80, 1]), Some(64));
        assert_eq!(largest_of(&[3]), Some(-2));
        assert_eq!(largest_of(&[]), None);
        assert_eq!(largest_of(&[2, 0x80]), None);
    }
}
