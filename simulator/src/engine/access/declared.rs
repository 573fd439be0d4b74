//! The effect that an instruction declares, in the third word of its address operand.

use warpsmith_isa::effect::{
    AccessKind, Completion, Effect, ObjectUse, Order, Proxy, Scope, Space,
};

use crate::engine::exec::operand::Address;
use crate::engine::exec::warp::EXTENTS;

/// What an access does, packed into a word:
///
/// | bits | what |
/// | --- | --- |
/// | 0 | the base register has 64 bits ([`Address::WIDE`]) |
/// | 1 to 3 | strong, acquires, releases |
/// | 4 to 6 | the state space |
/// | 7 to 8 | the kind of access |
/// | 9 to 10 | the scope |
/// | 11 to 13 | the proxy |
/// | 14 to 16 | when it is done |
/// | 17 to 20 | which remembered extents of global and shared memory the instruction uses |
/// | 21 to 22 | what it takes the bytes for |
/// | 23 | its operation says when, and for which lanes, it synchronises |
/// | 24 | uninitialised values that it moves are followed |
/// | 25 | by the operation itself |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Declared(u32);

const STRONG: u32 = 1 << 1;
const ACQUIRES: u32 = 1 << 2;
const RELEASES: u32 = 1 << 3;
const SPACE_SHIFT: u32 = 4;
const KIND_SHIFT: u32 = 7;
const SCOPE_SHIFT: u32 = 9;
const PROXY_SHIFT: u32 = 11;
const COMPLETION_SHIFT: u32 = 14;
const EXTENT_SHIFT: u32 = 17;
const OBJECT_SHIFT: u32 = 21;
const BY_OPERATION: u32 = 1 << 23;
const FOLLOWED: u32 = 1 << 24;
const FOLLOWED_BY_OPERATION: u32 = 1 << 25;

const SPACES: [Space; 8] = [
    Space::Generic,
    Space::Global,
    Space::Const,
    Space::Shared,
    Space::SharedCluster,
    Space::Local,
    Space::Parameter,
    Space::Generic,
];
/// The index of [`AccessKind::Write`] in the table that follows.
const STORE: u32 = 1;
const KINDS: [AccessKind; 4] = [
    AccessKind::Read,
    AccessKind::Write,
    AccessKind::Atomic,
    AccessKind::Read,
];
const SCOPES: [Scope; 4] = [Scope::Block, Scope::Cluster, Scope::Device, Scope::System];
const PROXIES: [Proxy; 8] = [
    Proxy::Generic,
    Proxy::Async,
    Proxy::NonCoherent,
    Proxy::TensorMap,
    Proxy::Multimem,
    Proxy::Generic,
    Proxy::Generic,
    Proxy::Generic,
];
const COMPLETIONS: [Completion; 8] = [
    Completion::Synchronous,
    Completion::AsyncGroup,
    Completion::BulkGroup,
    Completion::Mbarrier,
    Completion::WgmmaGroup,
    Completion::Synchronous,
    Completion::Synchronous,
    Completion::Synchronous,
];

const OBJECTS: [ObjectUse; 4] = [
    ObjectUse::Data,
    ObjectUse::Mbarrier,
    ObjectUse::MbarrierInit,
    ObjectUse::MbarrierInval,
];

/// The spaces, by how their bytes are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Region {
    Generic,
    Global,
    Shared,
    Other,
}

/// The index of a value in its table.
fn index<T: PartialEq>(table: &[T], value: T) -> u32 {
    table
        .iter()
        .position(|entry| *entry == value)
        .expect("the table has every value") as u32
}

impl Declared {
    /// The word for an effect. `wide`: the base register has 64 bits; `extent`: instructions that give the same number share a
    /// remembered extent.
    pub fn new(effect: Effect, wide: bool, extent: usize) -> Declared {
        let flag = |set: bool, bit: u32| if set { bit } else { 0 };
        Declared(
            flag(wide, Address::WIDE)
                | flag(
                    effect.order.is_strong() || effect.kind == AccessKind::Atomic,
                    STRONG,
                )
                | flag(effect.order.acquires(), ACQUIRES)
                | flag(effect.order.releases(), RELEASES)
                | index(&SPACES, effect.space) << SPACE_SHIFT
                | index(&KINDS, effect.kind) << KIND_SHIFT
                | index(&SCOPES, effect.scope) << SCOPE_SHIFT
                | index(&PROXIES, effect.proxy) << PROXY_SHIFT
                | index(&COMPLETIONS, effect.completion) << COMPLETION_SHIFT
                | index(&OBJECTS, effect.object) << OBJECT_SHIFT
                | ((extent % EXTENTS) as u32) << EXTENT_SHIFT,
        )
    }

    /// What is declared in an address operand.
    #[inline(always)]
    pub fn of(address: Address) -> Declared {
        Declared(address.access)
    }

    /// What a word declares.
    pub fn from_word(word: u32) -> Declared {
        Declared(word)
    }

    /// The word.
    pub fn word(self) -> u32 {
        self.0
    }

    #[inline(always)]
    pub fn space(self) -> Space {
        SPACES[(self.0 >> SPACE_SHIFT & 7) as usize]
    }

    #[inline(always)]
    pub fn kind(self) -> AccessKind {
        KINDS[(self.0 >> KIND_SHIFT & 3) as usize]
    }

    /// Whether it may meet other strong accesses.
    #[inline(always)]
    pub fn is_strong(self) -> bool {
        self.0 & STRONG != 0
    }

    #[inline(always)]
    pub fn acquires(self) -> bool {
        self.0 & ACQUIRES != 0
    }

    #[inline(always)]
    pub fn releases(self) -> bool {
        self.0 & RELEASES != 0
    }

