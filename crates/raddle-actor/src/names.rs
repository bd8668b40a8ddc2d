//! Registered names: how a process is found by who knows nothing of it but its name.
//!
//! A name belongs to one process until that ends, and is free then, before links and monitors are
//! told: a monitor that sees the end can register the name again. A name may come with an
//! [`Address`], which is found by the type of its messages.
//!
//! One table for the program, as for pids. Lock order: the table, then the control of a process;
//! the end of a process takes them one after the other. Addresses are dropped after the lock.

use std::any::Any;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::address::Address;
use crate::control::ProcessRef;
use crate::pid::Pid;

/// std's and not the shim's, for the reasons in `registry.rs`.
static TABLE: Mutex<BTreeMap<Arc<str>, Entry>> = Mutex::new(BTreeMap::new());

struct Entry {
    process: ProcessRef,
    address: Option<Box<dyn Any + Send + Sync>>,
}

fn table() -> MutexGuard<'static, BTreeMap<Arc<str>, Entry>> {
    // Poison: the map is whole after any panic that may happen under its lock.
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Registers a process under a name.
///
/// # Errors
///
/// If another process (or this one) has the name, or the process has ended.
pub fn register(name: &str, process: &ProcessRef) -> Result<(), NameError> {
    enter(name, Entry { process: process.clone(), address: None })
}

/// Registers the process that receives at `address` under a name, and the address with it, to be
/// found by [`lookup`].
///
/// # Errors
///
/// As [`register`]; and if no process receives there.
pub fn register_address<M: Send + 'static>(
    name: &str,
    address: &Address<M>,
) -> Result<(), NameError> {
    let process = address.process().ok_or(NameError::NoProcess)?;
    enter(name, Entry { process, address: Some(Box::new(address.clone())) })
}

fn enter(name: &str, entry: Entry) -> Result<(), NameError> {
    let key: Arc<str> = Arc::from(name);
    let mut table = table();
    let holder = table.get(name).map(|holder| holder.process.pid());
    if let Some(by) = holder {
        return refuse(table, entry, NameError::Taken { by });
    }
    let control = Arc::clone(&entry.process.control);
    let mut inner = control.lock();
    if inner.is_exiting() {
        drop(inner);
        return refuse(table, entry, NameError::NoProcess);
    }
    inner.extras().names.push(Arc::clone(&key));
    table.insert(key, entry);
    Ok(())
}

/// Drops an entry after the lock.
fn refuse<G>(table: G, entry: Entry, error: NameError) -> Result<(), NameError> {
    drop(table);
    drop(entry);
    Err(error)
}

/// Gives a name back before its process ends; false if nobody has it.
pub fn unregister(name: &str) -> bool {
    let mut table = table();
    let Some((key, entry)) = table.remove_entry(name) else { return false };
    if let Some(extras) = entry.process.control.lock().extras_if_any() {
        extras.names.retain(|its| *its != key);
    }
    drop(table);
    drop(entry);
    true
}

/// The process that has this name.
pub fn whereis(name: &str) -> Option<ProcessRef> {
    table().get(name).map(|entry| entry.process.clone())
}

/// The address that was registered with this name.
///
/// # Errors
///
/// If nobody has the name; if it was registered without an address; if its messages have another
/// type.
pub fn lookup<M: Send + 'static>(name: &str) -> Result<Address<M>, LookupError> {
    let table = table();
    let entry = table.get(name).ok_or(LookupError::NotFound)?;
    let address = entry.address.as_ref().ok_or(LookupError::NoAddress)?;
    address.downcast_ref::<Address<M>>().cloned().ok_or(LookupError::OtherType)
}

/// All names and who has them, in the order of names: for tools.
pub fn registered() -> Vec<(Arc<str>, Pid)> {
    table().iter().map(|(name, entry)| (Arc::clone(name), entry.process.pid())).collect()
}

/// Frees the names of a process that is ending.
pub(crate) fn release(names: &[Arc<str>], pid: Pid) {
    for name in names {
        let mut table = table();
        let its = table.get(name).is_some_and(|entry| entry.process.pid() == pid);
        let removed = if its { table.remove(name) } else { None };
        drop(table);
        // Foreign code: an address may be the last that keeps messages.
        drop(removed);
    }
}

/// Why a name was not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameError {
    /// A process has it.
    Taken {
        /// Which process.
        by: Pid,
    },
    /// The process that should have it has ended.
    NoProcess,
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NameError::Taken { by } => write!(f, "the name is taken by {by}"),
            NameError::NoProcess => f.write_str("the process has ended"),
        }
    }
}

impl Error for NameError {}

/// Why no address was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LookupError {
    /// Nobody has the name.
    NotFound,
    /// The name was registered without an address.
    NoAddress,
    /// The address takes messages of another type.
    OtherType,
}

impl fmt::Display for LookupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LookupError::NotFound => "nobody has the name",
            LookupError::NoAddress => "the name was registered without an address",
            LookupError::OtherType => "the address takes messages of another type",
        })
    }
}

impl Error for LookupError {}

#[cfg(all(test, not(loom)))]
#[path = "tests/names.rs"]
mod tests;
