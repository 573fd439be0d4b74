//! What a launcher of processes tells each of them: torchrun and mpirun.

use std::path::PathBuf;

use warpsmith_host::Gpu;

use crate::communicator::Communicator;
use crate::environment;
use crate::error::{Error, Result};
use crate::id::UniqueId;
use crate::options::Options;

/// A process's place among those that a launcher started.
///
/// | | torchrun | mpirun (Open MPI) |
/// | --- | --- | --- |
/// | rank, size | `RANK`, `WORLD_SIZE` | `OMPI_COMM_WORLD_RANK`, `OMPI_COMM_WORLD_SIZE` |
/// | rank on this machine | `LOCAL_RANK` | `OMPI_COMM_WORLD_LOCAL_RANK` |
/// | where rank 0 is | `MASTER_ADDR`, `MASTER_PORT` | the same if they are set, else a file named after `PMIX_NAMESPACE`, on one machine |
///
/// Under torchrun a store of its own listens at `MASTER_PORT` (`TORCHELASTIC_USE_AGENT_STORE` says so): then the next port is used.
/// `WARPSMITH_NCCL_PORT` names another one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launcher {
    /// This process's number.
    pub rank: usize,
    /// How many processes there are.
    pub size: usize,
    /// Its number among those of its machine: that of its GPU.
    pub local_rank: usize,
    meeting: Meeting,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Meeting {
    Address(String),
    File(PathBuf),
}

impl Launcher {
    /// What the environment says.
    ///
    /// # Errors
    ///
    /// There are no variables of a launcher, or they make no sense.
    pub fn from_env() -> Result<Launcher> {
        Launcher::read(&environment::launcher_variable)
    }

    fn read(get: &dyn Fn(&'static str) -> Option<String>) -> Result<Launcher> {
        let number = |name: &'static str| -> Result<Option<usize>> {
            get(name)
                .map(|text| {
                    text.parse().map_err(|_| {
                        Error::Launcher(format!("{name} is `{text}`, which is no number"))
                    })
                })
                .transpose()
        };
        let of = |names: [&'static str; 3]| -> Result<Option<[usize; 3]>> {
            let [Some(rank), Some(size)] = [number(names[0])?, number(names[1])?] else {
                return Ok(None);
            };
            let local = number(names[2])?.ok_or_else(|| {
                Error::Launcher(format!("{} is set, but {} is not", names[0], names[2]))
            })?;
            if rank >= size {
                return Err(Error::Launcher(format!(
                    "{} is {rank} and {} is {size}: there is no such rank",
                    names[0], names[1]
                )));
            }
            Ok(Some([rank, size, local]))
        };
        let torchrun = of(["RANK", "WORLD_SIZE", "LOCAL_RANK"])?;
        let mpirun = of([
            "OMPI_COMM_WORLD_RANK",
            "OMPI_COMM_WORLD_SIZE",
            "OMPI_COMM_WORLD_LOCAL_RANK",
        ])?;
        let [rank, size, local_rank] = torchrun.or(mpirun).ok_or_else(|| {
            Error::Launcher(
                "this process was not started by torchrun (RANK, WORLD_SIZE, LOCAL_RANK) or mpirun (OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK): \
                 start it so, or make the communicator by `Communicator::join`"
                    .into(),
            )
        })?;
        let meeting = match (
            get("MASTER_ADDR"),
            number("MASTER_PORT")?,
            get("PMIX_NAMESPACE"),
        ) {
            (Some(address), Some(port), _) => {
                let agent = get("TORCHELASTIC_USE_AGENT_STORE")
                    .is_some_and(|value| value.eq_ignore_ascii_case("true"));
                let port = match number("WARPSMITH_NCCL_PORT")? {
                    Some(port) => port,
                    None => port.saturating_add(usize::from(agent)),
                };
                Meeting::Address(format!("{address}:{port}"))
            }
            (_, _, Some(namespace))
                if number("OMPI_COMM_WORLD_LOCAL_SIZE")?.is_none_or(|local| local == size) =>
            {
                let name: String = namespace
                    .chars()
                    .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
                    .collect();
                Meeting::File(std::env::temp_dir().join(format!("warpsmith-nccl-{name}")))
            }
            _ => {
                return Err(Error::Launcher(
                    "MASTER_ADDR and MASTER_PORT must say where rank 0 listens: mpirun takes `-x MASTER_ADDR=HOST -x MASTER_PORT=29500`"
                        .into(),
                ));
            }
        };
        Ok(Launcher {
            rank,
            size,
            local_rank,
            meeting,
        })
    }

