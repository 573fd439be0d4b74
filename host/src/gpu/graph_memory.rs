//! The memory that a device's graphs take together.

use warpsmith_driver::raw::{self, CUgraphMem_attribute as Key};

use super::Gpu;
use super::info::GraphMemoryUsage;
use crate::driver_call::call;
use crate::error::Result;

impl Gpu {
    /// How much memory the graphs of this process take on the device. It is apart from that of pools.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stream = gpu.stream()?;
    /// let mut graph = gpu.graph()?;
    /// graph.zeroed::<u8>(1 << 20)?;
    /// let mut ready = graph.instantiate()?;
    /// ready.launch(&stream)?;
    /// assert!(gpu.graph_memory()?.reserved >= 1 << 20);
    /// stream.synchronize()?;
    /// gpu.trim_graph_memory()?;
    /// ready.launch(&stream)?;      // takes it again
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The driver has no memory of graphs.
    // covers: GMEM-22, GMEM-23
    pub fn graph_memory(&self) -> Result<GraphMemoryUsage> {
        Ok(GraphMemoryUsage {
            reserved: self.graph_attribute(Key::CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT)?,
            used: self.graph_attribute(Key::CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT)?,
            reserved_peak: self.graph_attribute(Key::CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)?,
            used_peak: self.graph_attribute(Key::CU_GRAPH_MEM_ATTR_USED_MEM_HIGH)?,
        })
    }

    /// Sets both peaks of [`graph_memory`](Self::graph_memory) to what is reserved and used at present.
    ///
    /// # Errors
    ///
    /// The driver has no memory of graphs.
    pub fn reset_graph_memory_peaks(&self) -> Result<()> {
        self.inner.bind()?;
        for key in [
            Key::CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH,
            Key::CU_GRAPH_MEM_ATTR_USED_MEM_HIGH,
        ] {
            let mut zero = 0_u64;
            let device = self.inner.context().device;
            // SAFETY: the driver reads 64 bits from `zero`, which outlives the call.
            unsafe {
                call!(cuDeviceSetGraphMemAttribute(
                    device,
                    key,
                    (&raw mut zero).cast()
                ))
            }
            .map_err(|error| error.while_doing(|| format!("{key:?}")))?;
        }
        Ok(())
    }

    /// Gives memory of graphs that no launch uses back to the device. A later launch takes it again.
    ///
    /// # Errors
    ///
    /// The driver has no memory of graphs.
    // covers: GMEM-21
    pub fn trim_graph_memory(&self) -> Result<()> {
        self.inner.bind()?;
        // SAFETY: the call has no conditions beyond a device that exists.
        unsafe { call!(cuDeviceGraphMemTrim(self.inner.context().device)) }
    }

    fn graph_attribute(&self, key: raw::CUgraphMem_attribute) -> Result<u64> {
        self.inner.bind()?;
        let mut value = 0_u64;
        let device = self.inner.context().device;
        // SAFETY: the driver writes 64 bits to `value`, which outlives the call.
        unsafe {
            call!(cuDeviceGetGraphMemAttribute(
                device,
                key,
                (&raw mut value).cast()
            ))
        }
        .map_err(|error| error.while_doing(|| format!("{key:?}")))?;
        Ok(value)
    }
}
