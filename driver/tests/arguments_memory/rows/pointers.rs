//! What is known about pointers.

use crate::common::*;
use crate::row::*;
use crate::world::{NOWHERE, ODD, one};

type Attribute = CUpointer_attribute;
const TYPE: Attribute = Attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
const HOST_POINTER: Attribute = Attribute::CU_POINTER_ATTRIBUTE_HOST_POINTER;
const SYNC: Attribute = Attribute::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS;

pub fn rows() -> Vec<Row> {
    rows! { |w|
        cuPointerGetAttribute {
            "null result": INVALID_VALUE => (null_mut(), TYPE, w.memory);
            "nothing": INVALID_VALUE => (out(), TYPE, 0);
            "nowhere": INVALID_VALUE => (out(), TYPE, NOWHERE);
            "pageable memory": INVALID_VALUE => (out(), TYPE, w.host_address());
            "freed": INVALID_VALUE => (out(), TYPE, w.freed);
            "of a destroyed context": INVALID_VALUE => (out(), TYPE, w.orphaned);
            "freed addresses": INVALID_VALUE => (out(), TYPE, w.freed_range);
            "no attribute": INVALID_VALUE => (out(), CUpointer_attribute(0), w.memory);
            "an odd attribute": INVALID_VALUE => (out(), CUpointer_attribute(ODD), w.memory);
            "the host's pointer of device memory": INVALID_VALUE => (out(), HOST_POINTER, w.memory);
            "no context" [bare, gpu(OK)]: INVALID_CONTEXT => (out(), TYPE, w.memory);
        }
        cuPointerGetAttributes {
            "null attributes": INVALID_VALUE => (1, null_mut(), one(out()), w.memory);
            "null results": INVALID_VALUE => (1, one(TYPE), null_mut(), w.memory);
            "a null result": INVALID_VALUE => (1, one(TYPE), one(null_mut()), w.memory);
            "an odd attribute": INVALID_VALUE => (1, one(CUpointer_attribute(ODD)), one(out()), w.memory);
            "no context" [bare, gpu(OK)]: INVALID_CONTEXT => (1, one(TYPE), one(out()), w.memory);
        }
        cuPointerSetAttribute {
            "null value": INVALID_VALUE => (null(), SYNC, w.memory);
            "nothing": INVALID_VALUE => (at(1u32).cast(), SYNC, 0);
            "nowhere": INVALID_VALUE => (at(1u32).cast(), SYNC, NOWHERE);
            "pageable memory": INVALID_VALUE => (at(1u32).cast(), SYNC, w.host_address());
            "freed": INVALID_VALUE => (at(1u32).cast(), SYNC, w.freed);
            "one that is only read": INVALID_VALUE => (at(1u32).cast(), TYPE, w.memory);
            "an odd attribute": INVALID_VALUE => (at(1u32).cast(), CUpointer_attribute(ODD), w.memory);
            "no context" [bare, gpu(OK)]: INVALID_CONTEXT => (at(1u32).cast(), SYNC, w.memory);
        }
    }
}
