//! What a supervisor knows of a child before it runs: how to start it, when to start it again, how
//! to stop it.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use raddle_sync::oneshot;

use super::error::Ready;
use super::rules::{Restart, Stop};
use super::tree::Published;
use crate::actor::Actor;
use crate::address::Address;
use crate::berth::Berth;
use crate::control::{Life, ProcessRef};
use crate::cx::Cx;
use crate::exit::ExitReason;
use crate::mailbox::{Mailbox, Policy};
use crate::spawn::Builder;

/// A child of a supervisor: a process, or an actor, with a mailbox for `M` that outlives restarts.
///
/// ```
/// use raddle_actor::supervisor::{Child, Restart};
/// use raddle_actor::Cx;
///
/// let child = Child::process("echo", |cx: &mut Cx<String>| {
///     while let Ok(text) = cx.receive() {
///         println!("{text}");
///     }
/// })
/// .restart(Restart::Transient);
/// // Valid before the start and after each restart.
/// let address = child.address();
/// # drop(address);
/// ```
#[must_use = "a child is given to a supervisor"]
pub struct Child<M: Send + 'static> {
    name: Arc<str>,
    restart: Restart,
    stop: Stop,
    builder: Builder,
    mailbox: Mailbox<M>,
    /// Gives the start, once the settings are complete.
    make: MakeStart<M>,
}

type MakeStart<M> = Box<dyn FnOnce(SeatOf<M>) -> Box<dyn Start> + Send>;

/// Settings of a child, complete.
#[must_use = "a child is given to a supervisor"]
pub struct ChildSpec {
    pub(super) name: Arc<str>,
    pub(super) restart: Restart,
    pub(super) stop: Stop,
    pub(super) start: Box<dyn Start>,
}

/// What a start has given.
pub(super) struct Started {
    pub(super) process: ProcessRef,
    /// Of a supervisor.
    pub(super) below: Option<Below>,
}

/// What lies below a supervisor that was started.
pub(super) struct Below {
    pub(super) tree: Arc<Published>,
    /// Tells when its children have started.
    pub(super) ready: oneshot::Receiver<Ready>,
}

/// Starts one child, again and again.
pub(super) trait Start: Send + Sync {
    /// Begins an incarnation that is linked to `parent`.
    fn start(&self, parent: &Life) -> Result<Started, ExitReason>;
}

/// What all starts of one child share.
struct SeatOf<M> {
    builder: Builder,
    berth: Arc<Berth<M>>,
    /// So that the child never finds itself without anybody who could send to it.
    _address: Address<M>,
}

impl<M: Send + 'static> SeatOf<M> {
    fn mailbox(&self) -> Result<Mailbox<M>, ExitReason> {
        self.berth.take().ok_or_else(|| ExitReason::failed("its mailbox is still in use"))
    }
}

/// Runs a factory; its panic is a reason.
pub(super) fn made<T>(make: impl FnOnce() -> T) -> Result<T, ExitReason> {
    catch_unwind(AssertUnwindSafe(make)).map_err(ExitReason::panicked)
}

struct FunctionStart<M, F> {
    seat: SeatOf<M>,
    function: Arc<F>,
}

impl<M, F> Start for FunctionStart<M, F>
where
    M: Send + 'static,
    F: Fn(&mut Cx<M>) + Send + Sync + 'static,
{
    fn start(&self, parent: &Life) -> Result<Started, ExitReason> {
        let mailbox = self.seat.mailbox()?;
        let function = Arc::clone(&self.function);
        let berth = Arc::clone(&self.seat.berth);
        let builder = self.seat.builder.clone();
        let process = builder.spawn_child(parent, mailbox, berth, move |cx| function(cx));
        Ok(Started { process, below: None })
    }
}

struct ActorStart<M, F> {
    seat: SeatOf<M>,
    make: F,
}

