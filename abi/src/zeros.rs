//! The default of C's structures and unions.

/// Gives each type the default that C programs give it: all zeros. For generated types alone.
macro_rules! default_is_zeros {
    ($($name:ident),* $(,)?) => {
        $(impl Default for $name {
            fn default() -> Self {
                // SAFETY: the generated types are built of integers, floats, raw pointers, nullable function pointers and arrays of
                // these, for all of which zeros are a value.
                unsafe { core::mem::zeroed() }
            }
        })*
    };
}

pub(crate) use default_is_zeros;
