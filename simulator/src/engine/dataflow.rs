//! How what an operation computes depends on its operands: what follows uninitialised values through it has to know.

/// How the results of an operation depend on its sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dataflow {
    /// It is more than a computation (or nobody has said that it is one): an operand decides what it does.
    Decides,
    /// Each lane's results depend on that lane of all sources.
    Lanewise,
    /// The same, but a bit 0 of one source makes the other's not matter. Where there is a second result, it is of the first source's
    /// opposite.
    And,
    /// The same, for a bit 1.
    Or,
    /// The third source, a predicate, selects one of the first two.
    Select,
    /// As lane by lane; the carry flags are a further source, or a further result.
    Carry { reads: bool, writes: bool },
    /// It moves a value between a register and memory of each lane in the frame: its operands end with the bytes of a lane and the
    /// offset there.
    Area,
    /// It moves registers to memory, or memory to registers, at its address operand; the access path follows what is moved.
    Memory,
    /// It moves a fragment that lanes hold together, between registers and memory at its address operand; the operation
    /// follows it.
    Fragment,
    /// Lanes exchange values, or compute together: followed where they do.
    Exchange,
}

impl Dataflow {
    /// Whether it only computes registers from registers.
    pub fn is_pure(self) -> bool {
        !matches!(
            self,
            Dataflow::Decides | Dataflow::Memory | Dataflow::Fragment | Dataflow::Exchange
        )
    }
}
