//! Lowered code: what the interpreter runs.

use super::dataflow::Dataflow;
use super::fault::{Frame, SourceLocation};
use super::instruction::Inst;
use super::memory::Aligned;
use super::slot::Slot;
use super::source::SourceEntry;

/// Registers that a call passes: an offset in the frame (or the constants), and bytes for each lane (0: a predicate).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passed {
    pub offset: u32,
    pub bytes: u32,
}

/// A call.
#[derive(Debug, Default)]
pub(crate) struct CallSite {
    /// The function's number, or `None` for an indirect call.
    pub callee: Option<u32>,
    /// The runtime function's name, if it is one.
    pub runtime: Option<String>,
    pub arguments: Vec<Passed>,
    pub results: Vec<Passed>,
}

/// What instructions do that a launch prepares for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Uses {
    /// They access memory by the asynchronous proxy.
    pub async_proxy: bool,
    /// They initialise mbarriers.
    pub mbarriers: bool,
    /// They order grids that overlap.
    pub grid_order: bool,
    /// They launch graphs.
    pub graph_launches: bool,
}

impl std::ops::BitOrAssign for Uses {
    fn bitor_assign(&mut self, other: Uses) {
        self.async_proxy |= other.async_proxy;
        self.mbarriers |= other.mbarriers;
        self.grid_order |= other.grid_order;
        self.graph_launches |= other.graph_launches;
    }
}

/// A function.
#[derive(Debug, Default)]
pub(crate) struct Function {
    pub name: String,
    /// The instructions; the last one leaves the function.
    pub code: Vec<Inst>,
    /// Operand lists of instructions with many.
    pub lists: Vec<u32>,
    /// Constants, each in 32 equal lanes.
    pub constants: Aligned,
    /// Size of the register frame.
    pub frame_bytes: u32,
    /// The places of registers in the frame. None overlaps another.
    pub registers: Vec<Passed>,
    /// Registers that may be read before they are written, as (offset, bytes): they start as zero.
    pub zeroed: Vec<(u32, u32)>,
    pub local_bytes: u32,
    pub local_align: u32,
    /// What its instructions do.
    pub uses: Uses,
    pub calls: Vec<CallSite>,
    pub formals: Vec<Passed>,
    pub returns: Vec<Passed>,
    /// For each instruction: its operands, and how its results depend on them.
    pub declared: Vec<(&'static [Slot], Dataflow)>,
    /// For each instruction: its `.loc` (index into the program's locations + 1, or 0) and its PTX line.
    pub places: Vec<(u32, u32)>,
    /// For each instruction: its name, as an index into `names`.
    pub name_of: Vec<u16>,
    pub names: Vec<String>,
}

impl Function {
    /// Whether it takes and gives what a call site passes.
    pub fn takes(&self, site: &CallSite) -> bool {
        let fits = |given: &[Passed], own: &[Passed]| {
            given.len() == own.len() && given.iter().zip(own).all(|(a, b)| a.bytes == b.bytes)
        };
        fits(&site.arguments, &self.formals) && fits(&site.results, &self.returns)
    }

    /// The name of an instruction.
    pub fn instruction_name(&self, pc: u32) -> &str {
        let number = self.name_of.get(pc as usize).copied().unwrap_or(0);
        self.names
            .get(usize::from(number))
            .map_or("?", String::as_str)
    }
}

/// A static shared variable, for reports.
#[derive(Clone, Debug)]
pub(crate) struct SharedVariable {
    pub name: String,
    pub address: u32,
    pub size: u32,
    /// The kernels in which it has this address.
    pub kernels: Vec<u32>,
}

/// A module's code.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub functions: Vec<Function>,
    pub locations: Vec<SourceEntry>,
    pub shared: Vec<SharedVariable>,
}

/// Bits of a site that are the instruction's number in its function.
const SITE_BITS: u32 = 20;

impl Program {
    /// A number for an instruction of one of the program's functions.
    #[inline]
    pub fn site(function: u32, pc: u32) -> u32 {
        function << SITE_BITS | pc & ((1 << SITE_BITS) - 1)
    }

    /// The name of an instruction.
    pub fn instruction_name(&self, function: u32, pc: u32) -> &str {
        self.functions[function as usize].instruction_name(pc)
    }

    /// The name of the instruction at a site.
    pub fn site_name(&self, site: u32) -> &str {
        let (function, pc) = Program::site_parts(site);
        self.functions
            .get(function as usize)
            .map_or("?", |function| function.instruction_name(pc))
    }

    /// The function and the instruction of a site.
    pub fn site_parts(site: u32) -> (u32, u32) {
        (site >> SITE_BITS, site & ((1 << SITE_BITS) - 1))
    }

    /// The function and the source location of a site.
    pub fn site_frame(&self, site: u32) -> Option<Frame> {
        let (function, pc) = Program::site_parts(site);
        let function = self.functions.get(function as usize)?;
        Some(self.frame(function, pc))
    }

    /// Bytes of local memory that a function and its deepest chain of calls need; recursion counts once, and what an
    /// indirect call reaches does not count.
    pub fn local_bytes(&self, function: u32) -> u32 {
        fn deepest(
            program: &Program,
            number: u32,
            path: &mut Vec<u32>,
            known: &mut [Option<u32>],
        ) -> u32 {
            if let Some(bytes) = known[number as usize] {
                return bytes;
            }
            if path.contains(&number) {
                return 0;
            }
            path.push(number);
            let function = &program.functions[number as usize];
            let calls = function.calls.iter().filter_map(|call| call.callee);
            let below = calls
                .map(|callee| deepest(program, callee, path, known))
                .max()
                .unwrap_or(0);
            path.pop();
            let bytes = function
                .local_bytes
                .next_multiple_of(16)
                .saturating_add(below);
            known[number as usize] = Some(bytes);
            bytes
        }
        deepest(
            self,
            function,
            &mut Vec::new(),
            &mut vec![None; self.functions.len()],
        )
    }

    /// What the instructions do that a function can come to, by its calls too. An indirect call may come to any function.
    pub fn uses(&self, function: u32) -> Uses {
        let mut uses = Uses::default();
        let (mut reached, mut rest) = (vec![false; self.functions.len()], vec![function]);
        while let Some(number) = rest.pop() {
            if std::mem::replace(&mut reached[number as usize], true) {
                continue;
            }
            let function = &self.functions[number as usize];
            uses |= function.uses;
            for call in &function.calls {
                match call.callee {
                    Some(callee) => rest.push(callee),
                    None if call.runtime.is_some() => {}
                    None => rest.extend(0..self.functions.len() as u32),
                }
            }
        }
        uses
    }

    /// A function and the source location of one of its instructions, with the calls that were inlined around it.
    pub fn frame(&self, function: &Function, pc: u32) -> Frame {
        let Some(&(number, ptx_line)) = function.places.get(pc as usize) else {
            return Frame {
                function: function.name.clone(),
                ..Frame::default()
            };
        };
        let entry = match number {
            0 => SourceEntry {
                location: SourceLocation {
                    line: ptx_line,
                    ..SourceLocation::default()
                },
                inlined: Vec::new(),
            },
            n => self.locations[n as usize - 1].clone(),
        };
        Frame {
            function: function.name.clone(),
            location: Some(SourceLocation {
                ptx_line,
                ..entry.location
            }),
            inlined: entry.inlined,
        }
    }
}