    /// This process's GPU: that of its number on this machine, or the only one that it sees.
    ///
    /// # Errors
    ///
    /// There are fewer GPUs.
    pub fn gpu(&self) -> Result<Gpu> {
        let devices = Gpu::devices()?;
        // Launchers that give each process a GPU of its own hide the others from it.
        let hidden = devices.len() == 1 && environment::shows_one_device();
        let index = if hidden { 0 } else { self.local_rank };
        match devices.get(index) {
            Some(device) => Ok(Gpu::open(device.choice)?),
            None => Err(Error::Launcher(format!(
                "rank {} is number {} on this machine, where {} devices are seen: start fewer processes (on the simulator \
                 WARPSMITH_SIMULATOR_DEVICES makes more devices)",
                self.rank,
                self.local_rank,
                devices.len()
            ))),
        }
    }

    /// Comes together with all other processes.
    ///
    /// # Errors
    ///
    /// They cannot be reached, or as for [`Communicator::join`].
    pub fn join(&self, gpu: &Gpu, options: Options) -> Result<Communicator> {
        let id = match &self.meeting {
            Meeting::Address(address) => {
                UniqueId::by_tcp(gpu, address, self.rank, self.size, options.timeout)?
            }
            Meeting::File(path) => UniqueId::by_file(gpu, path, self.rank, options.timeout)?,
        };
        let joined = Communicator::join(gpu, &id, self.rank, self.size, options);
        if let (Meeting::File(path), 0) = (&self.meeting, self.rank) {
            // All have read it, or never will.
            let _ = std::fs::remove_file(path);
        }
        joined
    }
}

impl Communicator {
    /// This process's rank among those that torchrun or mpirun started, on its GPU ([`Launcher`]).
    ///
    /// # Errors
    ///
    /// As for [`Launcher::from_env`], [`Launcher::gpu`] and [`Launcher::join`].
    pub fn from_env() -> Result<Communicator> {
        let launcher = Launcher::from_env()?;
        launcher.join(&launcher.gpu()?, Options::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&'static str, &str)]) -> Result<Launcher> {
        Launcher::read(&|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn torchrun_is_understood() {
        let mut variables = vec![
            ("RANK", "3"),
            ("WORLD_SIZE", "8"),
            ("LOCAL_RANK", "1"),
            ("MASTER_ADDR", "host"),
            ("MASTER_PORT", "29500"),
        ];
        let launcher = read(&variables).expect("complete");
        assert_eq!(
            (launcher.rank, launcher.size, launcher.local_rank),
            (3, 8, 1)
        );
        assert_eq!(launcher.meeting, Meeting::Address("host:29500".into()));
        variables.push(("TORCHELASTIC_USE_AGENT_STORE", "True"));
        let launcher = read(&variables).expect("complete");
        assert_eq!(launcher.meeting, Meeting::Address("host:29501".into()));
        variables.push(("WARPSMITH_NCCL_PORT", "4000"));
        let launcher = read(&variables).expect("complete");
        assert_eq!(launcher.meeting, Meeting::Address("host:4000".into()));
    }

    #[test]
    fn mpirun_is_understood() {
        let launcher = read(&[
            ("OMPI_COMM_WORLD_RANK", "1"),
            ("OMPI_COMM_WORLD_SIZE", "2"),
            ("OMPI_COMM_WORLD_LOCAL_RANK", "1"),
            ("OMPI_COMM_WORLD_LOCAL_SIZE", "2"),
            ("PMIX_NAMESPACE", "prterun-host-17@1"),
        ])
        .expect("complete");
        assert_eq!(
            (launcher.rank, launcher.size, launcher.local_rank),
            (1, 2, 1)
        );
        let Meeting::File(path) = launcher.meeting else {
            panic!("{:?}", launcher.meeting);
        };
        assert!(path.ends_with("warpsmith-nccl-prterun-host-17-1"));
    }

    #[test]
    fn what_is_missing_is_named() {
        let message = |variables: &[(&'static str, &str)]| {
            read(variables).expect_err("incomplete").to_string()
        };
        assert!(message(&[]).contains("torchrun"));
        assert!(message(&[("RANK", "0"), ("WORLD_SIZE", "1")]).contains("LOCAL_RANK"));
        let all = [("RANK", "0"), ("WORLD_SIZE", "1"), ("LOCAL_RANK", "0")];
        assert!(message(&all).contains("MASTER_ADDR"));
        let all = [("RANK", "2"), ("WORLD_SIZE", "2"), ("LOCAL_RANK", "0")];
        assert!(message(&all).contains("no such rank"));
        let all = [("RANK", "two"), ("WORLD_SIZE", "2"), ("LOCAL_RANK", "0")];
        assert!(message(&all).contains("`two`"));
    }
}
