//! What completions mean for a source. Runs under the driver lock.

use super::UringSource;
use crate::interest::Direction;
use crate::sys::socket;
use crate::sys::sqe::Sqe;
use crate::uring::outgoing::After;
use crate::uring::word::Bits;
use crate::watcher::{Due, News, Role, Then, Watcher};
use raddle_base::shim::atomic::Ordering;
use std::net::Shutdown;

impl UringSource {
    /// News of the reading direction. Whether the reader is to be woken, the word before, and
    /// whether the receive is to be cancelled.
    fn tell_read(&self, news: News) -> (bool, Bits, bool) {
        let gone = self.word.load().any(Bits::GONE);
        match (news, &self.listening) {
            (News::Completed(cqe), Some(listening)) => {
                let mut accepted = listening.accepted.lock();
                let data = accepted.tell(cqe.result, &listening.peer, !gone);
                let set = if data { Bits::DATA } else { Bits::NONE };
                (true, self.word.news(set, Bits::READ), false)
            }
            (News::Elapsed, Some(listening)) => {
                listening.accepted.lock().pausing = false;
                (true, self.word.news(Bits::NONE, Bits::READ), false)
            }
            (News::Completed(cqe), None) if self.is_stream() => {
                let mut held = self.held.lock();
                let told = held.tell(cqe, !gone);
                if gone && cqe.result > 0 {
                    self.shell.reset_on_close();
                }
                let set = if told.data { Bits::DATA } else { Bits::NONE };
                let clear = if cqe.more() { Bits::NONE } else { Bits::READ };
                // Under the lock: taking the last piece clears the bit under it too.
                let before = self.word.news(set, clear);
                (told.data || !cqe.more(), before, told.cancel)
            }
            (news, _) => {
                let fine = matches!(news, News::Completed(cqe) if cqe.result >= 0);
                self.disarmed(Direction::Read);
                let set = if fine { Bits::READ_OK } else { Bits::NONE };
                (true, self.word.news(set, Bits::READ), false)
            }
        }
    }

    /// News of the writing direction, if there is more to do than to wake the writer.
    ///
    /// Whatever a poll asks for, the kernel also reports that the other side has ended its
    /// writing, and then at once and each time. That is no room to write: a poll that goes on
    /// reports it once, and room when there is some. It is cancelled then, since writers make their
    /// attempt when no poll is on its way.
    fn wait_on(&self, news: News) -> Option<Then> {
        let News::Completed(cqe) = news else { return None };
        let room = libc::POLLOUT | libc::POLLERR | libc::POLLHUP | libc::POLLNVAL;
        if cqe.result > 0 && cqe.result & i32::from(room) == 0 {
            let poll = || Sqe::poll(self.shell.raw(), libc::EPOLLOUT as u32, true);
            return Some(Then { again: (!cqe.more()).then(poll), ..Then::DONE });
        }
        cqe.more().then_some(Then { cancel: true, ..Then::DONE })
    }

    /// News of the writing direction; the word before.
    fn tell_write(&self, news: News) -> Bits {
        let fine = matches!(news, News::Completed(cqe) if cqe.result >= 0);
        self.disarmed(Direction::Write);
        let set = if fine { Bits::WRITE_OK } else { Bits::NONE };
        self.word.news(set, Bits::WRITE)
    }

    /// News of what was being sent.
    fn tell_send(&self, news: News, due: &mut Due) -> Then {
        let result = match news {
            News::Completed(cqe) => Some(cqe.result),
            _ => None,
        };
        let mut outgoing = self.outgoing.lock();
        let sent = outgoing.tell(self.shell.raw(), result);
        let after = outgoing.after != After::Nothing;
        let before = match (sent.again.is_some(), sent.failed) {
            (true, _) => self.word.clear(Bits::MORE),
            (false, true) => self.word.news(Bits::FAILED, Bits::SENDING),
            (false, false) => self.word.news(Bits::NONE, Bits::SENDING),
        };
        drop(outgoing);
        self.shell.waiters.take(Direction::Write, due);
        let later = before.any(Bits::MORE) || (after && sent.again.is_none());
        Then { again: sent.again, ..Then::later(later) }
    }

    /// Everything is sent: does what had to wait for that.
    fn finish_sending(&self) {
        let mut outgoing = self.outgoing.lock();
        if outgoing.is_busy() {
            return;
        }
        let after = std::mem::take(&mut outgoing.after);
        drop(outgoing);
        match after {
            After::Nothing => {}
            After::HangUp => self.shell.hang_up(),
            After::Shutdown => {
                // The connection may be gone by now: then there is nothing to end.
                let _ = socket::shutdown(self.shell.fd(), Shutdown::Write);
            }
        }
    }
}

impl Watcher for UringSource {
    fn tell(&self, role: Role, news: News, due: &mut Due) -> Then {
        let (direction, wake, before, cancel) = match role {
            Role::Send => return self.tell_send(news, due),
            Role::Write => match self.wait_on(news) {
                Some(then) => return then,
                None => (Direction::Write, true, self.tell_write(news), false),
            },
            // A pause of a socket that connects.
            Role::Delay if self.listening.is_none() => {
                (Direction::Write, true, self.word.news(Bits::WRITE_OK, Bits::WRITE), false)
            }
            Role::Read | Role::Delay => {
                let (wake, before, cancel) = self.tell_read(news);
                (Direction::Read, wake, before, cancel)
            }
        };
        if wake {
            self.shell.waiters.take(direction, due);
        }
        Then { cancel, ..Then::later(before.any(Bits::MORE)) }
    }

    fn later(&self) {
        self.shell.waiters.release_queue();
        self.finish_sending();
    }

    fn set_key(&self, role: Role, key: Option<u64>) {
        // Relaxed: written and read under the driver lock.
        self.keys[place(role)].store(key.unwrap_or(0), Ordering::Relaxed);
    }

    fn key(&self, role: Role) -> Option<u64> {
        // Relaxed: as above. Keys are never 0.
        let key = self.keys[place(role)].load(Ordering::Relaxed);
        (key != 0).then_some(key)
    }
}

/// Where the key of a role is kept.
fn place(role: Role) -> usize {
    match role {
        Role::Read | Role::Delay => 0,
        Role::Write => 1,
        Role::Send => 2,
    }
}
