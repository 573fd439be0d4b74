//! Loads and stores of vectors: several elements for each lane.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use super::elements::{Narrow, Widen};
use crate::engine::access::bytes::Bytes;
use crate::engine::access::path::access;
use crate::engine::access::values::{self, Stored};
use crate::engine::dataflow::Dataflow;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::guest::{self, GuestWord};
use crate::engine::exec::level::Level;
use crate::engine::exec::op::Op;
use crate::engine::exec::operand::{
    Address, LANES, ReadList, Value, WriteList, lanes_of, operands,
};
use crate::engine::exec::warp::{Flow, Warp};

operands! {
    pub(crate) struct LoadVectorOperands<R: Value> { d: WriteList<R>, from: Address }
    pub(crate) struct StoreVectorOperands<R: Value> { to: Address, values: ReadList<R> }
}

/// A vector load.
pub(super) struct LoadVector<M, R>(PhantomData<(M, R)>);

impl<M: GuestWord + Widen<R>, R: Value + Default> Op for LoadVector<M, R> {
    type Operands = LoadVectorOperands<R>;
    const DATAFLOW: Dataflow = Dataflow::Memory;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let count = o.d.len();
        let size = (size_of::<M>() * count) as u32;
        access::<L>(
            warp,
            cluster,
            o.from,
            size,
            Stored::Unknown,
            #[inline(always)]
            |warp, _, bytes| {
                match bytes {
                    Bytes::Row(start) => {
                        let rows = rows::<L, M>(start.cast(), count);
                        for part in 0..count {
                            let mut result = [R::default(); LANES];
                            for lane in 0..LANES {
                                let at = lane * count + part;
                                // SAFETY: `rows` has loaded `count` rows, and `at` lies in them.
                                result[lane] = unsafe { rows[at / LANES].assume_init_ref() }
                                    [at % LANES]
                                    .widen();
                            }
                            o.d.get(warp, part).put(warp, &result);
                        }
                    }
                    Bytes::Lanes => {
                        for part in 0..count {
                            let mut result = [R::default(); LANES];
                            for lane in lanes_of(warp.mask) {
                                let from = warp.pointers[lane].cast::<M>().wrapping_add(part);
                                // SAFETY: the access path found `count` elements there.
                                result[lane] = unsafe { M::load(from) }.widen();
                            }
                            o.d.get(warp, part).put(warp, &result);
                        }
                    }
                }
                Flow::Next
            },
        )
    }
}

/// The most elements of a vector.
const MOST: usize = 8;

/// Loads `count` rows of elements.
#[inline(always)]
fn rows<L: Level, M: GuestWord>(start: *const M, count: usize) -> [MaybeUninit<[M; LANES]>; MOST] {
    let mut rows = [const { MaybeUninit::uninit() }; MOST];
    for (index, row) in rows.iter_mut().take(count).enumerate() {
        // SAFETY: the access path found a row of vectors, which is `count` rows of elements.
        row.write(unsafe { guest::load_row::<L, M>(start.add(index * LANES)) });
    }
    rows
}

/// A vector store.
pub(super) struct StoreVector<M, R>(PhantomData<(M, R)>);

impl<M: GuestWord, R: Value + Narrow<M>> Op for StoreVector<M, R> {
    type Operands = StoreVectorOperands<R>;
    const DATAFLOW: Dataflow = Dataflow::Memory;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let count = o.values.len();
        let size = (size_of::<M>() * count) as u32;
        let stored = |warp: &Warp, lane: usize| values::list::<M, R>(warp, o.values, lane);
        access::<L>(
            warp,
            cluster,
            o.to,
            size,
            Stored::Lanes(&stored),
            #[inline(always)]
            |warp, _, bytes| {
                match bytes {
                    Bytes::Row(start) => {
                        let mut rows = [[M::default(); LANES]; MOST];
                        for part in 0..count {
                            let values = o.values.get(warp, part).lanes(warp);
                            for lane in 0..LANES {
                                let at = lane * count + part;
                                rows[at / LANES][at % LANES] = values[lane].narrow();
                            }
                        }
                        for (index, row) in rows.iter().take(count).enumerate() {
                            let start = start.cast::<M>().wrapping_add(index * LANES);
                            // SAFETY: the access path found a row of vectors, which is `count` rows of elements.
                            unsafe { guest::store_row::<L, M>(start, row) };
                        }
                    }
                    Bytes::Lanes => {
                        for part in 0..count {
                            let values = o.values.get(warp, part).lanes(warp);
                            for lane in lanes_of(warp.mask) {
                                let to = warp.pointers[lane].cast::<M>().wrapping_add(part);
                                // SAFETY: the access path found `count` elements there.
                                unsafe { M::store(to, values[lane].narrow()) };
                            }
                        }
                    }
                }
                Flow::Next
            },
        )
    }
}
