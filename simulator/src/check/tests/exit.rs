//! Blocks that exit while others access their shared memory.

use super::*;

/// Offsets of the second block's memory.
const OTHER: u32 = 4096;

impl Machine {
    /// All threads of a block exit, warp by warp: what is found.
    fn exit(&mut self, block: u32) -> Option<(ThreadAccess, u32)> {
        for warp in 0..4 {
            let last = exit_of(block, warp * 32 + 31);
            self.shared.exit(last, !0, warp == 3);
        }
        let found = self.shared.overdue(false)?;
        let Finding::Exit {
            access,
            exit,
            offset,
        } = found
        else {
            panic!("{found:?}")
        };
        assert_eq!(exit, exit_of(block, 127));
        Some((access, offset))
    }
}

#[test]
fn an_access_to_another_block_comes_before_its_exit() {
    for class in [READ, WRITE, ATOMIC, STRONG_READ] {
        let mut machine = Machine::new(2);
        assert_eq!(machine.access(0, 1, 1 << 5, class, |_| OTHER + 8), None);
        let (access, offset) = machine.exit(1).expect("nothing orders the two");
        assert_eq!((access.block, access.thread, access.class), (0, 37, class));
        assert_eq!(offset, 8);

        let mut machine = Machine::new(2);
        assert_eq!(machine.access(0, 1, 1 << 5, class, |_| OTHER + 8), None);
        machine.cluster_barrier(true);
        assert_eq!(machine.exit(1), None);
        // In the block of the one that made it, and in its own memory, nothing is lost.
        assert_eq!(machine.access(0, 1, 1, class, |_| 8), None);
        assert_eq!(machine.exit(0), None);
    }
}

#[test]
fn an_access_behind_the_last_barrier_is_found_beside_others_before_it() {
    let mut machine = Machine::new(2);
    for offset in [0, 4, 8] {
        assert_eq!(machine.access(0, 0, 1, READ, |_| OTHER + offset), None);
    }
    machine.cluster_barrier(true);
    assert_eq!(machine.access(0, 2, 1, READ, |_| OTHER + 4), None);
    let (access, offset) = machine.exit(1).expect("one is not ordered");
    assert_eq!((access.thread, offset), (64, 4));
}

/// The block exits with its last thread, so it is enough that one of them has seen the access.
#[test]
fn one_thread_of_the_block_is_enough() {
    let of_cluster = |order| AccessClass {
        scope: Scope::Cluster,
        ..class(AccessKind::Atomic, order)
    };
    let (release, acquire) = (of_cluster(Order::Release), of_cluster(Order::Acquire));
    for is_acquired in [false, true] {
        let mut machine = Machine::new(2);
        assert_eq!(machine.access(0, 0, 1, READ, |_| OTHER + 64), None);
        assert_eq!(machine.access(0, 0, 1, release, |_| OTHER + 128), None);
        if is_acquired {
            assert_eq!(machine.access(1, 2, 1, acquire, |_| OTHER + 128), None);
        }
        assert_eq!(machine.exit(1).is_none(), is_acquired);
    }
}

#[test]
fn a_block_without_a_cluster_exits_as_it_likes() {
    let mut machine = Machine::new(1);
    assert_eq!(machine.all(WRITE, |thread| thread * 4), None);
    assert_eq!(machine.exit(0), None);
}
