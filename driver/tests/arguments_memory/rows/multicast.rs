//! Multicast objects: their properties, devices, and the memory that is bound to them. They are created on the simulator only: no row is asked of a
//! GPU.

use std::sync::OnceLock;

use crate::common::*;
use crate::row::*;
use crate::world::{NO_DEVICE, NOWHERE, ODD, PIECE};

type Properties = CUmulticastObjectProp;

const MINIMUM: CUmulticastGranularity_flags =
    CUmulticastGranularity_flags::CU_MULTICAST_GRANULARITY_MINIMUM;
const NO_HANDLE: CUmemGenericAllocationHandle = 0;
const ILLEGAL_STATE: c_uint = 401;

fn of(devices: c_uint, bytes: usize) -> *const Properties {
    with(|p| (p.numDevices, p.size) = (devices, bytes))
}

/// Those of an object of one device, changed.
fn with(change: impl FnOnce(&mut Properties)) -> *const Properties {
    let mut properties = Properties {
        numDevices: 1,
        size: PIECE,
        ..Default::default()
    };
    change(&mut properties);
    at(properties)
}

/// An object of two pieces whose one device has been added.
fn object() -> CUmemGenericAllocationHandle {
    static OBJECT: OnceLock<u64> = OnceLock::new();
    *OBJECT.get_or_init(|| {
        let object = get!(cuMulticastCreate(of(1, 2 * PIECE)));
        ok!(cuMulticastAddDevice(object, 0));
        object
    })
}

/// One whose device has not been added.
fn without_devices() -> CUmemGenericAllocationHandle {
    static OBJECT: OnceLock<u64> = OnceLock::new();
    *OBJECT.get_or_init(|| get!(cuMulticastCreate(of(1, PIECE))))
}

/// One of which the first piece is bound.
fn bound(memory: CUmemGenericAllocationHandle) -> CUmemGenericAllocationHandle {
    static OBJECT: OnceLock<u64> = OnceLock::new();
    *OBJECT.get_or_init(|| {
        let object = get!(cuMulticastCreate(of(1, 2 * PIECE)));
        ok!(cuMulticastAddDevice(object, 0));
        ok!(cuMulticastBindMem(object, 0, memory, 0, PIECE, 0));
        object
    })
}

fn released() -> CUmemGenericAllocationHandle {
    static OBJECT: OnceLock<u64> = OnceLock::new();
    *OBJECT.get_or_init(|| {
        let object = get!(cuMulticastCreate(of(1, PIECE)));
        ok!(cuMemRelease(object));
        object
    })
}

pub fn rows() -> Vec<Row> {
    let all = objects().into_iter().chain(bindings());
    all.map(|row| row.not_on_gpu("multicast objects are created on the simulator only"))
        .collect()
}

fn objects() -> Vec<Row> {
    rows! { |w|
        cuMulticastGetGranularity {
            "null result": INVALID_VALUE => (null_mut(), of(1, PIECE), MINIMUM);
            "null properties": INVALID_VALUE => (out(), null(), MINIMUM);
            "an odd option": INVALID_VALUE => (out(), of(1, PIECE), CUmulticastGranularity_flags(ODD));
            "no devices": INVALID_VALUE => (out(), of(0, PIECE), MINIMUM);
            "a flag": INVALID_VALUE => (out(), with(|p| p.flags = 1), MINIMUM);
        }
        cuMulticastCreate {
            "null result": INVALID_VALUE => (null_mut(), of(1, PIECE));
            "null properties": INVALID_VALUE => (out(), null());
            "no devices": INVALID_VALUE => (out(), of(0, PIECE));
            "no bytes": INVALID_VALUE => (out(), of(1, 0));
            "no multiple of a piece": INVALID_VALUE => (out(), of(1, PIECE / 2));
            "all bytes that there are": INVALID_VALUE => (out(), of(1, usize::MAX));
            "a flag": INVALID_VALUE => (out(), with(|p| p.flags = 1));
            "handles of another system": INVALID_VALUE => (out(), with(|p| p.handleTypes = 2));
            "odd handles": INVALID_VALUE => (out(), with(|p| p.handleTypes = 1 << 40));
            "handles of a fabric that is not set up": NOT_PERMITTED => (out(), with(|p| p.handleTypes = 8));
        }
        cuMulticastAddDevice {
            "nothing": INVALID_VALUE => (NO_HANDLE, 0);
            "a released object": INVALID_VALUE => (released(), 0);
            "memory": INVALID_VALUE => (w.physical, 0);
            "no such device": INVALID_DEVICE => (without_devices(), NO_DEVICE);
            "a negative device": INVALID_DEVICE => (without_devices(), -1);
            "a device twice": INVALID_VALUE => (object(), 0);
        }
    }
}

