//! The instructions that fetch, for each kind of component and each geometry.

use super::geometry::sealed::Kind;

/// Where a fetch reads: the bits of x, y and z, and the layer; 0 for those that the geometry has not.
pub type Place = [u32; 4];

/// A component of what a fetch gives. All of its functions give four components: of a texel, those that it has not are 0, the fourth 1.
///
/// # Safety
///
/// Of each function: `object` is a texture object of the geometry `kind`, whose fetches give such components, and which lives as long as the
/// kernel runs.
pub trait Lane: Copy + 'static {
    /// What tells it from the others in a kernel's record.
    const CODE: u32;

    /// # Safety
    /// See the trait; of linear memory, the index is less than its length.
    unsafe fn fetch(object: u64, kind: Kind, at: Place) -> [Self; 4];
    /// # Safety
    /// See the trait.
    unsafe fn fetch_level(object: u64, kind: Kind, at: Place, level: f32) -> [Self; 4];
    /// # Safety
    /// See the trait; the geometry is no cube's.
    unsafe fn fetch_gradient(
        object: u64,
        kind: Kind,
        at: Place,
        slopes: [[f32; 3]; 2],
    ) -> [Self; 4];
    /// # Safety
    /// See the trait; the array was made to be gathered.
    unsafe fn gather<const COMPONENT: usize>(object: u64, at: Place) -> [Self; 4];
}

/// A number in a register of 32 bits.
trait Word: Copy {
    fn of_word(word: u32) -> Self;
}

impl Word for f32 {
    #[inline(always)]
    fn of_word(word: u32) -> f32 {
        f32::from_bits(word)
    }
}

impl Word for u32 {
    #[inline(always)]
    fn of_word(word: u32) -> u32 {
        word
    }
}

impl Word for i32 {
    #[inline(always)]
    fn of_word(word: u32) -> i32 {
        word.cast_signed()
    }
}

/// One instruction: `opcode {a, b, c, d}, [object, {coordinates}] more;`
macro_rules! fetch {
    (($($opcode:literal)*) $coordinates:literal $more:literal, $object:ident, [$($register:ident)*]) => {{
        let (a, b, c, d): (u32, u32, u32, u32);
        // SAFETY: the object is a texture's that the instruction can read, by the caller's contract. It reads memory that nobody writes
        // while the kernel runs; without `nomem` it stays behind what comes before.
        unsafe {
            instruction!(
                concat!($($opcode,)* " {{{a}, {b}, {c}, {d}}}, [{object}, {{", $coordinates, "}}]", $more, ";"),
                a = lateout(reg32) a, b = lateout(reg32) b, c = lateout(reg32) c, d = lateout(reg32) d,
                object = in(reg64) $object, $($register = in(reg32) $register,)*
                options(pure, readonly, nostack)
            )
        }
        [a, b, c, d].map(Word::of_word)
    }};
}

/// The fetch of a geometry. A layer stands before the coordinates, and three numbers are followed by one that means nothing.
macro_rules! by_geometry {
    ($opcode:literal $component:literal $more:literal, ($object:ident, $kind:ident, $at:ident), [$($register:ident)*]) => {{
        let [x, y, z, layer] = $at;
        match $kind {
            Kind::Dim1 | Kind::Linear => {
                fetch!(($opcode "1d.v4." $component ".f32") "{x}" $more, $object, [x $($register)*])
            }
            Kind::Dim2 | Kind::Gather2 => {
                fetch!(($opcode "2d.v4." $component ".f32") "{x}, {y}" $more, $object, [x y $($register)*])
            }
            Kind::Dim3 => {
                fetch!(($opcode "3d.v4." $component ".f32") "{x}, {y}, {z}, {z}" $more, $object, [x y z $($register)*])
            }
            Kind::Layered1 => {
                fetch!(($opcode "a1d.v4." $component ".f32") "{layer}, {x}" $more, $object, [layer x $($register)*])
            }
            Kind::Layered2 => {
                fetch!(($opcode "a2d.v4." $component ".f32") "{layer}, {x}, {y}, {y}" $more, $object, [layer x y $($register)*])
            }
            Kind::Cube => {
                fetch!(($opcode "cube.v4." $component ".f32") "{x}, {y}, {z}, {z}" $more, $object, [x y z $($register)*])
            }
            Kind::LayeredCube => {
                fetch!(($opcode "acube.v4." $component ".f32") "{layer}, {x}, {y}, {z}" $more, $object, [layer x y z $($register)*])
            }
        }
    }};
}

