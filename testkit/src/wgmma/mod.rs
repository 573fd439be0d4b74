//! Kernels with `wgmma` products, and how their matrices lie in shared memory and in registers: written from the
//! manual's figures, apart from the simulator's own idea of them.
//!
//! A product is D = A * B + C of 64 rows, in steps of 32 bytes along k. Of a sparse A half of the elements are stored:
//! a step is 32 bytes of those, and 64 of B.

mod element;
mod kernel;

pub use element::{bits, encode};

/// Rows of A, C and D.
pub const ROWS: usize = 64;
/// Threads of the block.
pub const THREADS: usize = 128;
/// Bytes of a row of A that an instruction takes, and of a column of B if A is not sparse.
const STEP_BYTES: usize = 32;

/// Which elements of a factor follow one another in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Major {
    /// Those along k.
    K,
    /// Those of different rows of A or columns of B.
    Lines,
}

/// How a factor lies in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Bytes within which it is swizzled: 0, 32, 64 or 128.
    pub swizzle: usize,
    /// Which elements follow one another.
    pub major: Major,
}

/// 128 bytes of a row or column side by side, swizzled.
pub const ALONG_K: Placement = Placement {
    swizzle: 128,
    major: Major::K,
};

/// A product, and how the kernel computes it.
#[derive(Clone, Copy, Debug)]
pub struct Product {
    /// The type of A.
    pub a: &'static str,
    /// The type of B.
    pub b: &'static str,
    /// The type of C and D.
    pub d: &'static str,
    /// Columns of B.
    pub columns: usize,
    /// Where A is; `None` for registers.
    pub a_placement: Option<Placement>,
    /// Where B is.
    pub b_placement: Placement,
    /// `imm-scale-a` and `imm-scale-b`.
    pub scales: [i32; 2],
    /// `.satfinite`
    pub saturates: bool,
    /// Whether C is added.
    pub accumulates: bool,
    /// Instructions one after the other, each 32 bytes further along k.
    pub steps: usize,
    /// Computes the product a second time, into other registers and a group of its own, with C added if it is not the first time.
    pub twice: bool,
    /// Where A is sparse: which lanes have its metadata.
    pub selector: Option<u8>,
}

/// Where the units of a factor lie, 16 bytes each: the bytes from one to the next.
struct Strides {
    /// The leading and the stride dimension byte offset of the descriptor.
    leading: usize,
    stride: usize,
    /// From one instruction to the next.
    step: usize,
    /// All of it.
    bytes: usize,
}

fn units_of(swizzle: usize) -> usize {
    (swizzle / 16).max(1)
}

fn strides(placement: Placement, ty: &str, lines: usize, steps: usize) -> Strides {
    let units = units_of(placement.swizzle);
    match (placement.major, placement.swizzle) {
        (Major::K, 0) => Strides {
            leading: 128,
            stride: steps * 256,
            step: 256,
            bytes: lines * steps * STEP_BYTES,
        },
        (Major::K, swizzle) => Strides {
            // Not used.
            leading: 16,
            stride: 8 * swizzle,
            step: STEP_BYTES,
            bytes: lines * swizzle,
        },
        (Major::Lines, swizzle) => {
            assert_eq!(bits(ty), 16, "others lie along k");
            // Tiles of eight places along k: those beside each other first, then those further along k.
            let tile = units * 128;
            let tiles = (lines / 8).div_ceil(units);
            let (across, along) = (tile, tiles * tile);
            Strides {
                leading: if swizzle == 0 { along } else { across },
                stride: if swizzle == 0 { across } else { along },
                step: 2 * along,
                bytes: 2 * steps * along,
            }
        }
    }
}

/// Where an element lies: the byte that it begins in, from the start of the factor.
fn offset(
    placement: Placement,
    ty: &str,
    lines: usize,
    steps: usize,
    line: usize,
    k: usize,
) -> usize {
    let units = units_of(placement.swizzle);
    let (unit, byte) = match placement.major {
        Major::K => {
            let byte = k * bits(ty) / 8;
            let tile = match placement.swizzle {
                0 => (line / 8 * 2 * steps + byte / 16) * 8 + line % 8,
                _ => line * units + byte / 16,
            };
            (tile, byte % 16)
        }
        Major::Lines => {
            let group = line / 8;
            let tiles = (lines / 8).div_ceil(units);
            let tile = k / 8 * tiles + group / units;
            (
                tile * units * 8 + k % 8 * units + group % units,
                line % 8 * 2,
            )
        }
    };
    let swizzled = unit ^ (unit / 8 % units);
    swizzled * 16 + byte
}

impl Product {
    /// A product of A and B of one type into D, in one step: both factors along k in shared memory, with C added.
    pub fn new(a: &'static str, d: &'static str, columns: usize) -> Product {
        Product {
            a,
            b: a,
            d,
            columns,
            a_placement: Some(ALONG_K),
            b_placement: ALONG_K,
            scales: [1, 1],
            saturates: false,
            accumulates: true,
            steps: 1,
            twice: false,
            selector: None,
        }
    }

    /// Elements of a row of A in all steps: those that are stored, if it is sparse.
    pub fn stored(&self) -> usize {
        STEP_BYTES * 8 / bits(self.a) * self.steps
    }

    /// Elements of a column of B in all steps.
    pub fn depth(&self) -> usize {
        self.stored() * self.b_steps()
    }

    /// Times 32 bytes of B that a step takes.
    fn b_steps(&self) -> usize {
        1 + usize::from(self.selector.is_some())
    }

    fn b_strides(&self) -> Strides {
        let steps = self.steps * self.b_steps();
        strides(self.b_placement, self.b, self.columns, steps)
    }

