//! The training finds the weights, on several devices of one process and on several processes, and they are those of one device that has
//! all samples.

use std::process::Command;

use warpsmith_host::prelude::*;
use warpsmith_nccl::Communicator;
use warpsmith_sgd::{Problem, Trainer, step};
use warpsmith_testkit::{Side, own_process};

const STEPS: usize = 40;

fn problem(samples: usize) -> Problem {
    Problem {
        features: 10,
        samples,
        rate: 0.5,
    }
}

/// Each rank's weights.
fn trained(gpus: &[Gpu], samples: usize) -> Vec<Vec<f32>> {
    let communicators = Communicator::all(gpus).expect("communicators");
    let mut ranks: Vec<Trainer> = communicators
        .into_iter()
        .map(|communicator| Trainer::new(communicator, problem(samples)).expect("samples"))
        .collect();
    for _ in 0..STEPS {
        step(&mut ranks).expect("a step");
    }
    ranks
        .iter()
        .map(|rank| rank.weights().expect("the steps are done"))
        .collect()
}

#[test]
fn several_devices_learn_what_one_with_all_samples_does() {
    let variables = [
        ("WARPSMITH_DEVICE", "simulator"),
        ("WARPSMITH_SIMULATOR_DEVICES", "3"),
    ];
    let Side::Child = own_process(&variables) else {
        return;
    };
    let devices = Gpu::devices().expect("devices");
    let gpus: Vec<Gpu> = devices
        .iter()
        .map(|device| Gpu::open(device.choice).expect("a device"))
        .collect();
    let alone = trained(&gpus[..1], 300).remove(0);
    let together = trained(&gpus, 100);
    assert_eq!(together.len(), 3);
    for weights in &together {
        assert_eq!(*weights, together[0], "all ranks step alike");
    }
    for (feature, (one, all)) in alone.iter().zip(&together[0]).enumerate() {
        assert!((one - all).abs() < 1e-4, "{feature}: {one} and {all}");
        let truth = Problem::weight(feature);
        assert!((all - truth).abs() < 1e-3, "{feature}: {all}, not {truth}");
    }
}

#[test]
fn a_process_for_each_device_is_the_same_program() {
    let port = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        free.local_addr().expect("its number").port()
    };
    let children: Vec<_> = (0..2)
        .map(|rank| {
            Command::new(env!("CARGO_BIN_EXE_warpsmith-sgd"))
                .env("WARPSMITH_DEVICE", "simulator")
                .env("WARPSMITH_SIMULATOR_DEVICES", "2")
                .env("WARPSMITH_NCCL_PORT", port.to_string())
                .env("RANK", rank.to_string())
                .env("LOCAL_RANK", rank.to_string())
                .env("WORLD_SIZE", "2")
                .env("MASTER_ADDR", "127.0.0.1")
                .env("MASTER_PORT", port.to_string())
                .stdout(std::process::Stdio::piped())
                .spawn()
                .expect("a process")
        })
        .collect();
    let mut said = String::new();
    for child in children {
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{output:?}");
        said += &String::from_utf8_lossy(&output.stdout);
    }
    assert!(said.starts_with("2 ranks: "), "{said}");
    let worst = said.trim().rsplit(' ').next().expect("a number");
    assert!(worst.parse::<f32>().expect("a number") < 1e-3, "{said}");
}
