//! Supervisors: processes that start others, and start them again when they fail.
//!
//! A supervisor knows its children in the order of their start. It is linked to each, is told of
//! each end, and then does what the child's [`Restart`] and its own [`Strategy`] say; too many
//! restarts in too short a time end it, with a reason that names the child, which is its own
//! supervisor's to deal with. It stops its children in the reverse order of their start, and always
//! waits for the end of one before it goes on.
//!
//! A supervisor needs no stack: it is a task.
//!
//! ```
//! use raddle_actor::supervisor::{Child, Strategy, Supervisor};
//! use raddle_actor::{Cx, Reply};
//! # use raddle_runtime::{Config, Runtime, park::ThreadDrivers};
//! # let config = Config { workers: 1, ..Config::default() };
//! # Runtime::new(config, Box::new(ThreadDrivers)).unwrap().run(async {
//!
//! enum Ask {
//!     Double(u32, Reply<u32>),
//! }
//!
//! let doubler = Child::process("doubler", |cx: &mut Cx<Ask>| {
//!     while let Ok(Ask::Double(number, reply)) = cx.receive() {
//!         assert_ne!(number, 13, "not this one");
//!         let _ = reply.reply(2 * number);
//!     }
//! });
//! let address = doubler.address();
//! let numbers = Supervisor::new("numbers").strategy(Strategy::OneForOne).child(doubler);
//! let supervisor = numbers.start().await.unwrap();
//!
//! assert_eq!(address.call(|reply| Ask::Double(21, reply)).await, Ok(42));
//! assert!(address.call(|reply| Ask::Double(13, reply)).await.is_err());
//! // The next incarnation serves the same mailbox.
//! assert_eq!(address.call(|reply| Ask::Double(4, reply)).await, Ok(8));
//! supervisor.shutdown().await;
//! # });
//! ```

mod child;
mod error;
mod intensity;
mod rules;
mod run;
mod tree;

use std::sync::Arc;
use std::time::Duration;

use raddle_sync::oneshot;

pub use child::{Child, ChildSpec};
pub use error::{ChildError, StartError};
pub use rules::{Restart, Stop, Strategy};
pub use tree::ChildInfo;

use crate::address::Address;
use crate::call::Reply;
use crate::control::{Life, ProcessRef};
use crate::cx::Cx;
use crate::exit::ExitReason;
use crate::mailbox::{Mailbox, Policy};
use crate::pid::Pid;
use child::{Below, Start, Started, made};
use error::Ready;
use intensity::Intensity;
use run::{Command, Running};
use tree::Published;

/// A supervisor that is not started yet.
#[derive(Debug)]
#[must_use = "a supervisor does nothing until it is started"]
pub struct Supervisor {
    name: Arc<str>,
    strategy: Strategy,
    most: u32,
    period: Duration,
    children: Vec<ChildSpec>,
}

impl Supervisor {
    /// A supervisor without children, one-for-one, that allows one restart in five seconds.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        let (strategy, period) = (Strategy::OneForOne, Duration::from_secs(5));
        Supervisor { name: name.into(), strategy, most: 1, period, children: Vec::new() }
    }

    /// Which children are started again when one has failed.
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// At most so many restarts in so long; one more ends the supervisor.
    pub fn intensity(mut self, restarts: u32, period: Duration) -> Self {
        (self.most, self.period) = (restarts, period);
        self
    }

    /// One more child, started after those before.
    ///
    /// # Panics
    ///
    /// If it has the name of another.
    pub fn child(mut self, child: impl Into<ChildSpec>) -> Self {
        let child = child.into();
        let is_taken = self.children.iter().any(|other| other.name == child.name);
        assert!(!is_taken, "this supervisor has a child called {} already", child.name);
        self.children.push(child);
        self
    }

    /// Starts the supervisor and its children, in their order, on this thread's runtime.
    ///
    /// # Errors
    ///
    /// A child did not start: those before it were stopped, and the supervisor has ended.
    ///
    /// # Cancel safety
    ///
    /// Once polled, dropping the future leaves the supervisor running.
    ///
    /// # Panics
    ///
    /// On a thread that belongs to no runtime.
    pub async fn start(self) -> Result<SupervisorRef, StartError> {
        let (reference, ready) = self.spawn(None);
        started(reference, ready).await
    }

    /// As [`start`](Self::start), from a process, to which the supervisor is linked: it stops when
    /// that process ends.
    ///
    /// # Errors
    ///
    /// As for `start`.
    pub fn start_link<M>(
        self,
        cx: &mut Cx<M>,
    ) -> impl Future<Output = Result<SupervisorRef, StartError>> + use<M> {
        let (reference, ready) = self.spawn(Some(cx.life()));
        started(reference, ready)
    }

    fn spawn(self, parent: Option<&Life>) -> (SupervisorRef, oneshot::Receiver<Ready>) {
        let life = Life::begin();
        life.trap_exit(true);
        if let Some(parent) = parent {
            parent.link(&life.process());
        }
        let process = life.process();
        let mut mailbox = Mailbox::new(None, Policy::Wait);
        mailbox.begin_incarnation(process.clone());
        let commands = mailbox.address();
        let published =
            Arc::new(Published::new(Arc::clone(&self.name), self.strategy, process.pid()));
        let (tell, ready) = oneshot::channel();
        let running = Running::new(
            life,
            parent.map(Life::pid),
            mailbox,
            self.strategy,
            Intensity::new(self.most, self.period),
            Arc::clone(&published),
        );
        let task = raddle_runtime::Builder::new().name(&*self.name);
        task.spawn(running.run(self.children, tell)).detach();
        (SupervisorRef { process, commands, published }, ready)
    }
}