impl<A, F> Start for ActorStart<A::Message, F>
where
    A: Actor,
    F: Fn() -> A + Send + Sync + 'static,
{
    fn start(&self, parent: &Life) -> Result<Started, ExitReason> {
        let actor = made(&self.make)?;
        let mailbox = self.seat.mailbox()?;
        let berth = Arc::clone(&self.seat.berth);
        let process = self.seat.builder.clone().spawn_child_actor(parent, mailbox, berth, actor);
        Ok(Started { process, below: None })
    }
}

impl<M: Send + 'static> Child<M> {
    fn new(name: Arc<str>, make: MakeStart<M>) -> Self {
        Child {
            builder: Builder::new().name(Arc::clone(&name)),
            name,
            restart: Restart::Permanent,
            stop: Stop::After(Duration::from_secs(5)),
            mailbox: Mailbox::new(None, Policy::Wait),
            make,
        }
    }

    /// A process: `f` runs anew in each incarnation.
    pub fn process<R, F>(name: impl Into<Arc<str>>, f: F) -> Self
    where
        R: Send + 'static,
        F: Fn(&mut Cx<M>) -> R + Send + Sync + 'static,
    {
        let function = Arc::new(move |cx: &mut Cx<M>| drop(f(cx)));
        Child::new(name.into(), Box::new(|seat| Box::new(FunctionStart { seat, function })))
    }

    /// An actor: `make` gives the state of each incarnation. A panic of it is a failed start.
    pub fn actor<A, F>(name: impl Into<Arc<str>>, make: F) -> Self
    where
        A: Actor<Message = M>,
        F: Fn() -> A + Send + Sync + 'static,
    {
        Child::new(name.into(), Box::new(|seat| Box::new(ActorStart { seat, make })))
    }

    /// The address of its mailbox: valid before it starts, and after each restart.
    ///
    /// Messages stay in order over a restart. Callers whose call was not answered are told that
    /// the process [stopped](crate::CallError::Stopped).
    pub fn address(&self) -> Address<M> {
        self.mailbox.address()
    }

    /// When it is started again; [`Restart::Permanent`] if not said.
    pub fn restart(mut self, restart: Restart) -> Self {
        self.restart = restart;
        self
    }

    /// How it is stopped; after five seconds it is killed, if not said otherwise.
    pub fn stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// A mailbox for at most `bound` messages, in place of an unbounded one. Addresses that were
    /// taken before are those of the old one.
    ///
    /// # Panics
    ///
    /// If `bound` is zero.
    pub fn mailbox(mut self, bound: usize, policy: Policy) -> Self {
        let Some(bound) = std::num::NonZeroUsize::new(bound) else {
            panic!("a mailbox has room for at least one message")
        };
        self.mailbox = Mailbox::new(Some(bound), policy);
        self
    }

    /// Room on its stack; see [`Builder::stack_size`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn stack_size(mut self, bytes: usize) -> Result<Self, crate::StackError> {
        self.builder = self.builder.stack_size(bytes)?;
        Ok(self)
    }
}

impl<M: Send + 'static> From<Child<M>> for ChildSpec {
    fn from(child: Child<M>) -> ChildSpec {
        let Child { name, restart, stop, builder, mailbox, make } = child;
        let address = mailbox.address();
        let berth = Arc::new(Berth::with(mailbox));
        let start = make(SeatOf { builder, berth, _address: address });
        ChildSpec { name, restart, stop, start }
    }
}

impl ChildSpec {
    /// When it is started again.
    pub fn restart(mut self, restart: Restart) -> Self {
        self.restart = restart;
        self
    }

    /// How it is stopped.
    pub fn stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// The name by which the supervisor knows it.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl<M: Send + 'static> fmt::Debug for Child<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Child").field("name", &self.name).finish_non_exhaustive()
    }
}

impl fmt::Debug for ChildSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChildSpec")
            .field("name", &self.name)
            .field("restart", &self.restart)
            .field("stop", &self.stop)
            .finish_non_exhaustive()
    }
}
