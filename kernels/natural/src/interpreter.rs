//! A small machine with a stack, which each thread runs on its own input.

use warpsmith_device::prelude::*;

/// How many values the stack holds.
const DEPTH: usize = 16;

/// What the machine can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Pushes a number.
    Push(u32),
    /// Pushes the input.
    Input,
    /// Replaces two values by their sum.
    Add,
    /// Replaces two values by their product.
    Multiply,
    /// Replaces two values by their bits' difference.
    Xor,
    /// Shifts the value right.
    Shift(u32),
    /// Pushes the value again.
    Duplicate,
    /// Exchanges two values.
    Swap,
    /// Goes on elsewhere if the value, which it takes, is odd.
    JumpIfOdd(u32),
}

impl Operation {
    /// As a word: what it is in the upper 8 bits, a number in the lower 24.
    pub fn encode(self) -> u32 {
        match self {
            Operation::Push(number) => number,
            Operation::Input => 1 << 24,
            Operation::Add => 2 << 24,
            Operation::Multiply => 3 << 24,
            Operation::Xor => 4 << 24,
            Operation::Shift(count) => 5 << 24 | count,
            Operation::Duplicate => 6 << 24,
            Operation::Swap => 7 << 24,
            Operation::JumpIfOdd(place) => 8 << 24 | place,
        }
    }

    /// The operation of a word; `None` for others.
    pub fn decode(word: u32) -> Option<Operation> {
        let number = word & 0xff_ffff;
        Some(match word >> 24 {
            0 => Operation::Push(number),
            1 => Operation::Input,
            2 => Operation::Add,
            3 => Operation::Multiply,
            4 => Operation::Xor,
            5 => Operation::Shift(number),
            6 => Operation::Duplicate,
            7 => Operation::Swap,
            8 => Operation::JumpIfOdd(number),
            _ => return None,
        })
    }
}

/// What the program leaves on top of the stack, for each input.
#[kernel]
pub fn interpreter(program: &[u32], inputs: &[u32], mut out: PerThread<[u32]>) {
    if let (Some(&input), Some(out)) = (inputs.get(thread::index()), out.mine()) {
        *out = run(program, input);
    }
}

/// Runs a program.
pub fn run(program: &[u32], input: u32) -> u32 {
    let mut stack = [0u32; DEPTH];
    let mut top = 0;
    let mut place = 0;
    while let Some(&word) = program.get(place) {
        let Some(operation) = Operation::decode(word) else {
            break;
        };
        place += 1;
        match operation {
            Operation::Push(number) => {
                top += 1;
                stack[top] = number;
            }
            Operation::Input => {
                top += 1;
                stack[top] = input;
            }
            Operation::Add => {
                top -= 1;
                stack[top] = stack[top].wrapping_add(stack[top + 1]);
            }
            Operation::Multiply => {
                top -= 1;
                stack[top] = stack[top].wrapping_mul(stack[top + 1]);
            }
            Operation::Xor => {
                top -= 1;
                stack[top] ^= stack[top + 1];
            }
            Operation::Shift(count) => stack[top] >>= count & 31,
            Operation::Duplicate => {
                stack[top + 1] = stack[top];
                top += 1;
            }
            Operation::Swap => stack.swap(top, top - 1),
            Operation::JumpIfOdd(target) => {
                top -= 1;
                if stack[top + 1] & 1 == 1 {
                    place = target as usize;
                }
            }
        }
    }
    stack[top]
}
