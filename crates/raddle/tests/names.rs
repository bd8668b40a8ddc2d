//! A user of tokio finds names where they look for them: each is used here by the path it has
//! there, with `tokio` written `raddle`.

use std::pin::Pin;
use std::sync::Arc;

use raddle::fs::{self, File, OpenOptions};
use raddle::io::{self, AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite};
use raddle::net::{
    TcpListener, TcpSocket, TcpStream, ToSocketAddrs, UdpSocket, UnixDatagram, UnixListener,
    UnixStream, lookup_host, tcp, unix,
};
use raddle::runtime::{Builder, Handle, Runtime};
use raddle::signal;
use raddle::sync::{AcquireError, TryAcquireError};
use raddle::sync::{Notify, OwnedSemaphorePermit, Semaphore, SemaphorePermit, mpsc, oneshot};
use raddle::task::{self, AbortHandle, JoinError, JoinHandle, JoinSet};
use raddle::time::{self, Duration, Instant, Interval, MissedTickBehavior, Sleep, Timeout};

fn runtime() -> Runtime {
    Builder::new().workers(1).build().unwrap()
}

#[test]
fn a_runtime_is_made_entered_and_asked() {
    let runtime = runtime();
    let task = {
        let _entered: raddle::runtime::EnterGuard = runtime.enter();
        assert!(Handle::try_current().is_some());
        // Nothing else has used the runtime: its only worker is there all the same.
        assert_eq!(raddle::sync::block_on(raddle::spawn(async { 0 })).unwrap(), 0);
        raddle::spawn(async { 1 })
    };
    assert!(Handle::try_current().is_none(), "left with the guard");
    let job = runtime.spawn_blocking(|| 2);
    assert_eq!(runtime.block_on(async { task.await.unwrap() + job.await.unwrap() }), 3);
    let handle: Handle = runtime.handle().clone();
    assert_eq!(handle.block_on(handle.spawn(async { 4 })).unwrap(), 4);
    assert_eq!(runtime.metrics().workers.len(), 1);
    runtime.shutdown_background();
    runtime_of_the_root().shutdown_timeout(Duration::from_secs(10));
}

fn runtime_of_the_root() -> raddle::Runtime {
    raddle::Runtime::builder().workers(1).build().unwrap()
}

#[raddle::test]
async fn tasks() {
    let task: JoinHandle<u32> = task::spawn(async { 1 });
    let abort: AbortHandle = task.abort_handle();
    assert_eq!(abort.id(), task.id());
    assert_eq!(task.await.unwrap(), 1);
    let never = raddle::spawn(std::future::pending::<()>());
    assert!(!never.is_finished());
    never.abort();
    let error: JoinError = never.await.unwrap_err();
    assert!(error.is_cancelled() && !error.is_panic());
    assert_eq!(task::spawn_blocking(|| 2).await.unwrap(), 2);
    assert_eq!(task::spawn_local(async { 3 }).await.unwrap(), 3);
    assert_eq!(task::block_in_place(|| 4), 4);
    task::yield_now().await;
    task::consume_budget().await;
    assert_eq!(task::unconstrained(async { 5 }).await, 5);
    assert!(task::try_id().is_some());
    raddle::task_local! {
        static NAME: &'static str;
    }
    assert_eq!(NAME.scope("name", async { NAME.get() }).await, "name");
    let _: task::AccessError = NAME.try_with(|_| ()).unwrap_err();
    let mut set: JoinSet<u32> = JoinSet::new();
    set.spawn_on(async { 5 }, &Handle::current());
    set.spawn_blocking_on(|| 6, &Handle::current());
    let mut sum = 0;
    while let Some(output) = set.join_next().await {
        sum += output.unwrap();
    }
    assert_eq!(sum, 11);
}

