//! What the matrix instructions share: fragments in registers, the whole warp together, and tables of prepared shapes.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::operand::{FULL, Value};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::fault::FaultKind;
use crate::engine::lower::types::{ScalarKind, Ty};
use crate::engine::lower::{Builder, Field, Width};
use crate::numerics::matrix::shape::Element;
use crate::ptx::ast::Operand;
use crate::ptx::{Error, Result};

/// Things that instructions refer to by a small number, made once for the whole process.
pub(crate) struct Table<K, T: 'static> {
    numbers: OnceLock<Mutex<HashMap<K, u32>>>,
    entries: [OnceLock<T>; 512],
}

impl<K: std::hash::Hash + Eq, T> Table<K, T> {
    pub const fn new() -> Table<K, T> {
        Table {
            numbers: OnceLock::new(),
            entries: [const { OnceLock::new() }; 512],
        }
    }

    /// The number of the thing with this key; `None` if the table is full.
    pub fn number(&self, key: K, make: impl FnOnce() -> T) -> Option<u32> {
        let numbers = self.numbers.get_or_init(Mutex::default);
        let mut numbers = numbers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&number) = numbers.get(&key) {
            return Some(number);
        }
        let number = numbers.len() as u32;
        self.entries.get(number as usize)?.get_or_init(make);
        numbers.insert(key, number);
        Some(number)
    }

    /// The thing of a number that [`number`](Table::number) gave.
    #[inline(always)]
    pub fn get(&self, number: u32) -> &T {
        self.entries[number as usize]
            .get()
            .expect("numbers are given out with their entry")
    }
}

/// Waits for the whole warp: these instructions are executed by all 32 lanes or not at all. `Some` if the instruction cannot
/// be executed now.
#[inline(always)]
pub(crate) fn whole_warp(warp: &mut Warp, cluster: &Cluster<'_>, what: &str) -> Option<Flow> {
    if !warp.gather(cluster.grid.program, FULL) {
        return Some(Flow::Leave);
    }
    if warp.mask == FULL {
        return None;
    }
    Some(incomplete(warp, what))
}

#[cold]
fn incomplete(warp: &mut Warp, what: &str) -> Flow {
    let (mask, exists) = (warp.mask, warp.exists);
    let lane = mask.trailing_zeros() as usize;
    let why = match exists {
        FULL => format!("lanes {:#010x} have exited", FULL & !mask),
        _ => format!("this warp has only {} threads", exists.count_ones()),
    };
    let message = format!("{what} needs all 32 lanes of the warp");
    warp.fail_with(FaultKind::IllegalInstruction, lane, message, vec![why])
}

/// A register of a fragment, as the numerics take it.
pub(crate) trait FragmentWord: Value + Default {
    fn to_bits(self) -> u64;
    fn from_bits(bits: u64) -> Self;
}
impl FragmentWord for u32 {
    fn to_bits(self) -> u64 {
        self.into()
    }
    fn from_bits(bits: u64) -> u32 {
        bits as u32
    }
}
impl FragmentWord for u64 {
    fn to_bits(self) -> u64 {
        self
    }
    fn from_bits(bits: u64) -> u64 {
        bits
    }
}

/// What becomes of a fragment's registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FragmentUse {
    Read,
    Written,
}

/// Which operand is the address of a fragment that is loaded or stored.
pub(super) fn address_number(direction: FragmentUse) -> usize {
    match direction {
        FragmentUse::Written => 1,
        FragmentUse::Read => 0,
    }
}

/// The registers of a fragment operand.
pub(crate) fn fragment<'a>(
    cx: &mut Builder<'a, '_>,
    operand: &Operand<'a>,
    count: u32,
    element: Element,
    access: FragmentUse,
) -> Result<Vec<Field>> {
    let parts = cx.parts(operand);
    if parts.len() != count as usize {
        let message = format!("this fragment has {count} registers, found {}", parts.len());
        return Err(Error::new(operand.at, message));
    }
    let ty = match element {
        Element::F64 => Ty::new(ScalarKind::Float, 64),
        Element::F32 => Ty::new(ScalarKind::Float, 32),
        _ => Ty::B32,
    };
    let mut fields = Vec::new();
    for part in parts.iter() {
        fields.push(match access {
            FragmentUse::Written => cx.dst(part, Width::of(ty))?,
            FragmentUse::Read => cx.src(part, ty)?,
        });
    }
    Ok(fields)
}
