//! A server with a task a connection, and a client that checks it; both face real sockets.

use std::io;

use raddle::net::{TcpListener, TcpStream};

async fn serve(listener: TcpListener) -> io::Result<()> {
    loop {
        let (stream, _peer) = listener.accept().await?;
        raddle::spawn(async move {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = stream.read(&mut buffer).await {
                if stream.write_all(&buffer[..count]).await.is_err() {
                    break;
                }
            }
        })
        .detach();
    }
}

#[raddle::main]
async fn main() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let server = raddle::spawn(serve(listener));

    let mut echoed = 0;
    for n in 0..10u8 {
        let stream = TcpStream::connect(address).await?;
        stream.write_all(&[n; 100]).await?;
        let mut answer = [0; 100];
        stream.read_exact(&mut answer).await?;
        assert_eq!(answer, [n; 100]);
        echoed += answer.len();
    }
    assert_eq!(echoed, 1000);
    server.abort();
    assert!(server.await.is_err_and(|error| error.is_cancelled()));
    println!("echoed {echoed} bytes");
    Ok(())
}
