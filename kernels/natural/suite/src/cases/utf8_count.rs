//! Letters of lines.

use super::prelude::*;
use kernels::utf8_count::LINE;

case!(utf8_count: "letters of lines of 64 bytes", "lines", simulator [60, 1], gpu 1 << 20);

const LETTERS: [char; 6] = ['a', 'z', '\u{e9}', '\u{df}', '\u{20ac}', '\u{1f980}'];

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let mut random = below(1, LINE * n, LETTERS.len() as u32).into_iter();
    let mut text = Vec::new();
    let mut want = Vec::new();
    for number in 0..n {
        let mut line = String::new();
        for which in random.by_ref().take(LINE) {
            let letter = LETTERS[which as usize];
            if line.len() + letter.len_utf8() > LINE {
                break;
            }
            line.push(letter);
        }
        line.extend(std::iter::repeat_n('a', LINE - line.len()));
        let mut bytes = line.into_bytes();
        // A few lines are no text.
        if number % 16 == 3 {
            bytes[LINE / 2] = 0xff;
        }
        let letters = str::from_utf8(&bytes).map(|line| line.chars().count());
        want.push(letters.map_or(u32::MAX, |count| count as u32));
        text.extend(bytes);
    }
    let kernel = session.pair(kernels::utf8_count::utf8_count, "utf8_count")?;
    let text = session.stream.upload(&text)?;
    problem(
        session,
        format!("{n} lines"),
        &vec![7u32; n],
        move |session, side, counts| {
            launch_pair!(session, side, kernel, Grid::cover(n, 256), (&text, counts));
            Ok(())
        },
        exactly(want),
    )
}
