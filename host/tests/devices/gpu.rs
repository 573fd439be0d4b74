//! A device: what it says it is, and how it is left and entered anew.

use crate::common::gpu;
use warpsmith_host::prelude::*;
use warpsmith_testkit::{Side, own_process};

#[test]
fn properties_are_the_attributes() -> Result<()> {
    let gpu = gpu();
    let properties = gpu.properties()?;
    let attribute = |attribute| gpu.attribute(attribute);
    assert_eq!(properties.name, gpu.name());
    assert_eq!(properties.total_memory, gpu.total_memory());
    assert_eq!(properties.compute_capability, gpu.compute_capability());
    assert_eq!(
        properties.multiprocessors as i32,
        attribute(Attribute::MULTIPROCESSOR_COUNT)?
    );
    assert_eq!(
        properties.max_block_dim.map(|extent| extent as i32),
        [
            attribute(Attribute::MAX_BLOCK_DIM_X)?,
            attribute(Attribute::MAX_BLOCK_DIM_Y)?,
            attribute(Attribute::MAX_BLOCK_DIM_Z)?
        ]
    );
    assert_eq!(
        properties.has_host_native_atomics,
        attribute(Attribute::HOST_NATIVE_ATOMIC_SUPPORTED)? != 0
    );
    assert_ne!(properties.uuid.0, [0; 16]);
    // `domain:bus:device.function`
    let parts: Vec<_> = properties.pci_bus_id.split([':', '.']).collect();
    assert_eq!(parts.len(), 4, "{}", properties.pci_bus_id);
    assert!(
        parts
            .iter()
            .all(|part| u32::from_str_radix(part, 16).is_ok())
    );
    Ok(())
}

#[test]
fn a_reset_device_begins_anew() {
    if let Side::Parent(_) = own_process(&[]) {
        return;
    }
    let gpu = Gpu::open_default().expect("a device");
    let stack = gpu.stack_size().expect("the limit");
    gpu.set_stack_size(2 * stack).expect("more stack");
    let stream = gpu.stream().expect("a stream");
    let buffer = stream.upload(&[1, 2, 3]).expect("a buffer");

    // Whatever was made from the device keeps it.
    let refused = gpu.reset().expect_err("the stream is alive");
    assert!(matches!(refused.error, Error::Busy(_)), "{refused}");
    let gpu = refused.value.expect("nothing has changed");
    drop(stream);
    let refused = gpu.reset().expect_err("the buffer is alive");
    let gpu = refused.value.expect("nothing has changed");
    drop(buffer);
    let other = gpu.clone();
    let refused = gpu.reset().expect_err("the clone is alive");
    drop(refused);
    assert_eq!(other.stack_size().expect("the limit"), 2 * stack);

    // Another library's share of the context, too.
    let device = cust::device::Device::get_device(0).expect("the device");
    let foreign = cust::context::Context::new(device).expect("the primary context");
    let refused = other.reset().expect_err("cust has the context");
    assert!(refused.to_string().contains("another library"), "{refused}");
    let gpu = refused.value.expect("the device is open");
    assert_eq!(gpu.stack_size().expect("the limit"), 2 * stack);
    drop(foreign);

    let gpu = gpu.reset().expect("nobody else has it");
    assert_eq!(gpu.stack_size().expect("the limit"), stack);
    let stream = gpu.stream().expect("a stream");
    let buffer = stream.upload(&[4, 5]).expect("a buffer");
    assert_eq!(stream.download(&buffer).expect("its elements"), [4, 5]);
}
