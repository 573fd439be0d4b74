//! Ranks of one process meet, exchange bytes, and are refused.

use super::*;

#[test]
fn bytes_go_round_the_ring() {
    let key = new_key().expect("a key");
    let other = key.clone();
    let thread = std::thread::spawn(move || {
        let world = World::join(&other, 1, 2, 1, &|| false).expect("both come");
        let mut data = vec![0; 3 * RING + 5];
        let mut done = 0;
        while done < data.len() {
            done += world.read(0, &mut data[done..]);
        }
        world.leave();
        data
    });
    let world = World::join(&key, 0, 2, 0, &|| false).expect("both come");
    let data: Vec<u8> = (0..3 * RING + 5).map(|i| (i % 251) as u8).collect();
    let mut done = 0;
    while done < data.len() {
        done += world.write(1, &data[done..]);
    }
    assert!(thread.join().expect("no panic") == data);
    assert!(world.has_left(1));
    assert!(!path_of(&key).exists());
}

#[test]
fn who_is_told_to_stop_does_not_wait_for_those_who_never_come() {
    let key = new_key().expect("a key");
    let error = World::join(&key, 0, 2, 0, &|| true).err().expect("stopped");
    assert!(error.reason.contains("aborted"), "{error:?}");
    assert!(!path_of(&key).exists());
}

#[test]
fn two_ranks_of_one_device_are_refused_and_so_is_another_number_of_ranks() {
    let key = new_key().expect("a key");
    let other = key.clone();
    let thread = std::thread::spawn(move || World::join(&other, 1, 2, 7, &|| false).err());
    let here = World::join(&key, 0, 2, 7, &|| false).err();
    let there = thread.join().expect("no panic");
    for error in [here, there] {
        let error = error.expect("refused");
        assert!(
            error.reason.contains("same device") || error.reason.contains("has failed"),
            "{error:?}"
        );
    }

    let key = new_key().expect("a key");
    let file = File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(path_of(&key));
    let mut world = World::map(&file.expect("a file"), path_of(&key), 0, 2).expect("mapped");
    world.come_in(0).expect("the first");
    let error = World::join(&key, 1, 3, 1, &|| false)
        .err()
        .expect("refused");
    assert!(error.reason.contains("says that there are 3"), "{error:?}");

    // Those that were refused took nothing from the rank that is there.
    let error = World::join(&key, 0, 2, 1, &|| false)
        .err()
        .expect("refused");
    assert!(error.reason.contains("has come already"), "{error:?}");
    assert_eq!(world.slot(0).state.load(Ordering::SeqCst), HERE);
    assert!(path_of(&key).exists());
}

#[test]
fn more_ranks_than_memory_has_room_for_are_refused_without_a_file() {
    let key = new_key().expect("a key");
    for ranks in [i32::MAX as usize, 1 << 30, 20_000_000] {
        let error = World::join(&key, 0, ranks, 0, &|| false)
            .err()
            .expect("refused");
        assert!(error.reason.contains(&ranks.to_string()), "{error:?}");
        assert!(!path_of(&key).exists());
    }
}
