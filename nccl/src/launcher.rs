//! What a launcher of processes tells each of them: torchrun, mpirun, mpiexec and srun.

use warpsmith_host::Gpu;

use crate::communicator::Communicator;
use crate::environment;
use crate::error::{Error, Result};
use crate::id::UniqueId;
use crate::meeting::{Meeting, meeting};
use crate::options::Options;

/// A process's place among those that a launcher started.
///
/// | | rank, size | rank on this machine | where rank 0 is, without `MASTER_ADDR` and `MASTER_PORT` |
/// | --- | --- | --- | --- |
/// | torchrun | `RANK`, `WORLD_SIZE` | `LOCAL_RANK` | it sets them |
/// | mpirun (Open MPI) | `OMPI_COMM_WORLD_RANK`, `OMPI_COMM_WORLD_SIZE` | `OMPI_COMM_WORLD_LOCAL_RANK` | on one machine: a file named after `PMIX_NAMESPACE` |
/// | mpiexec (MPICH, Hydra, Intel MPI) | `PMI_RANK`, `PMI_SIZE` | `MPI_LOCALRANKID` | they must be set |
/// | srun (SLURM) | `SLURM_PROCID`, `SLURM_NTASKS` | `SLURM_LOCALID` | on one machine: a file named after the job and its step; else the first host of `SLURM_STEP_NODELIST`, and a port made of the job's number and the step's |
///
/// The first of these that is there is taken, as an allocation of SLURM has its variables also under mpirun and mpiexec. Under torchrun a store of its own
/// listens at `MASTER_PORT` (`TORCHELASTIC_USE_AGENT_STORE` says so): then the next port is used. `WARPSMITH_NCCL_PORT` names another one.
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

