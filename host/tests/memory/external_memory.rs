//! Memory of other program interfaces, imported by a file descriptor. Where the exporter is this test, no GPU can import from it; physical
//! memory that was exported is external memory everywhere.

use std::os::fd::{AsRawFd, OwnedFd};

use crate::common::{Gate, gpu, launch_add, module};
use rustix::fs::{MemfdFlags, SealFlags};
use warpsmith_host::prelude::*;
use warpsmith_host::{ExternalMemoryOptions, MappingAccess, PhysicalOptions};

const BYTES: usize = 1 << 20;
const WORDS: usize = BYTES / size_of::<u32>();
const OPTIONS: ExternalMemoryOptions = ExternalMemoryOptions {
    bytes: BYTES as u64,
    dedicated: true,
};

/// Memory as another interface has it, and what it exports.
fn exporter() -> (OwnedFd, OwnedFd) {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = rustix::fs::memfd_create("external", flags).expect("the system has room");
    rustix::fs::ftruncate(&file, BYTES as u64).expect("the system has room");
    rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK).expect("it can be sealed");
    let exported = file.try_clone().expect("there are descriptors left");
    (file, exported)
}

fn word(file: &OwnedFd, index: usize) -> u32 {
    let mut bytes = [0; 4];
    let offset = (index * size_of::<u32>()) as u64;
    rustix::io::pread(file, &mut bytes, offset).expect("it is open");
    u32::from_ne_bytes(bytes)
}

// covers: INTEROP-05, INTEROP-06
#[test]
fn kernels_and_the_exporter_see_the_same_words() -> Result<()> {
    let gpu = gpu();
    if !gpu.is_simulator() {
        return Ok(());
    }
    let module = module(&gpu);
    let stream = gpu.stream()?;
    let (file, exported) = exporter();
    rustix::io::pwrite(&file, &5_u32.to_ne_bytes(), 4096).expect("it is open");
    // SAFETY: it is of so many bytes, all of which are numbers.
    let memory = unsafe { gpu.import_external_memory(exported, OPTIONS)? };
    assert_eq!(memory.bytes(), OPTIONS.bytes);
    // SAFETY: the exporter's bytes are zeros and a 5, and it waits for the stream.
    let mut part = unsafe { memory.map::<u32>(4096, 1000)? };
    launch_add(&stream, &crate::common::add(&module), &mut part, 2);
    stream.synchronize()?;
    assert_eq!((word(&file, 1024), word(&file, 2023)), (7, 2));
    assert_eq!((word(&file, 1023), word(&file, 2024)), (0, 0));
    Ok(())
}

// covers: INTEROP-06
#[test]
fn a_buffer_keeps_the_memory_until_its_last_use() -> Result<()> {
    let gpu = gpu();
    if !gpu.is_simulator() {
        return Ok(());
    }
    let module = module(&gpu);
    let stream = gpu.stream()?;
    let (file, exported) = exporter();
    // SAFETY: it is of so many bytes, all of which are numbers.
    let memory = unsafe { gpu.import_external_memory(exported, OPTIONS)? };
    // SAFETY: the exporter's bytes are zeros, and it waits for the stream.
    let mut words = unsafe { memory.map::<u32>(0, WORDS)? };
    drop(memory);
    let mut gate = Gate::new(&gpu, &module);
    gate.close(&stream);
    launch_add(&stream, &crate::common::add(&module), &mut words, 3);
    drop(words);
    gpu.stream()?.synchronize()?;
    gate.open();
    stream.synchronize()?;
    assert_eq!((word(&file, 0), word(&file, WORDS - 1)), (3, 3));
    Ok(())
}

/// What is imported, mapped and dropped many times leaves no descriptors behind, in whichever order.
// covers: INTEROP-06
#[test]
fn nothing_leaks() -> Result<()> {
    let gpu = gpu();
    if !gpu.is_simulator() {
        return Ok(());
    }
    let open = || std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    let stream = gpu.stream()?;
    let before = open();
    for round in 0..100_usize {
        let (_file, exported) = exporter();
        // SAFETY: it is of so many bytes, all of which are numbers.
        let memory = unsafe { gpu.import_external_memory(exported, OPTIONS)? };
        // SAFETY: nobody reads the words.
        let mut words = unsafe { memory.map::<u32>(0, WORDS)? };
        let memory = (round % 2 == 0).then_some(memory);
        stream.fill(&mut words, 1)?;
        drop(words);
        drop(memory);
        gpu.synchronize()?;
    }
    assert!(open() <= before + 3, "{} descriptors", open());
    Ok(())
}

