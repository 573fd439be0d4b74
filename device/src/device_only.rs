//! How an intrinsic has a body on the device and a clear panic on the host.

/// The block is compiled for the GPU only; on the host the expression panics.
///
/// It is `unsafe` inside, because nearly all of these are inline assembly: the `SAFETY:` comment goes before the use.
macro_rules! on_device {
    ($($body:tt)*) => {{
        #[cfg(target_arch = "nvptx64")]
        {
            $($body)*
        }
        #[cfg(not(target_arch = "nvptx64"))]
        {
            $crate::__private::called_on_the_host()
        }
    }};
}
