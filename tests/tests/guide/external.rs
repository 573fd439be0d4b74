//! Memory and semaphores of graphics interfaces (3.2.15.1, 3.2.16.1). No GPU knows what a test exports, so on one there are the errors.

use std::os::fd::OwnedFd;

use rustix::event::EventfdFlags;
use rustix::fs::{MemfdFlags, SealFlags};
use warpsmith_host::prelude::*;
use warpsmith_host::{Extent2, ExternalArrayOptions, ExternalMemoryOptions, Uuid};
use warpsmith_test_kernels::guide;
use warpsmith_tests::{Fixture, fixture};

const WIDTH: usize = 256;
const HEIGHT: usize = 200;
const TIME: f32 = 0.7;
const BYTES: usize = 1 << 20;

/// What stands for a Vulkan device: memory of its own, of which it has the one descriptor and exports another.
fn vulkan_memory() -> (OwnedFd, OwnedFd) {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = rustix::fs::memfd_create("vulkan", flags).expect("the system has room");
    rustix::fs::ftruncate(&file, BYTES as u64).expect("the system has room");
    rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK).expect("it can be sealed");
    let exported = file.try_clone().expect("there are descriptors left");
    (file, exported)
}

/// A binary semaphore of that device.
fn vulkan_semaphore() -> (OwnedFd, OwnedFd) {
    let flags = EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC;
    let semaphore = rustix::event::eventfd(0, flags).expect("the system has room");
    let exported = semaphore.try_clone().expect("there are descriptors left");
    (semaphore, exported)
}

fn draw_wave(f: &Fixture, stream: &Stream, vertices: &mut DeviceBuffer<[f32; 4]>) -> Result<()> {
    let sine_wave = f.module.kernel(guide::sine_wave)?;
    let grid = Grid::cover_2d((WIDTH, HEIGHT), (8, 8));
    let mut vertices = vertices.matrix_mut(HEIGHT, WIDTH)?;
    let arguments = (TIME, WIDTH as u32, HEIGHT as u32, &mut vertices);
    stream.launch(&sine_wave, grid, arguments)
}

#[track_caller]
fn assert_wave(vertices: &[[f32; 4]]) {
    for (i, vertex) in vertices.iter().enumerate() {
        let u = (i % WIDTH) as f32 / WIDTH as f32 * 2.0 - 1.0;
        let v = (i / WIDTH) as f32 / HEIGHT as f32 * 2.0 - 1.0;
        let w = (u * 4.0 + TIME).sin() * (v * 4.0 + TIME).cos() * 0.5;
        let [x, y, z, one] = *vertex;
        assert_eq!((x, z, one), (u, v, 1.0), "vertex {i}");
        assert!((y - w).abs() < 1e-5, "vertex {i}: {y}, {w}");
    }
}

// covers: INTEROP-X01
#[test]
fn a_kernel_writes_the_vertices_of_a_wave() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let mut vertices = stream.zeroed::<[f32; 4]>(WIDTH * HEIGHT)?;
    draw_wave(f, &stream, &mut vertices)?;
    assert_wave(&stream.download(&vertices)?);
    Ok(())
}

// covers: INTEROP-X02, INTEROP-08
#[test]
fn the_device_of_another_interface_is_found_by_its_name() -> Result<()> {
    let f = fixture();
    let vulkan = f.gpu.properties()?.uuid;
    let device = Gpu::device_with_uuid(vulkan)?.expect("the same device");
    assert_eq!(device.choice, f.gpu.choice());
    let none = Gpu::device_with_uuid(Uuid(*b"no such device.."))?;
    assert!(none.is_none());
    Ok(())
}

// covers: INTEROP-X02
#[test]
fn memory_and_semaphores_go_from_one_interface_to_the_other_and_back() -> Result<()> {
    let f = fixture();
    if !f.gpu.is_simulator() {
        return Ok(());
    }
    let stream = f.stream();
    for dedicated in [false, true] {
        let (vulkan, exported) = vulkan_memory();
        let ((drawn, drawn_here), (written, written_here)) =
            (vulkan_semaphore(), vulkan_semaphore());
        let bytes = BYTES as u64;
        let options = ExternalMemoryOptions { bytes, dedicated };
        // SAFETY: the memory has so many bytes; the semaphores are binary.
        let (memory, drawn_here, written_here) = unsafe {
            (
                f.gpu.import_external_memory(exported, options)?,
                f.gpu.import_semaphore(drawn_here)?,
                f.gpu.import_semaphore(written_here)?,
            )
        };
        // SAFETY: the kernel writes all vertices; Vulkan reads them after the semaphore that is signalled behind it.
        let mut vertices = unsafe { memory.map::<[f32; 4]>(0, WIDTH * HEIGHT)? };
        // The image lies behind the vertices, in levels of 32 x 16 and 16 x 8 texels.
        let offset = (WIDTH * HEIGHT * 16) as u64;
        assert_eq!(offset % 4096, 0);
        let size = Extent2 {
            width: 32,
            height: 16,
        };
        // SAFETY: Vulkan has an image of two levels there, and has written it when its semaphore is signalled.
        let image = unsafe {
            memory.map_array::<[u8; 4], _>(offset, size, 2, ExternalArrayOptions::default())?
        };

        stream.wait_semaphores(&[drawn_here.point()])?;
        let mut pixels = stream.zeroed::<[u8; 4]>(16 * 8)?;
        stream.copy_from_array(&image.level(1), &mut pixels)?;
        draw_wave(f, &stream, &mut vertices)?;
        stream.signal_semaphores(&[written_here.point()])?;

        // Vulkan draws, and signals.
        let level_1: Vec<u8> = (0..16 * 8 * 4).map(|i| i as u8).collect();
        let behind_level_0 = offset + 32 * 16 * 4;
        rustix::io::pwrite(&vulkan, &level_1, behind_level_0).expect("it is open");
        assert!(!stream.is_idle()?, "it waits for Vulkan");
        rustix::io::write(&drawn, &1_u64.to_ne_bytes()).expect("it is open");
        stream.synchronize()?;
        let mut signalled = [0; 8];
        assert_eq!(rustix::io::read(&written, &mut signalled), Ok(8));
        let mut bytes = vec![0_u8; WIDTH * HEIGHT * 16];
        rustix::io::pread(&vulkan, &mut bytes, 0).expect("it is open");
        assert_wave(bytemuck::cast_slice(&bytes));
        assert_eq!(stream.download(&pixels)?.as_flattened(), level_1);
    }
    Ok(())
}

// covers: INTEROP-X02
#[test]
fn what_is_no_memory_and_no_semaphore_is_given_back() -> Result<()> {
    let f = fixture();
    let file = || OwnedFd::from(std::fs::File::open("/dev/null").expect("every system has it"));
    let options = ExternalMemoryOptions {
        bytes: 4096,
        dedicated: true,
    };
    // SAFETY: they are of no memory and no semaphore, and so refused.
    let (memory, semaphore) = unsafe {
        (
            f.gpu.import_external_memory(file(), options).map(drop),
            f.gpu.import_semaphore(file()).map(drop),
        )
    };
    for refused in [memory, semaphore] {
        let refused = refused.expect_err("a file that is neither");
        assert!(refused.value.try_clone().is_ok(), "{}", refused.error);
    }
    Ok(())
}
