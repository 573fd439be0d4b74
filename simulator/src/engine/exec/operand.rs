//! Operands of decoded instructions.
//!
//! An instruction's operands are a struct of the types here, declared with [`operands!`](crate::engine::exec::operand::operands).
//! The struct serves twice. While a function is lowered its words name virtual registers and constants; register allocation
//! replaces them by offsets in the frame and in the constants. What each word is, and how wide, is in [`Operands::SLOTS`]: the
//! lowering checks every operand against it when it emits the instruction, so an operation can rely on the types it declares.

use std::marker::PhantomData;

/// Lanes of a warp.
pub(crate) const LANES: usize = 32;
/// All lanes.
pub(crate) const FULL: u32 = u32::MAX;
/// Set in an operand that lies in the constants.
pub(crate) const CONSTANT: u32 = 1 << 31;
/// A destination that drops its value.
pub(crate) const SINK: u32 = u32::MAX;

/// Where the operands of a warp's current instruction lie.
pub(crate) trait Registers {
    /// The lanes that execute.
    fn mask(&self) -> u32;
    /// Where an operand lies that is a register of the current frame or a constant of the current function.
    fn operand(&self, word: u32) -> *mut u8;
    /// Where a register of the current frame lies.
    fn register(&mut self, word: u32) -> *mut u8;
    /// A word of the current function's lists.
    fn list_word(&self, index: u32) -> u32;
}

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
            Width::Area(0) => 32,
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
    /// Three words: a base register of 32 or 64 bits or a constant, a constant offset, and the access (see [`Address`]).
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

/// A field of an operand struct.
///
/// # Safety
/// The type is `repr(C)` and consists of as many `u32` as its slot has words.
pub(crate) unsafe trait Operand: Copy {
    const SLOT: Slot;
}

/// The operands of an operation.
///
/// # Safety
/// The type is `repr(C)` and its fields are the operands that `SLOTS` lists, in this order.
pub(crate) unsafe trait Operands: Copy {
    const SLOTS: &'static [Slot];
}

