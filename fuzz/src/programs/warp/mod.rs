//! Random programs of warps: shuffles, votes, matches and reductions of some lanes, barriers of the block, in divergent branches,
//! loops, matches, and calls that are inlined or not.
//!
//! A program is a module with `pub fn program<W: Lanes>(w: &mut W, m: u32, u: &[u32; 4], x: u32, y: u32) -> u32`: `m` are the lanes
//! that the warp has, `u` is the same for all threads, `x` and `y` are each thread's own. Everywhere in it the lanes that are there
//! are known as a mask, by a ballot before each divergent branch.

mod compare;
mod rounds;

pub use rounds::{replay, round};

use std::fmt::Write as _;

use warpsmith_testkit::Random;

use crate::choose::Choose;

/// How many times what is in loops may run.
const MOST_TIMES: u32 = 200;

/// Which threads execute the code at hand.
#[derive(Clone)]
struct Lanes {
    /// The variable with the mask of its lanes.
    mask: String,
    /// All threads of the block that have not ended.
    whole_block: bool,
    /// None of the block has ended.
    all_alive: bool,
}

/// A function that what follows may call.
#[derive(Clone)]
struct Function {
    name: String,
    /// It has barriers of the block.
    of_block: bool,
    cost: u32,
}

struct Generator<'r> {
    random: &'r mut Random,
    functions: Vec<Function>,
    /// Variables that may be read; those that may be written come first.
    variables: Vec<String>,
    /// Those that may be written.
    mutable: Vec<String>,
    next: u32,
    /// How often the code at hand runs in a call of its function, about.
    times: u32,
    /// How many calls and operations of warps the function at hand makes.
    cost: u32,
    /// Whether threads may end here: in the program itself, outside of loops.
    may_end: bool,
}

/// The text of a random program.
pub fn program(random: &mut Random) -> String {
    let mut generator = Generator {
        random,
        functions: Vec::new(),
        variables: Vec::new(),
        mutable: Vec::new(),
        next: 0,
        times: 1,
        cost: 0,
        may_end: false,
    };
    let mut text = String::from("use crate::lanes::*;\n");
    for _ in 0..generator.random.within(1..5) {
        text += "\n";
        text += &generator.function();
    }
    generator.begin();
    generator.may_end = true;
    text += "\npub fn program<W: Lanes>(w: &mut W, m: u32, u: &[u32; 4], mut x: u32, mut y: u32) -> u32 {\n    let lane = w.lane();\n";
    let mut lanes = Lanes {
        mask: "m".into(),
        whole_block: true,
        all_alive: true,
    };
    for _ in 0..2 {
        text += &generator.block(&mut lanes, 3, 1);
    }
    text + "    x ^ y.rotate_left(9)\n}\n"
}

