//! What kernel nodes were given besides their launch, as the driver has it.

use warpsmith_driver::raw;

use super::builder::GraphBuilder;
use crate::driver_call::call;
use crate::error::{Code, Node, Result};
use crate::memory::AccessPolicyWindow;

impl GraphBuilder<'_> {
    /// The L2 access policy window of a kernel node, which it has from [`kernel_with`](Self::kernel_with) or the captured launch or stream
    /// (`cuGraphKernelNodeGetAttribute`).
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_host::{AccessPolicyWindow, LaunchOptions};
    ///
    /// # #[kernel]
    /// # pub fn look_up(table: &[f32], mut y: PerThread<[f32]>) {}
    /// # fn run(gpu: &Gpu, kernel: &TypedKernel<look_up>, table: &DeviceBuffer<f32>, y: &mut DeviceBuffer<f32>) -> Result<()> {
    /// let window = AccessPolicyWindow::over(table);
    /// let options = LaunchOptions::new().access_policy(window);
    /// let mut graph = gpu.graph()?;
    /// let node = graph.kernel_with(kernel, Grid::cover(y.len(), 128), &options, (table, y))?;
    /// assert_eq!(graph.access_policy(node)?, Some(window));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The node is another graph's, or no kernel's.
    // covers: L2-05
    pub fn access_policy(&self, node: impl Into<Node>) -> Result<Option<AccessPolicyWindow>> {
        let node = node.into();
        self.check_own("cuGraphKernelNodeGetAttribute", &[node])?;
        self.gpu.bind()?;
        let mut value = raw::CUlaunchAttributeValue::default();
        let _turn = self.template.turn();
        // SAFETY: the node is this graph's, as `check_own` has compared, and no method removes nodes; the driver writes to `value`, which
        // outlives the call.
        unsafe {
            call!(cuGraphKernelNodeGetAttribute(
                node.raw(),
                raw::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                &mut value
            ))
        }
        .map_err(|error| {
            error
                .while_doing(|| format!("{node:?}"))
                .with_hint_for(Code::INVALID_VALUE, || {
                    "only nodes of kernels have one".into()
                })
        })?;
        // SAFETY: the driver has written a value of the attribute's type into a union of zeros; each field takes any bits.
        let window = unsafe { value.accessPolicyWindow };
        Ok(AccessPolicyWindow::of_driver(&window))
    }
}
