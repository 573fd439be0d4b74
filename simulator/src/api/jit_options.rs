//! Options of the driver's compiler and linker, and the logs that they ask for.

use super::entry::*;

/// The options of a JIT compilation: two parallel arrays of the caller's.
pub(super) struct JitOptions<'a> {
    keys: &'a [CUjit_option],
    pub(super) values: &'a mut [*mut c_void],
}

impl JitOptions<'_> {
    /// No options.
    pub(super) fn none() -> Self {
        Self {
            keys: &[],
            values: &mut [],
        }
    }

    /// The options in these arrays.
    ///
    /// # Safety
    ///
    /// The arrays are valid for `count` entries, or null.
    pub(super) unsafe fn new(
        count: c_uint,
        keys: *mut CUjit_option,
        values: *mut *mut c_void,
    ) -> Result<Self> {
        if count == 0 {
            return Ok(Self::none());
        }
        if keys.is_null() || values.is_null() {
            return Err(code::INVALID_VALUE);
        }
        // SAFETY: neither array is null, so both are valid for `count` entries by the caller's contract.
        unsafe {
            Ok(Self {
                keys: core::slice::from_raw_parts(keys, count as usize),
                values: core::slice::from_raw_parts_mut(values, count as usize),
            })
        }
    }

    /// The place of an option, if it is given.
    pub(super) fn index(&self, key: CUjit_option) -> Option<usize> {
        self.keys.iter().position(|other| *other == key)
    }

    /// The log that is asked for by these two options.
    pub(super) fn log(&mut self, buffer: CUjit_option, size: CUjit_option) -> Option<Log> {
        let (buffer, size) = (self.index(buffer)?, self.index(size)?);
        let log = Log {
            to: self.values[buffer].cast(),
            room: self.values[size] as usize,
            size: &raw mut self.values[size],
        };
        (!log.to.is_null() && log.room > 0).then_some(log)
    }

    /// The log of errors.
    pub(super) fn error_log(&mut self) -> Option<Log> {
        use CUjit_option as Option;
        self.log(
            Option::CU_JIT_ERROR_LOG_BUFFER,
            Option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        )
    }

    /// The log of remarks.
    pub(super) fn info_log(&mut self) -> Option<Log> {
        use CUjit_option as Option;
        self.log(
            Option::CU_JIT_INFO_LOG_BUFFER,
            Option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
        )
    }
}

/// A buffer of the caller's for a log, and the slot for the number of bytes in it.
#[derive(Clone, Copy)]
pub(super) struct Log {
    to: *mut u8,
    room: usize,
    size: *mut *mut c_void,
}

// SAFETY: a log is two addresses; who writes through them says that they are good, on whichever thread.
unsafe impl Send for Log {}
// SAFETY: a shared reference gives the addresses, for which the reason given for `Send` holds.
unsafe impl Sync for Log {}

impl Log {
    /// Writes the log, as much as there is room for, and the number of bytes.
    ///
    /// # Safety
    ///
    /// The caller's buffer has as many bytes as its size option said, the array of options is still there, and nobody else uses either.
    pub(super) unsafe fn write(&self, text: &str) {
        let count = text.len().min(self.room - 1);
        // SAFETY: the buffer has `room` bytes by the caller's contract, and `count + 1 <= room`; the slot is one of the options'.
        unsafe {
            core::ptr::copy_nonoverlapping(text.as_ptr(), self.to, count);
            self.to.add(count).write(0);
            self.size.write(if text.is_empty() {
                core::ptr::null_mut()
            } else {
                (count + 1) as *mut c_void
            });
        }
    }
}