#[raddle::test]
async fn times() {
    let begin = Instant::now();
    time::sleep(Duration::from_micros(1)).await;
    time::sleep_until(begin + Duration::from_micros(2)).await;
    let mut sleep: Pin<Box<Sleep>> = Box::pin(time::sleep(Duration::from_secs(3600)));
    sleep.as_mut().reset(Instant::now());
    sleep.await;
    let limited: Timeout<_> = time::timeout(Duration::ZERO, std::future::pending::<()>());
    let elapsed: time::error::Elapsed = limited.await.unwrap_err();
    assert_eq!(std::io::Error::from(elapsed).kind(), std::io::ErrorKind::TimedOut);
    assert_eq!(time::timeout_at(Instant::now() + Duration::MAX, async { 1 }).await, Ok(1));
    let mut interval: Interval = time::interval(Duration::from_micros(1));
    interval.set_missed_tick_behavior(MissedTickBehavior::Skip);
    interval.tick().await;
    time::interval_at(begin, Duration::from_micros(1)).tick().await;
    assert!(begin.elapsed() >= Duration::from_micros(2));
    let begin = time::boot::Instant::now();
    time::boot::sleep(Duration::from_millis(2)).await;
    assert!(begin.elapsed() >= Duration::from_millis(2));
    time::boot::interval(Duration::from_millis(1)).tick().await;
    let never = time::boot::timeout(Duration::from_millis(1), std::future::pending::<()>());
    let _: time::error::Elapsed = never.await.unwrap_err();
}

#[raddle::test]
async fn primitives() {
    let (send, receive) = oneshot::channel::<u32>();
    drop(send);
    let _: oneshot::error::RecvError = receive.await.unwrap_err();
    let (send, mut receive) = mpsc::channel::<u32>(1);
    send.send(1).await.unwrap();
    let full: mpsc::error::TrySendError<u32> = send.try_send(2).unwrap_err();
    assert!(matches!(full, mpsc::error::TrySendError::Full(2)));
    assert_eq!(receive.recv().await, Some(1));
    let (send, mut receive) = mpsc::unbounded_channel::<u32>();
    send.send(3).unwrap();
    assert_eq!(receive.recv().await, Some(3));
    let semaphore = Arc::new(Semaphore::new(2));
    let _one: SemaphorePermit<'_> = semaphore.acquire().await.unwrap();
    let owned: OwnedSemaphorePermit = semaphore.clone().acquire_owned().await.unwrap();
    assert!(matches!(semaphore.try_acquire(), Err(TryAcquireError::NoPermits)));
    drop(owned);
    semaphore.close();
    let _: AcquireError = semaphore.acquire().await.unwrap_err();
    let notify = Notify::new();
    notify.notify_one();
    notify.notified().await;
    let token = raddle::sync::CancellationToken::new();
    let guard: raddle::sync::DropGuard = token.clone().drop_guard();
    drop(guard);
    token.cancelled().await;
}

/// A thread waits for any future by what the prelude brings.
#[test]
fn a_thread_waits_with_the_prelude() {
    use raddle::prelude::*;
    let runtime: Runtime = runtime();
    let task: JoinHandle<i32> = runtime.spawn(async { 1 });
    assert_eq!(task.wait().unwrap(), 1);
}

/// What `select!` and `join!` are asked with.
#[raddle::test]
async fn macros() {
    let (one, two) = raddle::join!(async { 1 }, async { 2 });
    let both: Result<(i32, i32), ()> = raddle::try_join!(async { Ok(one) }, async { Ok(two) });
    assert_eq!(both, Ok((1, 2)));
    let chosen = raddle::select! {
        biased;
        value = async { 1 } => value,
        () = std::future::pending::<()>() => 2,
        else => 3,
    };
    assert_eq!(chosen, 1);
}

