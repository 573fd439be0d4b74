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
    /// Operands of which they have one, with `|` between them; empty: any.
    operands: &'static str,
    why: &'static str,
}

impl Known {
    /// Whether a statement that ptxas refuses, or does not, is one of them.
    pub fn is(&self, statement: &str, refused: bool) -> bool {
        let statement = statement.trim_end_matches(';');
        let (name, operands) = statement.split_once(' ').unwrap_or((statement, ""));
        let begins = |start: &str| {
            let rest = name.strip_prefix(start);
            start == "*" || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let has = |word: &str| name.split('.').any(|other| other == word);
        (self.taken == Taken::ByTables) == refused
            && self.names.split(' ').any(begins)
            && (self.words.is_empty() || self.words.split(' ').any(has))
            && (self.operands.is_empty()
                || self.operands.split('|').any(|one| operands.contains(one)))
    }
}

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.names)?;
        if !self.words.is_empty() {
            write!(f, " with one of `{}`", self.words)?;
        }
        if !self.operands.is_empty() {
            write!(f, " with one of the operands `{}`", self.operands)?;
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
        operands: "",
        why,
    }
}

const fn by_tables(names: &'static str, words: &'static str, why: &'static str) -> Known {
    Known {
        taken: Taken::ByTables,
        ..by_ptxas(names, words, why)
    }
}

impl Known {
    const fn with(mut self, operands: &'static str) -> Known {
        self.operands = operands;
        self
    }
}

/// The faults in modifiers that are judged differently.
pub static MODIFIERS: &[Known] = &[
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

/// The faults in operands that are judged differently.
pub static OPERANDS: &[Known] = &[
    by_ptxas("*", "", "ptxas takes a function's name for a number").with("fn"),
    by_ptxas(
        "*",
        "",
        "ptxas takes a variable's name with an offset for a number",
    )
    .with("gv+4"),
    by_ptxas(
        "*",
        "",
        "an address of 16 bits reaches nothing that a program has",
    )
    .with("[%h2]"),
    by_ptxas(
        "vadd vsub vmin vmax vabsdiff vshl vshr vmad vset",
        "",
        "ptxas takes any operand for the result",
    ),
    by_ptxas(
        "mma movmatrix stmatrix wmma wgmma.mma_async sust.b sust.p st.async",
        "",
        "ptxas does not look at the types of these operands",
    ),
    by_ptxas(
        "cp.async.bulk cp.reduce.async.bulk",
        "",
        "ptxas takes addresses without brackets",
    ),
    by_ptxas(
        "cvt cvt.pack createpolicy tex.level txq.level suld.b sured.b",
        "",
        "ptxas takes wider registers, and vectors",
    ),
    by_ptxas(
        "mov",
        "",
        "ptxas takes constants and addresses for parts in braces",
    ),
    by_ptxas(
        "and or xor not set setp lop3 bar barrier mbarrier vote",
        "",
        "ptxas takes packed halves, `_` and vectors for predicates",
    ),
    by_ptxas("fns", "", "ptxas does not look at the type of the offset"),
    by_ptxas(
        "multimem.red red.async red atom cp.async.mbarrier.arrive isspacep call",
        "",
        "ptxas takes `_` for an address or a vector, local memory for a barrier, and registers of other widths",
    ),
    by_ptxas("fence.proxy", "", "ptxas does not look at the address").with("[%"),
    by_ptxas(
        "getctarank mapa",
        "",
        "ptxas takes a shared variable's name for its address",
    )
    .with("sv"),
    by_ptxas(
        "tensormap.replace tex ldmatrix sured.p",
        "",
        "ptxas takes constants and registers of other types",
    ),
    by_tables(
        "call brx.idx",
        "",
        "whether a call fits its function is judged when it is lowered",
    ),
    by_tables(
        "createpolicy.fractional createpolicy.range mbarrier",
        "",
        "a result of 64 bits in a floating-point register",
    )
    .with("%df1"),
    by_ptxas("ld ldu st", "", "ptxas takes braces around one register"),
    by_ptxas(
        "clusterlaunchcontrol.query_cancel",
        "",
        "ptxas takes constants and vectors for a result of 128 bits",
    ),
    by_tables(
        "wgmma.mma_async ldmatrix stmatrix wmma.mma",
        "",
        "the number of registers follows from the shape, and of wgmma the constants from the types: the simulator refuses others \
         when it reads them",
    ),
    by_tables(
        "tex tex.base tex.level tld4 txq txq.level suq suld.b sust.b sust.p sured.b sured.p prefetchu cp.async.bulk.tensor cp.async.bulk.prefetch.tensor cp.reduce.async.bulk.tensor",
        "",
        "the number and type of coordinates follow from the geometry: the simulator refuses others when it reads them",
    ),
    by_tables(
        "set setp",
        "bf16 bf16x2",
        "a constant predicate, which the simulator gives its meaning",
    ),
    by_tables(
        "add sub min max",
        "u16x2 s16x2",
        "constants for packed halves",
    ),
    by_tables(
        "tensormap.replace",
        "",
        "which constants a field may have depends on the field",
    ),
    by_tables(
        "vmad",
        "",
        "which sources are negated depends on the others, and none is a pair: the simulator refuses them when it reads them",
    ),
    by_tables(
        "cvt cvt.pack mov redux match shfl setp",
        "",
        "special registers, braces and second results that depend on the types",
    ),
];
