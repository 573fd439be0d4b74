//! Chapter 19: the program's own memory in kernels, where the device has pageable memory access. Where it has not, an address of such
//! memory is an illegal one, and the example takes the way that is left: memory that was registered, or a copy.
//!
//! A simulated device has either; a GPU one of both.

use std::ffi::CStr;
use std::io::Write;
use std::os::fd::AsFd;

use rustix::mm::{MapFlags, ProtFlags};
use warpsmith_host::UnifiedSupport;
use warpsmith_host::prelude::*;
use warpsmith_test_kernels::guide_memory as kernels;
use warpsmith_testkit::process::{ProcessOutput, calling_test, is_child, run_in_child};
use warpsmith_tests::Fixture;

/// Runs the calling test in processes whose simulated device has pageable memory access and has not; what they wrote. `None` in those.
fn on_both_kinds_of_devices() -> Option<[ProcessOutput; 2]> {
    if is_child() {
        return None;
    }
    let test = calling_test();
    Some(
        ["88=1", "88=0"].map(|attributes| {
            run_in_child(&test, &[("WARPSMITH_SIMULATOR_ATTRIBUTES", attributes)])
        }),
    )
}

/// The device, and whether its kernels reach the program's memory.
fn device() -> Result<(Fixture, bool)> {
    let fixture = Fixture::open()?;
    let reaches = fixture.gpu.unified_support()? == UnifiedSupport::Full;
    println!(
        "{}: reaches the program's memory: {reaches}",
        fixture.gpu.name()
    );
    Ok((fixture, reaches))
}

fn pointer_to<T>(place: *const T) -> DevicePointer<T> {
    DevicePointer::from_address(place.addr() as u64)
}

// covers: UM-16, UM-X01
#[test]
fn a_kernel_writes_a_value_on_the_heap_and_on_the_stack() -> Result<()> {
    if on_both_kinds_of_devices().is_some() {
        return Ok(());
    }
    let (Fixture { gpu, module }, reaches) = device()?;
    let stream = gpu.stream()?;
    let write = module.kernel(kernels::write_value)?;
    let one = Grid::new(1, 1);
    // What every device can: the heap's memory, registered.
    let mut registered = gpu.register(vec![0_u32; 1024])?;
    let set = module.kernel(kernels::set_each)?;
    stream.launch(&set, Grid::cover(1024, 128), (1, &mut registered))?;
    stream.synchronize()?;
    assert_eq!(registered.take()?, [1; 1024]);

    let mut heap = Box::new(0_i32);
    let mut local = 0_i32;
    for place in [&raw mut *heap, &raw mut local] {
        // SAFETY: the value lives beyond the wait below, and nothing else uses it until then. A device that does not reach it ends the
        // kernel before it writes.
        unsafe { stream.launch_unchecked(&write, one, (pointer_to(place), 1))? };
        let result = stream.synchronize();
        // SAFETY: the place is valid, and the kernel has ended.
        let value = unsafe { place.read_volatile() };
        if !reaches {
            // The context has ended, too, and with it what this process can do on the device.
            let error = result.expect_err("the address is an illegal one");
            assert_eq!(error.code(), Some(Code::ILLEGAL_ADDRESS), "{error}");
            assert_eq!(value, 0);
            break;
        }
        result?;
        assert_eq!(value, 1);
    }
    Ok(())
}

static GREETING: [u8; 24] = *b"Hello World of statics!\0";

unsafe extern "C" {
    /// Of a library that knows nothing of CUDA: the text of an error of the system.
    fn strerror(number: core::ffi::c_int) -> *const core::ffi::c_char;
}

