//! A program without a simulator: this test links none, as it does not say `provide_simulator!`.

use warpsmith_driver::{Backend, Choice, SelectError};
use warpsmith_testkit::{Side, own_process};

#[test]
fn why_a_driver_cannot_be_loaded_is_told() {
    let Side::Child = own_process(&[("WARPSMITH_CUDA_LIBRARY", "/nonexistent/libcuda.so")]) else {
        return;
    };
    let error = warpsmith_driver::select(Choice::Cuda).unwrap_err();
    assert!(
        error.to_string().contains("/nonexistent/libcuda.so"),
        "{error}"
    );
}

#[test]
fn asking_for_the_simulator_says_how_to_get_one() {
    let error = warpsmith_driver::select(Choice::Simulator).unwrap_err();
    assert!(matches!(error, SelectError::NoSimulator), "{error}");
    assert!(error.to_string().contains("provide_simulator!"), "{error}");
    assert_eq!(
        warpsmith_driver::backend(),
        None,
        "a failed choice is no choice"
    );
    assert_eq!(warpsmith_driver::simulator_report(), None);
    assert!(!warpsmith_driver::configure_simulator("seed", "1"));

    // What remains is the machine's own driver.
    match warpsmith_driver::select(Choice::Cuda) {
        Ok(backend) => assert_eq!(backend, Backend::Cuda),
        Err(error) => assert!(matches!(error, SelectError::NoDriver(_)), "{error}"),
    }
}
