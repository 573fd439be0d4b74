//! Texels: what texture fetches and surface accesses reach memory by. There is no address that a kernel knows, so that faults name the
//! object's memory and the texel.

use super::bounds::kind_name;
use crate::engine::environment::AccessError;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::guest::{self, GuestWord};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::fault::FaultKind;
use crate::engine::texels::{ObjectError, Texels};
use warpsmith_isa::effect::AccessKind;

/// Bytes of texels in a row.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// Byte of the row.
    pub x: u64,
    /// Row.
    pub y: u32,
    /// Slice or layer.
    pub slice: u32,
    /// Bytes of an element.
    pub element: u32,
    /// Elements.
    pub count: usize,
}

impl Place {
    fn size(&self) -> u32 {
        self.element * self.count as u32
    }
}

/// Reads the elements' bits for a lane; `Err`: a fault was recorded.
pub(crate) fn read(
    warp: &mut Warp,
    cluster: &Cluster<'_>,
    lane: usize,
    texels: &Texels,
    place: Place,
) -> Result<[u64; 4], Flow> {
    let address = find(warp, cluster, lane, texels, place, AccessKind::Read)?;
    let grid = cluster.grid;
    if grid.surface_writes.holds(address, place.size()) {
        let notes = vec![
            "texture fetches and surface reads are not coherent with writes of the same launch, whatever barriers are between"
                .to_owned(),
            "write in one launch and read in the next".to_owned(),
        ];
        let message = format!(
            "read of {} that the same launch has written",
            name(texels, place)
        );
        return Err(warp.fail_with(FaultKind::Race, lane, message, notes));
    }
    if grid.checks.uninitialised
        && let Some(record) = &texels.record
        && !record.is_written(address - texels.base, place.size())
    {
        let message = format!("uninitialised texel: read of {}", name(texels, place));
        let notes = vec!["nothing has written there since the array was created".to_owned()];
        return Err(warp.fail_with(FaultKind::Uninitialised, lane, message, notes));
    }
    let mut bits = [0; 4];
    for (index, bits) in bits.iter_mut().enumerate().take(place.count) {
        let at = guest::host_pointer(address + u64::from(place.element) * index as u64);
        // SAFETY: `find` has found all of the elements in live memory, each aligned to its size.
        *bits = unsafe {
            match place.element {
                1 => u8::load(at).into(),
                2 => u16::load(at.cast()).into(),
                4 => u32::load(at.cast()).into(),
                _ => u64::load(at.cast()),
            }
        };
    }
    Ok(bits)
}

/// Writes the elements' bits for a lane; `Err`: a fault was recorded.
pub(crate) fn write(
    warp: &mut Warp,
    cluster: &Cluster<'_>,
    lane: usize,
    texels: &Texels,
    place: Place,
    bits: [u64; 4],
) -> Result<(), Flow> {
    let address = find(warp, cluster, lane, texels, place, AccessKind::Write)?;
    for (index, bits) in bits.into_iter().enumerate().take(place.count) {
        let at = guest::host_pointer(address + u64::from(place.element) * index as u64);
        // SAFETY: `find` has found all of the elements in live memory that may be written, each aligned to its size.
        unsafe {
            match place.element {
                1 => u8::store(at, bits as u8),
                2 => u16::store(at.cast(), bits as u16),
                4 => u32::store(at.cast(), bits as u32),
                _ => u64::store(at.cast(), bits),
            }
        }
    }
    if let Some(record) = &texels.record {
        record.note_written(address - texels.base, place.size());
    }
    cluster.grid.surface_writes.note(address, place.size());
    warp.changes += 1;
    Ok(())
}

/// Where the bytes are.
fn find(
    warp: &mut Warp,
    cluster: &Cluster<'_>,
    lane: usize,
    texels: &Texels,
    place: Place,
    kind: AccessKind,
) -> Result<u64, Flow> {
    let address = texels.address(place.x, place.y, place.slice);
    let writes = kind != AccessKind::Read;
    let memory = cluster.grid.memory;
    let found = memory.validate(address, place.size().into(), writes);
    found.map(|_| address).map_err(|error| {
        let (fault, why) = match error {
            AccessError::Freed => (FaultKind::UseAfterFree, "the memory was freed"),
            _ => (FaultKind::IllegalAddress, "the memory cannot be accessed"),
        };
        let message = format!("{} of {}: {why}", kind_name(kind), name(texels, place));
        warp.fail(fault, lane, message)
    })
}

/// What is accessed, for reports.
pub(crate) fn name(texels: &Texels, place: Place) -> String {
    let texel = place.x / u64::from(texels.texel().max(1));
    format!(
        "{} bytes at texel ({texel}, {}, {}) of {}",
        place.size(),
        place.y,
        place.slice,
        texels.what
    )
}

/// Records that there is no such object.
#[cold]
pub(crate) fn no_object(
    warp: &mut Warp,
    lane: usize,
    what: &str,
    object: u64,
    error: ObjectError,
) -> Flow {
    let why = match error {
        ObjectError::None => "it was destroyed, or never created",
        ObjectError::ArrayDestroyed => "its array was destroyed",
    };
    let message = format!("{object:#x} is no {what} object that can be used: {why}");
    warp.fail(FaultKind::UseAfterFree, lane, message)
}
