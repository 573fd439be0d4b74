//! The worked examples of the CUDA C++ Programming Guide's chapters 2, 3 and 5, rewritten with this library from its documentation: one
//! file for each part of the guide, and each example from the host's data to what the CPU says of the results.

mod capture;
mod device_graphs;
mod domains;
mod events;
mod external;
mod hierarchy;
mod multicast;
mod occupancy;
mod several_devices;
mod textures;
