//! `tex tld4 txq`: fetches by texture objects, texels gathered by them, and what they are.

use super::family::Family;
use super::geometry::Geometry;
use super::query::{self, Asked};
use crate::engine::access::texel::{self, Place};
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, vector};
use crate::engine::exec::operand::{
    Encode, Encoded, LANES, Read, ReadList, WriteList, lanes_of, operands,
};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::fault::FaultKind;
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::Lowering;
use crate::engine::lower::types::{ScalarKind, Ty};
use crate::engine::lower::{Builder, Field, Width};
use crate::engine::texels::{Texels, TextureObject};
use crate::numerics::texture::{
    Coordinates, Sampler, between_levels, detail_of_gradients, face, fetch, gather,
};
use crate::ptx::ast::Operand;
use crate::ptx::{Error, Result as Lowered};

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["tex", "tld4", "txq"],
    read,
};

/// What says which levels of a mipmapped array are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    /// Nothing: the first level.
    Base,
    /// A register: the level of detail.
    Level,
    /// Registers of two gradients.
    Gradient,
}

/// What the modifiers of a fetch say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mode {
    geometry: Geometry,
    /// Whether coordinates are whole texels.
    whole: bool,
    detail: Detail,
}

impl Encode for Mode {
    fn encode(self) -> u32 {
        self.geometry.encode() << 8 | (self.detail as u32) << 1 | u32::from(self.whole)
    }

    fn decode(word: u32) -> Mode {
        Mode {
            geometry: Geometry::decode(word >> 8),
            whole: word & 1 != 0,
            detail: match word >> 1 & 3 {
                0 => Detail::Base,
                1 => Detail::Level,
                _ => Detail::Gradient,
            },
        }
    }
}

operands! {
    pub(crate) struct FetchOperands {
        d: WriteList<u32>, object: Read<u64>, coordinates: ReadList<u32>, detail: ReadList<u32>, mode: Encoded<Mode>
    }
    struct GatherOperands {
        d: WriteList<u32>, object: Read<u64>, coordinates: ReadList<u32>, component: Encoded<u8>
    }
}

/// The texture that was asked for last: most lanes of a warp have the same one.
#[derive(Default)]
struct Known(Option<(u64, TextureObject)>);

impl Known {
    /// The texture of a number; `Err`: a fault was recorded.
    fn of(
        &mut self,
        warp: &mut Warp,
        cluster: &Cluster<'_>,
        lane: usize,
        number: u64,
    ) -> Result<&TextureObject, Flow> {
        let known = self.0.take().filter(|(known, _)| *known == number);
        let known = match known {
            Some(known) => known,
            None => match cluster.grid.memory.texture(number) {
                Ok(texture) => (number, texture),
                Err(error) => return Err(texel::no_object(warp, lane, "texture", number, error)),
            },
        };
        Ok(&self.0.insert(known).1)
    }
}

/// Reads a texel's components for a lane; `Err`: a fault was recorded.
fn read_texel(
    warp: &mut Warp,
    cluster: &Cluster<'_>,
    lane: usize,
    (texels, layer): (&Texels, u32),
    [x, y, z]: [u32; 3],
) -> Result<[u32; 4], Flow> {
    let place = Place {
        x: u64::from(x) * u64::from(texels.texel()),
        y,
        slice: z + layer,
        element: texels.format.bytes(),
        count: texels.components,
    };
    let bits = texel::read(warp, cluster, lane, texels, place)?;
    Ok(bits.map(|bits| bits as u32))
}

/// `tex`
struct Fetch;

impl Op for Fetch {
    type Operands = FetchOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        fetch_lanes(warp, cluster, o).err().unwrap_or(Flow::Next)
    }
}

