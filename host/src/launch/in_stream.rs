//! Launches in streams, in each of the ways that a kernel is known.

use warpsmith_device::launch::{Kernel, SafeKernel};

use super::arguments::{Arguments, EarlyParameters};
use super::grid::Grid;
use super::kernel::{TypedKernel, UntypedKernel};
use super::options::LaunchOptions;
use crate::error::Result;
use crate::order::stream_handle::Overlap;
use crate::stream::Stream;

impl Stream {
    /// Launches a safe kernel and returns; it runs after everything that this stream holds already, and after whatever other streams
    /// do to the same memory.
    ///
    /// ```no_run
    /// # use warpsmith_device::prelude::*;
    /// # #[kernel]
    /// # pub fn saxpy(a: f32, x: &[f32], mut y: PerThread<[f32]>) {}
    /// # const PTX: &str = "";
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// let gpu = Gpu::open_default()?;
    /// let kernel = gpu.load(PTX)?.kernel(saxpy)?;
    /// let stream = gpu.stream()?;
    /// let x = stream.upload(&[1.0, 2.0, 3.0])?;
    /// let mut y = stream.zeroed::<f32>(3)?;
    /// stream.launch(&kernel, Grid::cover(3, 128), (2.0, &x, &mut y))?;
    /// assert_eq!(stream.download(&y)?, [2.0, 4.0, 6.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) where the shape is beyond the kernel or the device: an empty grid, too many threads, too much shared memory, a
    /// cluster that does not divide the grid, a cooperative grid that does not fit. [`Error::Invalid`](crate::Error::Invalid) where one array is passed twice and
    /// written by a [`Surface`](crate::Surface), or what is passed belongs to another device. [`Error::Driver`](crate::Error::Driver) where the driver refuses, or an
    /// earlier fault on the device comes to light. A panic or a fault of *this* launch shows at a later wait.
    // covers: MODEL-01, ERROR-05
    #[inline]
    pub fn launch<K, A>(&self, kernel: &TypedKernel<K>, grid: Grid, arguments: A) -> Result<()>
    where
        K: SafeKernel,
        A: Arguments<K::Parameters>,
    {
        // SAFETY: a safe kernel has no conditions of its own (`SafeKernel`).
        unsafe { self.pack_and_enqueue(kernel, grid, None, &arguments) }
    }

    /// Launches any kernel, `unsafe fn`s too.
    ///
    /// # Safety
    ///
    /// The kernel's own conditions hold, as its documentation gives them.
    #[inline]
    pub unsafe fn launch_unchecked<K, A>(
        &self,
        kernel: &TypedKernel<K>,
        grid: Grid,
        arguments: A,
    ) -> Result<()>
    where
        K: Kernel,
        A: Arguments<K::Parameters>,
    {
        // SAFETY: the caller's promise.
        unsafe { self.pack_and_enqueue(kernel, grid, None, &arguments) }
    }

    /// Launches a kernel of foreign PTX.
    ///
    /// # Safety
    ///
    /// The entry's parameters are those that `P` describes, and it does with them what its source promises: it stays inside of the
    /// memory that it is given, writes only what is passed by `&mut`, and no two threads race.
    #[inline]
    pub unsafe fn launch_untyped<P, A>(
        &self,
        kernel: &UntypedKernel<P>,
        grid: Grid,
        arguments: A,
    ) -> Result<()>
    where
        A: Arguments<P>,
    {
        // SAFETY: the caller's promise.
        unsafe { self.pack_and_enqueue(kernel, grid, None, &arguments) }
    }

    /// As [`launch`](Self::launch), with options: priority, cache, domains, events.
    ///
    /// # Errors
    ///
    /// Those of [`launch`](Self::launch); [`Error::Limit`](crate::Error::Limit) and [`Error::Invalid`](crate::Error::Invalid) where an option is beyond what the device has, an event
    /// measures time, or the stream is being captured and an event is to be recorded.
    pub fn launch_with<K, A>(
        &self,
        kernel: &TypedKernel<K>,
        grid: Grid,
        options: &LaunchOptions<'_>,
        arguments: A,
    ) -> Result<()>
    where
        K: SafeKernel,
        A: Arguments<K::Parameters>,
    {
        // SAFETY: a safe kernel has no conditions of its own (`SafeKernel`).
        unsafe { self.pack_and_enqueue(kernel, grid, Some(options), &arguments) }
    }