// covers: UM-16, UM-17, UM-X03, UM-X09, UM-X10
#[test]
fn a_kernel_prints_what_lies_anywhere_in_the_program() -> Result<()> {
    if let Some([full, managed]) = on_both_kinds_of_devices() {
        for output in [full, managed] {
            let reaches = output.stdout.contains("program's memory: true");
            let greetings = output.stdout.matches("Hello Wo\n").count();
            assert_eq!(greetings, if reaches { 5 } else { 1 }, "{output}");
            let foreign = output.stdout.contains("No such \n");
            assert_eq!(foreign, reaches, "{output}");
        }
        return Ok(());
    }
    let (Fixture { gpu, module }, reaches) = device()?;
    let stream = gpu.stream()?;
    let print = module.kernel(kernels::print_beginning)?;
    // What the host wrote into unified memory is reached by every device.
    let managed = gpu.unified_from(b"Hello World of managed memory")?;
    let heap = b"Hello World of the heap".to_vec();
    let local = *b"Hello World of the stack";
    std::thread_local! {
        static OWN: [u8; 22] = const { *b"Hello World of threads" };
    }
    // SAFETY: the function takes any number, and its text stays until it is called again.
    let foreign = unsafe { CStr::from_ptr(strerror(2)) };
    let everywhere = |own: *const u8| {
        [
            heap.as_ptr(),
            local.as_ptr(),
            GREETING.as_ptr(),
            own,
            foreign.as_ptr().cast(),
        ]
    };
    OWN.with(|own| -> Result<()> {
        let mut places = vec![managed.as_device_ptr()];
        if reaches {
            places.extend(everywhere(own.as_ptr()).map(pointer_to));
        }
        for place in places {
            // SAFETY: each has eight bytes, which live beyond the wait and which nothing writes meanwhile.
            unsafe { stream.launch_unchecked(&print, Grid::new(1, 1), (place, 8_usize))? };
            stream.synchronize()?;
        }
        Ok(())
    })
}

/// A file that a kernel reads in place; and, on devices that cannot, after it was copied.
// covers: UM-18, UM-X11
#[test]
fn a_kernel_reads_a_mapped_file() -> Result<()> {
    if on_both_kinds_of_devices().is_some() {
        return Ok(());
    }
    let (Fixture { gpu, module }, reaches) = device()?;
    let stream = gpu.stream()?;
    let contents: Vec<u8> = (0..10_000_u32).map(|i| (i * 7) as u8).collect();
    let expected: u32 = contents.iter().map(|byte| u32::from(*byte)).sum();
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(&contents).expect("it takes the bytes");
    let mut sum = stream.zeroed::<u32>(1)?;
    let add_bytes = module.kernel(kernels::add_bytes)?;
    let grid = Grid::cover(contents.len(), 256);
    for flags in [MapFlags::PRIVATE, MapFlags::SHARED] {
        // SAFETY: the system chooses addresses that are free.
        let map = unsafe {
            rustix::mm::mmap(
                core::ptr::null_mut(),
                contents.len(),
                ProtFlags::READ,
                flags,
                file.as_fd(),
                0,
            )
        };
        let map = map.expect("a mapping");
        let copy;
        let bytes = if reaches {
            pointer_to(map.cast_const().cast::<u8>())
        } else {
            // SAFETY: the mapping has so many bytes, and nothing writes them.
            let mapped = unsafe { core::slice::from_raw_parts(map.cast::<u8>(), contents.len()) };
            copy = stream.upload(mapped)?;
            copy.as_device_ptr()
        };
        stream.fill(&mut sum, 0)?;
        // SAFETY: so many bytes live beyond the wait, and nothing writes them.
        unsafe { stream.launch_unchecked(&add_bytes, grid, (bytes, contents.len(), &mut sum))? };
        assert_eq!(stream.download(&sum)?, [expected]);
        // SAFETY: it is this mapping, and the kernel has ended.
        unsafe { rustix::mm::munmap(map, contents.len()) }.expect("it is mapped");
    }
    Ok(())
}

