//! An echo server of processes, of which some crash under load: no other connection is lost.

use std::io;
use std::net::SocketAddr;

use raddle::actor::supervisor::{Child, Restart, Stop, Supervisor};
use raddle::actor::{self, Cx};
use raddle::net::{TcpListener, TcpStream};
use raddle::sync::Wait;

const CLIENTS: u32 = 200;
const LINES: u32 = 20;

/// Serves one connection, in blocking style, on a stack of its own.
fn serve(stream: &TcpStream) -> io::Result<()> {
    let mut buffer = [0; 64];
    loop {
        let count = stream.read(&mut buffer).wait()?;
        match &buffer[..count] {
            [] => return Ok(()),
            [b'!', ..] => panic!("a line that crashes its handler"),
            line => stream.write_all(line).wait()?,
        }
    }
}

/// Accepts connections, each for a child of its own that is not started again.
fn accept(listener: &TcpListener, handlers: &actor::supervisor::SupervisorRef) -> io::Result<()> {
    for number in 0.. {
        let (stream, _) = listener.accept().wait()?;
        let stream = std::sync::Arc::new(stream);
        let handler = Child::process(format!("handler {number}"), move |_: &mut Cx<()>| {
            // An error is the client's affair.
            let _ = serve(&stream);
        });
        let handler = handler.restart(Restart::Temporary).stop(Stop::Kill);
        handlers.start_child(handler).wait().map_err(io::Error::other)?;
    }
    Ok(())
}

/// Lines that came back.
fn client(address: SocketAddr, crashes: bool) -> io::Result<u32> {
    let stream = TcpStream::connect(address).wait()?;
    if crashes {
        stream.write_all(b"!").wait()?;
        // The end of the stream, or its reset: the handler is gone.
        return Ok(stream.read(&mut [0; 8]).wait().map_or(0, |count| count as u32));
    }
    let mut echoed = 0;
    for line in 0..LINES {
        stream.write_all(&line.to_le_bytes()).wait()?;
        let mut answer = [0; 4];
        stream.read_exact(&mut answer).wait()?;
        assert_eq!(answer, line.to_le_bytes());
        echoed += 1;
    }
    Ok(echoed)
}

fn run() -> io::Result<u32> {
    let listener = TcpListener::bind("127.0.0.1:0").wait()?;
    let address = listener.local_addr()?;
    let handlers = Supervisor::new("handlers").start().wait().map_err(io::Error::other)?;
    let theirs = handlers.clone();
    let server = actor::spawn(move |_: &mut Cx<()>| accept(&listener, &theirs));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|n| actor::spawn(move |_: &mut Cx<()>| client(address, n % 4 == 0)))
        .collect();
    let mut echoed = 0;
    for client in clients {
        echoed += client.join().wait().map_err(|reason| io::Error::other(reason.to_string()))??;
    }
    server.process().kill();
    handlers.shutdown().wait();
    Ok(echoed)
}

fn main() -> io::Result<()> {
    // Panics are part of the story.
    std::panic::set_hook(Box::new(|_| {}));
    let echoed = actor::run(|_| run()).map_err(|reason| io::Error::other(reason.to_string()))??;
    assert_eq!(echoed, CLIENTS * 3 / 4 * LINES);
    println!("echoed {echoed} lines");
    Ok(())
}
