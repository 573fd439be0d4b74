//! End-to-end tests: the same test runs on the simulator and on a GPU.
