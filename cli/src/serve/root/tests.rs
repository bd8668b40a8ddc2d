//! What opens and what does not, in both ways, with links that lead everywhere; and a race in
//! which a directory is swapped for a link all the time.

use super::*;
use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

const WAYS: [Way; 2] = [Way::Beneath, Way::NameByName];

/// A tree with a secret beside the served directory.
fn tree() -> (TempDir, std::path::PathBuf) {
    let top = TempDir::new().expect("temporary directory");
    let dir = top.path().join("served");
    fs::create_dir_all(dir.join("sub/deep")).expect("directories");
    fs::write(top.path().join("secret"), "secret").expect("file");
    fs::write(dir.join("file"), "content").expect("file");
    fs::write(dir.join("sub/inner"), "inner").expect("file");
    for (to, at) in [
        ("file", "link"),
        ("../file", "sub/up"),
        ("sub", "subdir"),
        ("../secret", "out"),
        ("..", "above"),
        ("../../secret", "sub/out"),
        ("/etc/passwd", "absolute"),
        ("/", "slash"),
        ("loop", "loop"),
        ("missing", "dangling"),
        ("/proc/self/root", "magic"),
    ] {
        symlink(to, dir.join(at)).expect("link");
    }
    symlink(dir.join("file"), dir.join("inside-but-absolute")).expect("link");
    (top, dir)
}

fn target(path: &str) -> Target {
    Target::parse(path).expect("legal")
}

/// The content of a file, or the error.
fn content(root: &Root, path: &str) -> Result<String, Errno> {
    let opened = root.read(&target(path));
    let opened = opened.map_err(|error| Errno::from_io_error(&error).expect("of the system"))?;
    Ok(io::read_to_string(opened.into_file().expect("a file")).expect("readable"))
}

#[test]
fn openat2_is_used_where_there_is_one() {
    let (_top, dir) = tree();
    assert_eq!(Root::open(&dir).expect("there").way, Way::Beneath);
}

#[test]
fn plain_files_open_in_both_ways() {
    let (_top, dir) = tree();
    for way in WAYS {
        let root = Root::with_way(&dir, way).expect("there");
        assert_eq!(content(&root, "/file").as_deref(), Ok("content"), "{way:?}");
        assert_eq!(content(&root, "/sub/inner").as_deref(), Ok("inner"), "{way:?}");
        assert_eq!(content(&root, "/nothing"), Err(Errno::NOENT), "{way:?}");
        assert_eq!(content(&root, "/file/below"), Err(Errno::NOTDIR), "{way:?}");
        let kind = root.read(&target("/")).expect("DIR itself").kind;
        assert_eq!(kind, FileType::Directory, "{way:?}");
    }
}

#[test]
fn links_inside_are_followed_beneath_only() {
    let (_top, dir) = tree();
    let beneath = Root::with_way(&dir, Way::Beneath).expect("there");
    let by_name = Root::with_way(&dir, Way::NameByName).expect("there");
    for (path, text) in [("/link", "content"), ("/sub/up", "content"), ("/subdir/inner", "inner")] {
        assert_eq!(content(&beneath, path).as_deref(), Ok(text), "{path}");
        assert!(content(&by_name, path).is_err(), "{path}");
    }
}

#[test]
fn nothing_outside_opens() {
    let (_top, dir) = tree();
    for way in WAYS {
        let root = Root::with_way(&dir, way).expect("there");
        for path in [
            "/out",
            "/above",
            "/above/secret",
            "/sub/out",
            "/absolute",
            "/slash",
            "/slash/etc/passwd",
            "/subdir/out",
            "/loop",
            "/dangling",
            "/magic/etc/passwd",
            "/inside-but-absolute",
        ] {
            assert!(root.read(&target(path)).is_err(), "{path} {way:?}");
            assert!(root.look(&target(path)).is_err(), "{path} {way:?}");
            assert!(!matches!(root.cached(&target(path)), Some(Ok(_))), "{path} {way:?}");
        }
        // Even if a dot-dot came through.
        for path in [&b"../secret"[..], b"sub/../../secret", b"..", b"/etc/passwd"] {
            assert!(root.descriptor(path, READ).is_err(), "{path:?} {way:?}");
        }
    }
}

