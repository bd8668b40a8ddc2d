//! How a process comes to be.

use std::num::NonZeroUsize;
use std::sync::Arc;

use raddle_fiber::{Fiber, StackError, Stacks};

use crate::actor::{self, Actor};
use crate::address::Address;
use crate::berth::Berth;
use crate::control::{Life, ProcessRef};
use crate::cx::{Core, Cx};
use crate::mailbox::{Mailbox, Policy};
use crate::process::{Body, Process};

/// Spawns a process on this thread's runtime: `f` runs on a stack of its own, may block in every
/// call of raddle's without blocking its thread, and receives messages of type `M`.
///
/// It begins where a worker has room, and stays on that worker.
///
/// ```
/// # use raddle_actor as actor;
/// # use raddle_runtime::{Config, Runtime, park::ThreadDrivers};
/// # let config = Config { workers: 1, ..Config::default() };
/// # Runtime::new(config, Box::new(ThreadDrivers)).unwrap().run(async {
/// let adder = actor::spawn(|cx: &mut actor::Cx<u32>| {
///     let mut sum = 0;
///     while let Ok(number) = cx.receive() {
///         sum += number;
///     }
///     sum
/// });
/// adder.address().send(20).await.unwrap();
/// adder.address().send(22).await.unwrap();
/// assert_eq!(adder.join().await.unwrap(), 42);
/// # });
/// ```
///
/// What the process makes itself may be anything that a thread may hold, across every wait: it
/// never changes its thread. What goes in and out does: the function with what it captures,
/// messages and the result are `Send`, and the context stays where it is.
///
/// ```compile_fail,E0277
/// # use raddle_actor as actor;
/// let shared = std::rc::Rc::new(1);
/// actor::spawn(move |_: &mut actor::Cx<()>| println!("{shared}"));
/// ```
///
/// ```compile_fail,E0277
/// # use raddle_actor as actor;
/// actor::spawn(|cx: &mut actor::Cx<std::rc::Rc<u8>>| drop(cx.receive()));
/// ```
///
/// ```compile_fail,E0277
/// # use raddle_actor as actor;
/// actor::spawn(|cx: &mut actor::Cx<()>| {
///     std::thread::scope(|scope| { scope.spawn(|| cx.yield_now()); });
/// });
/// ```
///
/// ```compile_fail,E0521
/// # use raddle_actor as actor;
/// # use std::cell::Cell;
/// # type Slot = Cell<Option<&'static mut actor::Cx<()>>>;
/// thread_local!(static KEPT: Slot = const { Cell::new(None) });
/// actor::spawn(|cx: &mut actor::Cx<()>| KEPT.set(Some(cx)));
/// ```
///
/// # Panics
///
/// On a thread that belongs to no runtime.
#[track_caller]
pub fn spawn<M, R, F>(f: F) -> Process<M, R>
where
    F: FnOnce(&mut Cx<M>) -> R + Send + 'static,
    M: Send + 'static,
    R: Send + 'static,
{
    Builder::new().spawn(f)
}

/// Settings of a process before it is spawned.
#[derive(Debug, Clone)]
pub struct Builder {
    name: Option<Arc<str>>,
    stacks: Option<Stacks>,
    bound: Option<NonZeroUsize>,
    policy: Policy,
    own_fp_env: bool,
}

impl Default for Builder {
    fn default() -> Self {
        Builder::new()
    }
}

impl Builder {
    /// A nameless process with an unbounded mailbox and a stack of the usual size.
    pub fn new() -> Self {
        Builder { name: None, stacks: None, bound: None, policy: Policy::Wait, own_fp_env: false }
    }

    /// The name by which dumps and reports call it. It is not registered: see
    /// [`names`](crate::names).
    pub fn name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Room for at least this many bytes on its stack; address space is rounded up to a power of
    /// two, and memory is used as the stack grows.
    ///
    /// # Errors
    ///
    /// More than about 1 GiB.
    pub fn stack_size(mut self, bytes: usize) -> Result<Self, StackError> {
        self.stacks = Some(Stacks::at_least(bytes)?);
        Ok(self)
    }

    /// A mailbox for at most `bound` messages, and what happens to more. Signals and events do not
    /// count.
    ///
    /// # Panics
    ///
    /// If `bound` is zero.
    pub fn mailbox(mut self, bound: usize, policy: Policy) -> Self {
        let Some(bound) = NonZeroUsize::new(bound) else {
            panic!("a mailbox has room for at least one message")
        };
        (self.bound, self.policy) = (Some(bound), policy);
        self
    }

    /// Gives the process its own rounding mode and the like; see
    /// [`raddle_fiber::Builder::own_fp_env`].
    pub fn own_fp_env(mut self) -> Self {
        self.own_fp_env = true;
        self
    }

    /// Spawns the process; see [`spawn`].
    ///
    /// # Panics
    ///
    /// On a thread that belongs to no runtime.
    #[track_caller]
    pub fn spawn<M, R, F>(self, f: F) -> Process<M, R>
    where
        F: FnOnce(&mut Cx<M>) -> R + Send + 'static,
        M: Send + 'static,
        R: Send + 'static,
    {
        self.spawn_with(f, |_| {})
    }