/// Rank, size and rank on this machine, as a launcher calls them.
type Names = [&'static str; 3];

const SLURM: Names = ["SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"];

/// In the order in which they are asked.
const KINDS: [Names; 4] = [
    ["RANK", "WORLD_SIZE", "LOCAL_RANK"],
    [
        "OMPI_COMM_WORLD_RANK",
        "OMPI_COMM_WORLD_SIZE",
        "OMPI_COMM_WORLD_LOCAL_RANK",
    ],
    ["PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"],
    SLURM,
];

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
        let of = |names: Names| -> Result<Option<[usize; 3]>> {
            let [Some(rank), Some(size)] = [number(names[0])?, number(names[1])?] else {
                return Ok(None);
            };
            // srun's PMI says no rank on the machine; SLURM's variables, which come next, do.
            let is_of_slurm = names[0] == "PMI_RANK" && get(SLURM[2]).is_some();
            if is_of_slurm && get(names[2]).is_none() {
                return Ok(None);
            }
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
        for names in KINDS {
            if let Some([rank, size, local_rank]) = of(names)? {
                return Ok(Launcher {
                    rank,
                    size,
                    local_rank,
                    meeting: meeting(get, &number, names == SLURM, size)?,
                });
            }
        }
        Err(Error::Launcher(
            "this process was not started by torchrun (RANK, WORLD_SIZE, LOCAL_RANK), mpirun (OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK), mpiexec \
             (PMI_RANK, PMI_SIZE, MPI_LOCALRANKID) or srun (SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID): start it so, or make the communicator by \
             `Communicator::join`"
                .into(),
        ))
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
    /// This process's rank among those that a launcher started, on its GPU ([`Launcher`]).
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
    fn mpiexec_is_understood() {
        let mut variables = vec![
            ("PMI_RANK", "1"),
            ("PMI_SIZE", "4"),
            ("MPI_LOCALRANKID", "1"),
            // Of the allocation that mpiexec runs in.
            ("SLURM_PROCID", "0"),
            ("SLURM_NTASKS", "2"),
            ("SLURM_LOCALID", "0"),
        ];
        let message = read(&variables).expect_err("no address").to_string();
        assert!(message.contains("MASTER_ADDR"), "{message}");
        variables.extend([("MASTER_ADDR", "host"), ("MASTER_PORT", "29500")]);
        let launcher = read(&variables).expect("complete");
        assert_eq!(
            (launcher.rank, launcher.size, launcher.local_rank),
            (1, 4, 1)
        );
        assert_eq!(launcher.meeting, Meeting::Address("host:29500".into()));
        let message = read(&[("PMI_RANK", "0"), ("PMI_SIZE", "1")]).expect_err("incomplete");
        assert!(message.to_string().contains("MPI_LOCALRANKID"));
    }

    #[test]
    fn srun_is_understood() {
        let mut variables = vec![
            ("SLURM_PROCID", "5"),
            ("SLURM_NTASKS", "8"),
            ("SLURM_LOCALID", "1"),
            ("SLURM_JOB_ID", "1234"),
            ("SLURM_STEP_ID", "2"),
            // Its PMI.
            ("PMI_RANK", "5"),
            ("PMI_SIZE", "8"),
        ];
        let launcher = read(&[&variables[..], &[("SLURM_STEP_NUM_NODES", "1")]].concat());
        let launcher = launcher.expect("complete");
        assert_eq!(
            (launcher.rank, launcher.size, launcher.local_rank),
            (5, 8, 1)
        );
        let Meeting::File(path) = launcher.meeting else {
            panic!("{:?}", launcher.meeting);
        };
        assert!(path.ends_with("warpsmith-nccl-slurm-1234-2-0"), "{path:?}");
        variables.extend([
            ("SLURM_STEP_NUM_NODES", "4"),
            ("SLURM_STEP_NODELIST", "gpu[007-009,12],login"),
        ]);
        let launcher = read(&variables).expect("complete");
        assert_eq!(launcher.meeting, Meeting::Address("gpu007:21236".into()));
        variables.push(("WARPSMITH_NCCL_PORT", "4000"));
        let launcher = read(&variables).expect("complete");
        assert_eq!(launcher.meeting, Meeting::Address("gpu007:4000".into()));
        variables.extend([("MASTER_ADDR", "host"), ("MASTER_PORT", "29500")]);
        let launcher = read(&variables).expect("complete");
        assert_eq!(launcher.meeting, Meeting::Address("host:4000".into()));
    }

    #[test]
    fn a_port_that_is_none_is_named() {
        let meeting = |port: &str, others: &[(&'static str, &str)]| {
            let variables = [
                ("RANK", "0"),
                ("WORLD_SIZE", "1"),
                ("LOCAL_RANK", "0"),
                ("MASTER_ADDR", "host"),
                ("MASTER_PORT", port),
            ];
            read(&[&variables[..], others].concat()).map(|launcher| launcher.meeting)
        };
        let address = |text: &str| Meeting::Address(text.into());
        let store = ("TORCHELASTIC_USE_AGENT_STORE", "True");
        assert_eq!(
            meeting("65535", &[]).expect("a port"),
            address("host:65535")
        );
        assert_eq!(
            meeting("65534", &[store]).expect("a port"),
            address("host:65535")
        );
        let message = meeting("65535", &[store]).expect_err("no port").to_string();
        assert!(message.contains("MASTER_PORT is 65535"), "{message}");
        assert!(message.contains("WARPSMITH_NCCL_PORT"), "{message}");
        let other = [store, ("WARPSMITH_NCCL_PORT", "4000")];
        assert_eq!(
            meeting("65535", &other).expect("a port"),
            address("host:4000")
        );
        for port in ["0", "65536", "18446744073709551615"] {
            let message = meeting(port, &[]).expect_err("no port").to_string();
            assert!(
                message.contains(&format!("MASTER_PORT is {port}")),
                "{message}"
            );
            let other = [("WARPSMITH_NCCL_PORT", port)];
            let message = meeting("29500", &other).expect_err("no port").to_string();
            assert!(
                message.contains(&format!("WARPSMITH_NCCL_PORT is {port}")),
                "{message}"
            );
        }
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