impl Generator<'_> {
    fn begin(&mut self) {
        self.variables = ["x", "y", "lane"].map(String::from).to_vec();
        self.mutable = ["x", "y"].map(String::from).to_vec();
        (self.times, self.cost) = (1, 0);
    }

    /// A function that later ones, and the program, may call with any mask that holds.
    fn function(&mut self) -> String {
        self.begin();
        let name = format!("helper{}", self.functions.len());
        let of_block = self.random.percent(40);
        let attribute = *self.random.one_of(&[
            "",
            "#[inline(always)]\n",
            "#[inline(never)]\n",
            "#[inline(never)]\n",
        ]);
        let mut lanes = Lanes {
            mask: "m".into(),
            whole_block: of_block,
            all_alive: false,
        };
        let body = self.block(&mut lanes, 2, 1);
        let answer = self.expression(2);
        self.functions.push(Function {
            name: name.clone(),
            of_block,
            cost: self.cost + 1,
        });
        format!(
            "{attribute}fn {name}<W: Lanes>(w: &mut W, m: u32, u: &[u32; 4], mut x: u32, mut y: u32) -> u32 {{\n    \
             let lane = w.lane();\n{body}    {answer}\n}}\n"
        )
    }

    fn fresh(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    fn writable(&mut self) -> String {
        self.random.one_of(&self.mutable).clone()
    }

    /// A value of the thread's own.
    fn expression(&mut self, depth: u32) -> String {
        if depth == 0 || self.random.percent(20) {
            return match self.random.index(6) {
                0 => format!("{}u32", self.random.below(40)),
                1 => format!("u[{}]", self.random.index(4)),
                _ => self.random.one_of(&self.variables).clone(),
            };
        }
        let (left, right) = (self.expression(depth - 1), self.expression(depth - 1));
        if self.random.percent(60) {
            let method = *self.random.one_of(&[
                "wrapping_add",
                "wrapping_mul",
                "wrapping_sub",
                "rotate_left",
                "abs_diff",
                "max",
            ]);
            format!("({left}).{method}({right})")
        } else {
            let operator = *self.random.one_of(&["^", "&", "|"]);
            format!("(({left}) {operator} ({right}))")
        }
    }

    /// A condition that differs between lanes.
    fn condition(&mut self) -> String {
        match self.random.index(4) {
            0 => {
                let operator = *self.random.one_of(&["==", "!=", "<"]);
                let (modulus, with) = (self.random.within(2..6), self.random.within(1..3));
                format!("({}) % {modulus} {operator} {with}", self.expression(1))
            }
            1 => {
                let operator = *self.random.one_of(&["<", ">="]);
                format!("lane {operator} {}", self.random.within(1..31))
            }
            2 => format!(
                "(lane >> {}) & 1 == {}",
                self.random.index(5),
                self.random.index(2)
            ),
            _ => format!("({}) > ({})", self.expression(1), self.expression(1)),
        }
    }

    /// A condition that is the same for all threads of the block.
    fn common_condition(&mut self) -> String {
        let word = self.random.index(4);
        match self.random.index(2) {
            0 => format!("(u[{word}] >> {}) & 1 == 1", self.random.index(8)),
            _ => format!("u[{word}] % {} == 0", self.random.within(2..5)),
        }
    }

    /// Statements in a block of their own, for these lanes.
    fn inner(&mut self, lanes: &Lanes, depth: u32, indent: usize, times: u32) -> String {
        let (variables, mutable) = (self.variables.len(), self.mutable.len());
        let (before, may_end) = (self.times, self.may_end);
        self.times *= times;
        self.may_end = false;
        let text = self.block(&mut lanes.clone(), depth - 1, indent + 1);
        (self.times, self.may_end) = (before, may_end);
        self.variables.truncate(variables);
        self.mutable.truncate(mutable);
        text
    }

    fn block(&mut self, lanes: &mut Lanes, depth: u32, indent: usize) -> String {
        (0..self.random.within(2..5))
            .map(|_| self.statement(lanes, depth, indent))
            .collect()
    }

    fn statement(&mut self, lanes: &mut Lanes, depth: u32, indent: usize) -> String {
        let pad = "    ".repeat(indent);
        let m = lanes.mask.clone();
        let loops = depth > 0 && self.times * 8 <= MOST_TIMES;
        // What only some of the lanes execute.
        let some = |mask: String| Lanes {
            mask,
            whole_block: false,
            all_alive: false,
        };
        match self.random.index(18) {
            0..=4 => self.operation(lanes, &pad),
            5 => {
                let value = self.expression(2);
                let name = format!("v{}", self.fresh());
                self.variables.push(name.clone());
                self.mutable.push(name.clone());
                format!("{pad}let mut {name} = {value};\n")
            }
            6 | 7 if depth > 0 => {
                let n = self.fresh();
                let condition = self.condition();
                let yes = self.inner(&some(format!("m{n}")), depth, indent, 1);
                let no = self.inner(&some(format!("r{n}")), depth, indent, 1);
                format!(
                    "{pad}let c{n} = {condition};\n{pad}let m{n} = w.ballot({m}, c{n});\n{pad}let r{n} = {m} & !m{n};\n\
                     {pad}if c{n} {{\n{yes}{pad}}} else {{\n{no}{pad}}}\n"
                )
            }
            8 if depth > 0 => {
                let condition = self.common_condition();
                let yes = self.inner(lanes, depth, indent, 1);
                let no = self.inner(lanes, depth, indent, 1);
                format!("{pad}if {condition} {{\n{yes}{pad}}} else {{\n{no}{pad}}}\n")
            }
            9 if loops => {
                let times = self.random.within(1..7);
                let bound = match self.random.index(3) {
                    0 => format!("u[{}] % {}", self.random.index(4), times + 1),
                    _ => times.to_string(),
                };
                let index = format!("i{}", self.fresh());
                let variables = self.variables.len();
                self.variables.push(index.clone());
                let body = self.inner(lanes, depth, indent, times as u32);
                self.variables.truncate(variables);
                format!("{pad}for {index} in 0u32..{bound} {{\n{body}{pad}}}\n")
            }
            10 if loops => {
                // Lanes leave one after the other; those that stay know of each other.
                let n = self.fresh();
                let bound = match self.random.index(3) {
                    0 => "lane % 5".to_owned(),
                    1 => format!("({}) % 6", self.expression(1)),
                    _ => "3".to_owned(),
                };
                self.variables.push(format!("k{n}"));
                let body = self.inner(&some(format!("m{n}")), depth, indent, 4);
                self.variables.pop();
                format!(
                    "{pad}let mut m{n} = {m};\n{pad}let mut k{n} = 0u32;\n{pad}let b{n} = {bound};\n{pad}loop {{\n\
                     {pad}    let c{n} = k{n} < b{n};\n{pad}    let p{n} = w.ballot(m{n}, c{n});\n{pad}    if !c{n} {{ break; }}\n\
                     {pad}    m{n} = p{n};\n{pad}    k{n} += 1;\n{body}{pad}}}\n"
                )
            }
            11 if depth > 0 => {
                let n = self.fresh();
                let value = self.expression(2);
                let arms: String = ["0", "1", "2", "_"]
                    .iter()
                    .map(|arm| {
                        let body = self.inner(&some(format!("g{n}")), depth, indent + 1, 1);
                        format!("{pad}    {arm} => {{\n{body}{pad}    }}\n")
                    })
                    .collect();
                format!(
                    "{pad}let s{n} = ({value}) % 4;\n{pad}let g{n} = w.match_any({m}, s{n});\n{pad}match s{n} {{\n{arms}{pad}}}\n"
                )
            }
            12 => {
                // The groups make one call, each with its own mask.
                let n = self.fresh();
                let (value, groups) = (self.expression(1), self.random.within(2..5));
                let call = self.call(&some(format!("g{n}")));
                format!("{pad}let g{n} = w.match_any({m}, ({value}) % {groups});\n{pad}{call}\n")
            }
            13 => {
                // A closure that both arms call.
                let (n, v) = (self.fresh(), self.writable());
                let condition = self.condition();
                format!(
                    "{pad}let f{n} = |w: &mut W, a: u32, m: u32| w.shuffle(m, a, select(m, a)) ^ w.ballot(m, a & 1 == 0);\n\
                     {pad}let c{n} = {condition};\n{pad}let m{n} = w.ballot({m}, c{n});\n\
                     {pad}if c{n} {{ {v} = f{n}(w, {v}, m{n}); }} else {{ {v} = f{n}(w, {v}, {m} & !m{n}); }}\n"
                )
            }
            14 if self.may_end && self.random.percent(25) => {
                let n = self.fresh();
                let (condition, value) = (self.condition(), self.expression(1));
                lanes.mask = format!("m{n}");
                lanes.all_alive = false;
                format!(
                    "{pad}let c{n} = {condition};\n{pad}let m{n} = w.ballot({m}, !c{n});\n{pad}if c{n} {{ return {value}; }}\n"
                )
            }
            15 => {
                let (v, condition) = (self.writable(), self.condition());
                let (yes, no) = (self.expression(2), self.expression(2));
                format!("{pad}if {condition} {{ {v} = {yes}; }} else {{ {v} = alone({no}); }}\n")
            }
            _ => format!("{pad}{}\n", self.call(lanes)),
        }
    }

    /// A call of a function by these lanes; if there is none that can be called, an operation.
    fn call(&mut self, lanes: &Lanes) -> String {
        let functions: Vec<Function> = self
            .functions
            .iter()
            .filter(|f| (lanes.whole_block || !f.of_block) && f.cost * self.times <= MOST_TIMES)
            .cloned()
            .collect();
        if functions.is_empty() {
            return self.operation(lanes, "").trim_end().to_owned();
        }
        let function = self.random.one_of(&functions).clone();
        self.cost += self.times * function.cost;
        let (v, x, y) = (self.writable(), self.expression(1), self.expression(1));
        format!("{v} = {}(w, {}, u, {x}, {y});", function.name, lanes.mask)
    }

    /// Something that the lanes do together.
    fn operation(&mut self, lanes: &Lanes, pad: &str) -> String {
        self.cost += self.times;
        let m = &lanes.mask;
        let v = self.writable();
        let (e, f) = (self.expression(2), self.expression(1));
        let c = self.condition();
        let n = self.random.within(0..32);
        let text = match self.random.index(if lanes.whole_block { 22 } else { 17 }) {
            0 | 1 => format!("{v} = w.shuffle({m}, {e}, select({m}, {f}));"),
            2 => format!("w.shuffle({m}, {e}, select({m}, 1));"),
            3 => {
                let method = *self.random.one_of(&["up", "down", "butterfly"]);
                // Other lanes than those of the mask must not be read.
                format!("if {m} == u32::MAX {{ {v} = w.{method}({m}, {e}, {n}); }}")
            }
            4 | 5 => format!("{v} ^= w.ballot({m}, {c});"),
            6 => format!("if w.any({m}, {c}) {{ {v} = {v}.wrapping_mul(5); }}"),
            7 => format!("if w.all({m}, {c}) {{ {v} ^= 77; }}"),
            8 => format!("if w.uniform({m}, {c}) {{ {v} = {v}.rotate_left(3); }}"),
            9 => format!("{v} = {v}.wrapping_add(w.match_any({m}, ({e}) % 3));"),
            10 => format!("{v} = {v}.wrapping_add(w.match_all({m}, ({e}) % 2));"),
            11 => format!("{v} = {v}.wrapping_add(w.sum({m}, {e}));"),
            12 => format!("{v} = w.least({m}, {e}) ^ {f};"),
            13 => format!("{v} ^= w.greatest_signed({m}, {e});"),
            14 => format!("{v} = {v}.wrapping_sub(w.parity({m}, {e}));"),
            15 => format!("w.sync({m});"),
            16 => format!("{v} = {v}.wrapping_add(w.elected({m}));"),
            17 => "w.block_sync();".to_owned(),
            18 => format!("{v} = {v}.wrapping_add(w.block_count({c}));"),
            19 => format!("if w.block_all({c}) {{ {v} = {v}.wrapping_mul(3); }}"),
            20 => format!("if w.block_any({c}) {{ {v} ^= {f}; }}"),
            _ if lanes.all_alive => format!("{v} ^= w.exchange({e}, {f});"),
            _ => "w.block_sync();".to_owned(),
        };
        let mut line = String::new();
        let _ = writeln!(line, "{pad}{text}");
        line
    }
}
