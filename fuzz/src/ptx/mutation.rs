//! Damage to PTX: bytes, words, lines.

use warpsmith_testkit::Random;

use crate::choose::Choose;

/// Numbers at the ends of something.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "4",
    "7",
    "8",
    "15",
    "16",
    "31",
    "32",
    "33",
    "63",
    "64",
    "255",
    "256",
    "1023",
    "1024",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "-1",
    "18446744073709551616",
    "99999999999999999999999",
    "0x7fffffff",
    "0f7fc00000",
    "0dfff0000000000000",
];
const SIGNS: &[&str] = &[
    "{", "}", "(", ")", "[", "]", ";", ",", "+", "-", "@", "!", "|", "<", ">", "",
];

/// The words of all texts, by what they begin with.
pub struct Dictionary {
    /// Directives, types, modifiers.
    dots: Vec<String>,
    /// Opcodes and names.
    names: Vec<String>,
    /// Registers.
    registers: Vec<String>,
}

impl Dictionary {
    /// Of these texts.
    pub fn new(texts: &[String]) -> Self {
        let mut words: Vec<&str> = Vec::new();
        for text in texts {
            let bytes = text.as_bytes();
            words.extend(
                words_of(bytes)
                    .iter()
                    .map(|&(start, end)| &text[start..end]),
            );
        }
        words.sort_unstable();
        words.dedup();
        let of = |fits: fn(u8) -> bool| -> Vec<String> {
            let chosen = words.iter().filter(|word| fits(word.as_bytes()[0]));
            chosen.map(|word| (*word).to_owned()).collect()
        };
        Dictionary {
            dots: of(|byte| byte == b'.'),
            names: of(|byte| byte.is_ascii_alphabetic()),
            registers: of(|byte| byte == b'%'),
        }
    }
}

/// Where the words of a text are: names, numbers, each with the point or per cent sign before it, and single signs.
fn words_of(text: &[u8]) -> Vec<(usize, usize)> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$';
    let (mut words, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let start = at;
        if !text[at].is_ascii() || text[at].is_ascii_whitespace() {
            at += 1;
            continue;
        }
        at += 1;
        if is_word(text[start]) || matches!(text[start], b'.' | b'%') {
            while at < text.len() && is_word(text[at]) {
                at += 1;
            }
        }
        words.push((start, at));
    }
    words
}

/// A text with a few changes.
pub fn mutate(random: &mut Random, mut text: Vec<u8>, dictionary: &Dictionary) -> Vec<u8> {
    for _ in 0..*random.one_of(&[1, 1, 1, 1, 1, 2, 2, 3, 6]) {
        if text.is_empty() {
            break;
        }
        text = match random.index(12) {
            0 => {
                let at = random.index(text.len());
                text[at] = random.below(256) as u8;
                text
            }
            1..=3 => lines(random, &text),
            4..=8 => word(random, &text, dictionary),
            9 => number(random, &text),
            10 => {
                let at = random.index(text.len());
                text.truncate(at);
                if random.percent(70) {
                    text.extend_from_slice(b"\n}\n");
                }
                text
            }
            _ => {
                let at = random.index(text.len());
                let end = (at + random.within(1..40)).min(text.len());
                text.drain(at..end);
                text
            }
        };
    }
    text
}

/// Swaps two lines, drops one, or copies one to another place.
fn lines(random: &mut Random, text: &[u8]) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let (one, other) = (random.index(lines.len()), random.index(lines.len()));
    match random.index(3) {
        0 => lines.swap(one, other),
        1 => drop(lines.remove(one)),
        _ => lines.insert(other, lines[one]),
    }
    lines.join(&b'\n')
}

/// Puts another word of its kind into the place of a word.
fn word(random: &mut Random, text: &[u8], dictionary: &Dictionary) -> Vec<u8> {
    let words = words_of(text);
    if words.is_empty() {
        return text.to_vec();
    }
    let &(start, end) = random.one_of(&words);
    let own: Vec<(usize, usize)> = words
        .into_iter()
        .filter(|&(other, _)| text[other] == b'%')
        .collect();
    let new: &[u8] = match text[start] {
        b'0'..=b'9' => random.one_of(NUMBERS).as_bytes(),
        b'.' => random.one_of(&dictionary.dots).as_bytes(),
        // Mostly a register that there is.
        b'%' if random.percent(70) => {
            let &(start, end) = random.one_of(&own);
            &text[start..end]
        }
        b'%' => random.one_of(&dictionary.registers).as_bytes(),
        byte if byte.is_ascii_alphabetic() => random.one_of(&dictionary.names).as_bytes(),
        _ => random.one_of(SIGNS).as_bytes(),
    };
    [&text[..start], new, &text[end..]].concat()
}

/// Puts another number into the place of one.
fn number(random: &mut Random, text: &[u8]) -> Vec<u8> {
    let numbers: Vec<(usize, usize)> = words_of(text)
        .into_iter()
        .filter(|&(start, _)| text[start].is_ascii_digit())
        .collect();
    if numbers.is_empty() {
        return text.to_vec();
    }
    let &(start, end) = random.one_of(&numbers);
    let new = random.one_of(NUMBERS).as_bytes();
    [&text[..start], new, &text[end..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_and_damage_repeats() {
        let text = "add.u32 %r1, %r2, 15;";
        let words: Vec<&str> = words_of(text.as_bytes())
            .into_iter()
            .map(|(start, end)| &text[start..end])
            .collect();
        assert_eq!(words, ["add", ".u32", "%r1", ",", "%r2", ",", "15", ";"]);
        let dictionary = Dictionary::new(&[text.to_owned()]);
        let damaged = |seed| mutate(&mut Random::new(seed), text.into(), &dictionary);
        let all: Vec<Vec<u8>> = (0..50).map(damaged).collect();
        assert_eq!(all, (0..50).map(damaged).collect::<Vec<_>>());
        assert!(all.iter().filter(|other| *other != text.as_bytes()).count() > 30);
    }
}
