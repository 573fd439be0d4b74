//! The report's wording, and what a reader of another version makes of the JSON.

use super::*;
use crate::CUresult;

fn at(file: &str, line: u32, column: u32) -> Option<SourceLocation> {
    Some(SourceLocation {
        file: file.into(),
        line,
        column,
        ptx_line: 40,
    })
}

fn frame(function: &str, location: Option<SourceLocation>) -> Frame {
    Frame {
        function: function.into(),
        location,
        inlined: Vec::new(),
    }
}

fn origin(frames: Vec<Frame>) -> FaultOrigin {
    FaultOrigin {
        kernel: "scan".into(),
        block: [1, 0, 0],
        thread: [33, 0, 0],
        frames,
    }
}

fn out_of_bounds() -> Fault {
    let mut frames = vec![
        frame("store", at("src/lib.rs", 12, 5)),
        frame("scan", at("src/lib.rs", 30, 0)),
    ];
    frames[0].inlined.push(InlinedCall {
        function: Some("write_one".into()),
        call: at("src/lib.rs", 20, 9).unwrap_or_default(),
    });
    Fault {
        access: Some(FaultAccess {
            kind: AccessKind::Write,
            space: MemorySpace::Global,
            address: 0x1010,
            size: 4,
            nearest: Some(NearestAllocation {
                what: "device allocation".into(),
                base: 0x1000,
                size: 16,
                freed: false,
            }),
        }),
        notes: vec!["this looks like a null pointer".into()],
        ..Fault::in_kernel(
            FaultKind::IllegalAddress,
            "invalid global write of 4 bytes at 0x1010: out of bounds",
            origin(frames),
        )
    }
}

#[test]
fn an_access_out_of_bounds() {
    assert_eq!(
        out_of_bounds().to_string(),
        "\
invalid global write of 4 bytes at 0x1010: out of bounds
    in kernel scan, block (1,0,0), thread (33,0,0)
    at src/lib.rs:12:5
    in write_one, inlined at src/lib.rs:20:9
    the address is 0 bytes after the end of the device allocation at 0x1000 of 16 bytes
    this looks like a null pointer
    called from scan at src/lib.rs:30"
    );
}

#[test]
fn the_users_location_comes_before_a_librarys() {
    const HEADER: &str = "/usr/local/cuda/include/cub/block/block_scan.cuh";
    let call = |function: &str, location| InlinedCall {
        function: Some(function.into()),
        call: Option::unwrap_or_default(location),
    };
    let frame = Frame {
        inlined: vec![
            call("cub::detail::store", at(HEADER, 200, 9)),
            call("cub::BlockScan::ExclusiveSum", at("src/scan.cu", 8, 3)),
            call("", at("src/scan.cu", 30, 3)),
        ],
        ..frame("scan", at(HEADER, 100, 1))
    };
    let location = frame.user_location().cloned();
    assert_eq!(location, at("src/scan.cu", 8, 3));
    let mut fault = Fault::in_kernel(
        FaultKind::IllegalAddress,
        "invalid global write",
        origin(vec![frame.clone()]),
    );
    fault.other = Some(OtherSide {
        what: "write".into(),
        block: [1, 0, 0],
        thread: [2, 0, 0],
        frames: vec![frame],
    });
    assert_eq!(
        fault.to_string(),
        "\
invalid global write
    in kernel scan, block (1,0,0), thread (33,0,0)
    at src/scan.cu:8:3
    which runs cub::detail::store, at /usr/local/cuda/include/cub/block/block_scan.cuh:100:1
    inlined at src/scan.cu:30:3
    it conflicts with the write by thread (2,0,0), at src/scan.cu:8:3
        which runs cub::detail::store, at /usr/local/cuda/include/cub/block/block_scan.cuh:100:1
        inlined at src/scan.cu:30:3"
    );

    // A library's own developer sees the library's line.
    let all_library = Frame {
        inlined: vec![call("cub::detail::store", at(HEADER, 200, 9))],
        ..super::tests::frame("scan", at(HEADER, 100, 1))
    };
    assert_eq!(all_library.user_location().cloned(), at(HEADER, 100, 1));
}

#[test]
fn an_address_before_and_inside_an_allocation() {
    let mut fault = out_of_bounds();
    let access = fault.access.as_mut().expect("set above");
    access.address = 0xff8;
    let text = fault.to_string();
    assert!(
        text.contains("is 8 bytes before the device allocation"),
        "{text}"
    );
    let access = fault.access.as_mut().expect("set above");
    access.address = 0x1004;
    access.nearest.as_mut().expect("set above").freed = true;
    let text = fault.to_string();
    assert!(
        text.contains("is 4 bytes inside the freed device allocation"),
        "{text}"
    );
}

#[test]
fn callers_have_the_names_of_the_source() {
    let frames = vec![
        frame(
            "_RNvNtCs49HdEyxKhnQ_4demo6helper5inner",
            at("src/helper.rs", 1, 1),
        ),
        frame(
            "_RNvNtCs49HdEyxKhnQ_4demo6helper5outer",
            at("src/helper.rs", 2, 1),
        ),
        frame("scan", at("src/lib.rs", 3, 1)),
    ];
    let fault = Fault::in_kernel(FaultKind::Trap, "trap", origin(frames));
    let text = fault.to_string();
    let callers = "\n    called from demo::helper::outer at src/helper.rs:2:1\
                   \n    called from scan at src/lib.rs:3:1";
    assert!(text.ends_with(callers), "{text}");
}

