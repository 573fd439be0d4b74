//! `suld.b sust.b suq`: reads and writes by surface objects. x counts bytes.

use std::marker::PhantomData;

use super::elements::{register_width, value_type};
use super::family::Family;
use super::geometry::Geometry;
use super::query::{self, Asked};
use crate::engine::access::texel::{self, Place};
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, vector};
use crate::engine::exec::operand::{
    Encode, Encoded, LANES, Read, ReadList, Value, WriteList, lanes_of, operands,
};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::fault::FaultKind;
use crate::engine::lower::Width;
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::{Lowering, unsupported};
use crate::engine::lower::types::{ScalarKind, Ty};
use crate::engine::texels::Texels;
use crate::ptx::Error;

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["suld", "sust", "suq"],
    read,
};

/// What an access outside of a surface means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outside {
    Trap,
    Clamp,
    Zero,
}

/// What the modifiers say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mode {
    geometry: Geometry,
    outside: Outside,
    /// Bytes of an element.
    element: u32,
}

impl Encode for Mode {
    fn encode(self) -> u32 {
        self.geometry.encode() << 16 | (self.outside as u32) << 8 | self.element
    }

    fn decode(word: u32) -> Mode {
        Mode {
            geometry: Geometry::decode(word >> 16),
            outside: match word >> 8 & 0xff {
                0 => Outside::Trap,
                1 => Outside::Clamp,
                _ => Outside::Zero,
            },
            element: word & 0xff,
        }
    }
}

operands! {
    pub(crate) struct LoadOperands<R: Value> { d: WriteList<R>, object: Read<u64>, coordinates: ReadList<u32>, mode: Encoded<Mode> }
    pub(crate) struct StoreOperands<R: Value> {
        object: Read<u64>, coordinates: ReadList<u32>, values: ReadList<R>, mode: Encoded<Mode>
    }
}

/// A register of surface elements.
trait Element: Value + Default + Into<u64> {
    fn of_bits(bits: u64) -> Self;
}

macro_rules! elements {
    ($($ty:ty),*) => { $(impl Element for $ty {
        fn of_bits(bits: u64) -> $ty {
            bits as $ty
        }
    })* };
}
elements!(u16, u32, u64);

/// Where a lane's access is; `None` if it is outside and that means nothing. `Err`: a fault was recorded.
fn place(
    warp: &mut Warp,
    lane: usize,
    texels: &Texels,
    (mode, count): (Mode, usize),
    (layer, at): (u32, [u32; 3]),
) -> Result<Option<Place>, Flow> {
    let Mode {
        geometry,
        outside,
        element,
    } = mode;
    if !geometry.fits_surface(texels) {
        let message = format!("a surface access .{} of {}", geometry.name(), texels.what);
        return Err(warp.fail(FaultKind::IllegalInstruction, lane, message));
    }
    let size = element * count as u32;
    let [x, y, z] = at.map(|bits| i64::from(bits.cast_signed()));
    if x % i64::from(size) != 0 {
        let message = format!("misaligned surface access of {size} bytes at byte {x} of a row");
        let notes = vec![
            format!("x counts bytes, and must be a multiple of {size}"),
            format!(
                "texel n of {} begins at byte {} * n",
                texels.what,
                texels.texel()
            ),
        ];
        return Err(warp.fail_with(FaultKind::MisalignedAddress, lane, message, notes));
    }
    let row = i64::from(texels.extents[0]) * i64::from(texels.texel());
    // The layer is checked as a slice is: one of both there is.
    let (slice, slices) = match texels.layers {
        Some(layers) => (i64::from(layer.cast_signed()), layers),
        None => (z, texels.extents[2]),
    };
    let last = [
        row - i64::from(size),
        i64::from(texels.extents[1]) - 1,
        i64::from(slices) - 1,
    ];
    let mut inside = [x, y, slice];
    for (at, &last) in inside.iter_mut().zip(&last) {
        if (0..=last).contains(at) {
            continue;
        }
        match outside {
            Outside::Clamp if last >= 0 => *at = (*at).clamp(0, last),
            Outside::Zero => return Ok(None),
            _ => {
                let message = format!(
                    "surface access of {size} bytes at byte {x} of row {y} of slice {slice}, outside of {}",
                    texels.what
                );
                let notes = vec!["`.clamp` and `.zero` give such accesses a meaning".to_owned()];
                return Err(warp.fail_with(FaultKind::IllegalAddress, lane, message, notes));
            }
        }
    }
    Ok(Some(Place {
        x: inside[0] as u64,
        y: inside[1] as u32,
        slice: inside[2] as u32,
        element,
        count,
    }))
}

/// The surface of a lane; `Err`: a fault was recorded.
fn surface(
    warp: &mut Warp,
    cluster: &Cluster<'_>,
    lane: usize,
    number: u64,
) -> Result<Texels, Flow> {
    let found = cluster.grid.memory.surface(number);
    found.map_err(|error| texel::no_object(warp, lane, "surface", number, error))
}

/// `suld.b`
struct Load<R>(PhantomData<R>);

impl<R: Element> Op for Load<R> {
    type Operands = LoadOperands<R>;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        load(warp, cluster, o).err().unwrap_or(Flow::Next)
    }
}

