//! A process for each rank, with ids by file and by TCP, under launchers' variables, and ranks that die. On the simulator: two processes
//! need two GPUs otherwise.

mod common;

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use common::*;
use warpsmith_host::prelude::*;
use warpsmith_nccl::{Communicator, Error, Launcher, Options, Reduction, UniqueId};

const TIMEOUT: Duration = Duration::from_secs(60);
/// Tells a process of a test which rank it is.
const RANK: &str = "NCCL_TEST_RANK";

fn test_rank() -> Option<usize> {
    std::env::var(RANK)
        .ok()
        .map(|rank| rank.parse().expect("a number"))
}

/// A file that is not there yet.
fn new_file(name: &str) -> PathBuf {
    let path =
        std::env::temp_dir().join(format!("warpsmith-nccl-test-{name}-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

fn gpu_of(rank: usize) -> Gpu {
    gpus().swap_remove(rank)
}

/// Adds up the ranks' numbers, a few times.
fn add_up(communicator: &Communicator) {
    let stream = communicator.gpu().stream().expect("a stream");
    let rank = communicator.rank() as f64;
    let mut data = stream.upload(&vec![rank; 70_000]).expect("upload");
    communicator
        .all_reduce_in_place(&stream, &mut data, Reduction::Sum)
        .expect("enqueued");
    communicator.wait(&stream, TIMEOUT).expect("done");
    let size = communicator.size();
    let sum = (size * (size - 1) / 2) as f64;
    assert!(
        stream
            .download(&data)
            .expect("download")
            .iter()
            .all(|&x| x == sum)
    );
}

#[test]
fn processes_come_together_by_a_file() {
    if let Some(rank) = test_rank() {
        let communicator = join(rank, 3);
        add_up(&communicator);
        return communicator.close().expect("closed");
    }
    let path = new_file("id");
    let mut ranks = start_ranks(3, &path);
    assert!(ranks.iter_mut().all(Rank::succeeded));
    // It stays, and the next run is told.
    let gpu = Gpu::open(DeviceChoice::Simulator).expect("a device");
    let error = UniqueId::by_file(&gpu, &path, 0, TIMEOUT).expect_err("it is there");
    assert!(error.to_string().contains("is there already"), "{error}");
    std::fs::remove_file(&path).expect("removed");
    let error = UniqueId::by_file(&gpu, &path, 1, Duration::from_millis(20)).expect_err("no file");
    assert!(error.to_string().contains("waited 20ms"), "{error}");
}

/// Starts a process for each rank of the calling test, which come together by this file.
fn start_ranks(count: usize, path: &Path) -> Vec<Rank> {
    (0..count)
        .map(|rank| {
            Rank::start(&[
                (RANK, rank.to_string()),
                ("WARPSMITH_SIMULATOR_DEVICES", count.to_string()),
                ("NCCL_TEST_FILE", path.display().to_string()),
            ])
        })
        .collect()
}

/// The file of the processes of [`start_ranks`].
fn test_file() -> PathBuf {
    PathBuf::from(std::env::var_os("NCCL_TEST_FILE").expect("a path"))
}

/// Comes together as one of the processes of [`start_ranks`].
fn join(rank: usize, size: usize) -> Communicator {
    let gpu = gpu_of(rank);
    let id = UniqueId::by_file(&gpu, &test_file(), rank, TIMEOUT).expect("an id");
    Communicator::join(&gpu, &id, rank, size, Options::default()).expect("joined")
}

/// Waits for a file that another process makes.
fn await_file(path: &Path) {
    let end = Instant::now() + TIMEOUT;
    while !path.exists() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::fs::remove_file(path).expect("the other process was there");
}

#[test]
fn processes_split_their_communicator() {
    if let Some(rank) = test_rank() {
        let world = join(rank, 4);
        // 3 and 1, then 0, and 2 without a color.
        let color = [Some(9), Some(4), None, Some(4)][rank];
        let split = world.split(color, -(rank as i32)).expect("split");
        let place = split.as_ref().map(|split| (split.rank(), split.size()));
        assert_eq!(
            place,
            [Some((0, 1)), Some((1, 2)), None, Some((0, 2))][rank]
        );
        if let Some(split) = &split {
            add_up(split);
        }
        add_up(&world);
        world.close().expect("closed");
        if let Some(split) = split {
            add_up(&split);
            split.close().expect("closed");
        }
        return;
    }
    let path = new_file("split");
    let mut ranks = start_ranks(4, &path);
    let succeeded = ranks.iter_mut().all(Rank::succeeded);
    let _ = std::fs::remove_file(&path);
    assert!(succeeded);
}

#[test]
fn a_rank_that_dies_is_an_error_for_those_that_split() {
    let joined = |path: &Path, rank: usize| path.with_extension(format!("joined-{rank}"));
    if let Some(rank) = test_rank() {
        let world = join(rank, 2);
        std::fs::write(joined(&test_file(), rank), []).expect("a file");
        if rank == 1 {
            std::thread::sleep(Duration::from_secs(300));
        }
        let begin = Instant::now();
        let error = world.split(Some(0), 0).expect_err("the other is gone");
        assert!(begin.elapsed() < TIMEOUT, "{error}");
        assert!(
            error.to_string().contains("the process of rank 1 is gone"),
            "{error}"
        );
        return;
    }
    let path = new_file("dies-in-split");
    let mut ranks = start_ranks(2, &path);
    // Both: who still joins hears of the other's end, too.
    (0..2).for_each(|rank| await_file(&joined(&path, rank)));
    ranks[1].kill();
    let survived = ranks[0].succeeded();
    let _ = std::fs::remove_file(&path);
    assert!(survived);
}

/// Rank 1 of 3 dies while all wait for rank 2, which never comes.
#[test]
fn a_rank_that_dies_while_all_come_together_is_an_error_for_the_others() {
    if let Some(rank) = test_rank() {
        let gpu = gpu_of(rank);
        let id = UniqueId::by_file(&gpu, &test_file(), rank, TIMEOUT).expect("an id");
        if rank == 1 {
            std::thread::spawn(|| {
                std::thread::sleep(Duration::from_millis(300));
                std::process::exit(3);
            });
        }
        let begin = Instant::now();
        let joined = Communicator::join(&gpu, &id, rank, 3, Options::default());
        let error = joined.expect_err("rank 2 does not come");
        assert!(begin.elapsed() < TIMEOUT, "{error}");
        assert!(
            error.to_string().contains("the process of rank 1 is gone"),
            "{error}"
        );
        return;
    }
    let path = new_file("dies-early");
    let mut ranks = start_ranks(2, &path);
    let survived = ranks[0].succeeded();
    let _ = std::fs::remove_file(&path);
    assert!(survived);
}

/// The error of rank 1 of 2, which looks for rank 0 at `address` for a moment.
fn not_found_at(address: &str) -> String {
    let gpu = Gpu::open(DeviceChoice::Simulator).expect("a device");
    let begin = Instant::now();
    let error = UniqueId::by_tcp(&gpu, address, 1, 2, Duration::from_millis(100));
    let error = error.expect_err("nobody answers");
    assert!(begin.elapsed() < TIMEOUT, "{error}");
    assert!(matches!(error, Error::Meeting { .. }), "{error}");
    let message = error.to_string();
    assert!(message.contains(address), "{message}");
    message
}

#[test]
fn a_rank_that_rank_0_does_not_answer_gives_up_in_time() {
    // Nobody listens.
    let message = not_found_at(&format!("127.0.0.1:{}", free_port()));
    assert!(message.contains("waited 100ms"), "{message}");
    // Somebody does, who never says a word.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = silent.local_addr().expect("an address");
    let message = not_found_at(&address.to_string());
    assert!(message.contains("waited 100ms"), "{message}");
    // No port, and no wait.
    let message = not_found_at("127.0.0.1:65536");
    assert!(message.contains("port"), "{message}");
    assert!(!message.contains("waited"), "{message}");
}

/// Connecting itself ends in time, where the system of rank 0 does not answer.
#[test]
#[cfg(target_os = "linux")]
fn a_rank_whose_connection_is_not_answered_gives_up_in_time() {
    use std::net::TcpStream;
    use std::os::fd::AsRawFd;
    unsafe extern "C" {
        fn listen(socket: i32, waiting: i32) -> i32;
    }
    // So few connections may wait to be accepted, which none is: those behind them get no answer.
    let full = TcpListener::bind("127.0.0.1:0").expect("a port");
    // SAFETY: the function is the C library's, with this signature; the socket is open.
    assert_eq!(unsafe { listen(full.as_raw_fd(), 0) }, 0);
    let address = full.local_addr().expect("an address");
    let mut waiting = Vec::new();
    let connect = || TcpStream::connect_timeout(&address, Duration::from_millis(200));
    while let Ok(stream) = connect() {
        waiting.push(stream);
        assert!(waiting.len() < 100, "all are answered");
    }
    let message = not_found_at(&address.to_string());
    assert!(message.contains("waited 100ms"), "{message}");
}

#[test]
fn rank_0_names_the_ranks_that_have_not_come() {
    let gpu = Gpu::open(DeviceChoice::Simulator).expect("a device");
    let address = format!("127.0.0.1:{}", free_port());
    let limit = Duration::from_secs(2);
    let error = std::thread::scope(|scope| {
        let second = scope.spawn(|| UniqueId::by_tcp(&gpu, &address, 2, 4, TIMEOUT));
        let first = UniqueId::by_tcp(&gpu, &address, 0, 4, limit);
        second.join().expect("no panic").expect("rank 2 has come");
        first.expect_err("two ranks have not")
    });
    let message = error.to_string();
    assert!(message.contains("ranks [1, 3] have not come"), "{message}");
}

#[test]
fn torchruns_variables_are_enough() {
    if test_rank().is_some() {
        let launcher = Launcher::from_env().expect("torchrun's variables");
        assert_eq!(launcher.size, 2);
        let communicator = Communicator::from_env().expect("joined");
        assert_eq!(communicator.rank(), launcher.rank);
        add_up(&communicator);
        return communicator.close().expect("closed");
    }
    let port = free_port();
    let mut ranks: Vec<Rank> = (0..2)
        .map(|rank| {
            Rank::start(&[
                (RANK, rank.to_string()),
                ("WARPSMITH_SIMULATOR_DEVICES", "2".into()),
                ("RANK", rank.to_string()),
                ("LOCAL_RANK", rank.to_string()),
                ("WORLD_SIZE", "2".into()),
                ("MASTER_ADDR", "127.0.0.1".into()),
                ("MASTER_PORT", port.to_string()),
            ])
        })
        .collect();
    assert!(ranks.iter_mut().all(Rank::succeeded));
}

#[test]
fn mpiruns_variables_are_enough_on_one_machine() {
    if test_rank().is_some() {
        let communicator = Communicator::from_env().expect("joined");
        add_up(&communicator);
        return communicator.close().expect("closed");
    }
    let mut ranks: Vec<Rank> = (0..2)
        .map(|rank| {
            Rank::start(&[
                (RANK, rank.to_string()),
                ("WARPSMITH_SIMULATOR_DEVICES", "2".into()),
                ("OMPI_COMM_WORLD_RANK", rank.to_string()),
                ("OMPI_COMM_WORLD_LOCAL_RANK", rank.to_string()),
                ("OMPI_COMM_WORLD_SIZE", "2".into()),
                ("OMPI_COMM_WORLD_LOCAL_SIZE", "2".into()),
                ("PMIX_NAMESPACE", format!("test-{}", std::process::id())),
            ])
        })
        .collect();
    assert!(ranks.iter_mut().all(Rank::succeeded));
}

/// One rank is killed in the middle; the other gets an error, soon.
#[test]
fn a_rank_that_dies_is_an_error_for_the_others() {
    if let Some(rank) = test_rank() {
        let communicator = join(rank, 2);
        add_up(&communicator);
        if rank == 1 {
            std::fs::write(test_file().with_extension("ready"), []).expect("a file");
            std::thread::sleep(Duration::from_secs(300));
        }
        let stream = communicator.gpu().stream().expect("a stream");
        let mut data = stream.upload(&[1_u8; 10]).expect("upload");
        communicator
            .all_reduce_in_place(&stream, &mut data, Reduction::Sum)
            .expect("enqueued");
        let begin = Instant::now();
        let error = communicator
            .wait(&stream, TIMEOUT)
            .expect_err("the other is gone");
        assert!(begin.elapsed() < TIMEOUT, "{error}");
        assert!(matches!(error, Error::Nccl(_)), "{error}");
        assert!(
            error.to_string().contains("the process of rank 1 is gone"),
            "{error}"
        );
        return stream.synchronize().expect("the device works on");
    }
    let path = new_file("dies");
    let mut ranks = start_ranks(2, &path);
    await_file(&path.with_extension("ready"));
    ranks[1].kill();
    let survived = ranks[0].succeeded();
    let _ = std::fs::remove_file(&path);
    assert!(survived);
}

#[test]
fn a_rank_of_a_device_that_is_not_there_is_told() {
    if test_rank().is_some() {
        let error = Communicator::from_env().expect_err("one device");
        assert!(
            error.to_string().contains("WARPSMITH_SIMULATOR_DEVICES"),
            "{error}"
        );
        return;
    }
    let mut rank = Rank::start(&[
        (RANK, "1".into()),
        ("WARPSMITH_SIMULATOR_DEVICES", "1".into()),
        ("RANK", "1".into()),
        ("LOCAL_RANK", "1".into()),
        ("WORLD_SIZE", "2".into()),
        ("MASTER_ADDR", "127.0.0.1".into()),
        ("MASTER_PORT", "1".into()),
    ]);
    assert!(rank.succeeded());
}
