//! `tex txq`: fetches by texture objects, and what these are.

use super::family::Family;
use super::geometry::Geometry;
use super::query::{self, Asked};
use crate::engine::access::texel::{self, Place};
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, vector};
use crate::engine::exec::operand::{Encoded, LANES, Read, ReadList, WriteList, lanes_of, operands};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::fault::FaultKind;
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::Lowering;
use crate::engine::lower::types::{ScalarKind, Ty};
use crate::engine::lower::{Field, Width};
use crate::engine::texels::Texels;
use crate::numerics::texture::{Coordinates, fetch};
use crate::ptx::Error;

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["tex", "txq"],
    read,
};

operands! {
    pub(crate) struct FetchOperands {
        d: WriteList<u32>, object: Read<u64>, coordinates: ReadList<u32>, geometry: Encoded<Geometry>, whole: Encoded<bool>
    }
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
    let (geometry, whole) = (o.geometry.get(), o.whole.get());
    let objects = *o.object.lanes(warp);
    let (layers, at) = geometry.coordinates(warp, o.coordinates);
    let mut result = [[0; LANES]; 4];
    let mut found = None;
    for lane in lanes_of(warp.mask) {
        let number = objects[lane];
        let known = found.take().filter(|(known, _)| *known == number);
        let (_, texture) = match known {
            Some(known) => found.insert(known),
            None => {
                let texture = cluster.grid.memory.texture(number);
                let texture = texture
                    .map_err(|error| texel::no_object(warp, lane, "texture", number, error))?;
                found.insert((number, texture))
            }
        };
        let texels = &texture.texels;
        if !geometry.fits(texels) {
            let message = format!("tex.{} of {}", geometry.name(), texels.what);
            return Err(warp.fail(FaultKind::IllegalInstruction, lane, message));
        }
        let layer = texels.layers.map_or(0, |count| {
            layers[lane].cast_signed().clamp(0, count as i32 - 1) as u32
        });
        let lane_at = at.map(|axis| axis[lane]);
        let coordinates = match whole {
            true => Coordinates::Texels(lane_at.map(u32::cast_signed)),
            false => Coordinates::Floats(lane_at.map(f32::from_bits)),
        };
        let element = texels.format.bytes();
        let read = |[x, y, z]: [u32; 3]| {
            let place = Place {
                x: u64::from(x) * u64::from(texels.texel()),
                y,
                slice: z + layer,
                element,
                count: texels.components,
            };
            let bits = texel::read(warp, cluster, lane, texels, place)?;
            Ok(bits.map(|bits| bits as u32))
        };
        let shape = (texels.extents, texels.dimensions);
        let sampler = &texture.sampler;
        let texel = fetch(
            texels.format,
            texels.components,
            sampler,
            shape,
            coordinates,
            read,
        )?;
        for (row, bits) in result.iter_mut().zip(texel) {
            row[lane] = bits;
        }
    }
    for (part, row) in result.iter().enumerate() {
        o.d.get(warp, part).put(warp, row);
    }
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
    ) -> Result<(Texels, bool), Flow> {
        match cluster.grid.memory.texture(number) {
            Ok(texture) => Ok((texture.texels, texture.sampler.normalised)),
            Err(error) => Err(texel::no_object(warp, lane, "texture", number, error)),
        }
    }
}

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    if form.opcode() == "txq" {
        return query::read::<Textures>(form);
    }
    let geometry = Geometry::read(form)?;
    if !form.has("v4") || form.operands() != 2 {
        return None;
    }
    form.slot("dtype")?;
    let whole = form.slot("ctype")? == "s32";
    let kind = match whole {
        true => ScalarKind::Signed,
        false => ScalarKind::Float,
    };
    Some(Lowering::new(move |cx, inst| {
        let parts = cx.parts(&inst.operands[0]).into_owned();
        if parts.len() != 4 {
            return Err(Error::new(inst.at, "a fetch has four destinations"));
        }
        let mut fields: Vec<Field> = Vec::new();
        for part in &parts {
            fields.push(cx.dst(part, Width::W32)?);
        }
        let (object, at) = geometry.operands(cx, &inst.operands[1], Ty::new(kind, 32))?;
        let operands = FetchOperands {
            d: cx.write_list(&fields),
            object: object.into(),
            coordinates: cx.read_list(&at),
            geometry: geometry.into(),
            whole: whole.into(),
        };
        cx.emit(vector::<Fetch>(), operands);
        Ok(())
    }))
}
