//! Handles of memory and events: 64 bytes each, which reach another process in any way.

use std::ffi::c_char;

use warpsmith_driver::raw;

/// Says which memory of another process is meant: plain bytes, for a pipe, a file or a message.
///
/// It comes from [`DeviceBuffer::export_handle`](crate::DeviceBuffer::export_handle), and [`Gpu::open_buffer`](crate::Gpu::open_buffer) takes
/// it. It holds nothing: the memory lives as long as its owner keeps it.
///
/// ```
/// use warpsmith_host::interprocess::MemoryHandle;
///
/// let handle = MemoryHandle::from_bytes([7; 64]);
/// assert_eq!(handle.to_bytes(), [7; 64]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryHandle {
    bytes: [u8; 64],
}

/// Says which event of another process is meant: plain bytes, for a pipe, a file or a message.
///
/// It comes from [`Event::export`](crate::Event::export), and [`Gpu::open_event`](crate::Gpu::open_event) takes it.
///
/// ```
/// use warpsmith_host::interprocess::EventHandle;
///
/// let handle = EventHandle::from_bytes([7; 64]);
/// assert_eq!(handle.to_bytes(), [7; 64]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventHandle {
    bytes: [u8; 64],
}

impl MemoryHandle {
    /// The bytes, for another process.
    pub fn to_bytes(self) -> [u8; 64] {
        self.bytes
    }

    /// From another process's bytes. Bytes that are none are refused when they are used.
    pub fn from_bytes(bytes: [u8; 64]) -> MemoryHandle {
        MemoryHandle { bytes }
    }

    pub(crate) fn of_driver(handle: raw::CUipcMemHandle) -> MemoryHandle {
        MemoryHandle::from_bytes(handle.reserved.map(|byte| byte as u8))
    }

    pub(crate) fn to_driver(self) -> raw::CUipcMemHandle {
        raw::CUipcMemHandle {
            reserved: self.bytes.map(|byte| byte as c_char),
        }
    }
}

impl EventHandle {
    /// The bytes, for another process.
    pub fn to_bytes(self) -> [u8; 64] {
        self.bytes
    }

    /// From another process's bytes. Bytes that are none are refused when they are used.
    pub fn from_bytes(bytes: [u8; 64]) -> EventHandle {
        EventHandle { bytes }
    }

    pub(crate) fn of_driver(handle: raw::CUipcEventHandle) -> EventHandle {
        EventHandle::from_bytes(handle.reserved.map(|byte| byte as u8))
    }

    pub(crate) fn to_driver(self) -> raw::CUipcEventHandle {
        raw::CUipcEventHandle {
            reserved: self.bytes.map(|byte| byte as c_char),
        }
    }
}
