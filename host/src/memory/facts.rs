//! What memory says of itself: its size, and its device.

/// `bytes` and `gpu` of a type, of which `$view` gives the view of `$this`. `$make` is Rust source that makes what the examples need, in `stream` of `gpu`, and
/// `$eight` one of the type, with eight `u32`.
macro_rules! facts {
    ($(<$life:lifetime>)? $name:ident, $make:literal, $eight:literal, $this:ident => $view:expr) => {
        impl<$($life,)? T: bytemuck::Pod> $name<$($life,)? T> {
            /// Its size in bytes.
            ///
            /// ```
            /// # use warpsmith_host::prelude::*;
            /// # fn main() -> Result<()> {
            /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
            /// # let stream = gpu.stream()?;
            #[doc = $make]
            #[doc = concat!("assert_eq!(", $eight, ".bytes(), 32);")]
            /// # Ok(())
            /// # }
            /// ```
            pub fn bytes(&self) -> usize {
                let $this = self;
                $view.bytes
            }

            /// The device whose [`Gpu`](crate::Gpu) or stream has made the memory; `None` where there is none, as nothing has made that.
            ///
            /// ```
            /// # use warpsmith_host::prelude::*;
            /// # fn main() -> Result<()> {
            /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
            /// # let stream = gpu.stream()?;
            #[doc = $make]
            #[doc = concat!("assert_eq!(", $eight, ".gpu().as_ref(), Some(&gpu));")]
            /// # Ok(())
            /// # }
            /// ```
            pub fn gpu(&self) -> Option<$crate::Gpu> {
                let $this = self;
                $view.gpu()
            }
        }
    };
}
pub(super) use facts;
