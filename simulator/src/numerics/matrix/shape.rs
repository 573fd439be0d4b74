//! Shapes and element types of matrices, and how many registers their fragments take. Which of them instructions have is said by
//! `warpsmith_isa`.

/// The type of the elements of a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named as in PTX")]
pub enum Element {
    F16,
    Bf16,
    Tf32,
    F32,
    F64,
    E4m3,
    E5m2,
    S8,
    U8,
    S4,
    U4,
    B1,
    S32,
}

impl Element {
    /// The type of this PTX name, without the dot.
    pub fn parse(name: &str) -> Option<Element> {
        Some(match name {
            "f16" => Element::F16,
            "bf16" => Element::Bf16,
            "tf32" => Element::Tf32,
            "f32" => Element::F32,
            "f64" => Element::F64,
            "e4m3" => Element::E4m3,
            "e5m2" => Element::E5m2,
            "s8" => Element::S8,
            "u8" => Element::U8,
            "s4" => Element::S4,
            "u4" => Element::U4,
            "b1" => Element::B1,
            "s32" => Element::S32,
            _ => return None,
        })
    }

    /// Its width in bits.
    pub fn bits(self) -> u32 {
        match self {
            Element::B1 => 1,
            Element::S4 | Element::U4 => 4,
            Element::S8 | Element::U8 | Element::E4m3 | Element::E5m2 => 8,
            Element::F16 | Element::Bf16 => 16,
            Element::Tf32 | Element::F32 | Element::S32 => 32,
            Element::F64 => 64,
        }
    }

    /// Elements in a register; f64 takes a register pair, which counts as one.
    pub fn per_register(self) -> u32 {
        (32 / self.bits()).max(1)
    }
}

/// What a fragment is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Use {
    /// The left factor, m x k.
    A,
    /// The right factor, k x n.
    B,
    /// The accumulator C or D, m x n.
    Accumulator,
}

/// m, n, k.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Rows of A and of the accumulator.
    pub m: u32,
    /// Columns of B and of the accumulator.
    pub n: u32,
    /// Columns of A, rows of B.
    pub k: u32,
}

impl Shape {
    /// From a PTX name such as `m16n8k16`.
    pub fn parse(name: &str) -> Option<Shape> {
        let (m, rest) = name.strip_prefix('m')?.split_once('n')?;
        let (n, k) = rest.split_once('k')?;
        Some(Shape {
            m: m.parse().ok()?,
            n: n.parse().ok()?,
            k: k.parse().ok()?,
        })
    }

    /// Rows and columns of the matrix that a fragment holds.
    pub fn extent(self, part: Use) -> (u32, u32) {
        match part {
            Use::A => (self.m, self.k),
            Use::B => (self.k, self.n),
            Use::Accumulator => (self.m, self.n),
        }
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "m{}n{}k{}", self.m, self.n, self.k)
    }
}

/// Registers of a fragment as the instructions spell it: f64 counts pairs as one. wmma's f16 factors are always eight
/// registers and hold elements more than once where the tile is smaller.
pub fn registers(shape: Shape, part: Use, element: Element, wmma: bool) -> u32 {
    if wmma && element == Element::F16 && part != Use::Accumulator {
        return 8;
    }
    let (rows, columns) = shape.extent(part);
    rows * columns / 32 / element.per_register()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_take_the_published_number_of_registers() {
        let shape = |name| Shape::parse(name).unwrap();
        let sizes = |s, e, c, wmma| {
            [Use::A, Use::B, Use::Accumulator]
                .map(|u| registers(shape(s), u, if u == Use::Accumulator { c } else { e }, wmma))
        };
        use Element::*;
        assert_eq!(sizes("m16n16k16", F16, F32, true), [8, 8, 8]);
        assert_eq!(sizes("m8n32k16", F16, F16, true), [8, 8, 4]);
        assert_eq!(sizes("m16n16k16", Bf16, F32, true), [4, 4, 8]);
        assert_eq!(sizes("m32n8k16", Bf16, F32, true), [8, 2, 8]);
        assert_eq!(sizes("m16n16k8", Tf32, F32, true), [4, 4, 8]);
        assert_eq!(sizes("m32n8k16", S8, S32, true), [4, 1, 8]);
        assert_eq!(sizes("m8n8k4", F64, F64, true), [1, 1, 2]);
        assert_eq!(sizes("m8n8k32", S4, S32, true), [1, 1, 2]);
        assert_eq!(sizes("m8n8k128", B1, S32, true), [1, 1, 2]);
        assert_eq!(sizes("m16n8k16", F16, F32, false), [4, 2, 4]);
        assert_eq!(sizes("m16n8k8", F16, F16, false), [2, 1, 2]);
        assert_eq!(sizes("m16n8k32", S8, S32, false), [4, 2, 4]);
        assert_eq!(sizes("m16n8k16", F64, F64, false), [8, 4, 4]);
        assert_eq!(sizes("m16n8k256", B1, S32, false), [4, 2, 4]);
        assert_eq!(Shape::parse("m16n8"), None);
        assert_eq!(shape("m8n32k16").to_string(), "m8n32k16");
    }
}
