//! Lanes of the device.

use crate::lanes::Lanes;
use warpsmith_device::prelude::*;
use warpsmith_device::shared::SharedArray;

/// This thread's lane, with the block's shared memory.
pub struct Device<'a> {
    pub exchange: SharedArray<'a, u32, 96>,
}

impl Lanes for Device<'_> {
    fn lane(&self) -> u32 {
        warp::lane()
    }
    fn shuffle(&mut self, mask: u32, value: u32, source: u32) -> u32 {
        warp::shuffle(mask, value, source)
    }
    fn up(&mut self, mask: u32, value: u32, delta: u32) -> u32 {
        warp::shuffle_up(mask, value, delta)
    }
    #[inline]
    fn down(&mut self, mask: u32, value: u32, delta: u32) -> u32 {
        warp::shuffle_down(mask, value, delta)
    }
    #[inline(always)]
    fn butterfly(&mut self, mask: u32, value: u32, bits: u32) -> u32 {
        warp::shuffle_xor(mask, value, bits)
    }
    #[inline(always)]
    fn ballot(&mut self, mask: u32, predicate: bool) -> u32 {
        warp::ballot(mask, predicate)
    }
    #[inline(never)]
    fn any(&mut self, mask: u32, predicate: bool) -> bool {
        warp::any(mask, predicate)
    }
    fn all(&mut self, mask: u32, predicate: bool) -> bool {
        warp::all(mask, predicate)
    }
    #[inline(always)]
    fn uniform(&mut self, mask: u32, predicate: bool) -> bool {
        warp::uniform(mask, predicate)
    }
    #[inline(never)]
    fn match_any(&mut self, mask: u32, value: u32) -> u32 {
        warp::match_any(mask, value)
    }
    fn match_all(&mut self, mask: u32, value: u32) -> u32 {
        warp::match_all(mask, value).unwrap_or(0)
    }
    #[inline(never)]
    fn sum(&mut self, mask: u32, value: u32) -> u32 {
        warp::reduce_add(mask, value)
    }
    fn least(&mut self, mask: u32, value: u32) -> u32 {
        warp::reduce_min(mask, value)
    }
    #[inline(always)]
    fn greatest_signed(&mut self, mask: u32, value: u32) -> u32 {
        warp::reduce_max(mask, value as i32) as u32
    }
    fn parity(&mut self, mask: u32, value: u32) -> u32 {
        warp::reduce_xor(mask, value)
    }
    #[inline(always)]
    fn sync(&mut self, mask: u32) {
        warp::sync(mask)
    }
    fn elected(&mut self, mask: u32) -> u32 {
        let elected = warp::elect(mask);
        warp::ballot(mask, elected).count_ones()
    }
    #[inline(never)]
    fn block_sync(&mut self) {
        block::sync()
    }
    fn block_count(&mut self, predicate: bool) -> u32 {
        block::sync_count(predicate)
    }
    #[inline(never)]
    fn block_all(&mut self, predicate: bool) -> bool {
        block::sync_and(predicate)
    }
    fn block_any(&mut self, predicate: bool) -> bool {
        block::sync_or(predicate)
    }
    #[inline(never)]
    fn exchange(&mut self, value: u32, from: u32) -> u32 {
        let values = self.exchange.refill().write(value).sync();
        values[from as usize % values.len()]
    }
}
