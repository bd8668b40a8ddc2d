//! Groups: any number of processes under one name, to be listed or sent to together.
//!
//! A process is a member of a group once, until it leaves or ends. Members are in the order in
//! which they joined. One table for the program; locks and drops as in `names.rs`.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::address::Address;
use crate::control::ProcessRef;
use crate::names::NameError;
use crate::pid::Pid;

/// std's and not the shim's, for the reasons in `registry.rs`.
static TABLE: Mutex<BTreeMap<Arc<str>, Vec<Member>>> = Mutex::new(BTreeMap::new());

struct Member {
    process: ProcessRef,
    address: Box<dyn Any + Send + Sync>,
}

fn table() -> MutexGuard<'static, BTreeMap<Arc<str>, Vec<Member>>> {
    // Poison: the map is whole after any panic that may happen under its lock.
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes the process that receives at `address` a member of the group, which is made if need be.
/// False if it is one already.
///
/// # Errors
///
/// If no process receives there, or it has ended.
pub fn join<M: Send + 'static>(group: &str, address: &Address<M>) -> Result<bool, NameError> {
    let process = address.process().ok_or(NameError::NoProcess)?;
    let (key, pid): (Arc<str>, Pid) = (Arc::from(group), process.pid());
    let member = Member { process, address: Box::new(address.clone()) };
    let mut table = table();
    let members = table.entry(Arc::clone(&key)).or_default();
    if members.iter().any(|other| other.process.pid() == pid) {
        drop(table);
        drop(member);
        return Ok(false);
    }
    let control = Arc::clone(&member.process.control);
    let mut inner = control.lock();
    if inner.is_exiting() {
        drop(inner);
        if members.is_empty() {
            table.remove(&key);
        }
        drop(table);
        drop(member);
        return Err(NameError::NoProcess);
    }
    inner.extras().groups.push(key);
    members.push(member);
    Ok(true)
}

/// Ends a membership; false if there was none.
pub fn leave(group: &str, pid: Pid) -> bool {
    let mut table = table();
    let member = remove(&mut table, group, pid);
    if let Some(member) = &member
        && let Some(extras) = member.process.control.lock().extras_if_any()
    {
        extras.groups.retain(|its| &**its != group);
    }
    drop(table);
    member.is_some()
}

fn remove(table: &mut BTreeMap<Arc<str>, Vec<Member>>, group: &str, pid: Pid) -> Option<Member> {
    let members = table.get_mut(group)?;
    let at = members.iter().position(|member| member.process.pid() == pid)?;
    let member = members.remove(at);
    if members.is_empty() {
        table.remove(group);
    }
    Some(member)
}

/// The members of a group, in the order in which they joined.
pub fn members(group: &str) -> Vec<ProcessRef> {
    let table = table();
    let members = table.get(group).into_iter().flatten();
    members.map(|member| member.process.clone()).collect()
}

/// The addresses of those members of a group that take messages of type `M`.
pub fn members_of<M: Send + 'static>(group: &str) -> Vec<Address<M>> {
    let table = table();
    let members = table.get(group).into_iter().flatten();
    members.filter_map(|member| member.address.downcast_ref::<Address<M>>().cloned()).collect()
}

/// Sends a copy to each member that takes messages of type `M` and has room, without waiting, and
/// returns to how many.
pub fn broadcast<M: Clone + Send + 'static>(group: &str, message: &M) -> usize {
    // Sent after the lock: a clone is foreign code, and so is a waker.
    let members = members_of::<M>(group);
    members.iter().filter(|address| address.try_send(message.clone()).is_ok()).count()
}

/// Ends the memberships of a process that is ending.
pub(crate) fn release(groups: &[Arc<str>], pid: Pid) {
    for group in groups {
        let removed = remove(&mut table(), group, pid);
        // Foreign code: an address may be the last that keeps messages.
        drop(removed);
    }
}

#[cfg(all(test, not(loom)))]
#[path = "tests/groups.rs"]
mod tests;
