//! The faults that the tables and ptxas judge differently, and why.

use std::fmt;

/// Whose verdict is the milder one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// ptxas takes what the tables refuse.
    ByPtxas,
    /// The tables take what ptxas refuses.
    ByTables,
}

/// Faults that are judged differently.
#[derive(Debug)]
pub struct Known {
    taken: Taken,
    /// What their names begin with, separated by spaces.
    names: &'static str,
    /// Words of which they have one, separated by spaces; empty: any.
    words: &'static str,
    why: &'static str,
}

impl Known {
    /// Whether a statement that ptxas refuses, or does not, is one of them.
    pub fn is(&self, statement: &str, refused: bool) -> bool {
        let name = statement.split([' ', ';']).next().unwrap_or_default();
        let begins = |start: &str| {
            let rest = name.strip_prefix(start);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let has = |word: &str| name.split('.').any(|other| other == word);
        (self.taken == Taken::ByTables) == refused
            && self.names.split(' ').any(begins)
            && (self.words.is_empty() || self.words.split(' ').any(has))
    }
}

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.names)?;
        if !self.words.is_empty() {
            write!(f, " with one of `{}`", self.words)?;
        }
        let who = match self.taken {
            Taken::ByPtxas => "ptxas takes it",
            Taken::ByTables => "the tables take it",
        };
        write!(f, ": {who}: {}", self.why)
    }
}

const fn by_ptxas(names: &'static str, words: &'static str, why: &'static str) -> Known {
    Known {
        taken: Taken::ByPtxas,
        names,
        words,
        why,
    }
}

/// The faults that are judged differently.
pub static KNOWN: &[Known] = &[
    by_ptxas(
        "mma movmatrix wmma.load.c wmma.store.d",
        "b1 bf16 bf16x2 e4m3 e5m2 tf32 s2 s4 u2 u4",
        "of a type beyond those that its shape has, ptxas passes over the ones that stand for matrix elements alone",
    ),
    by_ptxas(
        "mma wmma wgmma.mma_async sust.b st.async",
        "v2 v4 v8",
        "a vector modifier says nothing here; ptxas takes one that happens to be the number of registers",
    ),
    by_ptxas(
        "mma",
        "and or xor rn rz rm rp",
        "operations and roundings say nothing for these types",
    ),
    by_ptxas(
        "mma",
        "s8 u8 f16 s32 f32 f64",
        "types in another order than the line's whose fragments are alike",
    ),
    by_ptxas(
        "cvt",
        "bf16 f16 bf16x2",
        "roundings and `.ftz` where nothing is rounded, and types that the manual has no conversion for",
    ),
    by_ptxas(
        "set",
        "f16 bf16 f16x2 bf16x2",
        "types of results that the manual lacks",
    ),
    by_ptxas(
        "fma",
        "rz rm rp",
        "half precision has no rounding but `.rn` in the manual",
    ),
    by_ptxas(
        "fence fence.proxy membar.proxy",
        "",
        "spaces, orders and restrictions that say nothing for this kind of fence",
    ),
    by_ptxas(
        "cp.async.bulk",
        "weak",
        "the manual knows no `.weak` copies",
    ),
    by_ptxas(
        "vset vset2 vset4",
        "lo ls hi hs",
        "comparisons of unsigned integers under their old names",
    ),
    by_ptxas("testp", "", "ptxas takes a test of nothing"),
    by_ptxas("prefetch", "", "a priority without a state space"),
    by_ptxas(
        "wmma.load.c wmma.store.d",
        "m16n16k8",
        "types that the manual lacks for this shape",
    ),
    by_ptxas(
        "ld st",
        "v4 v8",
        "256-bit accesses with old cache operators, `.volatile` or narrow elements: of architectures that are not executed",
    ),
    by_ptxas(
        "red.async st.async",
        "",
        "asynchronous reductions and stores that are weak: of architectures that are not executed",
    ),
    by_ptxas(
        "tex tex.base tex.level",
        "",
        "geometries and operands that the manual lacks; textures are not executed",
    ),
    by_ptxas(
        "wgmma.fence::before_thread_sync wgmma.fence::after_thread_sync barrier.cluster.wait::ld barrier.cluster.wait::st",
        "",
        "ptxas reads no further than the colons",
    ),
];
