//! What `cust` sees of the chosen device: its name, its memory, and a copy there and back.

use cust::memory::{CopyDestination, DeviceBuffer};

warpsmith_driver::provide_simulator! {
    // SAFETY: the simulator compiles each of its functions against the signature of its name.
    unsafe { warpsmith_driver::SimulatorBackend::new(warpsmith_simulator::entry_point) }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let backend = warpsmith_driver::select(warpsmith_driver::Choice::Default)?;
    let _context = cust::quick_init()?;
    let device = cust::device::Device::get_device(0)?;
    println!(
        "{} on {backend:?}, {} MiB",
        device.name()?,
        device.total_memory()? >> 20
    );

    let numbers: Vec<u32> = (0..1000).collect();
    let buffer = DeviceBuffer::from_slice(&numbers)?;
    let mut back = vec![0u32; numbers.len()];
    buffer.copy_to(&mut back)?;
    assert_eq!(back, numbers);
    println!("{} numbers went there and came back", back.len());
    Ok(())
}