fn fetch_lanes(warp: &mut Warp, cluster: &Cluster<'_>, o: FetchOperands) -> Result<(), Flow> {
    let Mode {
        geometry,
        whole,
        detail,
    } = o.mode.get();
    let objects = *o.object.lanes(warp);
    let (layers, at) = geometry.coordinates(warp, o.coordinates);
    let mut result = [[0; LANES]; 4];
    let mut known = Known::default();
    for lane in lanes_of(warp.mask) {
        let texture = known.of(warp, cluster, lane, objects[lane])?;
        let first = &texture.levels[0];
        if !geometry.fits_texture(first) {
            let message = format!("tex.{} of {}", geometry.name(), first.what);
            return Err(warp.fail(FaultKind::IllegalInstruction, lane, message));
        }
        let number = |index: usize| {
            let register = o.detail.get(warp, index);
            f32::from_bits(register.lanes(warp)[lane])
        };
        let level_of_detail = match detail {
            Detail::Base => 0.0,
            Detail::Level => number(0),
            Detail::Gradient => {
                let count = geometry.gradient_registers();
                let gradient = |from: usize| {
                    std::array::from_fn(|axis| match axis < geometry.dimensions {
                        true => number(from + axis),
                        false => 0.0,
                    })
                };
                let gradients = [gradient(0), gradient(count)];
                detail_of_gradients(gradients, first.extents, geometry.dimensions)
            }
        };
        let lane_at = at.map(|axis| axis[lane]);
        let (sampler, face, coordinates) = located(&texture.sampler, geometry, whole, lane_at);
        let layers_each = if geometry.cube { 6 } else { 1 };
        let layer = first.layers.map_or(0, |count| {
            let last = (count / layers_each).max(1) - 1;
            let layer = layers[lane].cast_signed().clamp(0, last as i32) as u32;
            layer * layers_each + face
        });
        let mut of_level = |texels: &Texels| {
            fetch(
                texels.format,
                texels.components,
                &sampler,
                (texels.extents, texels.dimensions),
                coordinates,
                |at| read_texel(warp, cluster, lane, (texels, layer), at),
            )
        };
        let picked = (texture.between_levels).pick(level_of_detail, texture.levels.len());
        let mut texel = of_level(&texture.levels[picked.level])?;
        if picked.share_of_next > 0 {
            let next = of_level(&texture.levels[picked.level + 1])?;
            texel = between_levels(first.format, [texel, next], picked.share_of_next);
        }
        for (row, bits) in result.iter_mut().zip(texel) {
            row[lane] = bits;
        }
    }
    put(warp, o.d, &result);
    Ok(())
}

/// How the coordinates' bits are taken, the face of a cube that they meet (else 0), and the coordinates.
fn located(
    sampler: &Sampler,
    geometry: Geometry,
    whole: bool,
    at: [u32; 3],
) -> (Sampler, u32, Coordinates) {
    let floats = at.map(f32::from_bits);
    if geometry.cube {
        let (face, [x, y]) = face(floats);
        let sampler = Sampler {
            normalised: true,
            ..*sampler
        };
        return (sampler, face, Coordinates::Floats([x, y, 0.0]));
    }
    let coordinates = match whole {
        true => Coordinates::Texels(at.map(u32::cast_signed)),
        false => Coordinates::Floats(floats),
    };
    (*sampler, 0, coordinates)
}

fn put(warp: &mut Warp, to: WriteList<u32>, result: &[[u32; LANES]; 4]) {
    for (part, row) in result.iter().enumerate() {
        to.get(warp, part).put(warp, row);
    }
}

/// `tld4`
struct Gather;

impl Op for Gather {
    type Operands = GatherOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        gather_lanes(warp, cluster, o).err().unwrap_or(Flow::Next)
    }
}

/// What `tld4` reads.
const FLAT: Geometry = Geometry {
    dimensions: 2,
    layered: false,
    cube: false,
};

fn gather_lanes(warp: &mut Warp, cluster: &Cluster<'_>, o: GatherOperands) -> Result<(), Flow> {
    let objects = *o.object.lanes(warp);
    let (_, at) = FLAT.coordinates(warp, o.coordinates);
    let mut result = [[0; LANES]; 4];
    let mut known = Known::default();
    for lane in lanes_of(warp.mask) {
        let texture = known.of(warp, cluster, lane, objects[lane])?;
        let texels = &texture.levels[0];
        if !FLAT.fits_texture(texels) || !texels.gathers {
            let message = format!("tld4.2d of {}", texels.what);
            let notes = vec![
                "what is gathered are flat CUDA arrays that were made with CUDA_ARRAY3D_TEXTURE_GATHER"
                    .to_owned(),
            ];
            return Err(warp.fail_with(FaultKind::IllegalInstruction, lane, message, notes));
        }
        let [width, height, _] = texels.extents;
        let gathered = gather(
            texels.format,
            texels.components,
            o.component.get().into(),
            &texture.sampler,
            (
                [width, height],
                [at[0][lane], at[1][lane]].map(f32::from_bits),
            ),
            |at| read_texel(warp, cluster, lane, (texels, 0), at),
        )?;
        for (row, bits) in result.iter_mut().zip(gathered) {
            row[lane] = bits;
        }
    }
    put(warp, o.d, &result);
    Ok(())
}