    /// Spawns the process, linked to the caller from its beginning.
    ///
    /// # Panics
    ///
    /// On a thread that belongs to no runtime.
    #[track_caller]
    pub fn spawn_link<M, R, F, N>(self, cx: &mut Cx<N>, f: F) -> Process<M, R>
    where
        F: FnOnce(&mut Cx<M>) -> R + Send + 'static,
        M: Send + 'static,
        R: Send + 'static,
    {
        self.spawn_with(f, |life| cx.life().link(&life.process()))
    }

    /// Spawns an [`Actor`]: a process that has a stack only while one of its handlers runs. Joining
    /// it gives its state back if it ended normally.
    ///
    /// # Panics
    ///
    /// On a thread that belongs to no runtime.
    #[track_caller]
    pub fn spawn_actor<A: Actor>(self, actor: A) -> Process<A::Message, A> {
        self.spawn_actor_with(actor, |_| {})
    }

    /// Spawns an [`Actor`], linked to the caller from its beginning.
    ///
    /// # Panics
    ///
    /// On a thread that belongs to no runtime.
    #[track_caller]
    pub fn spawn_actor_link<A: Actor, N>(self, cx: &mut Cx<N>, actor: A) -> Process<A::Message, A> {
        self.spawn_actor_with(actor, |life| cx.life().link(&life.process()))
    }

    #[track_caller]
    fn spawn_actor_with<A: Actor>(
        self,
        actor: A,
        before: impl FnOnce(&Life),
    ) -> Process<A::Message, A> {
        let (parts, task) = self.prepare(before);
        let Parts { core, stacks, fiber, address, process } = parts;
        Process::new(address, process, task.spawn(actor::Body::new(core, actor, stacks, fiber)))
    }

    #[track_caller]
    fn spawn_with<M, R, F>(self, f: F, before: impl FnOnce(&Life)) -> Process<M, R>
    where
        F: FnOnce(&mut Cx<M>) -> R + Send + 'static,
        M: Send + 'static,
        R: Send + 'static,
    {
        let (parts, task) = self.prepare(before);
        let Parts { core, stacks, fiber, address, process } = parts;
        Process::new(address, process, task.spawn(Body::new(core, f, stacks, fiber)))
    }

    /// Spawns the next incarnation of a supervisor's child, which hands its mailbox back.
    pub(crate) fn spawn_child<M, F>(
        self,
        parent: &Life,
        mailbox: Mailbox<M>,
        berth: Arc<Berth<M>>,
        f: F,
    ) -> ProcessRef
    where
        F: FnOnce(&mut Cx<M>) + Send + 'static,
        M: Send + 'static,
    {
        let link = |life: &Life| parent.link(&life.process());
        let (parts, task) = self.prepare_with(link, mailbox, Some(berth));
        let Parts { core, stacks, fiber, process, .. } = parts;
        task.spawn(Body::new(core, f, stacks, fiber)).detach();
        process
    }

    /// As [`spawn_child`](Self::spawn_child), for an actor.
    pub(crate) fn spawn_child_actor<A: Actor>(
        self,
        parent: &Life,
        mailbox: Mailbox<A::Message>,
        berth: Arc<Berth<A::Message>>,
        actor: A,
    ) -> ProcessRef {
        let link = |life: &Life| parent.link(&life.process());
        let (parts, task) = self.prepare_with(link, mailbox, Some(berth));
        let Parts { core, stacks, fiber, process, .. } = parts;
        task.spawn(actor::Body::new(core, actor, stacks, fiber)).detach();
        process
    }

    fn prepare<M>(self, before: impl FnOnce(&Life)) -> (Parts<M>, raddle_runtime::Builder) {
        let mailbox = Mailbox::new(self.bound, self.policy);
        self.prepare_with(before, mailbox, None)
    }

    fn prepare_with<M>(
        self,
        before: impl FnOnce(&Life),
        mut mailbox: Mailbox<M>,
        berth: Option<Arc<Berth<M>>>,
    ) -> (Parts<M>, raddle_runtime::Builder) {
        let life = Life::begin();
        before(&life);
        let (address, process) = (mailbox.address(), life.process());
        mailbox.begin_incarnation(process.clone());
        let mut fiber = Fiber::<(), (), ()>::builder().id(process.pid().to_bits());
        if self.own_fp_env {
            fiber = fiber.own_fp_env();
        }
        let mut task = raddle_runtime::Builder::new();
        if let Some(name) = self.name {
            task = task.name(&*name);
            fiber = fiber.name(name);
        }
        let stacks = self.stacks.unwrap_or_else(Stacks::usual);
        (Parts { core: Core::new(life, mailbox, berth), stacks, fiber, address, process }, task)
    }
}

/// What a process is put together from.
struct Parts<M> {
    core: Core<M>,
    stacks: Stacks,
    fiber: raddle_fiber::Builder,
    address: Address<M>,
    process: ProcessRef,
}
