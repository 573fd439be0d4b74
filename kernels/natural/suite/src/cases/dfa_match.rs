//! Words of a set counted in lines.

use super::prelude::*;
use kernels::dfa_match::{KINDS, State, kind};
use std::collections::VecDeque;

case!(dfa_match: "words of a set counted in lines of up to 80 letters", "lines", simulator [60, 1], gpu 1 << 20);

const SET: [&str; 8] = ["ab", "bad", "cab", "dab", "bcd", "a", "dada", "abcd"];

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let states = automaton();
    let starts = starts_of(below(1, n, 81));
    let letter = |&number: &u32| b"abcdABCD-"[number as usize];
    let text: Vec<u8> = below(2, starts[n] as usize + 1, 9)
        .iter()
        .map(letter)
        .collect();
    let of_line = |range: &[u32]| -> u32 {
        let line = text[range[0] as usize..range[1] as usize].to_ascii_lowercase();
        let ends = (0..line.len()).map(|end| &line[..=end]);
        ends.map(|part| {
            SET.iter()
                .filter(|word| part.ends_with(word.as_bytes()))
                .count() as u32
        })
        .sum()
    };
    let want = starts.windows(2).map(of_line).collect();
    let kernel = session.pair(kernels::dfa_match::dfa_match, "dfa_match")?;
    let text = session.stream.upload(&text)?;
    let starts = session.stream.upload(&starts)?;
    let states = session.stream.upload(&states)?;
    problem(
        session,
        format!("{n} lines, {} letters", text.len()),
        &vec![u32::MAX; n],
        move |session, side, counts| {
            let grid = Grid::cover(n, 256);
            launch_pair!(
                session,
                side,
                kernel,
                grid,
                (&text, &starts, &states, counts)
            );
            Ok(())
        },
        exactly(want),
    )
}

/// The automaton of the set (Aho and Corasick).
fn automaton() -> Vec<State> {
    let none = State {
        next: [0; KINDS],
        words: 0,
    };
    let mut states = vec![none];
    for word in SET {
        let mut at = 0;
        for byte in word.bytes() {
            let letter = kind(byte);
            if states[at].next[letter] == 0 {
                states[at].next[letter] = states.len() as u16;
                states.push(none);
            }
            at = usize::from(states[at].next[letter]);
        }
        states[at].words += 1;
    }
    let mut fallback = vec![0usize; states.len()];
    let mut open: VecDeque<usize> = states[0]
        .next
        .iter()
        .filter(|&&next| next != 0)
        .map(|&next| usize::from(next))
        .collect();
    while let Some(at) = open.pop_front() {
        states[at].words += states[fallback[at]].words;
        for letter in 0..KINDS {
            let other = states[fallback[at]].next[letter];
            match usize::from(states[at].next[letter]) {
                0 => states[at].next[letter] = other,
                next => {
                    fallback[next] = usize::from(other);
                    open.push_back(next);
                }
            }
        }
    }
    states
}
