//! The word and the cells that the two halves of a oneshot channel share: one allocation.
//!
//! # Question
//!
//! Two parties share a value, two wakers and the allocation itself. Who may touch what, and who
//! frees it, if either may finish, give up or wait at any moment, without a lock and with as few
//! atomic operations as the case at hand needs?
//!
//! # States
//!
//! | bit | set by | meaning |
//! |---|---|---|
//! | FINISHED | sender, once | it has sent, or was dropped |
//! | VALUE | sender, with FINISHED | the value cell was filled |
//! | RX_WAITS | receiver, may clear it | the receiver's waker lies in its cell |
//! | CLOSED | receiver, once, before FINISHED or never | it takes no value that is not there yet |
//! | TX_WAITS | sender, may clear it | the sender's waker lies in its cell |
//! | TX_DONE | sender, last | it will not touch the allocation again |
//! | RX_DONE | receiver, last | it will not touch the allocation again |
//!
//! # Protocol
//!
//! Each bit is set by a read-modify-write whose old value tells who came first. *The order of
//! FINISHED and CLOSED decides all ownership*; CLOSED is not set after FINISHED, so that a word
//! with both tells the order:
//!
//! | | FINISHED first | CLOSED first |
//! |---|---|---|
//! | the value | the receiver's | the sender's: back to its caller |
//! | receiver's waker, if RX_WAITS was set | the sender takes and calls it | the receiver's |
//! | sender's waker, if TX_WAITS was set | the sender's | the receiver takes and calls it |
//!
//! A party that wants to wait stores its waker and sets its bit; if the old value shows that the
//! other has decided already, nobody else will look at the waker, and it takes it back. A party
//! that wants to replace its waker clears its bit first; if the old value shows that the other
//! decided with the bit set, the old waker is gone to the other. The second of TX_DONE and
//! RX_DONE frees.
//!
//! A sender that finds all bits clear sets FINISHED, VALUE and TX_DONE in one exchange: nobody
//! waits, so it has nothing to do after.
//!
//! # Race
//!
//! *Send against wait*: FINISHED and RX_WAITS are set on one word; the later one sees the earlier.
//! *Send against close*: likewise; the value has one owner at every moment. *Comparing wakers*:
//! the receiver looks at its own waker's bytes, to see whether it must replace it, while the sender
//! may be moving the waker out; both only read the cell.
//!
//! # Proof
//!
//! All writes to the cells happen before the setting of the bit that hands them over (release),
//! and all reads after seeing it (acquire). Read-modify-writes on one word are totally ordered,
//! so the table gives each cell one owner. Models: `model_oneshot_send_against_recv`,
//! `model_oneshot_send_against_close`, `model_oneshot_drop_against_drop`,
//! `model_oneshot_new_waker_against_send`, `model_oneshot_closed_against_drop`.

use std::mem::MaybeUninit;
use std::panic::Location;
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};

use raddle_base::blocks;
use raddle_base::context;
use raddle_base::shim::atomic::AtomicU8;
use raddle_base::shim::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use raddle_base::shim::cell::UnsafeCell;
use raddle_base::wait::WaitKind;

const FINISHED: u8 = 1;
const VALUE: u8 = 1 << 1;
const RX_WAITS: u8 = 1 << 2;
const CLOSED: u8 = 1 << 3;
const TX_WAITS: u8 = 1 << 4;
const TX_DONE: u8 = 1 << 5;
const RX_DONE: u8 = 1 << 6;

type Slot<T> = UnsafeCell<MaybeUninit<T>>;

/// What both halves point to. Owns nothing by itself: who owns a cell's content drops it.
pub(super) struct Shared<T> {
    word: AtomicU8,
    value: Slot<T>,
    rx_waker: Slot<Waker>,
    tx_waker: Slot<Waker>,
    /// Where the channel was made.
    site: &'static Location<'static>,
}

/// What the receiver saw the word to be, by an acquiring load.
#[derive(Clone, Copy)]
pub(super) struct Word(u8);