async fn started(
    reference: SupervisorRef,
    ready: oneshot::Receiver<Ready>,
) -> Result<SupervisorRef, StartError> {
    match ready.await {
        Ok(Ok(())) => Ok(reference),
        Ok(Err(error)) => Err(error),
        // It was killed, or the runtime shuts down.
        Err(_) => {
            let child = Arc::clone(reference.published.name());
            Err(StartError { child, reason: ExitReason::Killed })
        }
    }
}

struct SupervisorStart<F>(F);

impl<F> Start for SupervisorStart<F>
where
    F: Fn() -> Supervisor + Send + Sync + 'static,
{
    fn start(&self, parent: &Life) -> Result<Started, ExitReason> {
        let supervisor = made(&self.0)?;
        let (reference, ready) = supervisor.spawn(Some(parent));
        let below = Some(Below { tree: reference.published(), ready });
        Ok(Started { process: reference.process().clone(), below })
    }
}

impl ChildSpec {
    /// A supervisor under a supervisor: `make` gives its settings for each incarnation. It is asked
    /// to stop, and waited for as long as it takes, if not said otherwise.
    pub fn supervisor<F>(name: impl Into<Arc<str>>, make: F) -> Self
    where
        F: Fn() -> Supervisor + Send + Sync + 'static,
    {
        ChildSpec {
            name: name.into(),
            restart: Restart::Permanent,
            stop: Stop::InPeace,
            start: Box::new(SupervisorStart(make)),
        }
    }
}

/// A supervisor that was started.
#[derive(Debug, Clone)]
pub struct SupervisorRef {
    process: ProcessRef,
    commands: Address<Command>,
    published: Arc<Published>,
}

impl SupervisorRef {
    /// The supervisor as a process.
    pub fn process(&self) -> &ProcessRef {
        &self.process
    }

    fn published(&self) -> Arc<Published> {
        Arc::clone(&self.published)
    }

    /// What it shows of its children now, in the order of their start. Asks nobody and never
    /// waits.
    pub fn which_children(&self) -> Vec<ChildInfo> {
        self.published.shown().children
    }

    /// The tree below it as text: names, pids, states, and numbers of restarts. Asks nobody and
    /// never waits.
    pub fn tree(&self) -> String {
        self.published.text()
    }

    /// Starts one more child, after all others.
    ///
    /// # Errors
    ///
    /// The name is taken, the child did not start (it is then forgotten), or the supervisor has
    /// ended.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future does not take the wish back once it was polled. So with all that follow.
    pub async fn start_child(&self, child: impl Into<ChildSpec>) -> Result<Pid, ChildError> {
        let child = child.into();
        self.ask(|reply| Command::Start(child, reply)).await
    }

    /// Stops a child and does not start it again. It stays known, unless it is temporary.
    ///
    /// # Errors
    ///
    /// There is no such child, or the supervisor has ended.
    pub async fn terminate_child(&self, name: &str) -> Result<(), ChildError> {
        let name = name.into();
        self.ask(|reply| Command::Terminate(name, reply)).await
    }

    /// Starts a child that was terminated, or has ended for good.
    ///
    /// # Errors
    ///
    /// There is no such child, it runs, it did not start, or the supervisor has ended.
    pub async fn restart_child(&self, name: &str) -> Result<Pid, ChildError> {
        let name = name.into();
        self.ask(|reply| Command::Restart(name, reply)).await
    }

    /// Forgets a child that does not run. Its mailbox closes.
    ///
    /// # Errors
    ///
    /// There is no such child, it runs, or the supervisor has ended.
    pub async fn delete_child(&self, name: &str) -> Result<(), ChildError> {
        let name = name.into();
        self.ask(|reply| Command::Delete(name, reply)).await
    }

    /// Asks it to stop, with all below it, and waits for its end.
    pub async fn shutdown(&self) -> ExitReason {
        self.process.exit(ExitReason::Shutdown);
        self.process.join().await
    }

    async fn ask<T>(
        &self,
        command: impl FnOnce(Reply<Result<T, ChildError>>) -> Command,
    ) -> Result<T, ChildError> {
        self.commands.call(command).await.unwrap_or(Err(ChildError::Ended))
    }
}
