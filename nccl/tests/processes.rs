//! A process for each rank, with ids by file and by TCP, under launchers' variables, and ranks that die. On the simulator: two processes
//! need two GPUs otherwise.

mod common;

use std::net::TcpListener;
use std::path::PathBuf;
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
        let path = PathBuf::from(std::env::var_os("NCCL_TEST_FILE").expect("a path"));
        let gpu = gpu_of(rank);
        let id = UniqueId::by_file(&gpu, &path, rank, TIMEOUT).expect("an id");
        let communicator =
            Communicator::join(&gpu, &id, rank, 3, Options::default()).expect("joined");
        add_up(&communicator);
        return communicator.close().expect("closed");
    }
    let path = new_file("id");
    let mut ranks: Vec<Rank> = (0..3)
        .map(|rank| {
            Rank::start(&[
                (RANK, rank.to_string()),
                ("WARPSMITH_SIMULATOR_DEVICES", "3".into()),
                ("NCCL_TEST_FILE", path.display().to_string()),
            ])
        })
        .collect();
    assert!(ranks.iter_mut().all(Rank::succeeded));
    // It stays, and the next run is told.
    let gpu = Gpu::open(DeviceChoice::Simulator).expect("a device");
    let error = UniqueId::by_file(&gpu, &path, 0, TIMEOUT).expect_err("it is there");
    assert!(error.to_string().contains("is there already"), "{error}");
    std::fs::remove_file(&path).expect("removed");
    let error = UniqueId::by_file(&gpu, &path, 1, Duration::from_millis(20)).expect_err("no file");
    assert!(error.to_string().contains("waited 20ms"), "{error}");
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
        let path = PathBuf::from(std::env::var_os("NCCL_TEST_FILE").expect("a path"));
        let gpu = gpu_of(rank);
        let id = UniqueId::by_file(&gpu, &path, rank, TIMEOUT).expect("an id");
        let communicator =
            Communicator::join(&gpu, &id, rank, 2, Options::default()).expect("joined");
        add_up(&communicator);
        if rank == 1 {
            std::fs::write(path.with_extension("ready"), []).expect("a file");
            std::thread::sleep(Duration::from_secs(300));
        }
        let stream = gpu.stream().expect("a stream");
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
    let mut ranks: Vec<Rank> = (0..2)
        .map(|rank| {
            Rank::start(&[
                (RANK, rank.to_string()),
                ("WARPSMITH_SIMULATOR_DEVICES", "2".into()),
                ("NCCL_TEST_FILE", path.display().to_string()),
            ])
        })
        .collect();
    let ready = path.with_extension("ready");
    let end = Instant::now() + TIMEOUT;
    while !ready.exists() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(5));
    }
    ranks[1].kill();
    let survived = ranks[0].succeeded();
    let _ = std::fs::remove_file(&path);
    std::fs::remove_file(&ready).expect("rank 1 was ready");
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
