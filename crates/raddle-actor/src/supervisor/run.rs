//! The life of a supervisor: one loop that hears of ends, wishes and orders, one after the other.
//!
//! # Question
//!
//! Children end at any time, also while the supervisor is stopping others, waits for one that does
//! not want to stop, or starts one. How does it treat each end once, start nothing twice, and leave
//! nothing running behind?
//!
//! # States of a child
//!
//! | state | `now` | `wanted` | next |
//! |---|---|---|---|
//! | runs | process | yes | its end is noted: due, or done with |
//! | being stopped | process | yes or no | its end is noted, whatever the reason |
//! | due | none | yes | started, or the supervisor ends |
//! | done with | none | no | started by an order, or forgotten |
//!
//! # Protocol
//!
//! Every end arrives as an event of the link, in the order of the ends. [`note`](Running::note) is
//! the only place that takes a child from running to ended, by its pid, so a second event of the
//! same incarnation finds nothing. Ends that are noted while the supervisor waits for another child
//! are remembered as due, and looked at when it is done. The mailbox of a child is back in its
//! berth before its end is told, so a child whose end was noted can be started.
//!
//! # Race
//!
//! *A kill of the supervisor* arrives in any wait: it is the error of every wait here, and leads
//! straight to the end, which kills all children that run. *An exit signal from outside* while it
//! stops or starts others is remembered, and obeyed when that is done; each stop is bounded by its
//! own time. *A child that ends while it is being stopped* is waited for in any case, so nothing is
//! lost and nothing waited for twice.
//!
//! # Proof
//!
//! The loop ends with a pass that stops all children that run, in reverse order; a child runs only
//! if `now` says so, which is set at the start that linked it and cleared by its end alone. A
//! supervisor that is dropped in the middle (the runtime ends) ends its life, and the links end the
//! children.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use raddle_base::clock::Instant;
use raddle_runtime::time::timeout;
use raddle_sync::oneshot;
use tracing::{error, warn};

use super::child::{Below, ChildSpec, Started};
use super::error::{ChildError, Ready, StartError};
use super::intensity::Intensity;
use super::rules::{Restart, Stop, Strategy};
use super::tree::{ChildInfo, Published, Shown};
use crate::address::Address;
use crate::call::Reply;
use crate::control::{Event, Life, ProcessRef};
use crate::exit::ExitReason;
use crate::mailbox::Mailbox;
use crate::pid::Pid;

/// What a running supervisor can be asked.
pub(crate) enum Command {
    Start(ChildSpec, Reply<Result<Pid, ChildError>>),
    Terminate(Arc<str>, Reply<Result<(), ChildError>>),
    Restart(Arc<str>, Reply<Result<Pid, ChildError>>),
    Delete(Arc<str>, Reply<Result<(), ChildError>>),
}

/// A supervisor at work.
pub(super) struct Running {
    life: Life,
    parent: Option<Pid>,
    mailbox: Mailbox<Command>,
    /// So that the mailbox never finds itself without anybody who could send to it.
    _own: Address<Command>,
    strategy: Strategy,
    intensity: Intensity,
    restarts: u32,
    children: Vec<Entry>,
    /// Children that ended and are not dealt with: their pids then, and why.
    due: VecDeque<(Pid, ExitReason)>,
    /// An exit signal that is not obeyed yet.
    asked: Option<ExitReason>,
    published: Arc<Published>,
}

struct Entry {
    spec: ChildSpec,
    now: Option<ProcessRef>,
    below: Option<Arc<Published>>,
    /// The last incarnation.
    last: Option<Pid>,
    wanted: bool,
    restarts: u32,
}

/// The supervisor was killed.
struct Killed;

/// What the loop does next.
enum Input {
    Due(Pid, ExitReason),
    Asked(ExitReason),
    Order(Command),
}

impl Running {
    pub(super) fn new(
        life: Life,
        parent: Option<Pid>,
        mailbox: Mailbox<Command>,
        strategy: Strategy,
        intensity: Intensity,
        published: Arc<Published>,
    ) -> Self {
        Running {
            life,
            parent,
            _own: mailbox.address(),
            mailbox,
            strategy,
            intensity,
            restarts: 0,
            children: Vec::new(),
            due: VecDeque::new(),
            asked: None,
            published,
        }
    }

