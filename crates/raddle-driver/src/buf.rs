//! Buffers that an operation owns while the kernel uses them.
//!
//! A future may be dropped at any time, the kernel's use of a buffer cannot be: so an operation
//! takes the buffer, keeps it until the kernel is done, and gives it back with the result. The two
//! traits say that the bytes do not move when the buffer value does.

use std::mem::MaybeUninit;

/// A buffer to write from.
///
/// # Safety
///
/// The pointer must stay valid for reads of [`init_len`](Self::init_len) bytes, at the same
/// address, until the value is dropped or changed through `&mut`, however often it is moved.
pub unsafe trait IoBuf: Send + Unpin + 'static {
    /// Where the bytes begin.
    fn ptr(&self) -> *const u8;

    /// How many bytes from there are initialised.
    fn init_len(&self) -> usize;
}

/// A buffer to read into.
///
/// # Safety
///
/// As for [`IoBuf`]; the pointer must stay valid for writes of [`capacity`](Self::capacity) bytes.
pub unsafe trait IoBufMut: IoBuf {
    /// Where the bytes begin.
    fn ptr_mut(&mut self) -> *mut u8;

    /// How many bytes there is room for.
    fn capacity(&self) -> usize;

    /// The first `len` bytes were written by a read that is over.
    ///
    /// A growable buffer takes this as its new length; one of fixed length ignores it.
    ///
    /// # Safety
    ///
    /// The first `len` bytes must be initialised, `len` at most the capacity.
    unsafe fn set_init(&mut self, len: usize);
}

/// The initialised bytes of a buffer.
pub(crate) fn bytes<B: IoBuf>(buf: &B) -> &[u8] {
    // SAFETY: promised by whoever implemented the trait.
    unsafe { std::slice::from_raw_parts(buf.ptr(), buf.init_len()) }
}

/// The room of a buffer.
pub(crate) fn room<B: IoBufMut>(buf: &mut B) -> &mut [MaybeUninit<u8>] {
    let len = buf.capacity();
    // SAFETY: promised by whoever implemented the trait; uninitialised bytes may be viewed so.
    unsafe { std::slice::from_raw_parts_mut(buf.ptr_mut().cast(), len) }
}

// SAFETY: the bytes lie on the heap and stay there while the vector value moves.
unsafe impl IoBuf for Vec<u8> {
    fn ptr(&self) -> *const u8 {
        self.as_ptr()
    }

    fn init_len(&self) -> usize {
        self.len()
    }
}

// SAFETY: as above; the allocation has room for its capacity.
unsafe impl IoBufMut for Vec<u8> {
    fn ptr_mut(&mut self) -> *mut u8 {
        self.as_mut_ptr()
    }

    fn capacity(&self) -> usize {
        self.capacity()
    }

    unsafe fn set_init(&mut self, len: usize) {
        // SAFETY: promised by the caller.
        unsafe { self.set_len(len) };
    }
}

// SAFETY: the bytes lie on the heap and stay there while the box value moves.
unsafe impl IoBuf for Box<[u8]> {
    fn ptr(&self) -> *const u8 {
        self.as_ref().as_ptr()
    }

    fn init_len(&self) -> usize {
        self.len()
    }
}

// SAFETY: as above.
unsafe impl IoBufMut for Box<[u8]> {
    fn ptr_mut(&mut self) -> *mut u8 {
        self.as_mut().as_mut_ptr()
    }

    fn capacity(&self) -> usize {
        self.len()
    }

    unsafe fn set_init(&mut self, _len: usize) {}
}

// SAFETY: static bytes stay where they are.
unsafe impl IoBuf for &'static [u8] {
    fn ptr(&self) -> *const u8 {
        self.as_ptr()
    }

    fn init_len(&self) -> usize {
        self.len()
    }
}

// SAFETY: static bytes stay where they are.
unsafe impl IoBuf for &'static str {
    fn ptr(&self) -> *const u8 {
        self.as_bytes().as_ptr()
    }

    fn init_len(&self) -> usize {
        self.len()
    }
}

// SAFETY: the bytes lie on the heap and stay there while the string value moves.
unsafe impl IoBuf for String {
    fn ptr(&self) -> *const u8 {
        self.as_bytes().as_ptr()
    }

    fn init_len(&self) -> usize {
        self.len()
    }
}

/// A part of a buffer, from `begin` on: for writing the rest after a short write, or reading
/// behind what is there.
#[derive(Clone, Copy, Debug)]
pub struct Tail<B> {
    buf: B,
    begin: usize,
}

impl<B: IoBuf> Tail<B> {
    /// `buf` without its first `begin` bytes.
    ///
    /// # Panics
    ///
    /// If the buffer has fewer initialised bytes.
    pub fn new(buf: B, begin: usize) -> Tail<B> {
        assert!(begin <= buf.init_len(), "the tail begins behind the initialised bytes");
        Tail { buf, begin }
    }

    /// The whole buffer.
    pub fn into_inner(self) -> B {
        self.buf
    }
}

// SAFETY: an offset within a buffer that keeps its place; `begin` is within the initialised
// bytes, whose number changes only through `set_init`, never to less than `begin`.
unsafe impl<B: IoBuf> IoBuf for Tail<B> {
    fn ptr(&self) -> *const u8 {
        self.buf.ptr().wrapping_add(self.begin)
    }

    fn init_len(&self) -> usize {
        self.buf.init_len() - self.begin
    }
}

// SAFETY: as above.
unsafe impl<B: IoBufMut> IoBufMut for Tail<B> {
    fn ptr_mut(&mut self) -> *mut u8 {
        self.buf.ptr_mut().wrapping_add(self.begin)
    }

    fn capacity(&self) -> usize {
        self.buf.capacity() - self.begin
    }

    unsafe fn set_init(&mut self, len: usize) {
        // SAFETY: the bytes before `begin` were initialised already; the caller answers for `len`
        // more.
        unsafe { self.buf.set_init(self.begin + len) };
    }
}
