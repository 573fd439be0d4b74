//! Lanes of one instruction that write different values to the same address, in whatever memory.

use super::access::Values;
use super::pattern::lanes_of;

/// Slots of the table of addresses: twice the lanes, so that most of them are found at once.
const SLOTS: usize = 64;

/// Two lanes of an instruction that write different values to the same address, if there are any: the first such lane, and the
/// first one that writes there. The addresses are multiples of the size of the writes, so that two of them are the same bytes or have
/// none in common.
pub fn colliding_lanes(
    mask: u32,
    addresses: &[u64; 32],
    values: &dyn Values,
) -> Option<(usize, usize)> {
    let is_ascending = addresses
        .windows(2)
        .fold(true, |ascending, pair| ascending & (pair[0] < pair[1]));
    if mask == u32::MAX && is_ascending {
        return None;
    }
    // For each slot, the first lane with its address, plus one.
    let mut table = [0u8; SLOTS];
    for lane in lanes_of(mask) {
        let lane = lane as usize;
        let address = addresses[lane];
        // Fibonacci hashing.
        let mut slot = (address.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58) as usize;
        loop {
            let Some(first) = usize::from(table[slot]).checked_sub(1) else {
                table[slot] = lane as u8 + 1;
                break;
            };
            if addresses[first] == address {
                if values.equal(first, lane) == Some(false) {
                    return Some((first, lane));
                }
                break;
            }
            slot = (slot + 1) % SLOTS;
        }
    }
    None
}