/// Declares operand structs.
macro_rules! operands {
    ($($(#[$meta:meta])* $vis:vis struct $name:ident $(<$($g:ident $(: $bound:path)?),+>)? {
        $($(#[$field_meta:meta])* $field:ident: $ty:ty),* $(,)?
    })*) => { $(
        $(#[$meta])*
        #[derive(Clone, Copy)]
        #[repr(C)]
        $vis struct $name $(<$($g $(: $bound)?),+>)? {
            $($(#[$field_meta])* pub $field: $ty,)*
        }
        // SAFETY: the struct is `repr(C)`, and the slots are those of its fields in order.
        unsafe impl $(<$($g $(: $bound)?),+>)? $crate::engine::exec::operand::Operands for $name $(<$($g),+>)? {
            const SLOTS: &'static [$crate::engine::exec::operand::Slot] = &[
                $(<$ty as $crate::engine::exec::operand::Operand>::SLOT,)*
            ];
        }
    )* };
}
pub(crate) use operands;

// SAFETY: no words, no slots.
unsafe impl Operands for () {
    const SLOTS: &'static [Slot] = &[];
}

operands! {
    /// `d = f(a)`
    pub(crate) struct Unary<A: Value, R: Value> { d: Write<R>, a: Read<A> }
    /// `d = f(a, b)`
    pub(crate) struct Binary<A: Value, B: Value, R: Value> { d: Write<R>, a: Read<A>, b: Read<B> }
    /// `d = f(a, b, c)`
    pub(crate) struct Ternary<A: Value, B: Value, C: Value, R: Value> {
        d: Write<R>, a: Read<A>, b: Read<B>, c: Read<C>,
    }
    /// `d = f(a, b, c, e)`
    pub(crate) struct Quaternary<A: Value, B: Value, C: Value, E: Value, R: Value> {
        d: Write<R>, a: Read<A>, b: Read<B>, c: Read<C>, e: Read<E>,
    }
    /// `d = f(a)`, as an option of the instruction says
    pub(crate) struct UnaryWith<A: Value, R: Value, O: Encode> { d: Write<R>, a: Read<A>, option: Encoded<O> }
    /// `d = f(a, b)`, as an option of the instruction says
    pub(crate) struct BinaryWith<A: Value, B: Value, R: Value, O: Encode> {
        d: Write<R>, a: Read<A>, b: Read<B>, option: Encoded<O>,
    }
    /// `d = f(a, b, c)`, as an option of the instruction says
    pub(crate) struct TernaryWith<A: Value, B: Value, C: Value, R: Value, O: Encode> {
        d: Write<R>, a: Read<A>, b: Read<B>, c: Read<C>, option: Encoded<O>,
    }
}

// SAFETY: one word.
unsafe impl Operand for u32 {
    const SLOT: Slot = Slot::Number;
}

/// What an instruction says besides its registers, as a number in its operands.
pub(crate) trait Encode: Copy {
    /// The number.
    fn encode(self) -> u32;
    /// The value that [`Encode::encode`] made this number of.
    fn decode(word: u32) -> Self;
}

impl Encode for u8 {
    #[inline(always)]
    fn encode(self) -> u32 {
        self.into()
    }

    #[inline(always)]
    fn decode(word: u32) -> u8 {
        word as u8
    }
}

impl Encode for bool {
    #[inline(always)]
    fn encode(self) -> u32 {
        self.into()
    }

    #[inline(always)]
    fn decode(word: u32) -> bool {
        word != 0
    }
}

/// An option of an instruction.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Encoded<T> {
    word: u32,
    ty: PhantomData<T>,
}

// SAFETY: one word, and nothing of `PhantomData`.
unsafe impl<T: Encode> Operand for Encoded<T> {
    const SLOT: Slot = Slot::Number;
}

impl<T: Encode> Encoded<T> {
    /// The value.
    #[inline(always)]
    pub fn get(self) -> T {
        T::decode(self.word)
    }
}

impl<T: Encode> From<T> for Encoded<T> {
    fn from(value: T) -> Self {
        Encoded {
            word: value.encode(),
            ty: PhantomData,
        }
    }
}

macro_rules! word_operands {
    ($($(#[$meta:meta])* $name:ident $(<$t:ident>)? => $slot:expr;)*) => { $(
        $(#[$meta])*
        #[repr(transparent)]
        pub(crate) struct $name $(<$t>)? {
            word: u32,
            $(ty: PhantomData<$t>,)?
        }
        impl $(<$t>)? Clone for $name $(<$t>)? {
            #[inline(always)]
            fn clone(&self) -> Self { *self }
        }
        impl $(<$t>)? Copy for $name $(<$t>)? {}
        // SAFETY: one word, and nothing of `PhantomData`.
        unsafe impl $(<$t: Value>)? Operand for $name $(<$t>)? {
            const SLOT: Slot = $slot;
        }
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
        // SAFETY: as the slot says, the word is the offset of 32 lanes of this width in the current frame (`Builder::emit`,
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

macro_rules! list_operands {
    ($($(#[$meta:meta])* $name:ident $(<$t:ident>)? => $slot:expr, $entry:ty;)*) => { $(
        $(#[$meta])*
        #[repr(C)]
        pub(crate) struct $name $(<$t>)? {
            start: u32,
            len: u32,
            $(ty: PhantomData<$t>,)?
        }
        impl $(<$t>)? Clone for $name $(<$t>)? {
            #[inline(always)]
            fn clone(&self) -> Self { *self }
        }
        impl $(<$t>)? Copy for $name $(<$t>)? {}
        // SAFETY: two words, and nothing of `PhantomData`.
        unsafe impl $(<$t: Value>)? Operand for $name $(<$t>)? {
            const SLOT: Slot = $slot;
        }
        impl $(<$t>)? $name $(<$t>)? {
            /// The list of this length that starts at this entry of the function's lists.
            pub fn new(start: u32, len: u32) -> Self {
                Self { start, len, $(ty: PhantomData::<$t>,)? }
            }

            /// Its length.
            #[inline(always)]
            pub fn len(self) -> usize {
                self.len as usize
            }

            /// An entry.
            ///
            /// # Panics
            /// If there is none of this number.
            #[inline(always)]
            pub fn get(self, warp: &impl Registers, index: usize) -> $entry {
                assert!(index < self.len(), "an entry of the list");
                <$entry>::from_word(warp.list_word(self.start + index as u32))
            }
        }
    )* };
}
list_operands! {
    /// Sources, as many as the instruction has.
    ReadList<T> => Slot::ReadList(T::WIDTH), Read<T>;
    /// Destinations, as many as the instruction has; each may be the sink.
    WriteList<T> => Slot::WriteList(T::WIDTH), WriteOptional<T>;
    /// Labels.
    Labels => Slot::Labels, Label;
}

/// An address: a base in a register or constant, and a constant offset. The third word says what is accessed and how; it
/// belongs to the access path.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Address {
    base: u32,
    offset: u32,
    pub access: u32,
}

// SAFETY: three words.
unsafe impl Operand for Address {
    const SLOT: Slot = Slot::Address;
}

impl Address {
    /// The third word, lowest bit: the base has 64 bits, else 32.
    pub const WIDE: u32 = 1;

    /// An address whose base is this word.
    pub fn new(base: u32, offset: u32, access: u32) -> Address {
        Address {
            base,
            offset,
            access,
        }
    }

    /// The three words.
    pub fn words(self) -> [u32; 3] {
        [self.base, self.offset, self.access]
    }

    /// The addresses of the lanes.
    #[inline(always)]
    pub fn lanes(self, warp: &impl Registers) -> [u64; LANES] {
        let offset = i64::from(self.offset as i32) as u64;
        if self.access & Address::WIDE != 0 {
            let base = Read::<u64>::from_word(self.base).lanes(warp);
            std::array::from_fn(|lane| base[lane].wrapping_add(offset))
        } else {
            let base = Read::<u32>::from_word(self.base).lanes(warp);
            std::array::from_fn(|lane| u64::from(base[lane].wrapping_add(offset as u32)))
        }
    }
}

/// The lanes of a mask, ascending.
#[inline(always)]
pub(crate) fn lanes_of(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let lane = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        Some(lane)
    })
}