/// What the attributes say of sharing memory fits together, whatever the device is.
// covers: UM-02, UM-20, UM-31
#[test]
fn the_attributes_of_sharing_fit_together() -> Result<()> {
    if on_both_kinds_of_devices().is_some() {
        return Ok(());
    }
    let (Fixture { gpu, .. }, reaches) = device()?;
    let [pageable, page_tables, native, concurrent] = [
        Attribute::PAGEABLE_MEMORY_ACCESS,
        Attribute::PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES,
        Attribute::HOST_NATIVE_ATOMIC_SUPPORTED,
        Attribute::CONCURRENT_MANAGED_ACCESS,
    ]
    .map(|attribute| gpu.attribute(attribute));
    let (pageable, page_tables, native) = (pageable?, page_tables?, native?);
    println!(
        "pageable {pageable}, by the host's page tables {page_tables}, native atomics {native}"
    );
    assert_eq!(reaches, pageable == 1);
    assert!(
        page_tables <= pageable,
        "it shares page tables, but no memory"
    );
    assert!(
        pageable <= concurrent?,
        "it shares all memory, but not at a time"
    );
    Ok(())
}

const SHARED_FILE: &str = "SHARED_FILE";
const WORDS: usize = 1024;

/// Two processes map one memory file. A kernel of the first one writes it, one of the second one adds up what that has written.
// covers: UM-19
#[test]
fn two_processes_share_memory_of_the_system() -> Result<()> {
    if is_child() {
        return use_shared_file();
    }
    for attributes in ["88=1", "88=0"] {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let bytes = (WORDS * 4) as u64;
        file.as_file().set_len(bytes).expect("it grows");
        let path = file.path().to_str().expect("a name in UTF-8");
        let [first, second] = ["first", "second"].map(|turn| {
            let variables = [
                ("WARPSMITH_SIMULATOR_ATTRIBUTES", attributes),
                (SHARED_FILE, path),
                ("TURN", turn),
            ];
            run_in_child(&calling_test(), &variables)
        });
        let reaches = first.stdout.contains("program's memory: true");
        let sum = if reaches { 7 } else { 0 };
        assert!(second.stdout.contains(&format!("sum {sum}\n")), "{second}");
    }
    Ok(())
}

fn use_shared_file() -> Result<()> {
    let path = std::env::var(SHARED_FILE).expect("the parent names it");
    let file = std::fs::File::options().read(true).write(true).open(path);
    let file = file.expect("a file");
    // SAFETY: the system chooses addresses that are free.
    let map = unsafe {
        rustix::mm::mmap(
            core::ptr::null_mut(),
            WORDS * 4,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::SHARED,
            file.as_fd(),
            0,
        )
    };
    let map = map.expect("a mapping");
    let (Fixture { gpu, module }, reaches) = device()?;
    let stream = gpu.stream()?;
    let mut sum = stream.zeroed::<u32>(1)?;
    if reaches && std::env::var("TURN").as_deref() == Ok("first") {
        let write = module.kernel(kernels::write_value)?;
        let last = pointer_to(map.cast::<i32>().wrapping_add(WORDS - 1));
        // SAFETY: the word is the mapping's, which lives beyond the wait, and nothing else uses it.
        unsafe { stream.launch_unchecked(&write, Grid::new(1, 1), (last, 7))? };
    } else if reaches {
        let add_bytes = module.kernel(kernels::add_bytes)?;
        let bytes = pointer_to(map.cast_const().cast::<u8>());
        let grid = Grid::cover(WORDS * 4, 256);
        // SAFETY: so many bytes live beyond the wait, and the other process has ended.
        unsafe { stream.launch_unchecked(&add_bytes, grid, (bytes, WORDS * 4, &mut sum))? };
    }
    println!("sum {}", stream.download(&sum)?[0]);
    // SAFETY: it is this mapping, and the kernels have ended.
    unsafe { rustix::mm::munmap(map, WORDS * 4) }.expect("it is mapped");
    Ok(())
}