impl Word {
    #[inline]
    pub(super) fn is_finished(self) -> bool {
        self.0 & FINISHED != 0
    }

    /// The receiver closed before the sender finished.
    #[inline]
    pub(super) fn is_closed(self) -> bool {
        self.0 & CLOSED != 0
    }

    /// A value was sent, is the receiver's, and the sender is through: nobody else has a part.
    #[inline]
    pub(super) fn is_settled(self) -> bool {
        self.0 & (FINISHED | VALUE | CLOSED | TX_DONE) == FINISHED | VALUE | TX_DONE
    }
}

/// Moves the content of a slot out.
///
/// # Safety
///
/// The slot is filled and its content the caller's, who treats it as empty after.
unsafe fn take<T>(slot: &Slot<T>) -> T {
    // SAFETY: as promised. Only reads, so that the owner of a waker may compare it meanwhile.
    slot.with(|p| unsafe { (*p).assume_init_read() })
}

/// Fills a slot.
///
/// # Safety
///
/// The slot is the caller's and empty.
unsafe fn fill<T>(slot: &Slot<T>, content: T) {
    // SAFETY: as promised.
    slot.with_mut(|p| unsafe { (*p).write(content) });
}

/// The wakers that closing made free. To be woken or dropped when the receiver's state is settled:
/// both are foreign code.
pub(super) struct Closing {
    tx: Option<Waker>,
    _rx: Option<Waker>,
}

impl Closing {
    /// Calls the sender's waker.
    pub(super) fn wake(mut self) {
        if let Some(waker) = self.tx.take() {
            waker.wake();
        }
    }
}

impl<T> Shared<T> {
    /// The one allocation of a channel.
    #[inline]
    pub(super) fn allocate(site: &'static Location<'static>) -> NonNull<Self> {
        let shared = Shared {
            word: AtomicU8::new(0),
            value: UnsafeCell::new(MaybeUninit::uninit()),
            rx_waker: UnsafeCell::new(MaybeUninit::uninit()),
            tx_waker: UnsafeCell::new(MaybeUninit::uninit()),
            site,
        };
        let block = blocks::take::<Self>();
        // SAFETY: the block is new and made for this type.
        unsafe { block.write(shared) };
        block
    }

    /// # Safety
    ///
    /// Both halves are done with it.
    #[inline]
    unsafe fn free(this: NonNull<Self>) {
        // SAFETY: it came from `allocate`, and nobody else will touch it. Dropping it drops no
        // content: its cells own none.
        unsafe {
            let shared = this.as_ref();
            // Nothing in production. To the model checker this is the access that freeing is.
            shared.value.with_mut(drop);
            shared.rx_waker.with_mut(drop);
            shared.tx_waker.with_mut(drop);
            this.drop_in_place();
            blocks::give(this);
        }
    }

    /// The sender's last act: sends, or goes without. Gives the value back if the receiver had
    /// closed.
    ///
    /// # Safety
    ///
    /// `this` is alive, and the caller, the sender, does not use it after.
    #[inline]
    pub(super) unsafe fn finish(this: NonNull<Self>, value: Option<T>) -> Option<T> {
        // SAFETY: alive until this function releases it.
        let shared = unsafe { this.as_ref() };
        let bits = if value.is_some() { FINISHED | VALUE } else { FINISHED };
        if let Some(value) = value {
            // SAFETY: until FINISHED is set, the value's cell is the sender's.
            unsafe { fill(&shared.value, value) };
        }
        // Relaxed: only decides which way to go; the exchange checks.
        if shared.word.load(Relaxed) == 0 {
            // Release: the value, and that this side is through. Nothing is read after.
            let all = bits | TX_DONE;
            if shared.word.compare_exchange(0, all, Release, Relaxed).is_ok() {
                return None;
            }
        }
        // SAFETY: passed on from the caller.
        unsafe { Self::finish_met(this, bits) }
    }

