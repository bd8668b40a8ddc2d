//! A server and a client of hyper talk over real TCP, on each backend, with one worker and two.

use hyper::body::{Body, Incoming};
use hyper::rt::{Executor, Sleep, Timer};
use hyper::service::service_fn;
use hyper::{Request, Response, client, server};
use raddle::net::{TcpListener, TcpStream};
use raddle::{Io, Runtime};
use raddle_hyper::{RaddleExecutor, RaddleIo, RaddleTimer};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::time::Duration;

/// Runs `test` on each backend that this kernel has, or on that of `RADDLE_IO` only.
fn on_each<R: Future<Output = ()>>(test: fn() -> R) {
    let backends: &[Io] = match std::env::var("RADDLE_IO").as_deref() {
        Ok("epoll") => &[Io::Epoll],
        Ok("uring") => &[Io::Uring],
        _ if Runtime::builder().workers(1).io(Io::Uring).build().is_ok() => &[Io::Epoll, Io::Uring],
        _ => &[Io::Epoll],
    };
    for &io in backends {
        for workers in [1, 2] {
            let runtime = Runtime::builder().workers(workers).io(io).build().unwrap();
            runtime.run(async {
                let limited = raddle::time::timeout(Duration::from_secs(180), test()).await;
                limited.expect("the test did not end within 180 s");
            });
        }
    }
}

/// Answers with the path and the length of the request's body.
async fn answer(request: Request<Incoming>) -> Result<Response<String>, Infallible> {
    let path = request.uri().path().to_owned();
    let body = collect(request.into_body()).await;
    Ok(Response::new(format!("{path} {}", body.len())))
}

async fn collect(mut body: Incoming) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some(frame) = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        if let Ok(data) = frame.unwrap().into_data() {
            all.extend_from_slice(&data);
        }
    }
    all
}

/// Serves connections until it is dropped; counts them by their order.
async fn serve(listener: TcpListener) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        drop(raddle::spawn(async move {
            let served = server::conn::http1::Builder::new()
                .timer(RaddleTimer)
                .header_read_timeout(Duration::from_secs(60))
                .serve_connection(RaddleIo::new(stream), service_fn(answer));
            // A client that goes away in the middle is no matter here.
            let _ = served.await;
        }));
    }
}

async fn requests(addr: SocketAddr, client_number: usize, count: usize) {
    let stream = TcpStream::connect(addr).await.unwrap();
    let (mut sender, connection) =
        client::conn::http1::handshake(RaddleIo::new(stream)).await.unwrap();
    RaddleExecutor.execute(async move {
        let _ = connection.await;
    });
    for n in 0..count {
        // From nothing to more than any socket buffer.
        let body = "x".repeat([0, 1, 1_000, 300_000][n % 4]);
        let uri = format!("/{client_number}/{n}");
        let expected = format!("{uri} {}", body.len());
        let request = Request::post(uri).header("host", "localhost").body(body).unwrap();
        sender.ready().await.unwrap();
        let response = sender.send_request(request).await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(collect(response.into_body()).await, expected.as_bytes());
    }
}

#[test]
fn keep_alive_requests_are_answered() {
    on_each(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let server = raddle::spawn(serve(listener));
        let clients: Vec<_> = (0..8).map(|n| raddle::spawn(requests(addr, n, 40))).collect();
        for client in clients {
            client.await.unwrap();
        }
        server.abort();
    });
}

#[test]
fn a_client_that_sends_no_header_is_dropped() {
    on_each(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        let served = server::conn::http1::Builder::new()
            .timer(RaddleTimer)
            .header_read_timeout(Duration::from_millis(10))
            .serve_connection(RaddleIo::new(stream), service_fn(answer));
        assert!(served.await.unwrap_err().is_timeout());
        let mut got = Vec::new();
        client.read_to_end(&mut got).await.unwrap();
    });
}

#[test]
fn sleeps_are_reset() {
    on_each(|| async {
        let begin = RaddleTimer.now();
        let mut sleep: Pin<Box<dyn Sleep>> = RaddleTimer.sleep(Duration::from_secs(3600));
        RaddleTimer.reset(&mut sleep, begin + Duration::from_millis(5));
        sleep.await;
        assert!(RaddleTimer.now() >= begin + Duration::from_millis(5));
        RaddleTimer.sleep_until(begin).await;
    });
}
