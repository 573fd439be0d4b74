//! The instructions that fetch, one for each kind of component and each geometry.

/// A component of what a fetch gives. All of its functions fetch all four components; those that the texels have not are 0, the fourth 1.
///
/// # Safety
///
/// Of each function: `object` is a texture object of the geometry in its name, whose fetches give such components, and which lives as
/// long as the kernel runs.
pub trait Lane: Copy + 'static {
    /// What tells it from the others in a kernel's record.
    const CODE: u32;

    /// # Safety
    /// See the trait.
    unsafe fn fetch_1d(object: u64, x: f32) -> [Self; 4];
    /// # Safety
    /// See the trait.
    unsafe fn fetch_2d(object: u64, x: f32, y: f32) -> [Self; 4];
    /// # Safety
    /// See the trait.
    unsafe fn fetch_3d(object: u64, x: f32, y: f32, z: f32) -> [Self; 4];
    /// # Safety
    /// See the trait.
    unsafe fn fetch_layered_1d(object: u64, layer: u32, x: f32) -> [Self; 4];
    /// # Safety
    /// See the trait.
    unsafe fn fetch_layered_2d(object: u64, layer: u32, x: f32, y: f32) -> [Self; 4];
    /// # Safety
    /// See the trait; the object is one of linear memory, and the index less than its length.
    unsafe fn fetch_linear(object: u64, index: u32) -> [Self; 4];
}

/// A number in a register of 32 bits.
trait Word: Copy {
    fn word(self) -> u32;
    fn of_word(word: u32) -> Self;
}

impl Word for f32 {
    #[inline(always)]
    fn word(self) -> u32 {
        self.to_bits()
    }

    #[inline(always)]
    fn of_word(word: u32) -> f32 {
        f32::from_bits(word)
    }
}

impl Word for u32 {
    #[inline(always)]
    fn word(self) -> u32 {
        self
    }

    #[inline(always)]
    fn of_word(word: u32) -> u32 {
        word
    }
}

impl Word for i32 {
    #[inline(always)]
    fn word(self) -> u32 {
        self.cast_unsigned()
    }

    #[inline(always)]
    fn of_word(word: u32) -> i32 {
        word.cast_signed()
    }
}

macro_rules! fetch {
    ($geometry:literal $component:literal $counted:literal $coordinates:literal, $object:ident, $($coordinate:ident),*) => {{
        let (a, b, c, d): (u32, u32, u32, u32);
        $(let $coordinate = $coordinate.word();)*
        // SAFETY: the object is a texture's that the instruction can read, by the caller's contract. It reads memory that nobody writes
        // while the kernel runs; without `nomem` it stays behind what comes before.
        unsafe {
            instruction!(
                concat!("tex.", $geometry, ".v4.", $component, $counted, " {{{a}, {b}, {c}, {d}}}, [{object}, {{", $coordinates, "}}];"),
                a = lateout(reg32) a, b = lateout(reg32) b, c = lateout(reg32) c, d = lateout(reg32) d,
                object = in(reg64) $object, $($coordinate = in(reg32) $coordinate,)*
                options(pure, readonly, nostack)
            )
        }
        [a, b, c, d].map(Word::of_word)
    }};
}

macro_rules! lanes {
    ($($lane:ty, $code:literal, $name:literal;)*) => {$(
        impl Lane for $lane {
            const CODE: u32 = $code;

            #[inline(always)]
            unsafe fn fetch_1d(object: u64, x: f32) -> [$lane; 4] {
                fetch!("1d" $name ".f32" "{x}", object, x)
            }

            #[inline(always)]
            unsafe fn fetch_2d(object: u64, x: f32, y: f32) -> [$lane; 4] {
                fetch!("2d" $name ".f32" "{x}, {y}", object, x, y)
            }

            #[inline(always)]
            unsafe fn fetch_3d(object: u64, x: f32, y: f32, z: f32) -> [$lane; 4] {
                fetch!("3d" $name ".f32" "{x}, {y}, {z}, {z}", object, x, y, z)
            }

            #[inline(always)]
            unsafe fn fetch_layered_1d(object: u64, layer: u32, x: f32) -> [$lane; 4] {
                fetch!("a1d" $name ".f32" "{layer}, {x}", object, layer, x)
            }

            #[inline(always)]
            unsafe fn fetch_layered_2d(object: u64, layer: u32, x: f32, y: f32) -> [$lane; 4] {
                fetch!("a2d" $name ".f32" "{layer}, {x}, {y}, {y}", object, layer, x, y)
            }

            #[inline(always)]
            unsafe fn fetch_linear(object: u64, index: u32) -> [$lane; 4] {
                fetch!("1d" $name ".s32" "{index}", object, index)
            }
        }
    )*};
}
lanes! {
    f32, 1, "f32";
    u32, 2, "u32";
    i32, 3, "s32";
}
