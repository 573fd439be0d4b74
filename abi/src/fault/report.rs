//! A fault in words. Programs and tests read these lines, so their wording stays.

use std::fmt;

use super::{
    Fault, FaultAccess, FaultOrigin, Frame, InlinedCall, NearestAllocation, Note, OtherSide,
    PieceOfWork, WaitingThreads,
};

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(origin) = &self.origin {
            write!(f, "{}", Place(origin))?;
        }
        if let Some(access) = &self.access
            && let Some(nearest) = &access.nearest
        {
            write!(f, "\n    {}", Distance(access, nearest))?;
        }
        if let Some(other) = &self.other {
            let here = self.origin.as_ref().map(|origin| origin.block);
            write!(f, "\n    {}", Conflict(other, here))?;
        }
        for other in self.work.iter().skip(1) {
            let PieceOfWork { what, place, does } = other;
            write!(f, "\n    {what} in {place} {does} it, too")?;
        }
        for waiting in &self.waiting {
            write!(f, "\n    {}", Waiting(waiting))?;
        }
        for note in &self.notes {
            write!(f, "\n    {note}")?;
        }
        let callers = self
            .origin
            .iter()
            .flat_map(|origin| origin.frames.iter().skip(origin.users_frame() + 1));
        for frame in callers {
            let function = rustc_demangle::demangle(&frame.function);
            write!(f, "\n    called from {function:#}")?;
            if let Some(location) = frame.user_location() {
                write!(f, " at {location}{}", Inlining(frame, "\n        "))?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "note: {}{}", self.message, Place(&self.origin))?;
        for line in &self.lines {
            write!(f, "\n    {line}")?;
        }
        Ok(())
    }
}

/// The lines of a thread and of the place in the source that it had reached.
struct Place<'a>(&'a FaultOrigin);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place(origin) = self;
        let thread = Thread(origin.block, origin.thread);
        write!(f, "\n    in kernel {}, {thread}", origin.kernel)?;
        let users = origin.users_frame();
        if let Some(frame) = origin.frames.get(users)
            && let Some(location) = frame.user_location()
        {
            write!(f, "\n    at {location}{}", Inlining(frame, "\n    "))?;
        }
        for frame in origin.frames[..users.min(origin.frames.len())].iter().rev() {
            let function = rustc_demangle::demangle(&frame.function);
            write!(f, "\n    which calls {function:#}")?;
            if let Some(location) = frame.user_location() {
                write!(f, ", at {location}")?;
            }
        }
        Ok(())
    }
}

/// Block and thread index.
struct Thread([u32; 3], [u32; 3]);

impl fmt::Display for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Thread([bx, by, bz], [tx, ty, tz]) = self;
        write!(f, "block ({bx},{by},{bz}), thread ({tx},{ty},{tz})")
    }
}

/// The functions that were inlined around the user's location, each with its call, and the innermost one of a library. Each begins
/// with the text that is given.
struct Inlining<'a>(&'a Frame, &'static str);

impl fmt::Display for Inlining<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inlining(frame, start) = self;
        let depth = frame.library_depth();
        if let (Some(called), Some(location)) =
            (frame.inlined[..depth].first(), frame.location.as_ref())
        {
            let function = called.function.as_deref().unwrap_or("a function");
            write!(f, "{start}which runs {function}, at {location}")?;
        }
        for InlinedCall { function, call } in &frame.inlined[depth..] {
            match function.as_deref() {
                Some(function) if !function.is_empty() => {
                    write!(f, "{start}in {function}, inlined at {call}")?;
                }
                _ => write!(f, "{start}inlined at {call}")?,
            }
        }
        Ok(())
    }
}

/// Where an address lies beside an allocation.
struct Distance<'a>(&'a FaultAccess, &'a NearestAllocation);

impl fmt::Display for Distance<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Distance(FaultAccess { address, .. }, near) = self;
        let end = near.base.saturating_add(near.size);
        let (distance, side) = if *address < near.base {
            (near.base - address, "before")
        } else if *address < end {
            (address - near.base, "inside")
        } else {
            (address - end, "after the end of")
        };
        let freed = if near.freed { "freed " } else { "" };
        write!(
            f,
            "the address is {distance} bytes {side} the {freed}{} at {:#x} of {} bytes",
            near.what, near.base, near.size
        )
    }
}

/// The other side of a race; its block is named only where it is not the block that the report is about.
struct Conflict<'a>(&'a OtherSide, Option<[u32; 3]>);

impl fmt::Display for Conflict<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Conflict(other, here) = self;
        write!(f, "it conflicts with the {} by ", other.what)?;
        if *here == Some(other.block) {
            let [x, y, z] = other.thread;
            write!(f, "thread ({x},{y},{z})")?;
        } else {
            write!(f, "{}", Thread(other.block, other.thread))?;
        }
        if let Some(frame) = other.frames.first()
            && let Some(location) = frame.user_location()
        {
            write!(f, ", at {location}{}", Inlining(frame, "\n        "))?;
        }
        Ok(())
    }
}

/// Threads that wait.
struct Waiting<'a>(&'a WaitingThreads);

impl fmt::Display for Waiting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Waiting(WaitingThreads {
            what,
            location,
            count,
            block: [bx, by, bz],
            thread: [tx, ty, tz],
        }) = self;
        match count {
            1 => write!(f, "1 thread waits for {what}")?,
            _ => write!(f, "{count} threads wait for {what}")?,
        }
        if let Some(location) = location {
            write!(f, " at {location}")?;
        }
        let first = if *count == 1 { ":" } else { ", the first:" };
        write!(f, "{first} block ({bx},{by},{bz}) thread ({tx},{ty},{tz})")
    }
}
