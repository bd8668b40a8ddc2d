//! Accepts, opens and receives raced with drops: every connection and byte arrives, and no
//! descriptor stays behind. Counts descriptors, so it is the only test of its file.

mod support;

use raddle_net::{TcpListener, TcpStream, UnixDatagram, fs::File};
use std::time::Duration;
use support::{backends, on_each, open_descriptors, polled, tcp_pair, watched};

/// Races of each kind on each backend and number of workers.
const RACES: u32 = 20_000;

async fn accepts() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let client = raddle::spawn(async move {
        for n in 0..RACES {
            let stream = TcpStream::connect(addr).await.unwrap();
            stream.write_all(&n.to_ne_bytes()).await.unwrap();
            // Until the server has read it: the queue of the kernel does not fill.
            assert_eq!(stream.read(&mut [0; 1]).await.unwrap(), 0);
        }
    });
    let mut expected = 0_u32;
    let mut polls = 0;
    while expected < RACES {
        polls += 1;
        let accepted = if polls % 5 == 0 {
            Some(listener.accept().await)
        } else {
            polled(listener.accept(), polls % 3 + 1).await
        };
        let Some(accepted) = accepted else { continue };
        let mut got = [0; 4];
        accepted.unwrap().0.read_exact(&mut got).await.unwrap();
        assert_eq!(u32::from_ne_bytes(got), expected, "in order, none lost");
        expected += 1;
    }
    client.await.unwrap();
}

async fn opens() {
    for n in 0..RACES {
        let open = File::open("/proc/self/stat");
        if let Some(file) = polled(open, n as usize % 4 + 1).await {
            drop(file.unwrap());
        }
    }
}

async fn receives() {
    let (a, b) = tcp_pair().await;
    let sender = raddle::spawn(async move {
        for n in 0..RACES {
            a.write_all(&n.to_ne_bytes()).await.unwrap();
            if n % 16 == 0 {
                raddle::task::yield_now().await;
            }
        }
    });
    let mut got = Vec::new();
    let mut polls = 0;
    while got.len() < RACES as usize * 4 {
        polls += 1;
        let mut buf = [0; 100];
        let read = b.read(&mut buf);
        let count = match polls % 3 {
            0 => polled(read, 1).await,
            1 => raddle::time::timeout(Duration::from_micros(polls % 50), read).await.ok(),
            _ => Some(read.await),
        };
        if let Some(count) = count {
            got.extend_from_slice(&buf[..count.unwrap()]);
        }
    }
    sender.await.unwrap();
    let numbers = got.chunks(4).map(|four| u32::from_ne_bytes(four.try_into().unwrap()));
    assert!(numbers.eq(0..RACES), "every byte, in order");
}

async fn datagrams() {
    let (a, b) = UnixDatagram::pair().unwrap();
    let sender = raddle::spawn(async move {
        for n in 0..RACES {
            a.send(&n.to_ne_bytes()).await.unwrap();
        }
    });
    let mut polls = 0;
    for expected in 0..RACES {
        let mut buf = [0; 8];
        let count = loop {
            polls += 1;
            match polled(b.recv(&mut buf), polls % 3 + 1).await {
                Some(count) => break count.unwrap(),
                None if polls % 2 == 0 => break b.recv(&mut buf).await.unwrap(),
                None => {}
            }
        };
        assert_eq!(buf[..count], expected.to_ne_bytes(), "in order, none lost");
    }
    sender.await.unwrap();
}

#[test]
fn raced_with_drops() {
    // What the first runtime of a process makes for good is there before the count.
    on_each(|| async {
        let _ = File::open("/proc/self/stat").await.unwrap();
    });
    for io in backends() {
        let before = open_descriptors();
        for workers in [1, 2] {
            watched(move || {
                let build = || raddle::Runtime::builder().workers(workers).io(io).build().unwrap();
                build().run(accepts());
                build().run(opens());
                build().run(receives());
                build().run(datagrams());
            });
        }
        assert_eq!(open_descriptors(), before, "{io:?}");
    }
}
