//! A program that uses this crate may call the driver through `cust` before anything else: the simulator is there all the same.

use warpsmith_host as _;

#[test]
fn the_first_driver_call_comes_from_cust() -> Result<(), cust::error::CudaError> {
    assert_eq!(warpsmith_driver::backend(), None, "nothing is chosen yet");
    cust::init(cust::CudaFlags::empty())?;
    assert!(cust::device::Device::num_devices()? > 0);
    assert!(warpsmith_driver::backend().is_some());
    Ok(())
}