macro_rules! lanes {
    ($($lane:ty, $code:literal, $name:literal;)*) => {$(
        impl Lane for $lane {
            const CODE: u32 = $code;

            #[inline(always)]
            unsafe fn fetch(object: u64, kind: Kind, at: Place) -> [$lane; 4] {
                if let Kind::Linear = kind {
                    let [x, ..] = at;
                    return fetch!(("tex.1d.v4." $name ".s32") "{x}" "", object, [x]);
                }
                by_geometry!("tex." $name "", (object, kind, at), [])
            }

            #[inline(always)]
            unsafe fn fetch_level(object: u64, kind: Kind, at: Place, level: f32) -> [$lane; 4] {
                let level = level.to_bits();
                by_geometry!("tex.level." $name ", {level}", (object, kind, at), [level])
            }

            #[inline(always)]
            unsafe fn fetch_gradient(object: u64, kind: Kind, at: Place, slopes: [[f32; 3]; 2]) -> [$lane; 4] {
                let [[a1, a2, a3], [b1, b2, b3]] = slopes.map(|slope| slope.map(f32::to_bits));
                let [x, y, z, layer] = at;
                match kind {
                    Kind::Dim1 | Kind::Linear => {
                        fetch!(("tex.grad.1d.v4." $name ".f32") "{x}" ", {{{a1}}}, {{{b1}}}", object, [x a1 b1])
                    }
                    Kind::Layered1 => {
                        fetch!(("tex.grad.a1d.v4." $name ".f32") "{layer}, {x}" ", {{{a1}}}, {{{b1}}}", object, [layer x a1 b1])
                    }
                    Kind::Dim2 | Kind::Gather2 => {
                        fetch!(
                            ("tex.grad.2d.v4." $name ".f32") "{x}, {y}" ", {{{a1}, {a2}}}, {{{b1}, {b2}}}",
                            object, [x y a1 a2 b1 b2]
                        )
                    }
                    Kind::Layered2 => {
                        fetch!(
                            ("tex.grad.a2d.v4." $name ".f32") "{layer}, {x}, {y}, {y}" ", {{{a1}, {a2}}}, {{{b1}, {b2}}}",
                            object, [layer x y a1 a2 b1 b2]
                        )
                    }
                    Kind::Dim3 | Kind::Cube | Kind::LayeredCube => {
                        fetch!(
                            ("tex.grad.3d.v4." $name ".f32") "{x}, {y}, {z}, {z}" ", {{{a1}, {a2}, {a3}, {a3}}}, {{{b1}, {b2}, {b3}, {b3}}}",
                            object, [x y z a1 a2 a3 b1 b2 b3]
                        )
                    }
                }
            }

            #[inline(always)]
            unsafe fn gather<const COMPONENT: usize>(object: u64, at: Place) -> [$lane; 4] {
                let [x, y, ..] = at;
                match COMPONENT {
                    0 => fetch!(("tld4.r.2d.v4." $name ".f32") "{x}, {y}" "", object, [x y]),
                    1 => fetch!(("tld4.g.2d.v4." $name ".f32") "{x}, {y}" "", object, [x y]),
                    2 => fetch!(("tld4.b.2d.v4." $name ".f32") "{x}, {y}" "", object, [x y]),
                    _ => fetch!(("tld4.a.2d.v4." $name ".f32") "{x}, {y}" "", object, [x y]),
                }
            }
        }
    )*};
}
lanes! {
    f32, 1, "f32";
    u32, 2, "u32";
    i32, 3, "s32";
}