    /// The metadata of a sparse A, where the element of each row that is stored in each place belongs along k: what
    /// goes behind [`Product::image`]. Of four elements side by side two are stored, or of two tf32 one; ascending.
    pub fn metadata(&self, places: &[usize]) -> Vec<u8> {
        let width = bits(self.a);
        let stored = self.stored() / self.steps;
        let code = |row: usize, step: usize, element: usize| {
            let place = places[row * self.stored() + step * stored + element];
            match (width, place % 2) {
                (32, 0) => 0b0100,
                (32, _) => 0b1110,
                _ => place as u32 % 4,
            }
        };
        // Elements whose metadata a word has of a row, and their bits.
        let (elements, each) = match width {
            32 => (4, 4),
            16 => (8, 2),
            _ => (16, 2),
        };
        let mut bytes = Vec::new();
        for step in 0..self.steps {
            for thread in 0..THREADS {
                let (row, lane) = (thread / 32 * 16 + thread % 32 / 4, thread % 4);
                let part = |row: usize, number: usize| {
                    (0..elements).fold(0, |word, index| {
                        word | code(row, step, number * elements + index) << (each * index)
                    })
                };
                let first = usize::from(self.selector.unwrap_or(0)) * 2;
                let word = match (width, lane.wrapping_sub(first)) {
                    // A lane has those of one row.
                    (8, _) => part(row + lane % 2 * 8, lane / 2),
                    // Two lanes of four have those of two rows each; the others' are not looked at.
                    (_, number @ 0..=1) => part(row, number) | part(row + 8, number) << 16,
                    _ => 0xdead_beef,
                };
                bytes.extend(word.to_le_bytes());
            }
        }
        bytes
    }

    /// Registers of D.
    pub fn registers(&self) -> usize {
        self.columns / (64 / bits(self.d))
    }

    fn a_bytes(&self) -> usize {
        self.a_placement.map_or(0, |placement| {
            strides(placement, self.a, ROWS, self.steps)
                .bytes
                .next_multiple_of(1024)
        })
    }

    /// Bytes of shared memory.
    pub fn shared_bytes(&self) -> usize {
        (self.a_bytes() + self.b_strides().bytes).next_multiple_of(16 * THREADS)
    }

    /// What the kernel's first parameter points to: the contents of shared memory, and behind them the registers of A if it is
    /// there. `a` has the bits of its elements row by row, `b` column by column.
    pub fn image(&self, a: &[u32], b: &[u32]) -> Vec<u8> {
        let mut image = vec![0xEE; self.shared_bytes()];
        let mut put = |start: usize, placement, ty, lines: usize, steps, values: &[u32]| {
            let width = bits(ty);
            let depth = values.len() / lines;
            for (index, &value) in values.iter().enumerate() {
                let (line, k) = (index / depth, index % depth);
                let at = start + offset(placement, ty, lines, steps, line, k);
                if width == 1 {
                    image[at] = image[at] & !(1 << (k % 8)) | (value as u8) << (k % 8);
                } else {
                    image[at..at + width / 8].copy_from_slice(&value.to_le_bytes()[..width / 8]);
                }
            }
        };
        if let Some(placement) = self.a_placement {
            put(0, placement, self.a, ROWS, self.steps, a);
        }
        let (start, steps) = (self.a_bytes(), self.steps * self.b_steps());
        put(start, self.b_placement, self.b, self.columns, steps, b);
        if self.a_placement.is_none() {
            for register in 0..4 * self.steps {
                for thread in 0..THREADS {
                    image.extend(self.a_register(a, register, thread).to_le_bytes());
                }
            }
        }
        image
    }

    /// A register of A, four for each step.
    fn a_register(&self, a: &[u32], register: usize, thread: usize) -> u32 {
        let (step, part) = (register / 4, register % 4);
        let row = thread / 32 * 16 + thread % 32 / 4 + part % 2 * 8;
        let width = bits(self.a);
        let byte = step * STEP_BYTES + part / 2 * 16 + thread % 4 * 4;
        let first = row * self.stored() + byte * 8 / width;
        (0..32 / width).fold(0, |word, index| word | a[first + index] << (index * width))
    }

    /// The row and the column of the first element in a register of D.
    fn place(&self, register: usize, thread: usize) -> (usize, usize) {
        let per_register = 32 / bits(self.d);
        // Four elements for each thread in each eight columns: two in a row, two eight rows below.
        let element = register * per_register;
        let row = thread / 32 * 16 + thread % 32 / 4 + element / 2 % 2 * 8;
        (row, element / 4 * 8 + thread % 4 * 2 + element % 2)
    }

    /// What the kernel's second parameter points to: the registers of C, all threads' first ones first. `c` has the bits of its
    /// elements row by row.
    pub fn accumulators(&self, c: &[u32]) -> Vec<u32> {
        let mut words = Vec::new();
        for register in 0..self.registers() {
            for thread in 0..THREADS {
                let (row, column) = self.place(register, thread);
                let at = row * self.columns + column;
                words.push(match bits(self.d) {
                    16 => c[at] | c[at + 1] << 16,
                    _ => c[at],
                });
            }
        }
        words
    }

    /// The bits of the elements of D, row by row, from what the kernel writes where its third parameter points to: as
    /// [`Product::accumulators`], once more for the second product.
    pub fn result(&self, words: &[u32]) -> Vec<u32> {
        let mut matrix = vec![0; ROWS * self.columns];
        for (index, &word) in words[..self.registers() * THREADS].iter().enumerate() {
            let (row, column) = self.place(index / THREADS, index % THREADS);
            let at = row * self.columns + column;
            match bits(self.d) {
                16 => (matrix[at], matrix[at + 1]) = (word & 0xffff, word >> 16),
                _ => matrix[at] = word,
            }
        }
        matrix
    }
}
