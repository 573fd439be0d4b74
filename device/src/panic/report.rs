//! Fills a record of the panic log from the panicking thread.

use core::panic::Location;

use super::PanicRecord;
use super::claim;

/// Records a panic by its location alone.
#[cold]
#[inline(never)]
#[cfg(warpsmith_panic = "location")]
pub(super) fn without_message(location: Option<&Location<'_>>) {
    if let Some(report) = Report::begin(location) {
        report.finish();
    }
}

/// Records a panic with its message.
#[cold]
#[inline(never)]
#[cfg(warpsmith_panic = "message")]
pub(super) fn with_message(
    location: Option<&Location<'_>>,
    message: &core::panic::PanicMessage<'_>,
) {
    let Some(mut report) = Report::begin(location) else {
        return;
    };
    match message.as_str() {
        Some(text) => _ = report.message.push(text.as_bytes()),
        // Running out of space ends the message, which is what is wanted.
        None => _ = core::fmt::Write::write_fmt(&mut report.message, format_args!("{message}")),
    }
    report.finish();
}

/// The record, claimed by this thread.
pub(super) struct Report {
    record: *mut PanicRecord,
    /// To be filled by the caller.
    pub(super) message: Text,
}

impl Report {
    /// Claims the record and fills it up to the message, if there is one and no other thread has claimed it.
    ///
    /// Inlined around a call that returns one word: a struct returned through memory would give every kernel a stack.
    #[inline(always)]
    pub(super) fn begin(location: Option<&Location<'_>>) -> Option<Report> {
        let record = Report::claim(location);
        if record.is_null() {
            return None;
        }
        // SAFETY: the record is this thread's, and stays until it is given to the host.
        let message = unsafe { Text::new((&raw mut (*record).message).cast(), 512) };
        Some(Report { record, message })
    }

    /// The record, filled up to the message; null if there is none or another thread of the launch has one.
    #[cold]
    #[inline(never)]
    fn claim(location: Option<&Location<'_>>) -> *mut PanicRecord {
        let address = claim::claim();
        let record = address as *mut PanicRecord;
        if record.is_null() {
            return record;
        }
        // SAFETY: the record is this thread's until its state is complete.
        unsafe {
            claim::note_thread(address);
            if let Some(location) = location {
                (&raw mut (*record).line).write_volatile(location.line());
                (&raw mut (*record).column).write_volatile(location.column());
                let mut file = Text::new((&raw mut (*record).file).cast(), 256);
                // A path's end says more than its beginning.
                let name = location.file().as_bytes();
                file.push(
                    name.get(name.len().saturating_sub(256)..)
                        .unwrap_or_default(),
                );
                (&raw mut (*record).file_len).write_volatile(file.length);
            }
        }
        record
    }

    /// Gives the record to the host.
    #[inline(always)]
    pub(super) fn finish(self) {
        // SAFETY: the record is this thread's from its claim until the state is complete.
        unsafe {
            (&raw mut (*self.record).message_len).write_volatile(self.message.length);
            claim::complete(self.record as u64);
        }
    }
}

/// A text of bounded length in the record.
pub(super) struct Text {
    bytes: *mut u8,
    length: u32,
    capacity: u32,
}

impl Text {
    /// # Safety
    /// `bytes` is valid for writes of `capacity` bytes for as long as this lives.
    unsafe fn new(bytes: *mut u8, capacity: u32) -> Text {
        Text {
            bytes,
            length: 0,
            capacity,
        }
    }

    /// Appends a byte if it fits.
    #[cfg(warpsmith_panic = "message")]
    #[inline(always)]
    pub(super) fn push_byte(&mut self, byte: u8) {
        if self.length < self.capacity {
            // SAFETY: `length` is below `capacity`, as was just compared: the byte lies in the text's memory.
            unsafe { self.bytes.add(self.length as usize).write_volatile(byte) };
            self.length += 1;
        }
    }

    /// Appends as much as fits; whether all of it did.
    #[inline(always)] // a text behind a reference would be in local memory
    pub(super) fn push(&mut self, text: &[u8]) -> bool {
        for &byte in text {
            if self.length >= self.capacity {
                return false;
            }
            // SAFETY: `length` is below `capacity`, as was just compared: the byte lies in the text's memory.
            unsafe { self.bytes.add(self.length as usize).write_volatile(byte) };
            self.length += 1;
        }
        true
    }
}

#[cfg(warpsmith_panic = "message")]
impl core::fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        if self.push(text.as_bytes()) {
            Ok(())
        } else {
            Err(core::fmt::Error)
        }
    }
}
