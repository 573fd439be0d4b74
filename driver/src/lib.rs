//! The driver seam: the real CUDA driver or the simulator, chosen at run time, behind cust's symbols.
