//! What is a semaphore, and what is refused.

use super::*;

// covers: INTEROP-09, INTEROP-14
#[test]
fn a_file_that_is_no_semaphore_is_refused_by_name() {
    let _turn = turn();
    let backend = gpu();
    for kind in [OPAQUE, TIMELINE] {
        let file = std::fs::File::open("/proc/self/exe").expect("it is there");
        let number = OwnedFd::from(file).into_raw_fd();
        let answer = refused(kind, number);
        let name = warpsmith_driver::error::name(CUresult(answer));
        assert!(name.starts_with("CUDA_ERROR_"), "{name}");
        if backend == Backend::Simulator {
            assert_eq!(answer, 999);
            let program = std::fs::read_link("/proc/self/exe").expect("a link");
            let program = program.to_str().expect("a path in UTF-8");
            assert!(!is_open(number, program), "the driver has closed it");
        }
        for none in [-1, 1_000_000] {
            let answer = refused(kind, none);
            assert!(backend == Backend::Cuda || answer == 999);
        }
    }
    // None of these is looked at.
    let own = Timeline::new();
    for kind in [0, 77] {
        assert_eq!(refused(kind, own.0.as_raw_fd()), 1, "kind {kind}");
    }
    fails!(
        1,
        cuImportExternalSemaphore(null_mut(), &description(OPAQUE, own.0.as_raw_fd()))
    );
    assert!(is_open(own.0.as_raw_fd(), "timeline"));
}

// covers: INTEROP-09, INTEROP-12
#[test]
fn what_the_simulator_takes_is_what_any_process_can_make() {
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    let blocking = rustix::event::eventfd(0, EventfdFlags::CLOEXEC).expect("there is room");
    assert_eq!(refused(OPAQUE, blocking.into_raw_fd()), 999);
    let unsealed = rustix::fs::memfd_create("unsealed", MemfdFlags::CLOEXEC);
    let unsealed = unsealed.expect("there is room");
    rustix::fs::ftruncate(&unsealed, 8).expect("there is room");
    assert_eq!(refused(TIMELINE, unsealed.into_raw_fd()), 999);
    // The one is not the other.
    let number = Timeline::new().0.into_raw_fd();
    assert_eq!(refused(OPAQUE, number), 999);
    assert!(!is_open(number, "timeline"));
    let own = Binary::new();
    let number = own.0.as_raw_fd();
    for windows in [2, 3, 4, 5, 7, 8, 10] {
        assert_eq!(refused(windows, number), 801);
    }
    let mut flagged = description(OPAQUE, number);
    flagged.flags = 1;
    let mut none: CUexternalSemaphore = null_mut();
    fails!(1, cuImportExternalSemaphore(&mut none, &flagged));
    assert!(is_open(number, "eventfd"));

    let semaphore = own.import();
    let stream = stream();
    let parameters = signal_to(0);
    let flagged = SignalParameters {
        flags: 1,
        ..parameters
    };
    fails!(
        1,
        cuSignalExternalSemaphoresAsync(&semaphore, &parameters, 0, stream)
    );
    fails!(
        1,
        cuSignalExternalSemaphoresAsync(null_mut(), &parameters, 1, stream)
    );
    fails!(
        1,
        cuSignalExternalSemaphoresAsync(&semaphore, core::ptr::null(), 1, stream)
    );
    fails!(
        1,
        cuSignalExternalSemaphoresAsync(&semaphore, &flagged, 1, stream)
    );
    ok!(cuDestroyExternalSemaphore(semaphore));
    fails!(400, cuDestroyExternalSemaphore(semaphore));
    fails!(
        400,
        cuSignalExternalSemaphoresAsync(&semaphore, &parameters, 1, stream)
    );
    ok!(cuStreamDestroy_v2(stream));
    assert!(!own.take(), "nobody has signalled it");
}