    /// The whole life.
    pub(super) async fn run(mut self, children: Vec<ChildSpec>, tell: oneshot::Sender<Ready>) {
        let reason = match self.begin(children).await {
            Ok(Ok(())) => {
                // Whoever started it may have gone.
                let _ = tell.send(Ok(()));
                self.serve().await.unwrap_or(ExitReason::Killed)
            }
            Ok(Err(error)) => {
                let reason = ExitReason::failed(error.clone());
                let _ = self.stop_all().await;
                self.end(reason);
                let _ = tell.send(Err(error));
                return;
            }
            Err(Killed) => ExitReason::Killed,
        };
        let killed = self.stop_all().await.is_err();
        self.end(if killed { ExitReason::Killed } else { reason });
    }

    async fn begin(&mut self, children: Vec<ChildSpec>) -> Result<Ready, Killed> {
        self.children = children.into_iter().map(Entry::new).collect();
        for index in 0..self.children.len() {
            if let Err(error) = self.start(index).await? {
                return Ok(Err(error));
            }
        }
        Ok(Ok(()))
    }

    /// From the start of the children to the reason to stop.
    async fn serve(&mut self) -> Result<ExitReason, Killed> {
        loop {
            self.publish(false);
            match self.next().await? {
                Input::Asked(reason) => return Ok(reason),
                Input::Order(command) => self.obey(command).await?,
                Input::Due(pid, reason) => {
                    let Some(index) = self.children.iter().position(|e| e.last == Some(pid)) else {
                        continue;
                    };
                    if let Some(reason) = self.deal_with(index, reason).await? {
                        return Ok(reason);
                    }
                }
            }
        }
    }

    /// What comes next: ends first, then signals, then orders.
    async fn next(&mut self) -> Result<Input, Killed> {
        poll_fn(|cx| {
            loop {
                if let Some((pid, reason)) = self.due.pop_front() {
                    return Poll::Ready(Ok(Input::Due(pid, reason)));
                }
                if let Some(reason) = self.asked.take() {
                    return Poll::Ready(Ok(Input::Asked(reason)));
                }
                match self.life.poll_event(cx) {
                    Poll::Ready(Ok(event)) => self.note(event),
                    Poll::Ready(Err(_)) => return Poll::Ready(Err(Killed)),
                    Poll::Pending => break,
                }
            }
            match self.mailbox.poll_recv(cx) {
                Poll::Ready(Some(command)) => Poll::Ready(Ok(Input::Order(command))),
                Poll::Ready(None) | Poll::Pending => Poll::Pending,
            }
        })
        .await
    }

    /// Takes note of an event: the only place where a child ceases to run.
    fn note(&mut self, event: Event) {
        let Event::Exit { pid, reason, linked } = event else { return };
        let runs = |entry: &&mut Entry| entry.now.as_ref().map(ProcessRef::pid) == pid;
        match self.children.iter_mut().find(runs) {
            Some(entry) if linked && pid.is_some() => {
                entry.now = None;
                entry.below = None;
                if let ExitReason::Panicked(report) = &reason {
                    let (supervisor, child) = (self.published.name(), &entry.spec.name);
                    let (restarts, message) = (entry.restarts, report.message());
                    error!(%supervisor, %child, restarts, "a process panicked: {message}");
                }
                if let Some(pid) = pid {
                    self.due.push_back((pid, reason));
                }
            }
            _ if linked && pid != self.parent => {}
            _ if reason.is_normal() && pid != self.parent => {}
            _ => self.asked = Some(reason),
        }
    }

    /// Waits for the end of a child that runs.
    async fn wait_for(&mut self, index: usize) -> Result<(), Killed> {
        poll_fn(|cx| {
            while self.children[index].now.is_some() {
                match self.life.poll_event(cx) {
                    Poll::Ready(Ok(event)) => self.note(event),
                    Poll::Ready(Err(_)) => return Poll::Ready(Err(Killed)),
                    Poll::Pending => return Poll::Pending,
                }
            }
            Poll::Ready(Ok(()))
        })
        .await
    }