    pub fn order(self) -> Order {
        match (self.is_strong(), self.acquires(), self.releases()) {
            (false, ..) => Order::Weak,
            (true, false, false) => Order::Relaxed,
            (true, true, false) => Order::Acquire,
            (true, false, true) => Order::Release,
            (true, true, true) => Order::AcquireRelease,
        }
    }

    pub fn scope(self) -> Scope {
        SCOPES[(self.0 >> SCOPE_SHIFT & 3) as usize]
    }

    pub fn proxy(self) -> Proxy {
        PROXIES[(self.0 >> PROXY_SHIFT & 7) as usize]
    }

    /// What it takes the bytes for.
    pub fn object(self) -> ObjectUse {
        OBJECTS[(self.0 >> OBJECT_SHIFT & 3) as usize]
    }

    /// Whether it is done with the instruction.
    #[inline(always)]
    pub fn is_synchronous(self) -> bool {
        self.0 >> COMPLETION_SHIFT & 7 == 0
    }

    /// The same access, of which the operation says when, and for which lanes, it synchronises: once it knows what it has found, or once
    /// what it releases is done.
    pub fn synchronised_by_operation(self) -> Declared {
        Declared(self.0 | BY_OPERATION)
    }

    /// Whether the operation says that.
    pub fn is_synchronised_by_operation(self) -> bool {
        self.0 & BY_OPERATION != 0
    }

    /// The same access, by an operation whose dataflow is [`Memory`](crate::engine::dataflow::Dataflow::Memory).
    pub fn followed(self) -> Declared {
        Declared(self.0 | FOLLOWED)
    }

    /// The same access, by an operation whose dataflow is [`Fragment`](crate::engine::dataflow::Dataflow::Fragment): it
    /// follows what it moves by itself ([`followed`](super::followed)).
    pub fn followed_by_operation(self) -> Declared {
        Declared(self.0 | FOLLOWED | FOLLOWED_BY_OPERATION)
    }

    /// Whether the operation follows by itself what it moves.
    pub fn is_followed_by_operation(self) -> bool {
        self.0 & FOLLOWED_BY_OPERATION != 0
    }

    /// Whether uninitialised values that it moves are followed.
    #[inline(always)]
    pub fn is_followed(self) -> bool {
        self.0 & FOLLOWED != 0
    }

    /// Whether it is the writing side of a copy that its thread waits for (`cp.async`).
    pub fn is_copy_to_shared(self) -> bool {
        COMPLETIONS[(self.0 >> COMPLETION_SHIFT & 7) as usize] == Completion::AsyncGroup
            && self.is_store()
    }

    /// The same access, at the time it completes.
    pub fn completed(self) -> Declared {
        Declared(self.0 & !(7 << COMPLETION_SHIFT))
    }

    /// Which remembered extent it uses.
    #[inline(always)]
    pub fn extent(self) -> usize {
        (self.0 >> EXTENT_SHIFT) as usize % EXTENTS
    }

    /// Whether its bytes are written.
    #[inline(always)]
    pub fn writes(self) -> bool {
        self.0 >> KIND_SHIFT & 3 != 0
    }

    /// Whether its bytes are written and not read.
    #[inline(always)]
    pub fn is_store(self) -> bool {
        self.0 >> KIND_SHIFT & 3 == STORE
    }

    /// How its bytes are found.
    #[inline(always)]
    pub fn region(self) -> Region {
        match self.0 >> SPACE_SHIFT & 7 {
            0 | 7 => Region::Generic,
            1 | 2 => Region::Global,
            3 | 4 => Region::Shared,
            _ => Region::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_effect_comes_back_from_its_word() {
        for space in [
            Space::Generic,
            Space::Global,
            Space::Const,
            Space::Shared,
            Space::SharedCluster,
            Space::Local,
            Space::Parameter,
        ] {
            for kind in [AccessKind::Read, AccessKind::Write, AccessKind::Atomic] {
                for order in [
                    Order::Relaxed,
                    Order::Acquire,
                    Order::Release,
                    Order::AcquireRelease,
                ] {
                    for scope in SCOPES {
                        for proxy in [Proxy::Generic, Proxy::Async, Proxy::Multimem] {
                            let effect = Effect {
                                order,
                                scope,
                                proxy,
                                ..Effect::plain(space, kind)
                            };
                            let word = Declared::new(effect, true, 21);
                            assert_eq!(
                                (word.space(), word.kind(), word.order(), word.scope()),
                                (space, kind, order, scope)
                            );
                            assert_eq!(word.proxy(), proxy);
                            assert_eq!(word.writes(), kind != AccessKind::Read);
                            assert_eq!(word.is_store(), kind == AccessKind::Write);
                            let region = match space {
                                Space::Generic => Region::Generic,
                                Space::Global | Space::Const => Region::Global,
                                Space::Shared | Space::SharedCluster => Region::Shared,
                                Space::Local | Space::Parameter => Region::Other,
                            };
                            assert_eq!(word.region(), region);
                            assert_eq!(word.extent(), 21 % EXTENTS);
                            assert!(word.is_synchronous());
                        }
                    }
                }
            }
        }
        for object in OBJECTS {
            let effect = Effect {
                object,
                ..Effect::plain(Space::Shared, AccessKind::Write)
            };
            let word = Declared::new(effect, false, 15);
            assert_eq!((word.object(), word.extent()), (object, 15 % EXTENTS));
        }
        let copy = Effect {
            completion: Completion::AsyncGroup,
            ..Effect::plain(Space::Shared, AccessKind::Write)
        };
        let word = Declared::new(copy, false, 0);
        assert!(!word.is_synchronous() && !word.is_strong());
        assert_eq!(word.order(), Order::Weak);
    }
}