/// On a local file system what was just read is in the caches. While something is renamed there,
/// be it by a test beside this one, the kernel does not look for a path with links or dot-dots in
/// them, so that there may be no answer for a while.
#[test]
fn cached_opens_are_the_same_opens() {
    let (_top, dir) = tree();
    let root = Root::with_way(&dir, Way::Beneath).expect("there");
    for path in ["/file", "/link", "/sub/inner", "/subdir/inner", "/sub"] {
        let patience = Instant::now() + Duration::from_secs(60);
        loop {
            let read = root.read(&target(path)).expect("opens");
            if let Some(cached) = root.cached(&target(path)) {
                let cached = cached.expect("opens");
                assert_eq!((cached.kind, cached.metadata), (read.kind, read.metadata), "{path}");
                break;
            }
            if !root.local {
                break;
            }
            assert!(Instant::now() < patience, "{path} is never in the caches");
        }
    }
    let by_name = Root::with_way(&dir, Way::NameByName).expect("there");
    assert!(by_name.cached(&target("/file")).is_none());
}

#[test]
fn opening_a_fifo_does_not_hang() {
    let (_top, dir) = tree();
    let made = rustix::fs::mknodat(CWD, dir.join("fifo"), FileType::Fifo, 0o600.into(), 0);
    made.expect("fifo");
    for way in WAYS {
        let root = Root::with_way(&dir, way).expect("there");
        assert_eq!(root.read(&target("/fifo")).expect("opens").kind, FileType::Fifo);
    }
}

#[test]
fn bad_roots_are_refused() {
    let (_top, dir) = tree();
    let errno = |path: &Path| Errno::from_io_error(&Root::open(path).expect_err("refused"));
    assert_eq!(errno(&dir.join("nothing")), Some(Errno::NOENT));
    assert_eq!(errno(&dir.join("file")), Some(Errno::NOTDIR));
}

#[test]
fn the_root_survives_a_rename() {
    let (top, dir) = tree();
    let root = Root::open(&dir).expect("there");
    fs::rename(&dir, top.path().join("elsewhere")).expect("rename");
    fs::create_dir(&dir).expect("another");
    assert_eq!(content(&root, "/file").as_deref(), Ok("content"));
}

#[test]
fn metadata_is_that_of_the_file() {
    let (_top, dir) = tree();
    let root = Root::open(&dir).expect("there");
    let (kind, looked) = root.look(&target("/link")).expect("follows");
    assert_eq!((kind, looked.length), (FileType::RegularFile, 7));
    assert_eq!(root.read(&target("/file")).expect("opens").metadata, looked);
    let entries = root.read(&target("/")).expect("opens").entries().expect("readable");
    assert_eq!(entries.len(), 12, "all names, dots left out");
}

/// A directory that holds `inner` takes turns with a link to a directory outside that holds
/// another `inner`. Whatever is opened meanwhile is the first one.
#[test]
fn swapped_links_never_lead_out() {
    let (top, dir) = tree();
    let outside = top.path().join("outside");
    fs::create_dir(&outside).expect("directory");
    fs::write(outside.join("inner"), "secret").expect("file");
    symlink(&outside, dir.join("bait")).expect("link");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (sub, bait) = (dir.join("sub"), dir.join("bait"));
            // Relaxed: only asks to stop, carries no data.
            while !stop.load(Ordering::Relaxed) {
                let exchange = rustix::fs::RenameFlags::EXCHANGE;
                let swapped = rustix::fs::renameat_with(CWD, &sub, CWD, &bait, exchange);
                swapped.expect("both exist");
            }
        });
        for way in WAYS {
            let root = Root::with_way(&dir, way).expect("there");
            let mut seen = 0;
            for _ in 0..20_000 {
                if let Some(Ok(opened)) = root.cached(&target("/sub/inner")) {
                    let file = opened.into_file().expect("a file");
                    assert_eq!(io::read_to_string(file).expect("readable"), "inner");
                }
                match content(&root, "/sub/inner") {
                    Ok(text) => {
                        assert_eq!(text, "inner");
                        seen += 1;
                    }
                    Err(error) => assert_ne!(error, Errno::IO),
                }
            }
            assert!(seen > 0, "the race was run: {way:?}");
        }
        stop.store(true, Ordering::Relaxed);
    });
}
