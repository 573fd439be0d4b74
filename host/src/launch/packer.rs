//! The arguments of one launch as the driver takes them, and what they lead to: memory, graphs, conditions.

use std::any::type_name;
use std::mem::MaybeUninit;
use std::sync::Arc;

use warpsmith_device::launch::element_alignment;
use warpsmith_device::panic::KERNEL_BITS;

use crate::error::{Code, Error, LimitError};
use crate::gpu::open_device::OpenDevice;
use crate::memory::Shape;
use crate::memory::size::ALIGNMENT;
use crate::memory::used::Use;
use crate::memory::view::RawView;
use crate::order::access::AccessKind;
use crate::order::launchable_graph::LaunchableGraph;

/// The most Rust parameters of a kernel.
pub(crate) const MOST_PARAMETERS: usize = 16;
/// A matrix takes four. Behind them are the two of the launch.
const MOST_FLAT: usize = 4 * MOST_PARAMETERS + 2;

/// The flat parameters of one launch, on the stack.
pub struct Packer<'a> {
    /// Where each parameter's value is.
    pointers: [MaybeUninit<*mut core::ffi::c_void>; MOST_FLAT],
    /// Values of at most 8 bytes, each at its parameter's index. They are not in the packer itself, so that the pointers to them stay
    /// valid while the packer is borrowed again.
    words: &'a mut Words,
    /// Parameters so far.
    flat_count: usize,
    uses: [MaybeUninit<Use<'a>>; MOST_PARAMETERS],
    /// Uses of memory so far.
    use_count: usize,
    graphs: [MaybeUninit<PassedGraph<'a>>; MOST_PARAMETERS],
    /// Graphs so far.
    graph_count: usize,
    /// The graphs whose conditions are passed.
    conditions: ConditionsOf,
    passed_conditions: [MaybeUninit<u64>; MOST_PARAMETERS],
    /// Conditions so far, passed as such or as numbers.
    condition_count: usize,
    /// The stream's number, which the memory's owners are compared with.
    stream_number: u64,
    /// Some memory was not used by this stream alone.
    needs_ordering: bool,
    /// A slice for an `&T` parameter has no element.
    pub(crate) empty_reference: bool,
    /// One array was passed twice, and at least once as a surface.
    pub(crate) written_array_twice: bool,
    /// Memory that does not begin where elements of its type may.
    pub(crate) misaligned: Option<Misaligned>,
}

/// Where memory begins that is passed as elements.
#[derive(Clone, Copy)]
pub(crate) struct Misaligned {
    address: u64,
    /// Bytes that it should be a multiple of.
    alignment: u64,
    /// The elements' type.
    element: &'static str,
}

/// Whose conditions a kernel is passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ConditionsOf {
    Nobody,
    /// The graph of this number.
    Graph(u64),
    Several,
}

/// Room for the values of a [`Packer`].
pub(crate) struct Words([MaybeUninit<u64>; MOST_FLAT]);

impl Words {
    #[inline]
    pub(crate) fn new() -> Words {
        Words([const { MaybeUninit::uninit() }; MOST_FLAT])
    }
}

/// A graph that the kernel may launch.
#[derive(Clone, Copy)]
pub(crate) struct PassedGraph<'a> {
    pub(crate) gpu: &'a Arc<OpenDevice>,
    pub(crate) graph: &'a LaunchableGraph,
}

