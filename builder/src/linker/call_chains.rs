//! Call chains: where an instruction comes from. A chain is a point in the source and, if the function around the point was
//! inlined, the chain of the call; it ends in the function that the PTX has.
//!
//! Equal chains are one, and have a number.

use std::collections::HashMap;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

/// A point in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct SourcePoint {
    /// Number of the file.
    pub file: u32,
    /// Line, from 1; 0 where the compiler knows none.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
}

/// A point in the source, and the call that the function around it was inlined at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct CallChain {
    pub point: SourcePoint,
    /// `None` in a function that the PTX has.
    pub inlined: Option<InlinedCall>,
}

/// A call that was replaced by the called function's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct InlinedCall {
    /// Number of the called function's name.
    pub function: u32,
    /// Number of the chain of the call.
    pub call: u32,
}

/// All chains of a module, with the names of files and functions. Numbers are from 1 on.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub(super) struct CallChains {
    files: Numbered<String>,
    functions: Numbered<String>,
    chains: Numbered<CallChain>,
}

impl CallChains {
    /// The number of a file, by its path.
    pub fn number_file(&mut self, path: String) -> u32 {
        self.files.number(path)
    }

    /// The number of a function's name.
    pub fn number_function(&mut self, name: String) -> u32 {
        self.functions.number(name)
    }

    /// The number of a chain.
    pub fn number(&mut self, chain: CallChain) -> u32 {
        self.chains.number(chain)
    }

    /// The chain with this number.
    pub fn chain(&self, number: u32) -> Option<CallChain> {
        self.chains.get(number).copied()
    }

    /// The path of the file with this number.
    pub fn file(&self, number: u32) -> Option<&str> {
        self.files.get(number).map(String::as_str)
    }

    /// The name of the function with this number.
    pub fn function(&self, number: u32) -> Option<&str> {
        self.functions.get(number).map(String::as_str)
    }
}

/// Values with numbers from 1 on, in the order in which they came.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Vec<T>", into = "Vec<T>")]
#[serde(bound(
    serialize = "T: Clone + Serialize",
    deserialize = "T: Clone + Eq + Hash + Deserialize<'de>"
))]
pub(super) struct Numbered<T> {
    values: Vec<T>,
    numbers: HashMap<T, u32>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Numbered {
            values: Vec::new(),
            numbers: HashMap::new(),
        }
    }
}

impl<T: Clone + Eq + Hash> From<Vec<T>> for Numbered<T> {
    fn from(values: Vec<T>) -> Numbered<T> {
        let numbers = values.iter().cloned().zip(1..).collect();
        Numbered { values, numbers }
    }
}

impl<T> From<Numbered<T>> for Vec<T> {
    fn from(numbered: Numbered<T>) -> Vec<T> {
        numbered.values
    }
}

impl<T: Clone + Eq + Hash> Numbered<T> {
    /// The value's number, a new one for a new value.
    pub fn number(&mut self, value: T) -> u32 {
        if let Some(&number) = self.numbers.get(&value) {
            return number;
        }
        self.values.push(value.clone());
        let number = self.values.len() as u32;
        self.numbers.insert(value, number);
        number
    }

    /// The value with this number.
    pub fn get(&self, number: u32) -> Option<&T> {
        self.values.get(number.checked_sub(1)? as usize)
    }

    /// All values in the order of their numbers.
    pub fn values(&self) -> &[T] {
        &self.values
    }
}