    /// As [`finish`](Self::finish), where the receiver has left something; the value is in its
    /// cell, if there is one.
    ///
    /// # Safety
    ///
    /// As for [`finish`](Self::finish).
    #[inline(never)]
    unsafe fn finish_met(this: NonNull<Self>, bits: u8) -> Option<T> {
        // SAFETY: alive until this function releases it.
        let shared = unsafe { this.as_ref() };
        // Release: the value. Acquire: the wakers that the other side may have left.
        let before = shared.word.fetch_or(bits, AcqRel);
        let closed = before & CLOSED != 0;
        // SAFETY: CLOSED came first, so the value stayed the sender's.
        let back = (closed && bits & VALUE != 0).then(|| unsafe { take(&shared.value) });
        // SAFETY: FINISHED came first with RX_WAITS set, so that waker is the sender's now.
        let rx = (!closed && before & RX_WAITS != 0).then(|| unsafe { take(&shared.rx_waker) });
        // SAFETY: FINISHED came first, so the sender's own waker stayed its own.
        let tx = (!closed && before & TX_WAITS != 0).then(|| unsafe { take(&shared.tx_waker) });
        // Release: this side is through. Acquire: so is the other, if this side frees.
        if shared.word.fetch_or(TX_DONE, AcqRel) & RX_DONE != 0 {
            // SAFETY: both sides are done.
            unsafe { Self::free(this) };
        }
        // Foreign code, with nothing left to protect.
        if let Some(waker) = rx {
            waker.wake();
        }
        drop(tx);
        back
    }

    /// For the sender: ready when the receiver has closed.
    ///
    /// # Safety
    ///
    /// The caller is the sender, which has not finished.
    pub(super) unsafe fn poll_closed(&self, cx: &mut Context<'_>) -> Poll<()> {
        // Acquire: what the receiver did before it closed is visible.
        let word = self.word.load(Acquire);
        if word & CLOSED != 0 {
            return Poll::Ready(());
        }
        // SAFETY: the sender's waker and bit are the caller's.
        let polled = unsafe { self.wait(word, TX_WAITS, CLOSED, &self.tx_waker, cx) };
        self.note(WaitKind::Closed, polled)
    }

    /// For the receiver: ready when the sender has finished.
    ///
    /// # Safety
    ///
    /// The caller is the receiver, which has not closed.
    pub(super) unsafe fn poll_finished(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.load().is_finished() {
            return Poll::Ready(());
        }
        // Relaxed: this side's own bit is all that is looked at.
        let word = self.word.load(Relaxed);
        // SAFETY: the receiver's waker and bit are the caller's.
        let polled = unsafe { self.wait(word, RX_WAITS, FINISHED, &self.rx_waker, cx) };
        self.note(WaitKind::Value, polled)
    }

    /// Tells the scheduler what is waited for.
    fn note(&self, kind: WaitKind, polled: Poll<()>) -> Poll<()> {
        if polled.is_pending() {
            context::waits(kind, Some(self.site));
        }
        polled
    }

    /// Leaves a waker in this side's slot, unless the other side has decided.
    ///
    /// # Safety
    ///
    /// The caller's side owns `bit` and `slot`, and has not decided itself.
    unsafe fn wait(
        &self,
        word: u8,
        bit: u8,
        decided: u8,
        slot: &Slot<Waker>,
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        let mut old = None;
        if word & bit != 0 {
            // SAFETY: the slot was filled by this side. The other may be moving the waker out,
            // which leaves its bytes; comparing looks at the bytes only.
            if slot.with(|w| unsafe { (*w).assume_init_ref().will_wake(cx.waker()) }) {
                return Poll::Pending;
            }
        }
        // Foreign code: before this side lets go of anything.
        let new = cx.waker().clone();
        if word & bit != 0 {
            // Acquire: what the other side did before it decided. Nothing is handed over.
            if self.word.fetch_and(!bit, Acquire) & decided != 0 {
                return Poll::Ready(());
            }
            // SAFETY: the other side had not decided, so the waker is still this side's.
            old = Some(unsafe { take(slot) });
        }
        // SAFETY: with its bit clear, the slot is this side's.
        unsafe { fill(slot, new) };
        // Release: the waker. Acquire: what the other side did before it decided.
        let ready = self.word.fetch_or(bit, AcqRel) & decided != 0;
        if ready {
            // SAFETY: the other side decided without the bit, so it never takes the waker.
            drop(unsafe { take(slot) });
        }
        drop(old);
        if ready { Poll::Ready(()) } else { Poll::Pending }
    }