async fn streams(addr: impl ToSocketAddrs) -> std::io::Result<()> {
    let listener = TcpListener::bind(addr).await?;
    let here = listener.local_addr()?;
    let (near, far) = raddle::join!(TcpStream::connect(here), listener.accept());
    let (near, far) = (near?, far?.0);
    let (_read, write): (tcp::OwnedReadHalf, tcp::OwnedWriteHalf) = near.into_split();
    write.write_all(b"x").await?;
    let mut byte = [0];
    far.read_exact(&mut byte).await?;
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    assert!(socket.connect(here).await?.nodelay().is_ok());
    let udp = UdpSocket::bind("127.0.0.1:0").await?;
    assert_eq!(udp.send_to(b"x", udp.local_addr()?).await?, 1);
    let (near, far) = UnixStream::pair()?;
    near.flush().await?;
    let unnamed: unix::SocketAddr = near.local_addr()?;
    assert!(unnamed.is_unnamed());
    let mut writer = io::BufWriter::new(near);
    writer.write_all(b"one\ntwo\n").await?;
    writer.shutdown().await?;
    let mut lines: io::Lines<_> = io::BufReader::new(far).lines();
    assert_eq!(lines.next_line().await?.as_deref(), Some("one"));
    let far = lines.into_inner().into_inner();
    let _halves: (unix::OwnedReadHalf, unix::OwnedWriteHalf) = far.into_split();
    UnixDatagram::pair()?;
    assert!(UnixListener::bind("/nowhere/at/all").is_err());
    assert!(lookup_host("127.0.0.1:1").await?.next().is_some());
    Ok(())
}

#[raddle::test]
async fn sockets() {
    streams("127.0.0.1:0").await.unwrap();
}

#[raddle::test]
async fn files_and_signals() {
    let mut file: File = File::open("/proc/self/exe").await.unwrap();
    file.read_exact(&mut [0; 4]).await.unwrap();
    let mut twin: File = file.try_clone().await.unwrap();
    assert_eq!(twin.stream_position().await.unwrap(), 4);
    let mut options: OpenOptions = OpenOptions::new();
    assert!(options.read(true).open("/nowhere").await.is_err());
    assert!(fs::metadata("/proc").await.unwrap().is_dir());
    let mut dir: fs::ReadDir = fs::read_dir("/proc/self/fd").await.unwrap();
    let entry: Option<fs::DirEntry> = dir.next_entry().await.unwrap();
    assert!(entry.is_some());
    let nowhere: io::Result<()> = fs::symlink("x", "/nowhere/at/all").await;
    assert_eq!(nowhere.unwrap_err().kind(), io::ErrorKind::NotFound);
    let mut listener: signal::unix::Signal =
        signal::unix::signal(signal::unix::SignalKind::user_defined1()).unwrap();
    assert!(raddle::time::timeout(Duration::ZERO, listener.recv()).await.is_err());
    assert!(raddle::time::timeout(Duration::ZERO, signal::ctrl_c()).await.is_err());
}

/// Which traits of input and output streams and files have.
#[test]
fn traits_of_input_and_output() {
    fn stream<T: AsyncRead + AsyncWrite + Unpin + Send + 'static>() {}
    fn file<T: AsyncRead + AsyncWrite + AsyncSeek + Unpin + Send + 'static>() {}
    fn buffered<T: AsyncBufRead>() {}
    stream::<TcpStream>();
    stream::<UnixStream>();
    file::<File>();
    buffered::<&[u8]>();
}

/// What may be kept in structures, awaited by `&mut` and sent to other threads.
#[test]
fn handles_are_unpin_and_go_anywhere() {
    fn anywhere<T: Unpin + Send + Sync + std::fmt::Debug + 'static>() {}
    fn error<T: std::error::Error + Send + Sync + 'static>() {}
    anywhere::<JoinHandle<String>>();
    anywhere::<AbortHandle>();
    anywhere::<JoinSet<String>>();
    anywhere::<mpsc::Sender<String>>();
    anywhere::<mpsc::Receiver<String>>();
    anywhere::<oneshot::Receiver<String>>();
    anywhere::<Runtime>();
    anywhere::<Handle>();
    anywhere::<TcpListener>();
    error::<JoinError>();
    error::<time::error::Elapsed>();
    error::<mpsc::error::SendError<String>>();
    error::<oneshot::error::RecvError>();
}