fn bindings() -> Vec<Row> {
    rows! { |w|
        cuMulticastBindMem {
            "nothing": INVALID_VALUE => (NO_HANDLE, 0, w.physical, 0, PIECE, 0);
            "memory as the object": INVALID_VALUE => (w.physical, 0, w.physical, 0, PIECE, 0);
            "no memory": INVALID_VALUE => (object(), 0, NO_HANDLE, 0, PIECE, 0);
            "released memory": INVALID_VALUE => (object(), 0, w.released_physical, 0, PIECE, 0);
            "an object as the memory": INVALID_VALUE => (object(), 0, object(), 0, PIECE, 0);
            "before the devices": ILLEGAL_STATE => (without_devices(), 0, w.physical, 0, PIECE, 0);
            "within a piece of the object": INVALID_VALUE => (object(), 4096, w.physical, 0, PIECE, 0);
            "within a piece of the memory": INVALID_VALUE => (object(), 0, w.physical, 4096, PIECE, 0);
            "a part of a piece": INVALID_VALUE => (object(), 0, w.physical, 0, 4096, 0);
            "no bytes": INVALID_VALUE => (object(), 0, w.physical, 0, 0, 0);
            "behind the object": INVALID_VALUE => (object(), 2 * PIECE, w.physical, 0, PIECE, 0);
            "behind the memory": INVALID_VALUE => (object(), 0, w.physical, PIECE, PIECE, 0);
            "an offset that wraps": INVALID_VALUE => (object(), 0usize.wrapping_sub(PIECE), w.physical, 0, PIECE, 0);
            "more than the memory": INVALID_VALUE => (object(), 0, w.physical, 0, 2 * PIECE, 0);
            "a flag": INVALID_VALUE => (object(), 0, w.physical, 0, PIECE, 1);
            "bound already": INVALID_VALUE => (bound(w.physical), 0, w.physical, 0, PIECE, 0);
        }
        cuMulticastBindMem_v2 {
            "nothing": INVALID_VALUE => (NO_HANDLE, 0, 0, w.physical, 0, PIECE, 0);
            "no such device": INVALID_DEVICE => (object(), NO_DEVICE, 0, w.physical, 0, PIECE, 0);
            "no memory": INVALID_VALUE => (object(), 0, 0, NO_HANDLE, 0, PIECE, 0);
            "a part of a piece": INVALID_VALUE => (object(), 0, 0, w.physical, 0, 4096, 0);
            "bound already": INVALID_VALUE => (bound(w.physical), 0, 0, w.physical, 0, PIECE, 0);
        }
        cuMulticastBindAddr {
            "nothing": INVALID_VALUE => (NO_HANDLE, 0, w.range, PIECE, 0);
            "before the devices": ILLEGAL_STATE => (without_devices(), 0, w.range, PIECE, 0);
            "nowhere": INVALID_VALUE => (object(), 0, NOWHERE, PIECE, 0);
            "plain memory": INVALID_VALUE => (object(), 0, w.memory, PIECE, 0);
            "where nothing is mapped": INVALID_VALUE => (object(), 0, w.range + PIECE as u64, PIECE, 0);
            "within a piece": INVALID_VALUE => (object(), 0, w.range + 4096, PIECE, 0);
            "more than is mapped": INVALID_VALUE => (object(), 0, w.range, 2 * PIECE, 0);
            "a flag": INVALID_VALUE => (object(), 0, w.range, PIECE, 1);
        }
        cuMulticastBindAddr_v2 {
            "nothing": INVALID_VALUE => (NO_HANDLE, 0, 0, w.range, PIECE, 0);
            "no such device": INVALID_DEVICE => (object(), NO_DEVICE, 0, w.range, PIECE, 0);
            "plain memory": INVALID_VALUE => (object(), 0, 0, w.memory, PIECE, 0);
        }
        cuMulticastUnbind {
            "nothing": INVALID_VALUE => (NO_HANDLE, 0, 0, PIECE);
            "no such device": INVALID_DEVICE => (bound(w.physical), NO_DEVICE, 0, PIECE);
            "what is not bound": INVALID_VALUE => (object(), 0, 0, PIECE);
            "behind what is bound": INVALID_VALUE => (bound(w.physical), 0, PIECE, PIECE);
            "a part of it": INVALID_VALUE => (bound(w.physical), 0, 0, PIECE / 2);
            "no bytes": INVALID_VALUE => (bound(w.physical), 0, 0, 0);
            "an offset that wraps": INVALID_VALUE => (bound(w.physical), 0, 0usize.wrapping_sub(PIECE), 2 * PIECE);
        }
    }
}
