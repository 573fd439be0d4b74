//! The special registers that hold indices and dimensions, one function each.
//!
//! This is the base of [`block`](crate::block), [`grid`](crate::grid) and [`thread`](crate::thread), which combine them; the
//! public paths are `thread`'s.

macro_rules! special_registers {
    ($($(#[$documentation:meta])* $name:ident = $intrinsic:ident;)*) => {$(
        $(#[$documentation])*
        ///
        /// ```no_run
        #[doc = concat!("let value: u32 = warpsmith_device::thread::", stringify!($name), "();")]
        /// # let _ = value;
        /// ```
        #[inline(always)]
        pub fn $name() -> u32 {
            // SAFETY: reading a special register has no conditions.
            on_device! { unsafe { core::arch::nvptx::$intrinsic() as u32 } }
        }
    )*};
}

special_registers! {
    /// `%tid.x`. Any arch.
    thread_idx_x = _thread_idx_x;
    /// `%tid.y`. Any arch.
    thread_idx_y = _thread_idx_y;
    /// `%tid.z`. Any arch.
    thread_idx_z = _thread_idx_z;
    /// `%ntid.x`. Any arch.
    block_dim_x = _block_dim_x;
    /// `%ntid.y`. Any arch.
    block_dim_y = _block_dim_y;
    /// `%ntid.z`. Any arch.
    block_dim_z = _block_dim_z;
    /// `%ctaid.x`. Any arch.
    block_idx_x = _block_idx_x;
    /// `%ctaid.y`. Any arch.
    block_idx_y = _block_idx_y;
    /// `%ctaid.z`. Any arch.
    block_idx_z = _block_idx_z;
    /// `%nctaid.x`. Any arch.
    grid_dim_x = _grid_dim_x;
    /// `%nctaid.y`. Any arch.
    grid_dim_y = _grid_dim_y;
    /// `%nctaid.z`. Any arch.
    grid_dim_z = _grid_dim_z;
}
