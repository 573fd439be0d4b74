//! Every case of the suite at its ragged sizes, and the equalisation of a picture, on whichever device there is.

use warpsmith_host::prelude::*;
use warpsmith_suite::equalize::{equalize, oracle};
use warpsmith_suite::{Session, cases};

fn session() -> Session {
    Session::new(&Gpu::open_default().unwrap()).unwrap()
}

// covers: MODEL-18, DSMEM-01, DSMEM-02, DSMEM-03, DSMEM-04, CG-10, COND-06, COND-09, ATOM-01
#[test]
fn all_cases_are_right_at_ragged_sizes() {
    let session = session();
    for case in cases() {
        for &size in case.ragged {
            let outcome = case
                .run(&session, Some(size), size as u64, &mut |_| ())
                .unwrap();
            if let Err(wrong) = outcome.verified {
                panic!("{} at {}: {wrong}", case.name, outcome.shape);
            }
        }
    }
}

#[test]
fn seeds_change_the_inputs_and_not_the_result() {
    let session = session();
    let scan = warpsmith_suite::case("scan").unwrap();
    for seed in [1, 2, u64::MAX] {
        assert_eq!(
            scan.run(&session, Some(5000), seed, &mut |_| ())
                .unwrap()
                .verified
                .unwrap()
                .elements,
            5000
        );
    }
}

#[test]
fn a_picture_is_equalised_as_on_the_cpu() {
    let session = session();
    let pixels: Vec<[u8; 4]> = (0..5000u32)
        .map(|i| {
            [
                (i % 50 + 90) as u8,
                (i / 100 + 80) as u8,
                (i % 7 * 9) as u8,
                i as u8,
            ]
        })
        .collect();
    assert_eq!(equalize(&session, &pixels).unwrap(), oracle(&pixels));
    // One grey only: nothing to spread. And nothing at all.
    let grey = [[77, 77, 77, 255]; 300];
    assert_eq!(equalize(&session, &grey).unwrap(), grey);
    assert!(equalize(&session, &[]).unwrap().is_empty());
}
