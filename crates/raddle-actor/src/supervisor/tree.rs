//! A tree of supervisors as text: what each has published, read without asking it.

use std::fmt::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use super::rules::{Restart, Strategy};
use crate::pid::Pid;

/// What a supervisor lets everybody see. Written by it after each change; whoever reads holds the
/// lock for as long as it copies, and runs no code of others meanwhile.
#[derive(Debug)]
pub(super) struct Published {
    name: Arc<str>,
    strategy: Strategy,
    pid: Pid,
    shown: Mutex<Shown>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Shown {
    pub(super) ended: bool,
    pub(super) restarts: u32,
    pub(super) children: Vec<ChildInfo>,
}

/// What is to be seen of one child.
#[derive(Debug, Clone)]
pub struct ChildInfo {
    pub(super) name: Arc<str>,
    pub(super) pid: Option<Pid>,
    pub(super) restart: Restart,
    pub(super) restarts: u32,
    pub(super) below: Option<Arc<Published>>,
}

impl ChildInfo {
    /// The name by which the supervisor knows it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its process; `None` while it does not run.
    pub fn pid(&self) -> Option<Pid> {
        self.pid
    }

    /// When it is started again.
    pub fn restart(&self) -> Restart {
        self.restart
    }

    /// How often it was started again.
    pub fn restarts(&self) -> u32 {
        self.restarts
    }

    /// Whether it is a supervisor that runs.
    pub fn is_supervisor(&self) -> bool {
        self.below.is_some()
    }
}

impl Published {
    pub(super) fn new(name: Arc<str>, strategy: Strategy, pid: Pid) -> Self {
        Published { name, strategy, pid, shown: Mutex::default() }
    }

    pub(super) fn name(&self) -> &Arc<str> {
        &self.name
    }

    pub(super) fn publish(&self, shown: Shown) {
        let mut now = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::replace(&mut *now, shown);
        drop(now);
        drop(old);
    }

    pub(super) fn shown(&self) -> Shown {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The tree below this supervisor, a line a process.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.write(&mut text, "");
        text
    }

    fn write(&self, text: &mut String, indent: &str) -> fmt::Result {
        let shown = self.shown();
        write!(text, "{} {} {}", self.name, self.pid, self.strategy)?;
        write_count(text, shown.restarts)?;
        writeln!(text, "{}", if shown.ended { ", ended" } else { "" })?;
        for (index, child) in shown.children.iter().enumerate() {
            let is_last = index + 1 == shown.children.len();
            write!(text, "{indent}{}", if is_last { "└─ " } else { "├─ " })?;
            if let Some(below) = &child.below {
                below.write(text, &format!("{indent}{}", if is_last { "   " } else { "│  " }))?;
                continue;
            }
            write!(text, "{}", child.name)?;
            match child.pid {
                Some(pid) => write!(text, " {pid} {}", child.restart)?,
                None => write!(text, " not running, {}", child.restart)?,
            }
            write_count(text, child.restarts)?;
            text.push('\n');
        }
        Ok(())
    }
}

fn write_count(text: &mut String, restarts: u32) -> fmt::Result {
    match restarts {
        0 => Ok(()),
        1 => text.write_str(", 1 restart"),
        many => write!(text, ", {many} restarts"),
    }
}