#[test]
fn both_sides_of_a_race() {
    let mut fault = Fault {
        other: Some(OtherSide {
            what: "write".into(),
            block: [1, 0, 0],
            thread: [2, 0, 0],
            frames: vec![frame("scan", at("", 7, 0))],
        }),
        notes: vec!["no barrier, fence or atomic operation orders the two".into()],
        ..Fault::in_kernel(
            FaultKind::Race,
            "race in shared memory: read of 4 bytes at `tile` + 8",
            origin(vec![frame("scan", at("", 9, 0))]),
        )
    };
    assert_eq!(
        fault.to_string(),
        "\
race in shared memory: read of 4 bytes at `tile` + 8
    in kernel scan, block (1,0,0), thread (33,0,0)
    at PTX line 40
    it conflicts with the write by thread (2,0,0), at PTX line 40
    no barrier, fence or atomic operation orders the two"
    );
    fault.other.as_mut().expect("set above").block = [0, 0, 0];
    let text = fault.to_string();
    assert!(
        text.contains("the write by block (0,0,0), thread (2,0,0), at"),
        "{text}"
    );
}

#[test]
fn threads_that_wait() {
    let waiting = |count| WaitingThreads {
        what: "barrier 0".into(),
        location: at("src/lib.rs", 3, 1),
        count,
        block: [0, 0, 0],
        thread: [5, 0, 0],
    };
    let fault = Fault {
        waiting: vec![waiting(1), waiting(31)],
        notes: vec!["2 threads have exited".into()],
        ..Fault::in_kernel(FaultKind::Deadlock, "deadlock", origin(Vec::new()))
    };
    assert_eq!(
        fault.to_string(),
        "\
deadlock
    in kernel scan, block (1,0,0), thread (33,0,0)
    1 thread waits for barrier 0 at src/lib.rs:3:1: block (0,0,0) thread (5,0,0)
    31 threads wait for barrier 0 at src/lib.rs:3:1, the first: block (0,0,0) thread (5,0,0)
    2 threads have exited"
    );
}

#[test]
fn work_outside_kernels_has_only_its_message() {
    let fault = Fault::outside_kernels(FaultKind::IllegalAddress, "the copy reads freed memory");
    assert_eq!(fault.to_string(), "the copy reads freed memory");
    assert_eq!(fault.location(), None);
}

#[test]
fn json_there_and_back() {
    let fault = out_of_bounds();
    let text = serde_json::to_string(&fault).expect("plain data");
    assert_eq!(
        serde_json::from_str::<Fault>(&text).expect("what was written"),
        fault
    );
}

#[test]
fn json_of_another_version() {
    let text = r#"{"kind": "Gremlin", "message": "odd", "weather": "rain"}"#;
    let fault: Fault = serde_json::from_str(text).expect("a newer simulator's fault");
    assert_eq!(fault, Fault::outside_kernels(FaultKind::Other, "odd"));
    assert_eq!(fault.kind.code(), CUresult::CUDA_ERROR_UNKNOWN);
}

/// A function of a library that the compiler did not inline.
#[test]
fn a_librarys_function_is_named_behind_the_users_call() {
    let library = "_ZN16warpsmith_device4warp3sum17h0123456789abcdefE";
    let frames = vec![
        frame(
            "_ZN4core4iter4fold17h0123456789abcdefE",
            at("/x/library/core/src/iter.rs", 9, 1),
        ),
        frame(library, at("/home/me/warpsmith/device/src/warp.rs", 88, 5)),
        frame("scan", at("/src/scan.rs", 20, 9)),
        frame("kernel", at("/src/kernel.rs", 7, 1)),
    ];
    let fault = Fault::in_kernel(FaultKind::Trap, "trap", origin(frames.clone()));
    assert_eq!(fault.location(), at("/src/scan.rs", 20, 9).as_ref());
    let text = fault.to_string();
    let lines: Vec<&str> = text.lines().skip(2).map(str::trim).collect();
    assert_eq!(
        lines,
        [
            "at /src/scan.rs:20:9",
            "which calls warpsmith_device::warp::sum, at /home/me/warpsmith/device/src/warp.rs:88:5",
            "which calls core::iter::fold, at /x/library/core/src/iter.rs:9:1",
            "called from kernel at /src/kernel.rs:7:1",
        ]
    );
    // A closure of the user's that was inlined there is the user's line.
    let mut folded = frames[0].clone();
    folded.inlined.push(InlinedCall {
        function: Some("scan::{closure}".into()),
        call: folded
            .location
            .replace(at("/src/scan.rs", 21, 3).unwrap())
            .unwrap(),
    });
    let fault = Fault::in_kernel(FaultKind::Trap, "trap", origin(vec![folded]));
    assert_eq!(fault.location(), at("/src/scan.rs", 21, 3).as_ref());
    // With nothing of the user's there is still a line.
    let fault = Fault::in_kernel(FaultKind::Trap, "trap", origin(frames[..2].to_vec()));
    assert_eq!(fault.location(), frames[0].location.as_ref());
}

#[test]
fn a_note_reads_like_a_fault_and_says_that_it_is_none() {
    let note = Note {
        kind: NoteKind::CollidingWrites,
        message: "lanes 0 and 1 of a warp write different values".into(),
        origin: origin(vec![frame("scan", at("src/lib.rs", 12, 5))]),
        lines: vec!["one of them stays".into()],
    };
    let text = "note: lanes 0 and 1 of a warp write different values\n    \
        in kernel scan, block (1,0,0), thread (33,0,0)\n    at src/lib.rs:12:5\n    one of them stays";
    assert_eq!(note.to_string(), text);
    let json = serde_json::to_string(&note).expect("it is data");
    let again: Note = serde_json::from_str(&json).expect("it is a note");
    assert_eq!(again, note);
    let newer = json.replace("CollidingWrites", "SomethingNew");
    let newer: Note = serde_json::from_str(&newer).expect("unknown kinds are read");
    assert_eq!(newer.kind, NoteKind::Other);
}
