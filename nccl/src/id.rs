//! The id by which ranks come together, and how it reaches them: by a file or by TCP.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::path::Path;
use std::time::{Duration, Instant};

use warpsmith_host::Gpu;
use warpsmith_nccl_abi::{NCCL_UNIQUE_ID_BYTES, ncclUniqueId};

use crate::call::{after, check};
use crate::error::{Error, Result};
use crate::library::loaded;

/// What says which ranks come together: plain bytes, which one rank makes and the others get from it in any way. Each communicator needs a
/// new one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct UniqueId {
    bytes: [u8; NCCL_UNIQUE_ID_BYTES],
}

/// What a rank says first, with its number behind it.
const GREETING: &[u8; 16] = b"warpsmith-nccl\0\x01";
/// Between looks at what is not there yet.
const PAUSE: Duration = Duration::from_millis(10);

impl UniqueId {
    /// A new one, for communicators of the driver of `gpu`.
    ///
    /// # Errors
    ///
    /// NCCL cannot be loaded, or finds no network interface to listen on.
    pub fn new(gpu: &Gpu) -> Result<UniqueId> {
        gpu.make_current()?;
        let mut id = ncclUniqueId {
            internal: [0; NCCL_UNIQUE_ID_BYTES],
        };
        // SAFETY: NCCL writes to `id`, which outlives the call.
        let code = unsafe { (loaded()?.functions.ncclGetUniqueId)(&mut id) };
        check("ncclGetUniqueId", code, None)?;
        Ok(UniqueId {
            bytes: id.internal.map(|byte| byte as u8),
        })
    }

    pub(crate) fn raw(&self) -> ncclUniqueId {
        ncclUniqueId {
            internal: self.bytes.map(|byte| byte as _),
        }
    }

    /// The bytes, for another rank.
    pub fn to_bytes(self) -> [u8; 128] {
        self.bytes
    }

    /// From another rank's bytes. Bytes that are no id are refused by [`Communicator::join`](crate::Communicator::join).
    pub fn from_bytes(bytes: [u8; 128]) -> UniqueId {
        UniqueId { bytes }
    }

    /// Rank 0 makes an id and writes it to this file, the others wait for the file and read it. No file may be there from an earlier run:
    /// rank 0 refuses it. Whoever knows that all ranks have come together removes the file.
    ///
    /// # Errors
    ///
    /// What the system says; for the other ranks that there is no file after `timeout`.
    pub fn by_file(gpu: &Gpu, path: &Path, rank: usize, timeout: Duration) -> Result<UniqueId> {
        let failed = |reason: String| Error::meeting(path.display(), reason);
        if rank == 0 {
            let id = UniqueId::new(gpu)?;
            // Under another name first: who finds the file finds all of it.
            let mut unfinished = path.as_os_str().to_owned();
            unfinished.push(format!(".{}", std::process::id()));
            let linked =
                fs::write(&unfinished, id.bytes).and_then(|()| fs::hard_link(&unfinished, path));
            let _ = fs::remove_file(&unfinished);
            linked.map_err(|error| match error.kind() {
                ErrorKind::AlreadyExists => failed(
                    "the file is there already: remove it, or use another one for each run".into(),
                ),
                _ => failed(error.to_string()),
            })?;
            return Ok(id);
        }
        let end = after(timeout);
        loop {
            match fs::read(path) {
                Ok(bytes) => {
                    let bytes = bytes
                        .try_into()
                        .map_err(|_| failed("the file holds no id".into()))?;
                    return Ok(UniqueId { bytes });
                }
                Err(error) if error.kind() == ErrorKind::NotFound && Instant::now() < end => {
                    std::thread::sleep(PAUSE);
                }
                Err(error) => return Err(failed(format!("waited {timeout:?}: {error}"))),
            }
        }
    }

    /// Rank 0 makes an id, listens at `address` and hands it to all others, which connect to it. Whoever can reach the address gets the id.
    ///
    /// # Errors
    ///
    /// What the system says; that not all ranks have come, or rank 0 has not, after `timeout`.
    pub fn by_tcp(
        gpu: &Gpu,
        address: impl ToSocketAddrs + std::fmt::Display,
        rank: usize,
        size: usize,
        timeout: Duration,
    ) -> Result<UniqueId> {
        let way = address.to_string();
        let end = after(timeout);
        if rank == 0 {
            let id = UniqueId::new(gpu)?;
            hand_out(&id, &address, size, end).map_err(|reason| Error::meeting(&way, reason))?;
            return Ok(id);
        }
        loop {
            match fetch(&address, rank, end) {
                Ok(bytes) => return Ok(UniqueId { bytes }),
                // An address that is none stays so.
                Err(error) if error.kind() == ErrorKind::InvalidInput => {
                    return Err(Error::meeting(&way, error));
                }
                Err(_) if Instant::now() < end => std::thread::sleep(PAUSE),
                Err(error) => {
                    return Err(Error::meeting(&way, format!("waited {timeout:?}: {error}")));
                }
            }
        }
    }
}

impl std::fmt::Debug for UniqueId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UniqueId").finish_non_exhaustive()
    }
}

fn rest(end: Instant) -> Duration {
    // The system takes no timeout of zero.
    end.saturating_duration_since(Instant::now())
        .max(Duration::from_millis(1))
}

fn hand_out(
    id: &UniqueId,
    address: &impl ToSocketAddrs,
    size: usize,
    end: Instant,
) -> std::result::Result<(), String> {
    let listener = TcpListener::bind(address).map_err(|error| error.to_string())?;
    listener
        .set_nonblocking(true)
        .map_err(|error| error.to_string())?;
    let mut missing: Vec<u64> = (1..size as u64).collect();
    while !missing.is_empty() {
        match listener.accept() {
            Ok((stream, _)) => {
                if let Ok(rank) = greet(stream, id, end) {
                    missing.retain(|known| *known != rank);
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock && Instant::now() < end => {
                std::thread::sleep(PAUSE);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                return Err(format!("ranks {missing:?} have not come"));
            }
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(())
}

/// Hands the id to a rank, and says which.
fn greet(mut stream: TcpStream, id: &UniqueId, end: Instant) -> std::io::Result<u64> {
    // Something else may have connected that says nothing: it must not take all the time.
    let limit = rest(end).min(Duration::from_secs(2));
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(limit))?;
    stream.set_write_timeout(Some(limit))?;
    let mut greeting = [0; GREETING.len() + 8];
    stream.read_exact(&mut greeting)?;
    let (text, rank) = greeting.split_at(GREETING.len());
    if text != GREETING {
        return Err(ErrorKind::InvalidData.into());
    }
    stream.write_all(&id.bytes)?;
    let mut number = [0; 8];
    number.copy_from_slice(rank);
    Ok(u64::from_be_bytes(number))
}

/// Connects to the first of the addresses that answers before `end`.
fn connect(address: &impl ToSocketAddrs, end: Instant) -> std::io::Result<TcpStream> {
    let mut last = ErrorKind::AddrNotAvailable.into();
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, rest(end)) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn fetch(
    address: &impl ToSocketAddrs,
    rank: usize,
    end: Instant,
) -> std::io::Result<[u8; NCCL_UNIQUE_ID_BYTES]> {
    let mut stream = connect(address, end)?;
    stream.set_read_timeout(Some(rest(end)))?;
    stream.set_write_timeout(Some(rest(end)))?;
    stream.write_all(GREETING)?;
    stream.write_all(&(rank as u64).to_be_bytes())?;
    let mut bytes = [0; NCCL_UNIQUE_ID_BYTES];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}
