//! What the check has found, as faults.

use crate::check::stream_order::{Class, Conflict, Incoherent, Piece};
use crate::context::Context;
use crate::engine::DeviceMemory;
use crate::memory::Memory;
use warpsmith_abi::fault::{
    AccessKind, Fault, FaultAccess, FaultKind, MemorySpace, NearestAllocation, PieceOfWork,
};

pub(super) fn access_kind(class: Class) -> AccessKind {
    match class {
        Class::Read => AccessKind::Read,
        _ => AccessKind::Write,
    }
}

/// A piece as a fault names it.
pub(super) fn side(piece: &Piece, does: &str) -> PieceOfWork {
    PieceOfWork {
        what: piece.what.clone(),
        place: piece.at.clone(),
        does: does.to_owned(),
    }
}

/// An access to a byte of global memory.
pub(super) fn access(kind: AccessKind, address: u64, context: &Context) -> FaultAccess {
    let memory = Memory::global().seen_by(context.device, context.id());
    let nearest = memory.nearest(address).map(|near| NearestAllocation {
        what: near.what,
        base: near.base,
        size: near.size,
        freed: near.freed,
    });
    FaultAccess {
        kind,
        space: MemorySpace::Global,
        address,
        size: 1,
        nearest,
    }
}

/// The report of a grid that is not coherent with itself.
pub(super) fn incoherence(grid: &Piece, found: Incoherent, context: &Context) -> Fault {
    let Incoherent {
        written,
        other,
        class,
    } = found;
    let (what, at, does) = (&grid.what, &grid.at, class.name());
    let (message, notes) = match found.is_read_only_path() {
        true => (
            format!(
                "{what} in {at} writes memory at {written:#x} that it reads by the read-only path (ld.global.nc), too"
            ),
            [
                "loads of that path are not coherent with writes of the same launch, whatever barriers are between",
                "read it by ordinary loads, or write it in another launch",
            ],
        ),
        false => (
            format!(
                "{what} in {at} writes memory at {written:#x} and {does} the same physical memory at {other:#x}"
            ),
            [
                "accesses at two virtual addresses of the same memory are not coherent inside one launch, whatever barriers are between",
                "use one of the addresses, put a fence.proxy.alias between the accesses, or use the other address in a later launch",
            ],
        ),
    };
    Fault {
        access: Some(access(AccessKind::Write, written, context)),
        notes: notes.map(str::to_owned).to_vec(),
        ..Fault::outside_kernels(FaultKind::Race, message)
    }
}

/// The report of a conflict.
pub(super) fn fault(conflict: &Conflict, context: &Context) -> Fault {
    let Conflict {
        later,
        earlier,
        later_class,
        earlier_class,
        address,
    } = conflict;
    let lifetime = later_class.is_lifetime() || earlier_class.is_lifetime();
    let kind = access_kind(*later_class);
    let mut notes =
        vec!["no edge of a graph, event, stream or wait of the host orders the two".to_owned()];
    notes.push(match lifetime {
        true => "order every use of the memory, to its end, after the allocation and before the free: let one stream wait for an event of \
                 the other (cuStreamWaitEvent), or add the edge"
            .to_owned(),
        false => "let one stream wait for an event of the other (cuStreamWaitEvent), add the edge between the nodes, or have the dependent \
                  kernel wait (griddepcontrol.wait)"
            .to_owned(),
    });
    Fault {
        access: Some(access(kind, *address, context)),
        work: vec![
            side(later, later_class.name()),
            side(earlier, earlier_class.name()),
        ],
        notes,
        ..Fault::outside_kernels(
            FaultKind::StreamOrder,
            format!(
                "unordered work: {} in {} {} memory at {address:#x}",
                later.what,
                later.at,
                later_class.name(),
            ),
        )
    }
}
