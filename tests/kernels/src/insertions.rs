//! Small sorted and ordered lists in local arrays, whose elements are moved from a place on that a search has found. What each kernel computes the host
//! computes by the same function.

use warpsmith_device::prelude::*;

/// The digest of a list.
fn digest(list: impl IntoIterator<Item = u64>) -> u64 {
    let add = |sum: u64, x: u64| (sum ^ x).wrapping_mul(0x0100_0000_01b3).rotate_left(7);
    list.into_iter().fold(1, add)
}

/// The six least values with their places, the least one first.
pub fn least(values: &[u32]) -> u64 {
    let mut found = [None::<(u32, u32)>; 6];
    for (i, &value) in (0..).zip(values) {
        let is_greater = |other: &Option<(u32, u32)>| other.is_none_or(|(x, _)| x > value);
        if let Some(place) = found.iter().position(is_greater) {
            found[place..].rotate_right(1);
            found[place] = Some((value, i));
        }
    }
    digest(found.map(|one| one.map_or(9, |(x, i)| u64::from(x) << 8 | u64::from(i))))
}

/// Where each value's lowest bits are in a list, in which they come to the front.
pub fn at_front(values: &[u32]) -> u64 {
    let mut list = [0_u64, 1, 2, 3, 4];
    let places = values.iter().map(|value| {
        let place = list.iter().position(|x| *x == u64::from(value % 5))?;
        list[..=place].rotate_right(1);
        Some(place as u64)
    });
    let places = digest(places.map(|place| place.unwrap_or(77)));
    digest(list) ^ places
}

/// What is removed from a list, whose elements have no copies, and comes to its end.
pub fn at_end(values: &[u32]) -> u64 {
    struct Name(u16, bool);
    let mut list = [1, 2, 3, 4, 5, 6, 7].map(|x| Name(x, x % 2 == 0));
    for value in values {
        let is_last = |name: &Name| u32::from(name.0) == value % 9 && !name.1;
        if let Some(place) = list.iter().rposition(is_last) {
            list[place..].rotate_left(1);
            list[6].1 = value % 3 == 0;
        } else {
            list.iter_mut().for_each(|name| name.1 ^= value % 2 == 0);
        }
    }
    digest(list.map(|name| u64::from(name.0) * 2 + u64::from(name.1)))
}

/// Bytes and words from a place on that a value gives, over each other.
pub fn over(values: &[u32]) -> u64 {
    let mut bytes = [9_u8, 8, 7, 6, 5, 4, 3, 2];
    let mut words = [9_u64, 8, 7, 6];
    for &value in values {
        if let Some(place) = bytes.iter().position(|x| u32::from(*x) < value % 11) {
            bytes.copy_within(place..7, place + 1);
            bytes[place] = value as u8;
        }
        if let Some(place) = words.iter().position(|x| *x < u64::from(value % 17)) {
            words.copy_within(place + 1.., place);
            words[3] = u64::from(value) << 20;
        }
    }
    digest(bytes.map(u64::from)) ^ digest(words)
}

/// A list that is shared by all values until one stands in it already.
pub fn until_twice(values: &[u32]) -> u64 {
    let mut list = [u32::MAX; 4];
    for (i, &value) in (0..).zip(values) {
        let Some(place) = list.iter().position(|x| *x >= value) else {
            continue;
        };
        if list[place] == value {
            return digest(list.map(u64::from)) ^ i;
        }
        list[place..].rotate_right(1);
        list[place] = value;
    }
    digest(list.map(u64::from))
}

macro_rules! kernels {
    ($($kernel:ident $function:ident)*) => ($(
        #[kernel]
        pub fn $kernel(values: &[[u32; 32]], length: u32, mut out: PerThread<[u64]>) {
            if let (Some(values), Some(out)) = (values.get(thread::index()), out.mine()) {
                *out = $function(&values[..length as usize]);
            }
        }
    )*)
}

kernels! {
    inserted_least least
    inserted_at_front at_front
    inserted_at_end at_end
    inserted_over over
    inserted_until_twice until_twice
}
