//! The faults that we and ptxas judge differently, and why.

use std::fmt;

/// Whose verdict is the milder one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// ptxas takes what we refuse.
    ByPtxas,
    /// We take what ptxas refuses.
    ByUs,
}

/// Faults that are judged differently.
#[derive(Debug)]
pub struct Known {
    taken: Taken,
    /// What their names begin with, separated by spaces.
    names: &'static str,
    /// Words of which they have one, separated by spaces; empty: any.
    words: &'static str,
    /// Operands of which they have one, or of declarations parts of the text, with `|` between them; empty: any.
    operands: &'static str,
    /// What the one that refuses them says, with `|` between sentences of which one is part of it; empty: anything.
    said: &'static str,
    why: &'static str,
}

impl Known {
    /// Whether a statement that ptxas refuses, or else we, is one of them; what is said of it.
    pub fn is(&self, statement: &str, said: &str, refused: bool) -> bool {
        let statement = statement.trim_end_matches(';');
        let (name, operands) = statement.split_once(' ').unwrap_or((statement, ""));
        let is_instruction = name.starts_with(|first: char| first.is_ascii_alphabetic());
        let operands = if is_instruction { operands } else { statement };
        let begins = |start: &str| {
            let rest = name.strip_prefix(start);
            start == "*" || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let has = |word: &str| name.split('.').any(|other| other == word);
        (self.taken == Taken::ByUs) == refused
            && self.names.split(' ').any(begins)
            && (self.words.is_empty() || self.words.split(' ').any(has))
            && (self.operands.is_empty()
                || self.operands.split('|').any(|one| operands.contains(one)))
            && (self.said.is_empty() || self.said.split('|').any(|one| said.contains(one)))
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
        if !self.said.is_empty() {
            write!(f, ", of which is said `{}`", self.said)?;
        }
        let who = match self.taken {
            Taken::ByPtxas => "ptxas takes it",
            Taken::ByUs => "we take it",
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
        said: "",
        why,
    }
}

const fn by_us(names: &'static str, words: &'static str, why: &'static str) -> Known {
    Known {
        taken: Taken::ByUs,
        ..by_ptxas(names, words, why)
    }
}

impl Known {
    const fn saying(mut self, said: &'static str) -> Known {
        self.said = said;
        self
    }

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
        "and or xor",
        "of integers of 4 bits an operation says nothing: ptxas makes the same code with and without it",
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
        "geometries and operands that the manual lacks",
    ),
    by_ptxas(
        "wgmma.fence::before_thread_sync wgmma.fence::after_thread_sync barrier.cluster.wait::ld barrier.cluster.wait::st",
        "",
        "ptxas reads no further than the colons",
    ),
];

/// The faults in operands that are judged differently.
pub static OPERANDS: &[Known] = &[
    by_ptxas(
        "*",
        "",
        "generic access to a variable of shared or local memory, which ptxas makes an access to that space",
    )
    .saying("needs its state space in the instruction"),
    by_ptxas(
        "*",
        "",
        "a global or generic address in a register of 32 bits reaches nothing that a program has",
    )
    .saying("a global or generic address has 64 bits"),
    by_ptxas("*", "", "ptxas takes a function's name for a number").with("fn").saying("is no register|Result register|Vector expected|vector size mismatch|of type unexpected"),
    by_ptxas(
        "*",
        "",
        "ptxas takes a variable's name with an offset for a number",
    )
    .with("gv+4").saying("found another operand|Result register|Vector expected|vector size mismatch|State space mismatch"),
    by_ptxas(
        "*",
        "",
        "an address of 16 bits reaches nothing that a program has",
    )
    .with("[%h2]").saying("found an address in a `.b16` register"),
    by_ptxas(
        "vadd vsub vmin vmax vabsdiff vshl vshr vmad vset",
        "",
        "ptxas takes any operand for the result",
    ).saying("Result register required"),
    by_ptxas(
        "mma movmatrix stmatrix wmma wgmma.mma_async sust.b sust.p st.async",
        "",
        "ptxas does not look at the types of these operands",
    ),
    by_ptxas(
        "cp.async.bulk cp.reduce.async.bulk",
        "",
        "ptxas takes addresses without brackets",
    ).saying("expected an address|State space mismatch|expected a number of groups"),
    by_ptxas(
        "cvt cvt.pack createpolicy tex.level txq.level suld.b sured.b",
        "",
        "ptxas takes wider registers, and vectors",
    ).saying("is a `.|in braces|has another width|vector size mismatch|Vector operand|takes|found an address"),
    by_ptxas(
        "mov",
        "",
        "ptxas takes constants and addresses for parts in braces",
    ).saying("must be register|has 64 bits|Vector operand|is a `.|Predicate output"),
    by_ptxas(
        "and or xor not set setp lop3 bar barrier mbarrier vote",
        "",
        "ptxas takes packed halves, `_` and vectors for predicates",
    ).saying("in braces|is a `.|Predicate output|Barrier number|truth table|discard mode|negated predicate"),
    by_ptxas("fns", "", "ptxas does not look at the type of the offset").saying("is a `.|floating-point constant"),
    by_ptxas(
        "multimem.red red.async red atom cp.async.mbarrier.arrive isspacep call",
        "",
        "ptxas takes `_` for an address or a vector, local memory for a barrier, and registers of other widths",
    ).saying("discard mode|State space mismatch|operands, found|is a `.|Label expected|Predicate output"),
    by_ptxas("fence.proxy", "", "ptxas does not look at the address").with("[%|[16]|[cv]|[p]|[q]"),
    by_ptxas(
        "clusterlaunchcontrol.try_cancel.async",
        "",
        "ptxas does not look at the state space of the result",
    )
    .with("[gv]|[lv]")
    .saying("State space mismatch"),
    by_ptxas("wgmma.wait_group", "", "of a constant of more than 32 bits ptxas takes what fits")
        .with("4294967296")
        .saying("expected to be non-negative integer"),
    by_ptxas("cp.async.wait_group", "", "more groups than a thread can have")
        .with("-1|65536|4294967295|4294967296")
        .saying("expected a number of groups"),
    by_ptxas("testp", "", "a second result that is discarded")
        .with("%p1|_")
        .saying("Predicate output not allowed"),
    by_ptxas("slct", "", "a pair of halves as an integer")
        .with("%hx1")
        .saying("is a `.f16x2` register"),
    by_ptxas("tld4", "", "an operand that the manual lacks")
        .saying("takes 2 operands"),
    by_us(
        "mapa getctarank",
        "",
        "the state space of a variable's name with an offset is not looked at",
    )
    .with("gv+4")
    .saying("State space mismatch"),
    by_us(
        "dp2a dp4a nanosleep tcgen05.dealloc",
        "",
        "ptxas takes fewer registers and names for these integers than for others",
    )
    .with("%hx1|%f1|0f3F800000|fn")
    .saying("Arguments mismatch"),
    by_us("pmevent", "", "an event that ptxas stumbles over")
        .with("65536")
        .saying("(null)"),
    by_ptxas(
        "tensormap.replace tex ldmatrix sured.p",
        "",
        "ptxas takes constants and registers of other types",
    ).saying("operands, found|in braces|Vector of size|is a `."),
    by_us(
        "call brx.idx",
        "",
        "whether a call fits its function is judged when it is lowered",
    ).saying("Call target not recognized|Call has wrong number"),
    by_us(
        "createpolicy mbarrier",
        "",
        "a result of 64 bits in a floating-point register",
    )
    .with("%df1"),
    by_ptxas("ld ldu st", "", "ptxas takes braces around one register").saying("in braces|is a `.|State space mismatch"),
    by_ptxas(
        "clusterlaunchcontrol.query_cancel",
        "",
        "ptxas takes constants and vectors for a result of 128 bits",
    ).saying("in braces|is a `.|Predicate output"),
    by_us(
        "wgmma.mma_async ldmatrix stmatrix wmma.mma",
        "",
        "the number of registers follows from the shape, and of wgmma the constants from the types: the simulator refuses others \
         when it reads them",
    ),
    by_us(
        "tex tex.base tex.level tld4 txq txq.level suq suld.b sust.b sust.p sured.b sured.p prefetchu cp.async.bulk.tensor cp.async.bulk.prefetch.tensor cp.reduce.async.bulk.tensor",
        "",
        "the number and type of coordinates follow from the geometry: the simulator refuses others when it reads them",
    ),
    by_us(
        "set setp",
        "bf16 bf16x2",
        "a constant predicate, which the simulator gives its meaning",
    ),
    by_us(
        "add sub min max",
        "u16x2 s16x2",
        "constants for packed halves",
    ),
    by_us(
        "tensormap.replace",
        "",
        "which constants a field may have depends on the field",
    ),
    by_us(
        "cvt cvt.pack mov redux match shfl setp",
        "",
        "special registers, braces and second results that depend on the types",
    ),
];

/// The declarations that are judged differently.
pub static DECLARATIONS: &[Known] = &[
    by_us(
        "*",
        "",
        "the simulator has no textures: it refuses them by name, whatever else is wrong",
    )
    .with("texref|samplerref|surfref|.tex ")
    .saying("exture|texmode|No variable storage|in .param state space|Deprecated feature: '.tex"),
    by_us(
        "*",
        "",
        "what is declared, defined nowhere and not used need not be there",
    )
    .saying("Unresolved extern"),
    by_ptxas(
        "*",
        "",
        "ptxas takes an external variable whose size it knows for one of this module",
    )
    .with(".extern .global .b32 x; {|.extern .global .b64 x; {")
    .saying("Unresolved extern variable"),
    by_us("*", "", "ptxas crashes")
        .with(".align 1073741824|{x, x}|st.param.u32 [x]")
        .saying("ptxas crashed"),
    by_us("*", "", "ptxas forgets an alias as soon as its name stands for a number")
        .with(".alias x, g;")
        .saying("Internal error: alias to unknown symbol"),
    by_ptxas(
        "*",
        "",
        "ptxas takes the low bits of an address that is a part of a vector, or that of a constant",
    )
    .with("{x, x}|.const .b32 x;")
    .saying("the address of `x` has 64 bits"),
    by_ptxas(
        "*",
        "",
        "an address of 16 or 32 bits reaches nothing that a program has",
    )
    .with("ld.const.u32 %r1, [x]|[%h1]")
    .saying("has 64 bits|an address of 32 or 64 bits"),
    by_ptxas("*", "", "an access beyond a parameter, which ptxas does not look at")
        .with("[a+4]|st.param.b64 [a]|[p+-8]|[p+4]|[p+8]")
        .saying("an access of"),
    by_ptxas("*", "", "ptxas takes a declaration without a name")
        .with(".b32;")
        .saying("Parsing error near ';': syntax error: expected a name"),
    by_ptxas("*", "", "ptxas takes an external function without its semicolon")
        .with(".extern .func (.reg .b32 r) f()|.extern .func f()")
        .saying("Parsing error near '.visible'|Parsing error near '.pragma'"),
    by_ptxas("*", "", "ptxas takes `.target` again and again")
        .with(".target sm_90a .target sm_90a|{ .target sm_90a }")
        .saying("Parsing error near '.target'"),
    by_ptxas("*", "", "an element of an array as an operand")
        .with("x[1];")
        .saying("Parsing error near '['"),
    by_ptxas("*", "", "a product as the offset of an address")
        .with("[%d1+4*4]")
        .saying("Parsing error near '*'"),
    by_ptxas(
        "*",
        "",
        "numbers beyond 64 bits, of which ptxas takes what fits",
    )
    .with("18446744073709551616|99999999999999999999|0x1ffffffffffffffff")
    .saying("is not a number"),
    by_ptxas("*", "", "ptxas takes floating-point constants for bytes and for 128 bits")
        .with(".b8 x|.b128 x")
        .saying("a floating-point constant does not fit"),
    by_ptxas("*", "", "ptxas takes lists for a pair of halves")
        .with(".f16x2 x")
        .saying("Initial value type mismatch"),
    by_ptxas(
        "*",
        "",
        "generic access to a variable of shared or local memory, which ptxas makes an access to that space",
    )
    .with("ld.u32 %r1, [x]")
    .saying("needs its state space in the instruction"),
    by_ptxas("*", "", "a register with an offset as an operand")
        .with("x+4|%r2+1")
        .saying("a register plus a constant is not an operand here"),
    by_ptxas("*", "", "an empty list of results")
        .with("call (), none;")
        .saying("found a list in parentheses"),
    by_ptxas("*", "", "an address of a function in 32 bits")
        .with("call %r1, (%r1), P")
        .saying("`%r1` is a `.b32` register"),
    by_ptxas(
        "*",
        "",
        "a parameter of unknown size, of a function that may be called with any number of arguments",
    )
    .with("a[])|b[])")
    .saying("the size of"),
    by_ptxas("*", "", "a parameter of a kernel without a name")
        .with(".entry f(.param .b32 _)")
        .saying("Illegal parameter name"),
    by_ptxas("*", "", "a label of the name of a register of a range, or a register before its range")
        .with("%r1: E:|.reg .b32 x0; .reg .b32 x<4>;")
        .saying("Duplicate definition of variable"),
    by_ptxas("*", "", "a special predicate as a guard, and a register's number with a zero in front")
        .with("@%is_explicit_cluster|%r01")
        .saying("Unknown symbol"),
    by_ptxas("*", "", "a list of branch targets that names itself")
        .with("T: .branchtargets T;")
        .saying("'T'"),
    by_us(
        "*",
        "",
        "whether an indirect call fits its prototype is judged when it is executed",
    )
    .with("call %d1|call (%r1), %d1")
    .saying("Call target|Call has wrong|call target|of argument does not match|.u32/.u64/.u8 array expected|Unknown symbol"),
    by_us("*", "", "the address of a function with an offset")
        .with("x+4|none+4")
        .saying("in arithmetic expressions"),
    by_us("*", "", "the addresses of functions and of dynamic shared memory as parts of a vector")
        .with("{x, x}")
        .saying("Illegal expression"),
    by_us("*", "", "the order of accesses to what a call passes")
        .with("ld.param|st.param")
        .saying("Function call sequence|Illegal to read|Illegal to write"),
    by_us("*", "", "a device of the simulator has room for more parameters")
        .with("a[32765]")
        .saying("too much parameter space"),
    by_us("*", "", "debug information of which nothing is read")
        .with(".b8 256|.banana 1")
        .saying("Value out of range|Parsing error near '.banana'"),
    by_us("*", "", "hints and attributes that change nothing of what is computed")
        .with(".pragma \"banana\"|.unified(1, 2)|.local_maxnreg 32")
        .saying("Pragma|command line option|Parsing error near ';'"),
    by_us("*", "", "special registers and vectors as arguments of a call")
        .with("call one, (%tid.x)|call one, ({%r1})")
        .saying("Parsing error near"),
];
