//! Which servers a test is run against, and the directory they serve.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tempfile::TempDir;

use super::process::{Server, run};

/// How the server is started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    /// The value of RADDLE_IO.
    pub(crate) io: Option<&'static str>,
    pub(crate) workers: u32,
}

/// Runs a test for every setup that this kernel allows. The setup is printed first, so that the
/// captured output of a failure ends with the one that failed.
pub(crate) fn each_setup(test: impl Fn(Setup)) {
    for io in [None, Some("epoll"), Some("uring")] {
        if io == Some("uring") && !uring_allowed() {
            eprintln!("io_uring is refused here");
            continue;
        }
        for workers in [1, 2] {
            let setup = Setup { io, workers };
            eprintln!("{setup:?}");
            test(setup);
        }
    }
}

/// One setup, for tests whose subject is not the runtime.
pub(crate) const ANY: Setup = Setup { io: None, workers: 2 };

/// Whether a server can have io_uring. Where the suite's own environment demands it, not getting
/// it is a failure.
fn uring_allowed() -> bool {
    static ALLOWED: OnceLock<bool> = OnceLock::new();
    *ALLOWED.get_or_init(|| {
        // An address that cannot be bound, so that the command ends by itself: what it complains
        // about tells whether the ring was there.
        let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback");
        let address = taken.local_addr().expect("bound").to_string();
        let ended = run(&["serve", ".", "--io", "uring", "--addr", &address]);
        let allowed = ended.stderr.contains("cannot listen");
        let demanded = std::env::var("RADDLE_IO").is_ok_and(|way| way == "uring");
        assert!(allowed || !demanded, "io_uring is demanded: {}", ended.stderr);
        allowed
    })
}

/// A directory to serve, with a secret beside it. Removed when dropped.
pub(crate) struct Site {
    top: TempDir,
}

impl Site {
    /// An empty one.
    pub(crate) fn new() -> Self {
        let top = TempDir::new().expect("temporary directory");
        std::fs::create_dir(top.path().join("served")).expect("directory");
        std::fs::write(top.path().join("secret"), "secret").expect("file");
        Self { top }
    }

    /// What is served.
    pub(crate) fn dir(&self) -> PathBuf {
        self.top.path().join("served")
    }

    /// The directory that holds it, with `secret` in it.
    pub(crate) fn above(&self) -> &Path {
        self.top.path()
    }

    /// Writes a file, making its directories.
    pub(crate) fn file(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.dir().join(path);
        std::fs::create_dir_all(path.parent().expect("below DIR")).expect("directories");
        std::fs::write(path, content).expect("file");
        self
    }

    /// Makes a symbolic link.
    pub(crate) fn link(&self, to: &str, at: &str) -> &Self {
        std::os::unix::fs::symlink(to, self.dir().join(at)).expect("link");
        self
    }

    /// Serves it, quietly unless `more` says otherwise by being used with `Server::start`.
    pub(crate) fn serve(&self, setup: Setup, more: &[&str]) -> Server {
        let mut arguments = vec!["--quiet"];
        arguments.extend(more);
        Server::start(&self.dir(), setup, &arguments)
    }
}
