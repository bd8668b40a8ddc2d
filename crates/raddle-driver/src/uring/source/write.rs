//! Writing: small writes go with the ring's next entry, others by a direct call.

use super::UringSource;
use crate::current;
use crate::interest::Direction;
use crate::remote::Inner;
use crate::shell::{self, Attempt, Shell};
use crate::sys::socket;
use crate::uring::Ring;
use crate::uring::outgoing::{After, SMALL};
use crate::uring::word::Bits;
use crate::watcher::{Role, Watcher};
use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::sync::Arc;

impl UringSource {
    /// Writes what can be taken of `from`.
    #[inline]
    pub(crate) fn attempt_write(self: &Arc<Self>, from: &[IoSlice<'_>]) -> Attempt<usize> {
        let direct = |shell: &Shell| match from {
            [only] => shell.write(only),
            several => shell.write_vectored(several),
        };
        if !self.is_stream() {
            return self.attempt(Direction::Write, direct);
        }
        let len: usize = from.iter().map(|slice| slice.len()).sum();
        if len == 0 {
            return Attempt::Done(Ok(0));
        }
        let seen = self.word.load();
        if seen.any(Bits::GONE.with(Bits::SENDING).with(Bits::FAILED))
            && let Some(attempt) = self.attempt_behind(seen, from)
        {
            return attempt;
        }
        if len <= SMALL
            && !seen.any(Bits::WRITE)
            && let Some(attempt) = self.begin_sending(from, len)
        {
            return attempt;
        }
        self.attempt(Direction::Write, direct)
    }

    /// A write to a source that is closed, has failed, or is sending. `None` if it is not any more.
    fn attempt_behind(&self, seen: Bits, from: &[IoSlice<'_>]) -> Option<Attempt<usize>> {
        if seen.any(Bits::GONE) {
            return Some(Attempt::Done(Err(shell::closed())));
        }
        let mut outgoing = self.outgoing.lock();
        if outgoing.is_busy() {
            if outgoing.after != After::Nothing {
                return Some(Attempt::Done(Err(io::ErrorKind::BrokenPipe.into())));
            }
            return Some(match outgoing.append(from) {
                0 => Attempt::Blocked,
                count => Attempt::Done(Ok(count)),
            });
        }
        self.word.clear(Bits::FAILED);
        let error = outgoing.take_error()?;
        Some(Attempt::Done(Err(io::Error::from_raw_os_error(error))))
    }

    /// Prepares a request that sends a copy of `from`. `None` where a direct call is better: this
    /// thread owns no ring, or the turn is too quiet for company.
    #[inline]
    fn begin_sending(self: &Arc<Self>, from: &[IoSlice<'_>], len: usize) -> Option<Attempt<usize>> {
        let begun = current::with(|remote| match &remote.inner {
            Inner::Uring(ring) if ring.groups_writes() => self.send_on(ring, from),
            _ => false,
        });
        begun.unwrap_or(false).then_some(Attempt::Done(Ok(len)))
    }

    fn send_on(self: &Arc<Self>, ring: &Arc<Ring>, from: &[IoSlice<'_>]) -> bool {
        let mut outgoing = self.outgoing.lock();
        if outgoing.is_busy() || outgoing.after != After::Nothing {
            return false;
        }
        let sqe = outgoing.begin(self.shell.raw(), from, ring);
        self.word.set(Bits::SENDING);
        drop(outgoing);
        let watcher = Arc::clone(self) as Arc<dyn Watcher>;
        // SAFETY: the entry names the bytes of `outgoing`, which stay until the completion is told.
        let requested = unsafe { ring.request(sqe, watcher, Role::Send) };
        if requested.is_err() {
            self.outgoing.lock().unbegin();
            self.word.clear(Bits::SENDING);
            self.shell.waiters.wake_everybody();
        }
        requested.is_ok()
    }

    /// Whether nothing is on its way that a request of an operation could overtake.
    pub(crate) fn may_send_by_ring(&self) -> bool {
        !self.word.load().any(Bits::SENDING)
    }

    /// Ends directions of the connection; the writing one when everything is sent.
    pub(crate) fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        if how != Shutdown::Read && self.word.load().any(Bits::SENDING) {
            let mut outgoing = self.outgoing.lock();
            if outgoing.is_busy() {
                if outgoing.after == After::Nothing {
                    outgoing.after = After::Shutdown;
                }
                drop(outgoing);
                return match how {
                    Shutdown::Both => socket::shutdown(self.shell.fd(), Shutdown::Read),
                    _ => Ok(()),
                };
            }
        }
        socket::shutdown(self.shell.fd(), how)
    }
}