    /// Stops a child, if it runs, and waits for its end, which then is dealt with.
    async fn stop(&mut self, index: usize) -> Result<(), Killed> {
        let Some(process) = self.children[index].now.clone() else { return Ok(()) };
        let me = self.life.pid();
        match self.children[index].spec.stop {
            Stop::Kill => process.kill(),
            Stop::InPeace => process.exit_from(me, ExitReason::Shutdown),
            Stop::After(time) => {
                process.exit_from(me, ExitReason::Shutdown);
                match timeout(time, self.wait_for(index)).await {
                    Ok(ended) => ended?,
                    Err(_) => {
                        let (supervisor, child) =
                            (self.published.name(), &self.children[index].spec.name);
                        warn!(%supervisor, %child, "killed: it did not stop in {time:?}");
                        process.kill();
                    }
                }
            }
        }
        self.wait_for(index).await?;
        self.due.retain(|(pid, _)| *pid != process.pid());
        Ok(())
    }

    /// Stops all children in the reverse order of their start. After a kill of the supervisor it
    /// kills them, and waits for none.
    async fn stop_all(&mut self) -> Result<(), Killed> {
        let mut result = Ok(());
        for index in (0..self.children.len()).rev() {
            if result.is_ok() && !self.life.is_doomed() {
                result = self.stop(index).await;
            }
            if let Some(process) = &self.children[index].now {
                process.kill();
                result = Err(Killed);
            }
        }
        result
    }

    /// Starts a child, and waits until it has started if it is a supervisor.
    async fn start(&mut self, index: usize) -> Result<Result<Pid, StartError>, Killed> {
        let entry = &mut self.children[index];
        let failed = |entry: &Entry, reason| {
            let child = Arc::clone(&entry.spec.name);
            Ok(Err(StartError { child, reason }))
        };
        let Started { process, below } = match entry.spec.start.start(&self.life) {
            Ok(started) => started,
            Err(reason) => return failed(entry, reason),
        };
        let pid = process.pid();
        entry.now = Some(process);
        (entry.last, entry.wanted) = (Some(pid), true);
        let Some(Below { tree, ready }) = below else { return Ok(Ok(pid)) };
        entry.below = Some(tree);
        let ready = ready.await;
        if let Ok(Ok(())) = ready {
            return Ok(Ok(pid));
        }
        self.wait_for(index).await?;
        self.due.retain(|(ended, _)| *ended != pid);
        let reason = match ready {
            Ok(Err(error)) => ExitReason::failed(error),
            _ => ExitReason::Killed,
        };
        failed(&self.children[index], reason)
    }

    /// A child has ended by itself; the reason to stop, if that is one.
    async fn deal_with(
        &mut self,
        index: usize,
        reason: ExitReason,
    ) -> Result<Option<ExitReason>, Killed> {
        let entry = &mut self.children[index];
        if !entry.spec.restart.wants(&reason) {
            entry.wanted = false;
            if entry.spec.restart == Restart::Temporary {
                self.children.remove(index);
            }
            return Ok(None);
        }
        let (mut index, mut reason) = (index, reason);
        loop {
            if !self.intensity.allows(Instant::now()) {
                let child = &self.children[index].spec.name;
                let text = format!("too many restarts of children, the last of {child}: {reason}");
                return Ok(Some(ExitReason::failed(text)));
            }
            self.restarts += 1;
            match self.restart(index).await? {
                Ok(()) => return Ok(None),
                Err(error) => {
                    let failed = |entry: &Entry| entry.spec.name == error.child;
                    index = self.children.iter().position(failed).unwrap_or(index);
                    reason = error.reason;
                }
            }
            if let Some(reason) = self.asked.take() {
                return Ok(Some(reason));
            }
        }
    }

