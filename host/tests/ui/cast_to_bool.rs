//! Only plain values, of which all bytes are valid, are seen in other ones' bytes.

use warpsmith_host::prelude::*;

fn seen(bytes: &DeviceSlice<'_, u8>) {
    let _ = bytes.cast::<bool>();
}

fn main() {
    let _ = seen;
}
