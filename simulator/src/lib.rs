//! A CUDA driver on the CPU: parses PTX, executes it, checks it.
