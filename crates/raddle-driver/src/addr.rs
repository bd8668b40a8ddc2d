//! A socket address as the kernel holds it, of any family.
//!
//! Operations pass addresses through unchanged: what a family means is the business of those
//! above. IPv4 and IPv6 convert to and from std; Unix addresses go in and out as the bytes of
//! their path, abstract names (which begin with a zero byte) included.

use std::io;
use std::mem::{MaybeUninit, offset_of};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

/// An address of 128 bytes at most, with its length.
#[derive(Clone, Copy)]
pub struct RawAddr {
    storage: libc::sockaddr_storage,
    len: libc::socklen_t,
}

const PATH: usize = offset_of!(libc::sockaddr_un, sun_path);
const PATH_MAX: usize = size_of::<libc::sockaddr_un>() - PATH;

impl RawAddr {
    /// Room for an address that the kernel is going to write: empty, of no family.
    pub fn empty() -> RawAddr {
        // SAFETY: a sockaddr_storage is plain bytes, for which zero is a value.
        let storage = unsafe { MaybeUninit::zeroed().assume_init() };
        RawAddr { storage, len: size_of::<libc::sockaddr_storage>() as libc::socklen_t }
    }

    /// The Unix address with these bytes as path: a file name, or an abstract name if the first
    /// byte is zero, or the unnamed address if there are none.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the path is too long (107 bytes for a file, 108 for an abstract name) or
    /// holds a zero byte elsewhere than at the beginning of an abstract name.
    pub fn unix(path: &[u8]) -> io::Result<RawAddr> {
        let named = path.first().is_some_and(|&first| first != 0);
        // A file name ends with a zero byte of its own; an abstract one is as long as it is.
        if path.len() + usize::from(named) > PATH_MAX {
            return Err(invalid("path of a Unix socket is too long"));
        }
        if named && path.contains(&0) {
            return Err(invalid("path of a Unix socket holds a zero byte"));
        }
        let mut addr = RawAddr::empty();
        addr.storage.ss_family = libc::AF_UNIX as libc::sa_family_t;
        // SAFETY: a sockaddr_un fits into a storage, and the path into a sockaddr_un, as was
        // checked above; the rest is zero already.
        unsafe {
            let at = (&raw mut addr.storage).cast::<u8>().add(PATH);
            std::ptr::copy_nonoverlapping(path.as_ptr(), at, path.len());
        }
        addr.len = (PATH + path.len() + usize::from(named)) as libc::socklen_t;
        Ok(addr)
    }

    /// The path of a Unix address, as [`unix`](Self::unix) takes it; `None` for other families.
    pub fn as_unix(&self) -> Option<&[u8]> {
        if self.family() != libc::AF_UNIX {
            return None;
        }
        let len = (self.len as usize).saturating_sub(PATH).min(PATH_MAX);
        // SAFETY: the storage is larger than a sockaddr_un and initialised throughout.
        let path = unsafe {
            std::slice::from_raw_parts((&raw const self.storage).cast::<u8>().add(PATH), len)
        };
        match path.first() {
            None | Some(0) => Some(path),
            // A file name ends at its zero byte, which the kernel may or may not count.
            Some(_) => path.split(|&byte| byte == 0).next(),
        }
    }

    /// The address of an internet socket; `None` for other families.
    pub fn as_inet(&self) -> Option<SocketAddr> {
        match self.family() {
            libc::AF_INET if self.len as usize >= size_of::<libc::sockaddr_in>() => {
                // SAFETY: family and length say that a sockaddr_in is there.
                let addr = unsafe { &*(&raw const self.storage).cast::<libc::sockaddr_in>() };
                let ip = Ipv4Addr::from(u32::from_be(addr.sin_addr.s_addr));
                Some(SocketAddr::V4(SocketAddrV4::new(ip, u16::from_be(addr.sin_port))))
            }
            libc::AF_INET6 if self.len as usize >= size_of::<libc::sockaddr_in6>() => {
                // SAFETY: family and length say that a sockaddr_in6 is there.
                let addr = unsafe { &*(&raw const self.storage).cast::<libc::sockaddr_in6>() };
                Some(SocketAddr::V6(SocketAddrV6::new(
                    Ipv6Addr::from(addr.sin6_addr.s6_addr),
                    u16::from_be(addr.sin6_port),
                    addr.sin6_flowinfo,
                    addr.sin6_scope_id,
                )))
            }
            _ => None,
        }
    }

    /// The address family (`AF_INET` and so on); 0 if empty.
    pub fn family(&self) -> i32 {
        if (self.len as usize) < size_of::<libc::sa_family_t>() {
            return 0;
        }
        self.storage.ss_family.into()
    }

    /// The address as calls take it.
    pub fn as_ptr(&self) -> *const libc::sockaddr {
        (&raw const self.storage).cast()
    }

    /// Its length in bytes.
    #[expect(clippy::len_without_is_empty, reason = "the length of a C structure, not of a list")]
    pub fn len(&self) -> libc::socklen_t {
        self.len
    }

    /// Where a call may write an address, and where it writes how long that is.
    pub(crate) fn parts_mut(&mut self) -> (*mut libc::sockaddr, *mut libc::socklen_t) {
        ((&raw mut self.storage).cast(), &raw mut self.len)
    }

    /// The kernel wrote `len` bytes.
    pub(crate) fn set_len(&mut self, len: libc::socklen_t) {
        self.len = len.min(size_of::<libc::sockaddr_storage>() as libc::socklen_t);
    }
}

fn invalid(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

impl From<SocketAddr> for RawAddr {
    fn from(from: SocketAddr) -> RawAddr {
        let mut addr = RawAddr::empty();
        match from {
            SocketAddr::V4(v4) => {
                // SAFETY: a sockaddr_in fits into a storage and is plain bytes.
                let raw = unsafe { &mut *(&raw mut addr.storage).cast::<libc::sockaddr_in>() };
                raw.sin_family = libc::AF_INET as libc::sa_family_t;
                raw.sin_port = v4.port().to_be();
                raw.sin_addr.s_addr = u32::from(*v4.ip()).to_be();
                addr.len = size_of::<libc::sockaddr_in>() as libc::socklen_t;
            }
            SocketAddr::V6(v6) => {
                // SAFETY: a sockaddr_in6 fits into a storage and is plain bytes.
                let raw = unsafe { &mut *(&raw mut addr.storage).cast::<libc::sockaddr_in6>() };
                raw.sin6_family = libc::AF_INET6 as libc::sa_family_t;
                raw.sin6_port = v6.port().to_be();
                raw.sin6_addr.s6_addr = v6.ip().octets();
                raw.sin6_flowinfo = v6.flowinfo();
                raw.sin6_scope_id = v6.scope_id();
                addr.len = size_of::<libc::sockaddr_in6>() as libc::socklen_t;
            }
        }
        addr
    }
}

impl std::fmt::Debug for RawAddr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(inet) = self.as_inet() {
            return write!(f, "{inet}");
        }
        match self.as_unix() {
            Some(path) => write!(f, "unix:{}", path.escape_ascii()),
            None => write!(f, "family {}", self.family()),
        }
    }
}

#[cfg(test)]
#[path = "tests/addr.rs"]
mod tests;
