//! What the system grants less of: memory for rings, and processor time. The kernel itself is made
//! to refuse, in a thread with a filter or in a process of this program with limits of its own.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Output};

use raddle::net::{TcpListener, TcpStream};
use raddle::{Backend, Builder, Io, LocalRuntime};
use raddle_tests::watched;

/// Set in the processes that these tests start.
const CHILD: &str = "RADDLE_TESTS_CHILD";
/// `CAP_IPC_LOCK`: whoever has it may lock any amount of memory.
const IPC_LOCK: libc::c_ulong = 14;

/// Runs one test of this file again, in a process that `prepare` has limited.
fn again(
    name: &str,
    prepare: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
) -> io::Result<Output> {
    let mut command = Command::new(std::env::current_exe()?);
    let name = format!("limited::{name}");
    command.args(["--exact", &name, "--nocapture", "--test-threads=1"]).env(CHILD, "1");
    // SAFETY: what the tests do there are system calls only.
    unsafe { command.pre_exec(prepare) };
    command.output()
}

fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Bytes go round on a runtime that says what it uses.
fn serve(runtime: raddle::Runtime) -> (Backend, String) {
    let (backend, io) = (runtime.io().backend(), runtime.io().to_string());
    runtime.run(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let clients: Vec<_> = (0..8u8)
            .map(|n| {
                raddle::spawn(async move {
                    let stream = TcpStream::connect(address).await.unwrap();
                    stream.write_all(&[n]).await.unwrap();
                    stream.read_exact(&mut [0]).await.unwrap();
                })
            })
            .collect();
        for _ in 0..8 {
            let (stream, _) = listener.accept().await.unwrap();
            let mut byte = [0];
            stream.read_exact(&mut byte).await.unwrap();
            stream.write_all(&byte).await.unwrap();
        }
        for client in clients {
            client.await.unwrap();
        }
    });
    (backend, io)
}

/// From now on the kernel has no memory for rings of this thread and those it starts.
fn refuse_memory() {
    let number = u32::try_from(libc::SYS_io_uring_setup).unwrap();
    let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let refusal = libc::SECCOMP_RET_ERRNO | libc::ENOMEM.unsigned_abs();
    let filter = [
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, number),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, refusal),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: 4, filter: filter.as_ptr().cast_mut() };
    // SAFETY: the kernel copies the filter during the call; both concern this thread only.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        let mode = libc::SECCOMP_MODE_FILTER;
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const program), 0);
    }
}

#[test]
fn without_memory_for_rings_epoll_serves_and_says_why() {
    watched(|| {
        refuse_memory();
        let (backend, io) = serve(Builder::new().workers(2).io(Io::Auto).build().unwrap());
        assert_eq!(backend, Backend::Epoll);
        assert!(io.contains("io_uring: the limit of locked memory (ulimit -l)"), "{io}");
        let local = LocalRuntime::with_io(Io::Auto).unwrap();
        assert_eq!(local.io().backend(), Backend::Epoll);
        let refused = Builder::new().workers(2).io(Io::Uring).build().unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::OutOfMemory);
        assert!(refused.to_string().contains("ulimit -l"), "{refused}");
    });
}

/// Whatever the limit: a runtime is made, uses one backend for all workers, and serves. There may
/// be memory for the first ring and not for the fourth.
#[test]
fn whatever_the_limit_of_locked_memory_a_runtime_serves() {
    if is_child() {
        let (_, io) = serve(Builder::new().workers(4).io(Io::Auto).build().unwrap());
        println!("io: {io}");
        return;
    }
    for limit in [0, 64 << 10, 400 << 10, 800 << 10, 1 << 20, 16 << 20] {
        let output = again("whatever_the_limit_of_locked_memory_a_runtime_serves", move || {
            let limit = libc::rlimit { rlim_cur: limit, rlim_max: limit };
            // SAFETY: numbers, and a structure that outlives the call. A process that may not drop
            // the capability has none.
            unsafe {
                libc::prctl(libc::PR_CAPBSET_DROP, IPC_LOCK, 0, 0, 0);
                // Refused where this process is under a lower limit, which will do.
                libc::setrlimit(libc::RLIMIT_MEMLOCK, &raw const limit);
            }
            Ok(())
        })
        .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{limit} bytes: {text}");
        let io = text.lines().find_map(|line| line.split_once("io: ")).unwrap().1;
        let why = ["ulimit -l", "not permitted", "the kernel"].iter().any(|why| io.contains(why));
        assert!(why, "{limit} bytes: {io}");
        println!("{limit} bytes: {io}");
    }
}