impl<'a> Packer<'a> {
    #[inline]
    pub(crate) fn new(stream_number: u64, words: &'a mut Words) -> Packer<'a> {
        Packer {
            pointers: [const { MaybeUninit::uninit() }; MOST_FLAT],
            words,
            flat_count: 0,
            uses: [const { MaybeUninit::uninit() }; MOST_PARAMETERS],
            use_count: 0,
            graphs: [const { MaybeUninit::uninit() }; MOST_PARAMETERS],
            graph_count: 0,
            conditions: ConditionsOf::Nobody,
            passed_conditions: [const { MaybeUninit::uninit() }; MOST_PARAMETERS],
            condition_count: 0,
            stream_number,
            needs_ordering: false,
            empty_reference: false,
            written_array_twice: false,
            misaligned: None,
        }
    }

    /// A parameter whose value is somewhere else and outlives the launch call.
    #[inline]
    pub(super) fn by_reference<T>(&mut self, value: &'a T) {
        self.pointers[self.flat_count].write(std::ptr::from_ref(value).cast_mut().cast());
        self.flat_count += 1;
    }

    /// A parameter of at most 8 bytes whose value is the low bytes of `word` (the device is little-endian, as the host).
    #[inline]
    pub(super) fn word(&mut self, word: u64) {
        let stored = std::ptr::from_mut(self.words.0[self.flat_count].write(word));
        self.pointers[self.flat_count].write(stored.cast());
        self.flat_count += 1;
    }

    /// Notes a use of elements `T`, and gives the address to pass, at which kernels read and write as many bytes at once as its alignment says.
    #[inline]
    pub(super) fn elements<T>(&mut self, view: RawView<'a>, kind: AccessKind) -> u64 {
        let address = self.memory(view, kind);
        let alignment = element_alignment::<T>() as u64;
        // A view's address has its type's own alignment.
        if alignment > align_of::<T>() as u64 && !address.is_multiple_of(alignment) {
            self.misaligned = Some(Misaligned {
                address,
                alignment,
                element: type_name::<T>(),
            });
        }
        address
    }

    /// Notes a use, and gives the address to pass: an empty slice has one too, aligned for every type that there is memory of.
    #[inline]
    pub(super) fn memory(&mut self, view: RawView<'a>, kind: AccessKind) -> u64 {
        match view.use_for(kind) {
            Some(used) => {
                self.needs_ordering |= !used.allocation.is_owned_by(self.stream_number);
                self.uses[self.use_count].write(used);
                self.use_count += 1;
                view.address
            }
            None => ALIGNMENT as u64,
        }
    }

    #[inline]
    pub(super) fn slice<T>(&mut self, view: RawView<'a>, kind: AccessKind) {
        let address = self.elements::<T>(view, kind);
        self.word(address);
        self.word(view.len as u64);
    }

    #[inline]
    pub(super) fn matrix<T>(&mut self, view: RawView<'a>, shape: Shape, kind: AccessKind) {
        let address = self.elements::<T>(view, kind);
        self.word(address);
        self.word(shape.rows.into());
        self.word(shape.columns.into());
        self.word(shape.stride.into());
    }

    /// Notes a use of an array, of which other textures and surfaces may exist: unlike buffers, the borrow does not keep them out.
    #[inline]
    pub(super) fn array(&mut self, view: RawView<'a>, kind: AccessKind) {
        let access = view.access(kind);
        self.written_array_twice |= view.allocation.is_some_and(|allocation| {
            let others = self.uses().iter();
            others
                .filter(|other| Arc::ptr_eq(other.allocation, allocation))
                .any(|other| other.access().conflicts(&access))
        });
        self.memory(view, kind);
    }

    #[inline]
    pub(super) fn texels(&mut self, object: u64, extents: [u32; 3]) {
        self.word(object);
        for extent in extents {
            self.word(extent.into());
        }
    }

    /// A graph that the kernel may launch. Its memory is no buffer's of the launch, so it needs ordering in any case.
    pub(crate) fn graph(&mut self, gpu: &'a Arc<OpenDevice>, graph: &'a LaunchableGraph) {
        self.needs_ordering = true;
        self.graphs[self.graph_count].write(PassedGraph { gpu, graph });
        self.graph_count += 1;
        self.word(graph.handle);
    }

    /// A condition of the graph of this number. In streams it means nothing: they refuse it where they look at what needs ordering.
    pub(crate) fn condition(&mut self, graph: u64, handle: u64) {
        self.needs_ordering = true;
        self.conditions = match self.conditions {
            ConditionsOf::Nobody => ConditionsOf::Graph(graph),
            ConditionsOf::Graph(known) if known == graph => ConditionsOf::Graph(graph),
            _ => ConditionsOf::Several,
        };
        self.note_condition(handle);
        self.word(handle);
    }

    /// A condition that is passed as a number, which sets it where it is one of the kernel's own graph.
    pub(crate) fn condition_as_number(&mut self, handle: &'a u64) {
        self.note_condition(*handle);
        self.by_reference(handle);
    }

    fn note_condition(&mut self, handle: u64) {
        self.passed_conditions[self.condition_count].write(handle);
        self.condition_count += 1;
    }

    /// The conditions that the kernel is passed.
    pub(crate) fn passed_conditions(&self) -> &[u64] {
        // SAFETY: `note_condition` has written so many, one after the other.
        unsafe { self.passed_conditions[..self.condition_count].assume_init_ref() }
    }

    /// Whose conditions the kernel is passed.
    pub(crate) fn conditions(&self) -> ConditionsOf {
        self.conditions
    }

    /// Adds the parameters of the launch: where panics are told, and which launch of which kernel it is.
    #[inline]
    pub(crate) fn launch(&mut self, log: u64, launch: u64, kernel: u32) {
        self.word(log);
        self.word(launch << KERNEL_BITS | u64::from(kernel));
    }

    /// How many parameters there are so far.
    pub(crate) fn parameters(&self) -> usize {
        self.flat_count
    }

    /// Whether some memory was not used by this stream alone, so that its use has to be put in order.
    #[inline]
    pub(crate) fn needs_ordering(&self) -> bool {
        self.needs_ordering
    }

    /// The array that the driver takes: a pointer to each parameter's value. It is good until `self` is moved or used again.
    #[inline]
    pub(crate) fn pointers(&mut self) -> *mut *mut core::ffi::c_void {
        self.pointers.as_mut_ptr().cast()
    }

    #[inline]
    pub(crate) fn uses(&self) -> &[Use<'a>] {
        // SAFETY: `memory` writes each use before it counts it in `use_count`, and `MaybeUninit<T>` is laid out as `T`.
        unsafe { std::slice::from_raw_parts(self.uses.as_ptr().cast(), self.use_count) }
    }

    pub(crate) fn graphs(&self) -> &[PassedGraph<'a>] {
        // SAFETY: `graph` writes each one before it counts it in `graph_count`, and `MaybeUninit<T>` is laid out as `T`.
        unsafe { std::slice::from_raw_parts(self.graphs.as_ptr().cast(), self.graph_count) }
    }

    #[cold]
    pub(crate) fn written_array_twice_error(kernel: &str) -> Error {
        Error::misuse(
            "cuLaunchKernelEx",
            Code::INVALID_VALUE,
            format!("kernel `{kernel}` is passed one array twice, and writes it by a surface"),
            "fetches and reads need not see what the same launch writes: write another array, or launch twice",
        )
    }

    #[cold]
    pub(crate) fn misaligned_error(kernel: &str, found: Misaligned) -> Error {
        let Misaligned {
            address,
            alignment,
            element,
        } = found;
        Error::misuse(
            "cuLaunchKernelEx",
            Code::MISALIGNED_ADDRESS,
            format!(
                "kernel `{kernel}` is passed elements of type `{element}` at {address:#x}, and reads or writes {alignment} bytes of one at once"
            ),
            format!(
                "pass memory that begins at a multiple of {alignment} bytes: all buffers do, and parts of a buffer of `{element}`"
            ),
        )
    }

    #[cold]
    pub(crate) fn empty_reference_error(kernel: &str) -> Error {
        Error::Limit(Box::new(LimitError {
            call: "cuLaunchKernelEx",
            code: Code::INVALID_VALUE,
            subject: kernel.into(),
            what: "the length of memory passed for an `&T` parameter",
            value: 0,
            limit: 1,
            hint: "a reference needs an element: pass a part of the buffer that is not empty"
                .into(),
        }))
    }
}
