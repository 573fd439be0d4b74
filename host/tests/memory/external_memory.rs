//! Memory of other program interfaces, imported by a file descriptor. Where the exporter is this test, no GPU can import from it; physical
//! memory that was exported is external memory everywhere.

use std::os::fd::{AsRawFd, OwnedFd};

use crate::common::{Gate, gpu, launch_add, module};
use rustix::fs::{MemfdFlags, SealFlags};
use warpsmith_host::prelude::*;
use warpsmith_host::{
    Coordinates, Cube, Extent2, ExternalArrayOptions, ExternalMemory, ExternalMemoryOptions,
    Layered1, LevelOptions, MappingAccess, PhysicalOptions, TextureOptions,
};

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
    let unaligned = unaligned.unwrap_err();
    assert_eq!(unaligned.code(), Some(Code::NOT_SUPPORTED));
    let text = unaligned.to_string();
    for part in [
        "from byte 8 on",
        "1048576 bytes",
        "multiples of 4096",
        "from byte 0 on",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
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

const EXTENTS: Extent2 = Extent2 {
    width: 8,
    height: 4,
};
const SURFACES: ExternalArrayOptions = ExternalArrayOptions {
    surfaces: true,
    color_target: true,
};

fn import(gpu: &Gpu, exported: OwnedFd) -> Result<ExternalMemory> {
    // SAFETY: it is of so many bytes, all of which are numbers.
    Ok(unsafe { gpu.import_external_memory(exported, OPTIONS)? })
}

// covers: INTEROP-07
#[test]
fn an_array_of_external_memory_has_the_exporters_texels() -> Result<()> {
    let gpu = gpu();
    if !gpu.is_simulator() {
        return Ok(());
    }
    let stream = gpu.stream()?;
    let (file, exported) = exporter();
    let texels: Vec<u32> = (0..32 + 8 + 2).map(|i| i * 3).collect();
    rustix::io::pwrite(&file, bytemuck::cast_slice(&texels), 4096).expect("it is open");
    let memory = import(&gpu, exported)?;
    // SAFETY: the levels are the exporter's, which waits for the stream.
    let image = unsafe { memory.map_array::<u32, _>(4096, EXTENTS, 3, SURFACES)? };
    assert_eq!((image.extents(), image.level_count()), (EXTENTS, 3));
    assert_eq!(stream.download_array(&image.level(0))?, texels[..32]);
    assert_eq!(stream.download_array(&image.level(2))?, texels[40..]);
    stream.upload_array(&[7; 8], &mut image.level(1))?;
    stream.synchronize()?;
    assert_eq!(
        [1055, 1056, 1063, 1064].map(|at| word(&file, at)),
        [93, 7, 7, 120]
    );
    assert!(image.level(2).surface().is_ok());
    // SAFETY: the level is the exporter's, which waits for the stream.
    let plain = unsafe { memory.map_array::<u32, _>(4096, EXTENTS, 1, Default::default())? };
    assert!(plain.level(0).surface().is_err(), "nobody has asked for it");
    Ok(())
}

// covers: INTEROP-07
#[test]
fn whatever_is_left_of_an_array_keeps_its_memory() -> Result<()> {
    let gpu = gpu();
    if !gpu.is_simulator() {
        return Ok(());
    }
    let open = || std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    let stream = gpu.stream()?;
    let before = open();
    let options = TextureOptions {
        coordinates: Coordinates::Normalised,
        ..Default::default()
    };
    for round in 0..60 {
        let (file, exported) = exporter();
        let memory = import(&gpu, exported)?;
        // SAFETY: the exporter's bytes are zeros, and it waits for the stream.
        let image = unsafe { memory.map_array::<u32, _>(0, EXTENTS, 3, SURFACES)? };
        let texture = image.texture(options, LevelOptions::default())?;
        let mut level = image.level(1);
        match round % 3 {
            0 => drop((memory, image, texture)),
            1 => drop((texture, image, memory)),
            _ => std::mem::drop((image, memory)),
        }
        stream.upload_array(&[round; 8], &mut level)?;
        assert_eq!(stream.download_array(&level)?, [round; 8]);
        assert_eq!(word(&file, 32), round);
        drop(level);
        gpu.synchronize()?;
    }
    assert!(open() <= before + 6, "{} descriptors", open());
    Ok(())
}

// covers: INTEROP-07
#[test]
fn an_array_beyond_the_memory_is_named() -> Result<()> {
    let gpu = gpu();
    if !gpu.is_simulator() {
        return Ok(());
    }
    let (_file, exported) = exporter();
    let memory = import(&gpu, exported)?;
    let none = ExternalArrayOptions::default();
    let wide = Extent2 {
        width: 1024,
        height: 1024,
    };
    // SAFETY: they are refused.
    let errors = unsafe {
        [
            memory.map_array::<u32, _>(0, wide, 1, none).map(drop),
            memory.map_array::<u8, _>(4096, wide, 1, none).map(drop),
            memory
                .map_array::<u32, _>(u64::MAX, EXTENTS, 1, none)
                .map(drop),
            memory.map_array::<u32, _>(0, EXTENTS, 0, none).map(drop),
            memory.map_array::<u32, _>(0, EXTENTS, 5, none).map(drop),
            memory.map_array::<u32, _>(512, EXTENTS, 1, none).map(drop),
            memory
                .map_array::<u32, _>(0, Cube { width: 0 }, 1, none)
                .map(drop),
        ]
    };
    let said: [&[&str]; 7] = [
        &[
            "Extent2",
            "u32",
            "4194304",
            "1048576",
            "its import was told",
        ],
        &["at byte 4096", "1052672", "1048576"],
        &["1048576"],
        &["the number of levels", "is 0"],
        &["the number of levels", "is 5", "is 4"],
        &[
            "128 bytes from byte 512",
            "multiples of 4096",
            "from byte 0 on",
        ],
        &["width", "is 0"],
    ];
    for (error, parts) in errors.into_iter().zip(said) {
        let text = error.unwrap_err().to_string();
        for part in parts {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    Ok(())
}

// covers: INTEROP-05
#[test]
fn a_file_that_may_become_shorter_is_named() -> Result<()> {
    let gpu = gpu();
    let file = rustix::fs::memfd_create("unsealed", MemfdFlags::CLOEXEC).expect("there is room");
    rustix::fs::ftruncate(&file, BYTES as u64).expect("the system has room");
    // SAFETY: it is of no memory, and so refused.
    let refused = unsafe { gpu.import_external_memory(file, OPTIONS) }.unwrap_err();
    let text = refused.error.to_string();
    let hint = match gpu.is_simulator() {
        true => "F_SEAL_SHRINK",
        false => "OPAQUE_FD",
    };
    assert!(text.contains(hint), "{text}");
    Ok(())
}

// covers: INTEROP-05, INTEROP-06
#[test]
fn a_size_that_is_not_the_memorys_is_named_when_it_is_mapped() -> Result<()> {
    let gpu = gpu();
    if !gpu.is_simulator() {
        return Ok(());
    }
    let (_file, exported) = exporter();
    let too_long = ExternalMemoryOptions {
        bytes: 2 * OPTIONS.bytes,
        ..OPTIONS
    };
    // SAFETY: it is mapped in part alone.
    let memory = unsafe { gpu.import_external_memory(exported, too_long)? };
    // SAFETY: nobody reads them.
    let (some, all) = unsafe { (memory.map::<u32>(0, WORDS), memory.map::<u32>(0, 2 * WORDS)) };
    assert_eq!(some?.len(), WORDS);
    let text = all.unwrap_err().to_string();
    assert!(
        text.contains("2097152 bytes") && text.contains("ExternalMemoryOptions::bytes"),
        "{text}"
    );
    Ok(())
}

// covers: INTEROP-07
#[test]
fn exported_physical_memory_may_hold_an_array() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let shareable = PhysicalOptions {
        shareable: true,
        ..Default::default()
    };
    let physical = gpu.physical_memory(BYTES, shareable)?;
    let options = ExternalMemoryOptions {
        bytes: physical.bytes() as u64,
        dedicated: false,
    };
    // SAFETY: it is of this device's memory of that size.
    let memory = unsafe { gpu.import_external_memory(physical.export()?, options)? };
    let extents = Layered1 {
        width: 16,
        layers: 3,
    };
    // SAFETY: nobody else has an image there, and each level is written before it is read.
    let lines = unsafe { memory.map_array::<f32, _>(0, extents, 2, Default::default())? };
    drop((memory, physical));
    let [first, second] = [vec![1.5; 48], vec![2.5; 24]];
    stream.upload_array(&first, &mut lines.level(0))?;
    stream.upload_array(&second, &mut lines.level(1))?;
    assert_eq!(stream.download_array(&lines.level(0))?, first);
    assert_eq!(stream.download_array(&lines.level(1))?, second);
    Ok(())
}
