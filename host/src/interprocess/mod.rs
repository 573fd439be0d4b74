//! What processes exchange: file descriptors, over Unix sockets; and handles, which are plain bytes.
//!
//! A file descriptor's number means nothing in another process. The system hands the descriptor itself over, with a message of a socket
//! between processes of one machine (`SCM_RIGHTS`).

mod handles;

use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

pub use self::handles::{EventHandle, MemoryHandle};

/// What a message carries beside the descriptor: without a byte, it would be lost.
const PAYLOAD: [u8; 1] = [b'd'];

/// Sends a file descriptor to the process at the other end, which gets one of its own by [`receive_descriptor`]. The sender may close its
/// own at once.
///
/// The message is the one byte `d` with the descriptor as `SCM_RIGHTS`: a program without this library sends and receives the same.
///
/// ```
/// use std::io::{Read, Seek, Write};
/// use std::os::unix::net::UnixStream;
/// use warpsmith_host::interprocess::{receive_descriptor, send_descriptor};
///
/// # fn main() -> std::io::Result<()> {
/// let (here, there) = UnixStream::pair()?;
/// let mut file = tempfile()?;
/// file.write_all(b"shared")?;
/// send_descriptor(&here, &file)?;
///
/// let mut same = std::fs::File::from(receive_descriptor(&there)?);
/// let mut text = String::new();
/// same.rewind()?;
/// same.read_to_string(&mut text)?;
/// assert_eq!(text, "shared");
/// # Ok(())
/// # }
/// # fn tempfile() -> std::io::Result<std::fs::File> {
/// #     let path = std::env::temp_dir().join(format!("warpsmith-descriptor-{}", std::process::id()));
/// #     let file = std::fs::File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
/// #     std::fs::remove_file(&path)?;
/// #     Ok(file)
/// # }
/// ```
///
/// # Errors
///
/// What the system says, for example that the other end is closed.
// covers: VMM-27
pub fn send_descriptor(socket: &UnixStream, descriptor: impl AsFd) -> io::Result<()> {
    let descriptors = [descriptor.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut message = SendAncillaryBuffer::new(&mut space);
    if !message.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::Error::other("no room for a descriptor in its message"));
    }
    let sent = sendmsg(
        socket,
        &[IoSlice::new(&PAYLOAD)],
        &mut message,
        SendFlags::NOSIGNAL,
    )?;
    match sent {
        0 => Err(ErrorKind::WriteZero.into()),
        _ => Ok(()),
    }
}

/// Waits for a file descriptor that the process at the other end sends by [`send_descriptor`].
///
/// # Errors
///
/// The other end is closed, or has sent something else: whatever descriptors came with it are closed. What the system says otherwise.
pub fn receive_descriptor(socket: &UnixStream) -> io::Result<OwnedFd> {
    let mut payload = [0; PAYLOAD.len()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut message = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(
        socket,
        &mut [IoSliceMut::new(&mut payload)],
        &mut message,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    let descriptors: Vec<OwnedFd> = message
        .drain()
        .filter_map(|part| match part {
            RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
            _ => None,
        })
        .flatten()
        .collect();
    if received.bytes == 0 {
        return Err(io::Error::new(
            ErrorKind::UnexpectedEof,
            "the other end of the socket is closed",
        ));
    }
    let complete = payload == PAYLOAD && !received.flags.contains(ReturnFlags::CTRUNC);
    let [descriptor] = <[OwnedFd; 1]>::try_from(descriptors).map_err(|_| not_a_descriptor())?;
    match complete {
        true => Ok(descriptor),
        false => Err(not_a_descriptor()),
    }
}

fn not_a_descriptor() -> io::Error {
    io::Error::new(
        ErrorKind::InvalidData,
        "the message is not one of `send_descriptor`, which carries one file descriptor",
    )
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn other_messages_and_closed_sockets_are_errors() {
        let (mut here, there) = UnixStream::pair().expect("a pair of sockets");
        here.write_all(b"?").expect("it is open");
        let error = receive_descriptor(&there).expect_err("there is no descriptor");
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        drop(here);
        let error = receive_descriptor(&there).expect_err("nobody sends");
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
        assert!(send_descriptor(&there, std::io::stdin()).is_err());
    }
}
