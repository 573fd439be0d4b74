//! Operands of one word: registers, predicates, memory of each lane in the frame, labels, call sites.

use std::marker::PhantomData;

use super::declare::operand;
use super::registers::{FULL, LANES, Registers, SINK};
use crate::engine::slot::{Slot, Value, Width};

macro_rules! word_operands {
    ($($(#[$meta:meta])* $name:ident $(<$t:ident>)? => $slot:expr;)*) => { $(
        operand! { $(#[$meta])* $name $(<$t>)? { word } => $slot }

        impl $(<$t>)? $name $(<$t>)? {
            /// An operand of this word: for the lowering, which checks it when it is emitted.
            #[inline(always)]
            pub fn from_word(word: u32) -> Self {
                Self { word, $(ty: PhantomData::<$t>,)? }
            }
        }
    )* };
}
word_operands! {
    /// A source: a register or a constant.
    Read<T> => Slot::Read(T::WIDTH);
    /// A destination register.
    Write<T> => Slot::Write(T::WIDTH);
    /// A destination register, or the sink `_`.
    WriteOptional<T> => Slot::WriteOptional(T::WIDTH);
    /// A source predicate.
    ReadPredicate => Slot::Read(Width::Pred);
    /// A destination predicate.
    WritePredicate => Slot::Write(Width::Pred);
    /// A destination predicate, or the sink `_`.
    WritePredicateOptional => Slot::WriteOptional(Width::Pred);
    /// Memory of each lane in the frame, read.
    ReadArea => Slot::ReadArea;
    /// Memory of each lane in the frame, written.
    WriteArea => Slot::WriteArea;
    /// The number of an instruction of the same function.
    Label => Slot::Label;
    /// The number of a call site.
    Call => Slot::Call;
}

impl<T> Read<T> {
    /// The word that names the register or constant.
    pub fn word(self) -> u32 {
        self.word
    }
}

impl ReadPredicate {
    /// The word that names the register or constant.
    pub fn word(self) -> u32 {
        self.word
    }
}

impl<T> WriteOptional<T> {
    /// The word that names the register.
    pub fn word(self) -> u32 {
        self.word
    }
}

impl<T: Value> Read<T> {
    /// The lanes of the operand.
    #[inline(always)]
    pub fn lanes(self, warp: &impl Registers) -> &[T; LANES] {
        // SAFETY: the word is the offset of 32 lanes of this width in the current frame or the constants, aligned to a cache
        // line: the lowering checked the width (`Builder::emit`) and allocation gave the offset (`allocate`).
        unsafe { &*warp.operand(self.word).cast::<[T; LANES]>() }
    }
}

impl<T: Value> Write<T> {
    /// Writes the result to the lanes that execute.
    #[inline(always)]
    pub fn put(self, warp: &mut impl Registers, result: &[T; LANES]) {
        // SAFETY: the word is the offset of 32 lanes of this width in the current frame (`Builder::emit`,
        // `allocate`); `warp` is borrowed mutably, so no reference into the frame lives.
        let lanes = unsafe { &mut *warp.register(self.word).cast::<[T; LANES]>() };
        if warp.mask() == FULL {
            *lanes = *result;
        } else {
            let mask = warp.mask();
            for lane in 0..LANES {
                lanes[lane] = if mask >> lane & 1 != 0 {
                    result[lane]
                } else {
                    lanes[lane]
                };
            }
        }
    }

    /// Where the lanes are, for results that are written in place; only the executing lanes may be changed.
    #[inline(always)]
    pub fn lanes_mut(self, warp: &mut impl Registers) -> &mut [T; LANES] {
        // SAFETY: the word is the offset of 32 lanes of this width in the current frame (`Builder::emit`, `allocate`);
        // `warp` stays borrowed while the reference lives.
        unsafe { &mut *warp.register(self.word).cast::<[T; LANES]>() }
    }
}

impl<T: Value> WriteOptional<T> {
    /// Writes the result to the lanes that execute, unless the operand is the sink.
    #[inline(always)]
    pub fn put(self, warp: &mut impl Registers, result: &[T; LANES]) {
        if !self.is_sink() {
            Write::from_word(self.word).put(warp, result);
        }
    }

    /// Whether nothing is to be written.
    #[inline(always)]
    pub fn is_sink(self) -> bool {
        self.word == SINK
    }
}

impl ReadPredicate {
    /// One bit for each lane.
    #[inline(always)]
    pub fn bits(self, warp: &impl Registers) -> u32 {
        // SAFETY: the word is the offset of a predicate in the current frame or the constants, aligned to 4 bytes
        // (`Builder::emit`, `allocate`).
        unsafe { *warp.operand(self.word).cast::<u32>() }
    }
}

impl WritePredicate {
    /// Writes the bits of the lanes that execute.
    #[inline(always)]
    pub fn put(self, warp: &mut impl Registers, bits: u32) {
        // SAFETY: the word is the offset of a predicate in the current frame, aligned to 4 bytes (`Builder::emit`, `allocate`).
        unsafe {
            let target = warp.register(self.word).cast::<u32>();
            *target = *target & !warp.mask() | bits & warp.mask();
        }
    }
}

impl WritePredicateOptional {
    /// Writes the bits of the lanes that execute, unless the operand is the sink.
    #[inline(always)]
    pub fn put(self, warp: &mut impl Registers, bits: u32) {
        if self.word != SINK {
            WritePredicate::from_word(self.word).put(warp, bits);
        }
    }
}

impl<T> Write<T> {
    /// Where the register lies in the frame, for a result that is written later.
    pub fn offset(self) -> u32 {
        self.word
    }
}

impl WritePredicate {
    /// Where the predicate lies in the frame, for a result that is written later.
    pub fn offset(self) -> u32 {
        self.word
    }
}

impl ReadArea {
    /// Where the area starts: the bytes of lane 0, then those of lane 1 and so on.
    #[inline(always)]
    pub fn start(self, warp: &impl Registers) -> *const u8 {
        warp.operand(self.word)
    }
}

impl WriteArea {
    /// Where the area starts: the bytes of lane 0, then those of lane 1 and so on.
    #[inline(always)]
    pub fn start(self, warp: &mut impl Registers) -> *mut u8 {
        warp.register(self.word)
    }
}

impl Label {
    /// The number of the instruction.
    #[inline(always)]
    pub fn pc(self) -> u32 {
        self.word
    }
}

impl Call {
    /// The number of the call site in its function.
    #[inline(always)]
    pub fn number(self) -> u32 {
        self.word
    }
}