    /// Starts again what the strategy says, after stopping what runs of it.
    async fn restart(&mut self, index: usize) -> Result<Ready, Killed> {
        let (first, end) = match self.strategy {
            Strategy::OneForOne => (index, index + 1),
            Strategy::OneForAll => (0, self.children.len()),
            Strategy::RestForOne => (index, self.children.len()),
        };
        for other in (first..end).rev() {
            self.stop(other).await?;
        }
        // Ends of those that are started again now are dealt with by that.
        let ended: Vec<_> = self.children[first..end].iter().filter_map(|e| e.last).collect();
        self.due.retain(|(pid, _)| !ended.contains(pid));
        let is_old =
            |entry: &Entry| entry.now.is_none() && entry.spec.restart == Restart::Temporary;
        let mut other = first;
        let mut end = end;
        while other < end {
            if is_old(&self.children[other]) {
                self.children.remove(other);
                end -= 1;
                continue;
            }
            if self.children[other].wanted {
                self.children[other].restarts += 1;
                if let Err(error) = self.start(other).await? {
                    return Ok(Err(error));
                }
            }
            other += 1;
        }
        Ok(Ok(()))
    }

    async fn obey(&mut self, command: Command) -> Result<(), Killed> {
        // An answer that nobody waits for any more is not missed.
        match command {
            Command::Start(spec, reply) => {
                let answer = self.add(spec).await?;
                self.publish(false);
                let _ = reply.reply(answer);
            }
            Command::Terminate(name, reply) => {
                let answer = self.terminate(&name).await?;
                self.publish(false);
                let _ = reply.reply(answer);
            }
            Command::Restart(name, reply) => {
                let answer = match self.find_idle(&name) {
                    Ok(index) => self.start(index).await?.map_err(ChildError::Start),
                    Err(error) => Err(error),
                };
                self.publish(false);
                let _ = reply.reply(answer);
            }
            Command::Delete(name, reply) => {
                let answer = self.find_idle(&name).map(|index| {
                    let gone = self.children.remove(index);
                    self.due.retain(|(pid, _)| Some(*pid) != gone.last);
                });
                self.publish(false);
                let _ = reply.reply(answer);
            }
        }
        Ok(())
    }

    async fn add(&mut self, spec: ChildSpec) -> Result<Result<Pid, ChildError>, Killed> {
        if self.find(&spec.name).is_ok() {
            return Ok(Err(ChildError::NameTaken));
        }
        self.children.push(Entry::new(spec));
        let index = self.children.len() - 1;
        let started = self.start(index).await?;
        if started.is_err() {
            self.children.remove(index);
        }
        Ok(started.map_err(ChildError::Start))
    }

    async fn terminate(&mut self, name: &str) -> Result<Result<(), ChildError>, Killed> {
        let index = match self.find(name) {
            Ok(index) => index,
            Err(error) => return Ok(Err(error)),
        };
        self.stop(index).await?;
        let entry = &mut self.children[index];
        entry.wanted = false;
        let last = entry.last;
        self.due.retain(|(pid, _)| Some(*pid) != last);
        if self.children[index].spec.restart == Restart::Temporary {
            self.children.remove(index);
        }
        Ok(Ok(()))
    }

    fn find(&self, name: &str) -> Result<usize, ChildError> {
        let named = |entry: &Entry| *entry.spec.name == *name;
        self.children.iter().position(named).ok_or(ChildError::Unknown)
    }

    /// A child that does not run, nor is about to.
    fn find_idle(&self, name: &str) -> Result<usize, ChildError> {
        let index = self.find(name)?;
        let entry = &self.children[index];
        let is_due = self.due.iter().any(|(pid, _)| Some(*pid) == entry.last);
        if entry.now.is_some() || is_due { Err(ChildError::Runs) } else { Ok(index) }
    }

    fn publish(&self, ended: bool) {
        let children = self.children.iter().map(Entry::info).collect();
        self.published.publish(Shown { ended, restarts: self.restarts, children });
    }

    fn end(&mut self, reason: ExitReason) {
        // Their mailboxes close before the end is told.
        self.children.clear();
        self.mailbox.close();
        self.publish(true);
        self.life.end(reason);
    }
}

impl Entry {
    fn new(spec: ChildSpec) -> Self {
        Entry { spec, now: None, below: None, last: None, wanted: true, restarts: 0 }
    }

    fn info(&self) -> ChildInfo {
        ChildInfo {
            name: Arc::clone(&self.spec.name),
            pid: self.now.as_ref().map(ProcessRef::pid),
            restart: self.spec.restart,
            restarts: self.restarts,
            below: self.below.clone(),
        }
    }
}