/// In a user and mount namespace of its own, puts files of the test's over those by which the
/// kernel tells of control groups, and becomes the test again.
const MOUNT: &str = r#"
mount -t tmpfs groups /sys/fs/cgroup && printf '%s' "$OWN" > /sys/fs/cgroup/own &&
mount --bind /sys/fs/cgroup/own /proc/$$/cgroup || exit 0
printf '%s\n' "$QUOTAS" | while read -r path text; do
    mkdir -p "/sys/fs/cgroup/${path%/*}" && echo "$text" > "/sys/fs/cgroup/$path"
done
exec "$0" --exact limited::quotas_of_control_groups_count --nocapture --test-threads=1
"#;

/// The number of workers by default where `/proc/self/cgroup` is `own` and there are these files,
/// a path and its text a line. `None` where namespaces cannot be had.
fn workers_under(own: &str, quotas: &str) -> Option<usize> {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", MOUNT]);
    command.arg(std::env::current_exe().unwrap());
    let output = command.env(CHILD, "1").env("OWN", own).env("QUOTAS", quotas).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let count = text.lines().find_map(|line| line.split_once("workers: "));
    assert!(output.status.success() || count.is_none(), "{text}");
    count.map(|(_, count)| count.parse().unwrap())
}

/// A quota below two processors leaves one worker, whichever version of control groups tells of
/// it and whichever group in the path has it. On one processor there is nothing to tell apart.
#[test]
fn quotas_of_control_groups_count() {
    if is_child() {
        println!("workers: {}", Builder::new().build().unwrap().metrics().workers.len());
        return;
    }
    let all = Builder::new().build().unwrap().metrics().workers.len();
    let second = "0::/a/b\n";
    let Some(free) = workers_under(second, "a/b/cgroup.controllers cpu\na/b/cpu.max max 100000")
    else {
        println!("not tried: no namespaces here");
        return;
    };
    assert!(free >= all, "{free} workers without a quota, {all} as we are");
    for (own, quotas) in [
        (second, "a/b/cgroup.controllers cpu\na/b/cpu.max 100000 100000"),
        // What is left of a fraction is no worker of its own.
        (second, "a/b/cgroup.controllers cpu\na/b/cpu.max 190000 100000"),
        (second, "a/b/cgroup.controllers cpu\na/b/cpu.max 1000 100000"),
        // The group above has less.
        (second, "a/b/cgroup.controllers cpu\na/b/cpu.max max 100000\na/cpu.max 50000 50000"),
        ("4:cpu,cpuacct:/a\n", "cpu/a/cpu.cfs_quota_us 100000\ncpu/a/cpu.cfs_period_us 100000"),
        (
            "4:cpu,cpuacct:/a/b\n",
            "cpu/a/b/cpu.cfs_quota_us -1\ncpu/a/b/cpu.cfs_period_us 100000\n\
             cpu/a/cpu.cfs_quota_us 70000\ncpu/a/cpu.cfs_period_us 50000",
        ),
    ] {
        assert_eq!(workers_under(own, quotas), Some(1), "{own} {quotas}");
    }
    let unlimited = "cpu/a/cpu.cfs_quota_us -1\ncpu/a/cpu.cfs_period_us 100000";
    assert_eq!(workers_under("4:cpu,cpuacct:/a\n", unlimited), Some(free));
}
