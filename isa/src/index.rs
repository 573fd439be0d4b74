//! The forms by opcode, sorted while the crate is compiled.

use crate::form::Form;
use crate::forms::{FAMILIES, TABLE};
use crate::text::{before, equal};

const TOTAL: usize = {
    let (mut total, mut family) = (0, 0);
    while family < TABLE.len() {
        total += TABLE[family].forms.len();
        family += 1;
    }
    total
};

const MAX_OPCODES: usize = 256;

#[derive(Clone, Copy)]
struct Opcode {
    name: &'static str,
    start: u16,
    end: u16,
}

struct Index {
    opcodes: [Opcode; MAX_OPCODES],
    count: usize,
    forms: [(u8, u16); TOTAL],
}

const fn build() -> Index {
    let mut index = Index {
        opcodes: [Opcode {
            name: "",
            start: 0,
            end: 0,
        }; MAX_OPCODES],
        count: 0,
        forms: [(0, 0); TOTAL],
    };
    let mut family = 0;
    while family < TABLE.len() {
        let forms = TABLE[family].forms;
        let mut number = 0;
        while number < forms.len() {
            let name = forms[number].opcode;
            let mut at = 0;
            while at < index.count && before(index.opcodes[at].name, name) {
                at += 1;
            }
            if at == index.count || !equal(index.opcodes[at].name, name) {
                let mut last = index.count;
                while last > at {
                    index.opcodes[last] = index.opcodes[last - 1];
                    last -= 1;
                }
                index.opcodes[at] = Opcode {
                    name,
                    start: 0,
                    end: 0,
                };
                index.count += 1;
            }
            // Counted here, summed up below.
            index.opcodes[at].end += 1;
            number += 1;
        }
        family += 1;
    }
    let (mut at, mut total) = (0, 0);
    while at < index.count {
        let count = index.opcodes[at].end;
        index.opcodes[at].start = total;
        index.opcodes[at].end = total;
        total += count;
        at += 1;
    }
    let mut family = 0;
    while family < TABLE.len() {
        let forms = TABLE[family].forms;
        let mut number = 0;
        while number < forms.len() {
            let (mut low, mut high) = (0, index.count);
            while low + 1 < high {
                let middle = (low + high) / 2;
                if before(forms[number].opcode, index.opcodes[middle].name) {
                    high = middle;
                } else {
                    low = middle;
                }
            }
            let end = index.opcodes[low].end;
            index.forms[end as usize] = (family as u8, number as u16);
            index.opcodes[low].end = end + 1;
            number += 1;
        }
        family += 1;
    }
    index
}

static INDEX: Index = build();

/// The forms of an opcode, in the order of the tables.
pub fn forms_of(opcode: &str) -> impl Iterator<Item = &'static Form> + Clone + use<> {
    let opcodes = &INDEX.opcodes[..INDEX.count];
    let range = match opcodes.binary_search_by(|entry| entry.name.cmp(opcode)) {
        Ok(at) => usize::from(opcodes[at].start)..usize::from(opcodes[at].end),
        Err(_) => 0..0,
    };
    INDEX.forms[range]
        .iter()
        .map(|&(family, number)| &FAMILIES[usize::from(family)].forms[usize::from(number)])
}