fn load<R: Element>(
    warp: &mut Warp,
    cluster: &Cluster<'_>,
    o: LoadOperands<R>,
) -> Result<(), Flow> {
    let (mode, count) = (o.mode.get(), o.d.len());
    let objects = *o.object.lanes(warp);
    let (layers, at) = mode.geometry.coordinates(warp, o.coordinates);
    let mut result = [[R::default(); LANES]; 4];
    for lane in lanes_of(warp.mask) {
        let texels = surface(warp, cluster, lane, objects[lane])?;
        let at = (layers[lane], at.map(|axis| axis[lane]));
        let Some(place) = place(warp, lane, &texels, (mode, count), at)? else {
            continue;
        };
        let bits = texel::read(warp, cluster, lane, &texels, place)?;
        for (row, bits) in result.iter_mut().zip(bits) {
            row[lane] = R::of_bits(bits);
        }
    }
    for (part, row) in result.iter().enumerate().take(count) {
        o.d.get(warp, part).put(warp, row);
    }
    Ok(())
}

/// `sust.b`
struct Store<R>(PhantomData<R>);

impl<R: Element> Op for Store<R> {
    type Operands = StoreOperands<R>;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        store(warp, cluster, o).err().unwrap_or(Flow::Next)
    }
}

fn store<R: Element>(
    warp: &mut Warp,
    cluster: &Cluster<'_>,
    o: StoreOperands<R>,
) -> Result<(), Flow> {
    let (mode, count) = (o.mode.get(), o.values.len());
    let objects = *o.object.lanes(warp);
    let (layers, at) = mode.geometry.coordinates(warp, o.coordinates);
    for lane in lanes_of(warp.mask) {
        let texels = surface(warp, cluster, lane, objects[lane])?;
        let at = (layers[lane], at.map(|axis| axis[lane]));
        let Some(place) = place(warp, lane, &texels, (mode, count), at)? else {
            continue;
        };
        let mut bits = [0; 4];
        for (part, bits) in bits.iter_mut().enumerate().take(count) {
            *bits = o.values.get(warp, part).lanes(warp)[lane].into();
        }
        texel::write(warp, cluster, lane, &texels, place, bits)?;
    }
    Ok(())
}

/// `suq`: surfaces.
struct Surfaces;

impl Asked for Surfaces {
    fn look_up(
        warp: &mut Warp,
        cluster: &Cluster<'_>,
        lane: usize,
        number: u64,
    ) -> Result<Vec<Texels>, Flow> {
        Ok(vec![surface(warp, cluster, lane, number)?])
    }
}

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    if form.opcode() == "suq" {
        return query::read::<Surfaces>(form);
    }
    if !form.has("b") {
        return None;
    }
    let stores = form.opcode() == "sust";
    // What says how the caches are used.
    form.ignore(&["cop"]);
    let geometry = Geometry::read(form)?;
    let outside = match form.slot("clamp")? {
        "trap" => Outside::Trap,
        "clamp" => Outside::Clamp,
        _ => Outside::Zero,
    };
    let count = match form.slot("vec") {
        None => 1,
        Some("v2") => 2,
        Some(_) => 4,
    };
    let bits = match form.slot(if stores { "ctype" } else { "dtype" })? {
        "b8" => 8,
        "b16" => 16,
        "b32" => 32,
        _ => 64,
    };
    let ty = Ty::new(ScalarKind::Bits, bits);
    let mode = Mode {
        geometry,
        outside,
        element: bits / 8,
    };
    let (registers, address) = if stores { (1, 0) } else { (0, 1) };
    Some(Lowering::new(move |cx, inst| {
        let parts = cx.parts(&inst.operands[registers]).into_owned();
        if parts.len() != count {
            let message = format!("expected {count} registers");
            return Err(Error::new(inst.operands[registers].at, message));
        }
        let width = register_width(cx, &parts, ty)?;
        let coordinate = Ty::new(ScalarKind::Bits, 32);
        let (object, at) = mode
            .geometry
            .operands(cx, &inst.operands[address], coordinate)?;
        let object = object.into();
        let coordinates = cx.read_list(&at);
        let mut fields = Vec::new();
        for part in &parts {
            fields.push(match stores {
                true => cx.src(part, value_type(ty, width))?,
                false => cx.dst(part, width)?,
            });
        }
        macro_rules! emit {
            ($r:ty) => {
                if stores {
                    let operands = StoreOperands::<$r> {
                        object,
                        coordinates,
                        values: cx.read_list(&fields),
                        mode: mode.into(),
                    };
                    cx.emit(vector::<Store<$r>>(), operands);
                } else {
                    let operands = LoadOperands::<$r> {
                        d: cx.write_list(&fields),
                        object,
                        coordinates,
                        mode: mode.into(),
                    };
                    cx.emit(vector::<Load<$r>>(), operands);
                }
            };
        }
        match width {
            Width::W16 => emit!(u16),
            Width::W32 => emit!(u32),
            Width::W64 => emit!(u64),
            _ => return Err(unsupported(inst)),
        }
        Ok(())
    }))
}