/// `txq`: textures.
struct Textures;

impl Asked for Textures {
    fn look_up(
        warp: &mut Warp,
        cluster: &Cluster<'_>,
        lane: usize,
        number: u64,
    ) -> Result<Vec<Texels>, Flow> {
        match cluster.grid.memory.texture(number) {
            Ok(texture) => Ok(texture.levels),
            Err(error) => Err(texel::no_object(warp, lane, "texture", number, error)),
        }
    }
}

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    if form.opcode() == "txq" {
        return query::read::<Textures>(form);
    }
    let geometry = Geometry::read(form)?;
    if !form.has("v4") {
        return None;
    }
    form.slot("dtype")?;
    if form.opcode() == "tld4" {
        return read_gather(form, geometry);
    }
    let detail = match form.one_of(&["base", "level", "grad"]) {
        Some("level") => Detail::Level,
        Some("grad") => Detail::Gradient,
        _ => Detail::Base,
    };
    // How far apart directions are in a face is not known.
    if detail == Detail::Gradient && geometry.cube {
        return None;
    }
    let whole = match form.slot("ctype") {
        Some(kind) => kind == "s32",
        None => form.slot("f32").is_none(),
    };
    let kind = match whole {
        true => ScalarKind::Signed,
        false => ScalarKind::Float,
    };
    let mode = Mode {
        geometry,
        whole,
        detail,
    };
    Some(Lowering::new(move |cx, inst| {
        let fields = destinations(cx, &inst.operands[0])?;
        let (object, at) = geometry.operands(cx, &inst.operands[1], Ty::new(kind, 32))?;
        let mut details = Vec::new();
        for operand in &inst.operands[2..] {
            let parts = cx.parts(operand).into_owned();
            let expected = match detail {
                Detail::Gradient => geometry.gradient_registers(),
                _ => 1,
            };
            if parts.len() != expected {
                let message = format!(".{} takes {expected} registers here", geometry.name());
                return Err(Error::new(operand.at, message));
            }
            for part in &parts {
                details.push(cx.src(part, Ty::new(ScalarKind::Float, 32))?);
            }
        }
        let operands = FetchOperands {
            d: cx.write_list(&fields),
            object: object.into(),
            coordinates: cx.read_list(&at),
            detail: cx.read_list(&details),
            mode: mode.into(),
        };
        cx.emit(vector::<Fetch>(), operands);
        Ok(())
    }))
}

/// The four destinations of a fetch.
fn destinations<'a>(cx: &mut Builder<'a, '_>, operand: &Operand<'a>) -> Lowered<Vec<Field>> {
    let parts = cx.parts(operand).into_owned();
    if parts.len() != 4 {
        return Err(Error::new(operand.at, "a fetch has four destinations"));
    }
    let fields = parts.iter().map(|part| cx.dst(part, Width::W32));
    fields.collect()
}

/// `tld4`, of flat textures: no others can be made for it.
fn read_gather(form: &FormReader<'_>, geometry: Geometry) -> Option<Lowering> {
    let component = match form.slot("comp")? {
        "r" => 0,
        "g" => 1,
        "b" => 2,
        _ => 3_u8,
    };
    form.slot("f32")?;
    if geometry != FLAT {
        return None;
    }
    Some(Lowering::new(move |cx, inst| {
        let fields = destinations(cx, &inst.operands[0])?;
        let coordinate = Ty::new(ScalarKind::Float, 32);
        let (object, at) = FLAT.operands(cx, &inst.operands[1], coordinate)?;
        let operands = GatherOperands {
            d: cx.write_list(&fields),
            object: object.into(),
            coordinates: cx.read_list(&at),
            component: component.into(),
        };
        cx.emit(vector::<Gather>(), operands);
        Ok(())
    }))
}
