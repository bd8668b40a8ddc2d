//! Connections that stay open and idle, for `mem_connection`.
//!
//! Opens as many as asked for and as limits allow, makes one echo on each, prints how many there
//! are, and holds them until its input is closed.

use super::protocol::{Echo, MESSAGE, Protocol};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};

/// Prints the number held itself; the last line it returns tells that it let go.
pub(crate) fn run(address: SocketAddr, wanted: usize) -> Result<String, String> {
    crate::machine::raise_file_limit();
    let mut held = Vec::with_capacity(wanted);
    while held.len() < wanted {
        match TcpStream::connect(address) {
            Ok(stream) => held.push(stream),
            Err(error) if is_limit(&error) => break,
            Err(error) => return Err(format!("connect: {error}")),
        }
        let number = held.len() as u64;
        echo(&mut held[number as usize - 1], number).map_err(|error| format!("echo: {error}"))?;
    }
    println!("{}", held.len());
    io::stdin().read_to_end(&mut Vec::new()).map_err(|error| format!("input: {error}"))?;
    Ok("released".to_owned())
}

fn is_limit(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::EADDRNOTAVAIL))
}

fn echo(stream: &mut TcpStream, number: u64) -> io::Result<()> {
    let mut protocol = Echo::new(number);
    stream.write_all(protocol.request())?;
    let mut answer = [0; MESSAGE];
    stream.read_exact(&mut answer)?;
    match protocol.answer(&answer) {
        Ok(true) => Ok(()),
        other => Err(io::Error::other(format!("{other:?}"))),
    }
}
