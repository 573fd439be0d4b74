//! What each word of an instruction's operands is, and how wide the register it names.

/// How much of a frame a register needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Width {
    /// A predicate: one bit a lane.
    Pred,
    W16,
    W32,
    W64,
    W128,
    /// Memory of so many bytes a lane.
    Area(u32),
}

impl Width {
    /// Bytes in the frame.
    pub const fn frame_bytes(self) -> u32 {
        match self {
            Width::Pred => 4,
            other => other.lane_bytes().saturating_mul(32),
        }
    }

    /// Bytes of a lane; 0 for a predicate.
    pub const fn lane_bytes(self) -> u32 {
        match self {
            Width::Pred => 0,
            Width::W16 => 2,
            Width::W32 => 4,
            Width::W64 => 8,
            Width::W128 => 16,
            Width::Area(bytes) => bytes,
        }
    }

    /// Whether a register of this width can stand where an operation expects the other.
    pub fn fits(self, expected: Width) -> bool {
        self == expected
            || matches!(self, Width::Area(bytes) if bytes > 0 && bytes == expected.lane_bytes())
    }
}

/// A value that a register holds for each lane.
pub(crate) trait Value: Copy {
    /// The width of its register.
    const WIDTH: Width;
}

macro_rules! values {
    ($($width:ident: $($ty:ty)*;)*) => { $($(impl Value for $ty { const WIDTH: Width = Width::$width; })*)* };
}
values! {
    W16: u16 i16 half::f16 half::bf16;
    W32: u32 i32 f32;
    W64: u64 i64 f64;
    W128: u128;
}

/// What a word of an instruction's operands is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// A register or constant that is read.
    Read(Width),
    /// A register that is written.
    Write(Width),
    /// A register that is written, or the sink.
    WriteOptional(Width),
    /// Memory of each lane in the frame that is read.
    ReadArea,
    /// Memory of each lane in the frame that is written.
    WriteArea,
    /// Two words: where a list of registers that are read starts, and its length.
    ReadList(Width),
    /// Two words: where a list of registers that are written starts, and its length. Entries may be the sink.
    WriteList(Width),
    /// Three words: a base register of 32 or 64 bits or a constant, a constant offset, and the access (see `exec::operand::Address`).
    Address,
    /// A number with a meaning of the operation's own.
    Number,
    /// A label: the number of the instruction it stands before.
    Label,
    /// Two words: where a list of labels starts, and its length.
    Labels,
    /// The number of a call site of the function.
    Call,
}

impl Slot {
    /// The words it takes.
    pub const fn words(self) -> usize {
        match self {
            Slot::ReadList(_) | Slot::WriteList(_) | Slot::Labels => 2,
            Slot::Address => 3,
            _ => 1,
        }
    }
}
