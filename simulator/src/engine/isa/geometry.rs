//! Coordinates of textures and surfaces: in how many dimensions, and whether a layer comes before them.

use crate::engine::exec::operand::{Encode, LANES, ReadList, Registers};
use crate::engine::lower::form::FormReader;
use crate::engine::lower::types::{ScalarKind, Ty};
use crate::engine::lower::{Builder, Field};
use crate::engine::texels::{Faces, Texels};
use crate::ptx::ast::{AddressBase, Operand, OperandKind};
use crate::ptx::{Error, Result};

/// What coordinates there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    /// Without the layer.
    pub dimensions: usize,
    /// Whether the first coordinate is a layer.
    pub layered: bool,
    /// Whether the coordinates are a direction, which meets a face of a cube.
    pub cube: bool,
}

impl Encode for Geometry {
    fn encode(self) -> u32 {
        self.dimensions as u32 * 4 + u32::from(self.layered) * 2 + u32::from(self.cube)
    }

    fn decode(word: u32) -> Geometry {
        Geometry {
            dimensions: (word / 4) as usize,
            layered: word & 2 != 0,
            cube: word & 1 != 0,
        }
    }
}

impl Geometry {
    /// Reads the modifier; `None` for those of several samples.
    pub fn read(form: &FormReader<'_>) -> Option<Geometry> {
        let (dimensions, layered) = match form.slot("geom")? {
            "1d" => (1, false),
            "2d" => (2, false),
            "3d" | "cube" => (3, false),
            "a1d" => (1, true),
            "a2d" => (2, true),
            "acube" => (3, true),
            _ => return None,
        };
        Some(Geometry {
            dimensions,
            layered,
            cube: form.slot("geom")?.ends_with("cube"),
        })
    }

    /// Registers of a lane's coordinates, of which the last may mean nothing.
    fn registers(self) -> usize {
        padded(self.dimensions + usize::from(self.layered))
    }

    /// Registers of a lane's gradient, of which the last may mean nothing.
    pub fn gradient_registers(self) -> usize {
        padded(self.dimensions)
    }

    /// As it is written.
    pub fn name(self) -> &'static str {
        match (self.dimensions, self.layered) {
            _ if self.cube && self.layered => "acube",
            _ if self.cube => "cube",
            (1, false) => "1d",
            (2, false) => "2d",
            (3, false) => "3d",
            (1, true) => "a1d",
            (_, _) => "a2d",
        }
    }

    /// Whether a texture's texels lie so.
    pub fn fits_texture(self, texels: &Texels) -> bool {
        match texels.faces {
            Faces::None => self.fits_surface(texels),
            Faces::OfCube => self.cube && !self.layered,
            Faces::OfCubes => self.cube && self.layered,
        }
    }

    /// Whether a surface's texels lie so, of which faces are layers.
    pub fn fits_surface(self, texels: &Texels) -> bool {
        let lies = (texels.dimensions, texels.layers.is_some());
        !self.cube && (self.dimensions, self.layered) == lies
    }

    /// The layer's bits and the coordinates', for each lane.
    pub fn coordinates(
        self,
        warp: &impl Registers,
        list: ReadList<u32>,
    ) -> ([u32; LANES], [[u32; LANES]; 3]) {
        let first = usize::from(self.layered);
        let mut layer = [0; LANES];
        if self.layered {
            layer = *list.get(warp, 0).lanes(warp);
        }
        let mut coordinates = [[0; LANES]; 3];
        for (axis, to) in coordinates.iter_mut().enumerate().take(self.dimensions) {
            *to = *list.get(warp, first + axis).lanes(warp);
        }
        (layer, coordinates)
    }

    /// The object and the coordinates of `[object, coordinates]`.
    pub fn operands<'a>(
        self,
        cx: &mut Builder<'a, '_>,
        operand: &Operand<'a>,
        coordinate: Ty,
    ) -> Result<(Field, Vec<Field>)> {
        let field = object(cx, operand)?;
        let OperandKind::Address { rest, .. } = &operand.kind else {
            return Err(Error::new(operand.at, "expected an object in brackets"));
        };
        let Some(given) = rest.first() else {
            return Err(Error::new(operand.at, "expected coordinates"));
        };
        let parts = cx.parts(given);
        if parts.len() != self.registers() {
            let message = format!(".{} takes {} coordinates", self.name(), self.registers());
            return Err(Error::new(given.at, message));
        }
        let mut fields = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            let is_number = self.layered && index == 0;
            let ty = match is_number {
                true => Ty::new(ScalarKind::Bits, 32),
                false => coordinate,
            };
            fields.push(cx.src(part, ty)?);
        }
        Ok((field, fields))
    }
}

/// So many registers, with one more where a vector would have three.
fn padded(count: usize) -> usize {
    if count == 3 { 4 } else { count }
}

/// The object of `[object]` or `[object, coordinates]`: a register of 64 bits.
pub(super) fn object<'a>(cx: &mut Builder<'a, '_>, operand: &Operand<'a>) -> Result<Field> {
    let OperandKind::Address {
        base: AddressBase::Name(name),
        offset: 0,
        ..
    } = &operand.kind
    else {
        let message = "expected the register of a texture or surface object in brackets";
        return Err(Error::new(operand.at, message));
    };
    let register = Operand {
        at: operand.at,
        kind: OperandKind::Name(name),
    };
    cx.src(&register, Ty::new(ScalarKind::Bits, 64))
}
