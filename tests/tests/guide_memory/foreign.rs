//! Chapter 10, "Shareable Memory Allocations": memory shared with a program in C that calls the driver by itself. On the simulator it loads
//! the drop-in `libcuda.so.1`, on a GPU the machine's driver.

use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use warpsmith_host::interprocess::{receive_descriptor, send_descriptor};
use warpsmith_host::prelude::*;
use warpsmith_host::{MappingAccess, PhysicalMemory, PhysicalOptions};
use warpsmith_test_kernels::guide_memory as kernels;
use warpsmith_testkit::dropin::Dropin;
use warpsmith_testkit::foreign::compile;
use warpsmith_tests::{Fixture, fixture};

/// Starts the program in C, which takes memory of so many bytes and gives as many; `socket` is its standard input.
fn start(folder: &Path, socket: UnixStream, bytes: usize, driver: &Dropin) -> Child {
    let program = folder.join("importer");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/guide_memory/importer.c");
    compile(Path::new(source), &program);
    let mut command = Command::new(&program);
    driver.be_driver_of(&mut command);
    // With the command, what it holds of the socket is closed here.
    command
        .arg(bytes.to_string())
        .stdin(Stdio::from(OwnedFd::from(socket)))
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts")
}

/// Gives the program memory, takes what it gives, and checks both. The program ends when the socket is closed, whatever happened here.
fn exchange(
    Fixture { gpu, module }: &Fixture,
    mut socket: UnixStream,
    memory: &PhysicalMemory,
) -> Result<()> {
    let stream = gpu.stream()?;
    let increase = module.kernel(kernels::increase_each)?;
    // SAFETY: the copy below writes all of it, and the other process uses it between two waits of this one.
    let mut words = unsafe { memory.map::<u32>(MappingAccess::ReadWrite)? };
    let first: Vec<u32> = (0..words.len() as u32).map(|i| 3 * i).collect();
    stream.upload_into(&first, &mut words)?;
    stream.synchronize()?;

    send_descriptor(&socket, memory.export()?).expect("the program listens");
    let theirs = receive_descriptor(&socket).expect("the program sends");
    // It has sent its own when it was done with ours.
    let expected: Vec<u32> = first.iter().map(|word| word + 1).collect();
    assert!(stream.download(&words)? == expected);

    let theirs = gpu.import_physical_memory(theirs, memory.bytes())?;
    // SAFETY: the program has written all of it, and waits until it hears of us.
    let mut words = unsafe { theirs.map::<u32>(MappingAccess::ReadWrite)? };
    let expected: Vec<u32> = (0..words.len() as u32).map(|i| 5 * i).collect();
    assert!(stream.download(&words)? == expected);
    stream.launch(&increase, Grid::cover(words.len(), 256), (2, &mut words))?;
    stream.synchronize()?;
    socket.write_all(&[1]).expect("the program listens");
    Ok(())
}

// covers: VMM-25, VMM-26, VMM-27, VMM-28, VMM-29, VMM-X07
#[test]
fn a_foreign_program_imports_and_exports() -> Result<()> {
    let fixture = fixture();
    let gpu = &fixture.gpu;
    let shareable = PhysicalOptions {
        shareable: true,
        ..Default::default()
    };
    let descriptors = Attribute::HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED;
    if gpu.attribute(descriptors)? == 0 {
        assert!(gpu.physical_memory(1, shareable).is_err());
        return Ok(());
    }
    let memory = gpu.physical_memory(1, shareable)?;
    let folder = tempfile::tempdir().expect("a folder");
    let (socket, other_end) = UnixStream::pair().expect("a pair of sockets");
    let driver = Dropin::unless(!gpu.is_simulator());
    let child = start(folder.path(), other_end, memory.bytes(), &driver);
    let result = exchange(fixture, socket, &memory);
    let output = child.wait_with_output().expect("it ends");
    result?;
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert_eq!(text, "both ways are right\n");
    Ok(())
}
