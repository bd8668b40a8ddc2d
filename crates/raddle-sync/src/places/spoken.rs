//! Places that are spoken for, in a channel that counts places under its lock.
//!
//! Some are held: by permits, or by senders that were served and have not come yet. Others are
//! *gathered*: set aside for the sender that waits first, which wants more than are free. So while
//! anybody waits no place is free, a newcomer that finds one overtakes nobody, and a look at two
//! numbers is enough to know. They are not tied to that sender: if it gives up, they are there for
//! the one behind it.

/// Places that are neither free nor taken by a value.
#[derive(Debug, Default)]
pub(crate) struct Spoken {
    /// Held and gathered.
    all: usize,
    gathered: usize,
}

impl Spoken {
    #[inline]
    pub(crate) fn count(&self) -> usize {
        self.all
    }

    pub(crate) fn hold(&mut self, count: usize) {
        self.all += count;
    }

    pub(crate) fn give_back(&mut self, count: usize) {
        self.all -= count;
    }

    /// Whether the departure of a sender that waits may serve the one behind it.
    pub(crate) fn is_gathering(&self) -> bool {
        self.gathered > 0
    }

    /// Nobody waits any more: what was gathered is free.
    pub(crate) fn scatter(&mut self) {
        self.all -= std::mem::take(&mut self.gathered);
    }

    /// Serves the sender that waits first, which wants so many of the `room` places that hold no
    /// value. True: they are held for it now. Else they are gathered, or free if nobody waits.
    pub(crate) fn serve(&mut self, room: usize, want: Option<usize>) -> bool {
        self.scatter();
        let free = room.saturating_sub(self.all);
        match want {
            Some(want) if want <= free => self.all += want,
            Some(_) => {
                self.gathered = free;
                self.all += free;
                return false;
            }
            None => return false,
        }
        true
    }
}
