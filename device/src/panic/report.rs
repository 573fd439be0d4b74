//! Fills a record of the panic log from the panicking thread.

use core::mem::offset_of;
use core::panic::Location;

use super::{PanicRecord, PanicText, TEXTS, claim};

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

/// The record, claimed by this thread, and a text of the log if one was free.
pub(super) struct Report {
    record: u64,
    text: *mut PanicText,
    /// To be filled by the caller.
    pub(super) message: Text,
}

impl Report {
    /// Claims the record and fills it up to the message, if there is one and no other thread has claimed it.
    ///
    /// Inlined around calls that return one word: a struct returned through memory would give every kernel a stack.
    #[inline(always)]
    pub(super) fn begin(location: Option<&Location<'_>>) -> Option<Report> {
        let record = claim_record();
        if record == 0 {
            return None;
        }
        let text = claim_text(record, location);
        let message = match text.is_null() {
            // SAFETY: nothing is written to a text without room.
            true => unsafe { Text::new(core::ptr::null_mut(), 0) },
            // SAFETY: the text is this thread's, and stays until the record is given to the host.
            false => unsafe { Text::new((&raw mut (*text).message).cast(), 512) },
        };
        Some(Report {
            record,
            text,
            message,
        })
    }

    /// Gives the record to the host, and the text with it.
    #[inline(always)]
    pub(super) fn finish(self) {
        // SAFETY: record and text are this thread's from their claim until the record's state is complete.
        unsafe {
            if !self.text.is_null() {
                (&raw mut (*self.text).message_len).write_volatile(self.message.length);
            }
            claim::complete(self.record);
        }
    }
}

/// The address of the record, which has all but its text; 0 if there is none or another thread of the launch has one.
#[cold]
#[inline(never)]
fn claim_record() -> u64 {
    let record = claim::claim();
    if record != 0 {
        // SAFETY: the record is this thread's until its state is complete.
        unsafe { claim::note_thread(record) };
    }
    record
}

/// A text for the record, with the location in it; null if all are taken.
#[cold]
#[inline(never)]
fn claim_text(record: u64, location: Option<&Location<'_>>) -> *mut PanicText {
    let mut text = claim::texts() as *mut PanicText;
    // SAFETY: where there is a record there is a log, whose texts these are; one is left to the thread that claims it until the record, which
    // is this thread's, is complete.
    unsafe {
        let mut number = 1;
        while claim::exchange((&raw mut (*text).claimed) as u64, 1) != 0 {
            text = text.wrapping_add(1);
            number += 1;
            if number > TEXTS as u32 {
                return core::ptr::null_mut();
            }
        }
        claim::store_word(record + offset_of!(PanicRecord, text) as u64, number);
        if let Some(location) = location {
            (&raw mut (*text).line).write_volatile(location.line());
            (&raw mut (*text).column).write_volatile(location.column());
            let mut file = Text::new((&raw mut (*text).file).cast(), 256);
            // A path's end says more than its beginning.
            let name = location.file().as_bytes();
            file.push(
                name.get(name.len().saturating_sub(256)..)
                    .unwrap_or_default(),
            );
            (&raw mut (*text).file_len).write_volatile(file.length);
        }
    }
    text
}

/// Bytes of bounded length in a text of the log.
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