    pub(super) fn is_closed(&self) -> bool {
        // Acquire: what the receiver did before it closed is visible.
        self.word.load(Acquire) & CLOSED != 0
    }

    #[inline]
    pub(super) fn load(&self) -> Word {
        // Acquire: the value, and what the sender did before it finished, are visible.
        Word(self.word.load(Acquire))
    }

    /// Whether the sender left a value for the receiver.
    pub(super) fn has_value(&self) -> bool {
        // Relaxed: an answer that may be old; who takes the value looks again.
        self.word.load(Relaxed) & (VALUE | CLOSED) == VALUE
    }

    /// The receiver takes no value that is not there yet. `None` if the sender had finished
    /// before; else the wakers that nobody needs where they were.
    ///
    /// # Safety
    ///
    /// The caller is the receiver, and calls this once.
    pub(super) unsafe fn close(&self) -> Option<Closing> {
        let open = |word| (word & FINISHED == 0).then_some(word | CLOSED);
        // Release: what the receiver did before. Acquire: the waker that the sender left. Relaxed
        // if the sender came first: the receiver loads the word again for what it left.
        let before = self.word.fetch_update(AcqRel, Relaxed, open).ok()?;
        // SAFETY: CLOSED came first, so the receiver's own waker stayed its own.
        let rx = (before & RX_WAITS != 0).then(|| unsafe { take(&self.rx_waker) });
        // SAFETY: CLOSED came first with TX_WAITS set, so that waker is the receiver's now.
        let tx = (before & TX_WAITS != 0).then(|| unsafe { take(&self.tx_waker) });
        Some(Closing { tx, _rx: rx })
    }

    /// Moves the value out, if one was sent for the receiver.
    ///
    /// # Safety
    ///
    /// The caller is the receiver, has seen `word`, with the sender finished or CLOSED set, and
    /// calls this once.
    pub(super) unsafe fn take_value(&self, word: Word) -> Option<T> {
        // SAFETY: VALUE was set with FINISHED, which came first, so it is the receiver's.
        (word.0 & (VALUE | CLOSED) == VALUE).then(|| unsafe { take(&self.value) })
    }

    /// The receiver's last act where nobody else has a part any more: takes the value and frees.
    ///
    /// # Safety
    ///
    /// The caller is the receiver, has seen the word settled, and does not use `this` after.
    #[inline]
    pub(super) unsafe fn settle(this: NonNull<Self>) -> T {
        // SAFETY: alive until freed here; FINISHED came first, so the value is the receiver's.
        let value = unsafe { take(&this.as_ref().value) };
        // SAFETY: TX_DONE was seen by an acquiring load, and this is the receiver's end.
        unsafe { Self::free(this) };
        value
    }

    /// The receiver's last act, after it has seen `word`.
    ///
    /// # Safety
    ///
    /// The caller is the receiver, has closed or seen the sender finished, owns nothing in the
    /// cells any more, and does not use `this` after.
    pub(super) unsafe fn release(this: NonNull<Self>, seen: Word) {
        // SAFETY: alive until this function releases it.
        let word = unsafe { &this.as_ref().word };
        // The sender's accesses are over before the memory goes away: `seen` was acquired.
        // AcqRel: so they are on the second way, and so are ours.
        if seen.0 & TX_DONE != 0 || word.fetch_or(RX_DONE, AcqRel) & TX_DONE != 0 {
            // SAFETY: both sides are done.
            unsafe { Self::free(this) };
        }
    }
}
