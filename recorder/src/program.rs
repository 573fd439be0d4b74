//! A kernel to record, with its input.

use std::fmt::Write as _;

/// The PTX version of the modules: the newest that every driver of CUDA 13 takes.
pub const VERSION: &str = "9.0";
/// Their target.
pub const TARGET: &str = "sm_90a";

/// A kernel of two parameters, the addresses of its input and of its output.
#[derive(Clone, Debug)]
pub struct Program {
    /// What it shows: the instruction with its operands. Unique in its family.
    pub name: String,
    /// Its statements, from the registers' declarations on. `%in` and `%out` hold the addresses, `%t` the number of the thread in the grid.
    pub body: String,
    /// The input.
    pub input: Vec<u8>,
    /// How many bytes it writes.
    pub output_bytes: usize,
    /// Blocks of the grid.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// How the output is made up, for compression and for telling where it differs.
    pub columns: Vec<Column>,
}

/// Values of one kind, one behind the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Bytes of a value.
    pub width: usize,
    /// Values.
    pub count: usize,
    /// Whether each nearly follows from the two before: such values are kept as what they differ by.
    pub is_smooth: bool,
}

impl Column {
    /// Values of this width in bytes.
    pub fn new(width: usize, count: usize) -> Column {
        Column {
            width,
            count,
            is_smooth: false,
        }
    }

    /// Its bytes.
    pub fn bytes(&self) -> usize {
        self.width * self.count
    }
}

/// Programs that are recorded in one file.
#[derive(Clone, Debug)]
pub struct Family {
    /// The file's name.
    pub name: &'static str,
    /// The programs.
    pub programs: Vec<Program>,
}

/// A module with these programs, as the kernels `k0`, `k1` and so on.
pub fn module(programs: &[&Program]) -> String {
    let mut text = format!(".version {VERSION}\n.target {TARGET}\n.address_size 64\n");
    for (number, program) in programs.iter().enumerate() {
        let _ = write!(
            text,
            "// {}\n.visible .entry k{number}(.param .u64 in, .param .u64 out)\n{{\n\
             .reg .b64 %in, %out;\n.reg .b32 %t, %t1, %t2;\n\
             ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\n\
             mov.u32 %t, %ctaid.x;\nmov.u32 %t1, %ntid.x;\nmov.u32 %t2, %tid.x;\n\
             mad.lo.u32 %t, %t, %t1, %t2;\n{}ret;\n}}\n",
            program.name, program.body
        );
    }
    text
}

impl Program {
    /// A number that tells inputs and kernels apart: results are compared only where it is the same as when they were recorded.
    pub fn fingerprint(&self) -> u64 {
        // FNV-1a.
        let parts = [self.body.as_bytes(), &self.input];
        let bytes = parts.into_iter().flatten();
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }

    /// The operands of an input, where the program reads an array for each: told by its loads.
    pub fn inputs(&self, case: usize) -> Vec<u64> {
        let cases = self.columns.first().map_or(1, |column| column.count);
        let threads = (self.blocks * self.threads) as usize;
        if cases != threads || self.input.is_empty() {
            return Vec::new();
        }
        let loads = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("ld.global.b"));
        let widths: Vec<usize> = loads
            .filter_map(|rest| rest.split_once(' ')?.0.parse::<usize>().ok())
            .map(|bits| bits / 8)
            .collect();
        if widths.iter().sum::<usize>() * cases != self.input.len() {
            return Vec::new();
        }
        let mut at = 0;
        widths
            .iter()
            .map(|&width| {
                let value = value(&self.input, at + case * width, width);
                at += width * cases;
                value
            })
            .collect()
    }
}

/// The value of so many bytes at this place.
pub fn value(bytes: &[u8], at: usize, width: usize) -> u64 {
    let mut word = [0; 8];
    word[..width].copy_from_slice(&bytes[at..at + width]);
    u64::from_le_bytes(word)
}
