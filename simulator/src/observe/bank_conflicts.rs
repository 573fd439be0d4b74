//! An observer that counts bank conflicts of shared memory.
//!
//! Shared memory has 32 banks; word `w` of 4 bytes is in bank `w % 32`. In one wavefront each bank gives or takes one word, so lanes that
//! touch different words of one bank take one wavefront each. Lanes that touch the same word share it: a read is broadcast, and of
//! several writes one stays. Atomic operations on one word are executed one after another. Of accesses of 8 bytes a lane, a wavefront
//! serves 16 lanes, of those of 16 bytes, 8 (CUDA programming guide, sections 5.3.2 and 16.4.3).

use std::collections::HashMap;
use std::fmt;
use std::sync::Mutex;

use warpsmith_abi::fault::Frame;
use warpsmith_isa::effect::AccessKind;

use super::{Access, At, Observer};
use crate::sync::lock;

/// Banks of shared memory.
const BANKS: usize = 32;
/// Bytes of a bank's word.
const WORD: u64 = 4;

/// Counts the wavefronts that accesses to shared memory take, for each instruction.
///
/// ```
/// use std::sync::Arc;
/// use warpsmith_simulator::observe::{self, BankConflicts};
///
/// let conflicts = Arc::new(BankConflicts::default());
/// let registration = observe::register(conflicts.clone());
/// // ... launch kernels, and wait for them ...
/// drop(registration);
/// for site in conflicts.sites().iter().filter(|site| site.degree() > 1.0) {
///     println!("{site}");
/// }
/// ```
#[derive(Debug, Default)]
pub struct BankConflicts {
    /// By launch, function and instruction.
    counts: Mutex<HashMap<(u64, u32, u32), ConflictSite>>,
}

/// An instruction that accesses shared memory, and how often its lanes met in a bank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictSite {
    /// The instruction with its modifiers, as in the PTX.
    pub instruction: String,
    /// The function, and where the instruction stands in the source.
    pub frame: Frame,
    /// Executions by a warp with at least one lane in shared memory.
    pub accesses: u64,
    /// Wavefronts that these took.
    pub wavefronts: u64,
    /// Wavefronts that they would take without conflicts.
    pub ideal: u64,
    /// The most lanes, or words, that met in one bank.
    pub worst: u32,
}

impl ConflictSite {
    /// Wavefronts over those without conflicts: 1 where there are none, 32 at most.
    pub fn degree(&self) -> f64 {
        self.wavefronts as f64 / self.ideal as f64
    }

    fn add(&mut self, other: &ConflictSite) {
        self.accesses += other.accesses;
        self.wavefronts += other.wavefronts;
        self.ideal += other.ideal;
        self.worst = self.worst.max(other.worst);
    }
}

impl fmt::Display for ConflictSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} in {}: {} wavefronts for {} accesses, {:.2} times those without conflicts",
            self.instruction,
            self.frame.function,
            self.wavefronts,
            self.accesses,
            self.degree()
        )?;
        match self.frame.user_location() {
            Some(location) => write!(f, ", at {location}"),
            None => Ok(()),
        }
    }
}

impl BankConflicts {
    /// The instructions that accessed shared memory, those with the most superfluous wavefronts first. What several launches did at one
    /// instruction is counted together.
    pub fn sites(&self) -> Vec<ConflictSite> {
        let mut sites: Vec<ConflictSite> = Vec::new();
        let counts = lock(&self.counts);
        let mut keys: Vec<_> = counts.keys().collect();
        keys.sort();
        for count in keys.into_iter().map(|key| &counts[key]) {
            let same = |site: &&mut ConflictSite| {
                (&site.instruction, &site.frame) == (&count.instruction, &count.frame)
            };
            match sites.iter_mut().find(same) {
                Some(site) => site.add(count),
                None => sites.push(count.clone()),
            }
        }
        sites.sort_by_key(|site| std::cmp::Reverse(site.wavefronts - site.ideal));
        sites
    }
}

impl Observer for BankConflicts {
    fn access(&self, at: &At<'_>, access: &Access<'_>) {
        if access.shared == 0 {
            return;
        }
        let (mut wavefronts, mut ideal, mut worst) = (0, 0, 0);
        for lanes in parts(access.size) {
            let served = access.shared & lanes;
            if served != 0 {
                let longest = longest_bank(access, served);
                wavefronts += u64::from(longest);
                ideal += 1;
                worst = worst.max(longest);
            }
        }
        let mut counts = lock(&self.counts);
        let site = counts
            .entry((at.launch, at.function, at.instruction))
            .or_insert_with(|| ConflictSite {
                instruction: at.name().to_owned(),
                frame: at.frame(),
                accesses: 0,
                wavefronts: 0,
                ideal: 0,
                worst: 0,
            });
        site.accesses += 1;
        site.wavefronts += wavefronts;
        site.ideal += ideal;
        site.worst = site.worst.max(worst);
    }
}

/// The lanes that one wavefront may serve, for accesses of so many bytes a lane.
fn parts(size: u32) -> impl Iterator<Item = u32> {
    let words = size.div_ceil(WORD as u32).clamp(1, BANKS as u32);
    let lanes = BANKS as u32 / words.next_power_of_two();
    let part = u32::MAX >> (BANKS as u32 - lanes);
    (0..BANKS as u32 / lanes).map(move |number| part << (number * lanes))
}

/// What the fullest bank has to serve for these lanes: different words, or, if they are changed atomically, one for each lane.
fn longest_bank(access: &Access<'_>, lanes: u32) -> u32 {
    let mut banks: [Vec<u64>; BANKS] = std::array::from_fn(|_| Vec::new());
    for lane in (0..BANKS).filter(|lane| lanes >> lane & 1 != 0) {
        let first = access.addresses[lane] / WORD;
        let last = (access.addresses[lane] + u64::from(access.size.max(1)) - 1) / WORD;
        for word in first..=last {
            let bank = &mut banks[word as usize % BANKS];
            if access.kind == AccessKind::Atomic || !bank.contains(&word) {
                bank.push(word);
            }
        }
    }
    banks.iter().map(Vec::len).max().unwrap_or(0) as u32
}