    /// Launches a kernel that may begin before the kernel before it in this stream has ended: as soon as each block of that has signalled
    /// (`dependent::launch_dependents` of the device library) or exited. All memory that it is passed is an
    /// [`AfterPrimary`](warpsmith_device::dependent::AfterPrimary) parameter, which it reaches when everything before it has ended.
    ///
    /// Whether it does begin early is up to the device. It does not where something other than a kernel is before it, where the stream is
    /// being captured, and right after another launch of this kind: a kernel waits for the one before alone, and that need not have waited
    /// for the one before itself.
    ///
    /// ```no_run
    /// # use warpsmith_device::prelude::*;
    /// # use warpsmith_device::dependent::{self, AfterPrimary};
    /// # const PTX: &str = "";
    /// use warpsmith_host::LaunchOptions;
    /// use warpsmith_host::prelude::*;
    ///
    /// #[kernel]
    /// pub fn primary(mut x: PerThread<[f32]>) {
    ///     dependent::launch_dependents();
    ///     if let Some(x) = x.mine() {
    ///         *x = 1.0;
    ///     }
    /// }
    ///
    /// #[kernel]
    /// pub fn secondary(x: AfterPrimary<&[f32]>, y: AfterPrimary<PerThread<[f32]>>) {
    ///     let (x, mut y) = (x.wait(), y.wait());
    ///     if let (Some(x), Some(y)) = (x.get(thread::index()), y.mine()) {
    ///         *y = *x;
    ///     }
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open_default()?;
    /// # let module = gpu.load(PTX)?;
    /// let (first, second) = (module.kernel(primary)?, module.kernel(secondary)?);
    /// let stream = gpu.stream()?;
    /// let (mut x, mut y) = (stream.zeroed::<f32>(1024)?, stream.zeroed::<f32>(1024)?);
    /// let grid = Grid::cover(1024, 128);
    /// stream.launch(&first, grid, (&mut x,))?;
    /// stream.launch_early(&second, grid, &LaunchOptions::new(), (&x, &mut y))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`launch_with`](Self::launch_with).
    // covers: PDL-02, PDL-03
    pub fn launch_early<K, A>(
        &self,
        kernel: &TypedKernel<K>,
        grid: Grid,
        options: &LaunchOptions<'_>,
        arguments: A,
    ) -> Result<()>
    where
        K: SafeKernel,
        K::Parameters: EarlyParameters,
        A: Arguments<K::Parameters>,
    {
        self.launch_with(kernel, grid, &options.early(Overlap::Unawaited), arguments)
    }

    /// As [`launch_unchecked`](Self::launch_unchecked), with options.
    ///
    /// # Safety
    ///
    /// The kernel's own conditions hold, as its documentation gives them.
    pub unsafe fn launch_unchecked_with<K, A>(
        &self,
        kernel: &TypedKernel<K>,
        grid: Grid,
        options: &LaunchOptions<'_>,
        arguments: A,
    ) -> Result<()>
    where
        K: Kernel,
        A: Arguments<K::Parameters>,
    {
        // SAFETY: the caller's promise.
        unsafe { self.pack_and_enqueue(kernel, grid, Some(options), &arguments) }
    }

    /// As [`launch_untyped`](Self::launch_untyped), with options.
    ///
    /// # Safety
    ///
    /// As for [`launch_untyped`](Self::launch_untyped).
    pub unsafe fn launch_untyped_with<P, A>(
        &self,
        kernel: &UntypedKernel<P>,
        grid: Grid,
        options: &LaunchOptions<'_>,
        arguments: A,
    ) -> Result<()>
    where
        A: Arguments<P>,
    {
        // SAFETY: the caller's promise.
        unsafe { self.pack_and_enqueue(kernel, grid, Some(options), &arguments) }
    }
}
