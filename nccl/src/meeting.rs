//! Where the processes that a launcher started come together.

use std::path::PathBuf;

use crate::error::{Error, Result};

/// Where rank 0 hands its id out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Meeting {
    Address(String),
    File(PathBuf),
}

/// What says the text of a variable.
type Get<'g> = &'g dyn Fn(&'static str) -> Option<String>;
/// What says the number of a variable, or that it is none.
type Number<'n> = &'n dyn Fn(&'static str) -> Result<Option<usize>>;

/// Where processes of these variables come together.
///
/// # Errors
///
/// Nothing says where.
pub(crate) fn meeting(
    get: Get<'_>,
    number: Number<'_>,
    is_slurm: bool,
    size: usize,
) -> Result<Meeting> {
    let port = |name| number(name)?.map(|value| port(name, value)).transpose();
    let other_port = port("WARPSMITH_NCCL_PORT")?;
    if let (Some(address), Some(master)) = (get("MASTER_ADDR"), port("MASTER_PORT")?) {
        let has_store = get("TORCHELASTIC_USE_AGENT_STORE")
            .is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let port = match other_port {
            Some(port) => port,
            None if has_store => behind_store(master)?,
            None => master,
        };
        return Ok(Meeting::Address(format!("{address}:{port}")));
    }
    if is_slurm && let Some(meeting) = of_slurm(get, number, other_port)? {
        return Ok(meeting);
    }
    match get("PMIX_NAMESPACE") {
        Some(namespace)
            if number("OMPI_COMM_WORLD_LOCAL_SIZE")?.is_none_or(|local| local == size) =>
        {
            Ok(Meeting::File(file(&namespace)))
        }
        _ => Err(Error::Launcher(
            "MASTER_ADDR and MASTER_PORT must say where rank 0 listens: mpirun takes `-x MASTER_ADDR=HOST -x MASTER_PORT=29500`, mpiexec \
             `-genv MASTER_ADDR HOST -genv MASTER_PORT 29500`, and srun hands its own on"
                .into(),
        )),
    }
}

/// The port that a variable says.
///
/// # Errors
///
/// TCP has no such port.
fn port(name: &str, value: usize) -> Result<u16> {
    match u16::try_from(value) {
        Ok(port) if port != 0 => Ok(port),
        _ => Err(Error::Launcher(format!(
            "{name} is {value}: ports are numbers from 1 to {}",
            u16::MAX
        ))),
    }
}

/// The port behind the one at which torchrun's store listens.
///
/// # Errors
///
/// There is none.
fn behind_store(master: u16) -> Result<u16> {
    master.checked_add(1).ok_or_else(|| {
        Error::Launcher(format!(
            "MASTER_PORT is {master}, where torchrun's store listens, and there is no port behind it: choose a smaller one \
             (torchrun's `--master-port`), or name a free one by WARPSMITH_NCCL_PORT"
        ))
    })
}

/// On this machine, of a name that no other job has.
fn file(name: &str) -> PathBuf {
    let name: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    std::env::temp_dir().join(format!("warpsmith-nccl-{name}"))
}

/// What SLURM says of a step of a job.
fn of_slurm(get: Get<'_>, number: Number<'_>, other_port: Option<u16>) -> Result<Option<Meeting>> {
    let (Some(job), Some(step)) = (number("SLURM_JOB_ID")?, number("SLURM_STEP_ID")?) else {
        return Ok(None);
    };
    if number("SLURM_STEP_NUM_NODES")? == Some(1) {
        let start = number("SLURM_RESTART_COUNT")?.unwrap_or(0);
        return Ok(Some(Meeting::File(file(&format!(
            "slurm-{job}-{step}-{start}"
        )))));
    }
    /// Ports for programs, below those that systems hand out themselves.
    const PORTS: std::ops::Range<usize> = 20000..32000;
    let host = get("SLURM_STEP_NODELIST").and_then(|list| first_host(&list));
    let port = match other_port {
        Some(port) => port.into(),
        None => PORTS.start + job.wrapping_add(step) % PORTS.len(),
    };
    Ok(host.map(|host| Meeting::Address(format!("{host}:{port}"))))
}

/// The first of a list of hosts as SLURM writes it: `gpu[007-009,12],login` begins with `gpu007`.
fn first_host(list: &str) -> Option<String> {
    let end = list.find([',', '[']).unwrap_or(list.len());
    let (name, rest) = list.split_at(end);
    let number = match rest.strip_prefix('[') {
        None => "",
        Some(ranges) => ranges.split(['-', ',', ']']).next()?,
    };
    // More may stand behind the brackets, up to the next comma.
    let behind = match rest.split_once(']') {
        Some((_, behind)) if rest.starts_with('[') => behind.split(',').next()?,
        _ => "",
    };
    let host = format!("{name}{number}{behind}");
    (!host.is_empty() && !host.contains('[')).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_host_of_a_list_is_found() {
        for (list, host) in [
            ("login", Some("login")),
            ("a,b", Some("a")),
            ("gpu[007-009,12],login", Some("gpu007")),
            ("n[3]", Some("n3")),
            ("n[3,5]-ib,m", Some("n3-ib")),
            ("rack[1-2]n[1-4]", None),
            ("", None),
        ] {
            assert_eq!(first_host(list).as_deref(), host, "{list}");
        }
    }
}