// covers: INTEROP-05
#[test]
fn a_refused_descriptor_comes_back() -> Result<()> {
    let gpu = gpu();
    let own = OwnedFd::from(std::fs::File::open("/proc/self/exe").expect("it is there"));
    let number = own.as_raw_fd();
    // SAFETY: it is of no memory, and so refused.
    let refused = unsafe { gpu.import_external_memory(own, OPTIONS) }.unwrap_err();
    assert_eq!(refused.value.as_raw_fd(), number);
    let text = refused.to_string();
    assert!(text.contains(&format!("descriptor {number}")), "{text}");
    assert!(text.contains("1048576 bytes"), "{text}");
    let empty = ExternalMemoryOptions {
        bytes: 0,
        ..OPTIONS
    };
    // SAFETY: it is of no memory, and so refused.
    let refused = unsafe { gpu.import_external_memory(refused.value, empty) }.unwrap_err();
    assert!(std::fs::File::from(refused.value).metadata().is_ok());
    assert!(refused.error.to_string().contains("0 bytes"));
    Ok(())
}

// covers: INTEROP-06
#[test]
fn a_part_beyond_the_memory_is_named() -> Result<()> {
    let gpu = gpu();
    if !gpu.is_simulator() {
        return Ok(());
    }
    let (_file, exported) = exporter();
    // SAFETY: it is of so many bytes, all of which are numbers.
    let memory = unsafe { gpu.import_external_memory(exported, OPTIONS)? };
    // SAFETY: they are refused, or empty.
    let [beyond, wrapping, askew, unaligned, empty] = unsafe {
        [
            memory.map::<u32>(4096, WORDS),
            memory.map(u64::MAX, 1),
            memory.map(4098, 1),
            memory.map(8, 1),
            memory.map(0, 0),
        ]
    };
    let text = beyond.unwrap_err().to_string();
    assert!(
        text.contains("1052672") && text.contains("1048576"),
        "{text}"
    );
    assert!(wrapping.is_err());
    let text = askew.unwrap_err().to_string();
    assert!(text.contains("4098") && text.contains("4 bytes"), "{text}");
    assert_eq!(unaligned.unwrap_err().code(), Some(Code::NOT_SUPPORTED));
    assert_eq!(empty?.len(), 0);
    Ok(())
}

// covers: INTEROP-05, INTEROP-06
#[test]
fn exported_physical_memory_is_external_memory() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let stream = gpu.stream()?;
    let shareable = PhysicalOptions {
        shareable: true,
        ..Default::default()
    };
    let physical = gpu.physical_memory(BYTES, shareable)?;
    // SAFETY: all of it is written before it is read, and its uses by the two addresses are not at the same time.
    let mut here = unsafe { physical.map::<u32>(MappingAccess::ReadWrite)? };
    stream.fill(&mut here, 5)?;
    stream.synchronize()?;
    let options = ExternalMemoryOptions {
        bytes: physical.bytes() as u64,
        dedicated: false,
    };
    // SAFETY: it is of this device's memory of that size.
    let memory = unsafe { gpu.import_external_memory(physical.export()?, options)? };
    // SAFETY: all words are written, and the stream is waited for between the uses.
    let mut words = unsafe { memory.map::<u32>(0, WORDS)? };
    launch_add(&stream, &crate::common::add(&module), &mut words, 2);
    stream.synchronize()?;
    let seen = stream.download(&here.slice(..WORDS))?;
    assert!(seen.iter().all(|&word| word == 7));
    // SAFETY: nobody reads them.
    let beyond = unsafe { memory.map::<u8>(0, physical.bytes() + 1) };
    assert!(beyond.is_err());
    Ok(())
}
