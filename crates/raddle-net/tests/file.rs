//! Files against std's: opening, reading, writing, seeking, positions, dropped operations.

mod support;

use raddle_net::fs::{self, File, OpenOptions};
use raddle_net::io::{AsyncRead, AsyncSeek, AsyncWrite};
use std::collections::BTreeSet;
use std::future::poll_fn;
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use support::{on_each, pattern, polled};

/// A directory of its own, removed when dropped.
struct Place(PathBuf);

impl Place {
    fn new() -> Place {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        // Relaxed: numbers are all that is wanted.
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("raddle-file-{}-{number}", std::process::id());
        let dir = std::env::temp_dir().join(name);
        std::fs::create_dir(&dir).unwrap();
        Place(dir)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn written_and_read_back() {
    on_each(|| async {
        let place = Place::new();
        let path = place.path("data");
        let data = pattern(3_000_000);
        let mut file = File::create(&path).await.unwrap();
        file.write_all(&data).await.unwrap();
        assert_eq!(file.write(&[]).await.unwrap(), 0);
        file.sync_data().await.unwrap();
        file.sync_all().await.unwrap();
        assert_eq!(file.metadata().await.unwrap().len(), 3_000_000);
        file.close().await.unwrap();
        assert!(std::fs::read(&path).unwrap() == data);
        let mut file = File::open(&path).await.unwrap();
        let mut got = b"before".to_vec();
        assert_eq!(file.read_to_end(&mut got).await.unwrap(), data.len());
        assert!(got[6..] == data[..]);
        assert_eq!(file.read(&mut [0; 8]).await.unwrap(), 0, "the end of the file");
        assert_eq!(file.read(&mut []).await.unwrap(), 0);
        file.rewind().await.unwrap();
        let mut some = vec![0; 1_000_001];
        file.read_exact(&mut some).await.unwrap();
        assert!(some[..] == data[..1_000_001]);
        let error = file.write(b"x").await.unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EBADF), "opened to read");
    });
}

/// The same steps on std's file and on ours, with the same answers.
#[test]
fn steps_as_std() {
    on_each(|| async {
        let place = Place::new();
        let (ours, stds) = (place.path("ours"), place.path("stds"));
        let mut options = std::fs::OpenOptions::new();
        let mut std =
            options.read(true).write(true).create(true).truncate(true).open(&stds).unwrap();
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&ours)
            .await
            .unwrap();
        let mut seed = 12345_u64;
        for step in 0..400 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let amount = (seed >> 40) as usize % 5_000;
            match (seed >> 33) % 6 {
                0 | 1 => {
                    let bytes = pattern(amount);
                    assert_eq!(file.write(&bytes).await.unwrap(), std.write(&bytes).unwrap());
                }
                2 | 3 => {
                    let (mut a, mut b) = (vec![0; amount], vec![0; amount]);
                    assert_eq!(file.read(&mut a).await.unwrap(), std.read(&mut b).unwrap());
                    assert!(a == b, "step {step}");
                }
                4 => {
                    let to = match seed % 3 {
                        0 => SeekFrom::Start(amount as u64),
                        1 => SeekFrom::Current(amount as i64 - 2_500),
                        _ => SeekFrom::End(amount as i64 - 4_000),
                    };
                    match (file.seek(to).await, std.seek(to)) {
                        (Ok(ours), Ok(stds)) => assert_eq!(ours, stds, "step {step}"),
                        (Err(ours), Err(stds)) => assert_eq!(ours.kind(), stds.kind()),
                        (ours, stds) => panic!("step {step}: {ours:?}, std {stds:?}"),
                    }
                }
                _ => {
                    file.set_len(amount as u64).await.unwrap();
                    std.set_len(amount as u64).unwrap();
                }
            }
            assert_eq!(file.stream_position().await.unwrap(), std.stream_position().unwrap());
        }
        drop(file);
        assert!(std::fs::read(&ours).unwrap() == std::fs::read(&stds).unwrap());
    });
}

#[test]
fn opened_as_std_opens() {
    on_each(|| async {
        let place = Place::new();
        for flags in 0..64_u32 {
            let on = |bit: u32| flags & (1 << bit) != 0;
            for exists in [false, true] {
                let outcome = |path: &Path| match std::fs::metadata(path) {
                    Ok(metadata) => Some(metadata.len()),
                    Err(_) => None,
                };
                let (ours, stds) = (place.path("ours"), place.path("stds"));
                for path in [&ours, &stds] {
                    let _ = std::fs::remove_file(path);
                    if exists {
                        std::fs::write(path, b"content").unwrap();
                    }
                }
                let std = std::fs::OpenOptions::new()
                    .read(on(0))
                    .write(on(1))
                    .append(on(2))
                    .truncate(on(3))
                    .create(on(4))
                    .create_new(on(5))
                    .open(&stds);
                let file = OpenOptions::new()
                    .read(on(0))
                    .write(on(1))
                    .append(on(2))
                    .truncate(on(3))
                    .create(on(4))
                    .create_new(on(5))
                    .open(&ours)
                    .await;
                match (&file, &std) {
                    (Ok(_), Ok(_)) => {}
                    (Err(ours), Err(stds)) => assert_eq!(ours.kind(), stds.kind(), "{flags:b}"),
                    _ => panic!("{flags:b}, exists {exists}: {file:?}, std {std:?}"),
                }
                assert_eq!(outcome(&ours), outcome(&stds), "{flags:b}, exists {exists}");
            }
        }
        assert_eq!(File::open("with\0zero").await.unwrap_err().kind(), ErrorKind::InvalidInput);
    });
}

#[test]
fn appending() {
    on_each(|| async {
        let place = Place::new();
        let path = place.path("log");
        std::fs::write(&path, b"first ").unwrap();
        let mut file = File::options().read(true).append(true).open(&path).await.unwrap();
        let mut got = [0; 3];
        file.read_exact(&mut got).await.unwrap();
        assert_eq!(&got, b"fir");
        file.write_all(b"second").await.unwrap();
        assert_eq!(file.stream_position().await.unwrap(), 12, "behind what was appended");
        file.rewind().await.unwrap();
        let mut all = String::new();
        file.read_to_string(&mut all).await.unwrap();
        assert_eq!(all, "first second");
    });
}

#[test]
fn owned_buffers_at_offsets() {
    on_each(|| async {
        let place = Place::new();
        let path = place.path("data");
        let data = pattern(200_000);
        let mut file = File::create_new(&path).await.unwrap();
        let (result, data) = file.write_all_at(data, 5).await;
        result.unwrap();
        let reads: Vec<_> =
            (0..20_u64).map(|n| file.read_at(Vec::with_capacity(1_000), 5 + n * 9_999)).collect();
        for (n, read) in reads.into_iter().enumerate() {
            let (result, buf) = read.await;
            let count = result.unwrap();
            assert!(count > 0 && buf[..] == data[n * 9_999..][..count]);
        }
        let (result, buf) = file.read_at(vec![9; 4], 1 << 40).await;
        assert_eq!((result.unwrap(), buf.len()), (0, 0), "beyond the end");
        let (result, _) = file.read_at(vec![9; 4], u64::MAX).await;
        assert_eq!(result.unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(file.stream_position().await.unwrap(), 0, "offsets move nothing");
        let error = File::create_new(&path).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        let error = File::open(place.path("none")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
    });
}

/// A pipe stands for a file whose bytes are never cached: every read goes the slow way, and a
/// dropped one is in flight.
#[test]
fn dropped_reads_lose_nothing() {
    on_each(|| async {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let mut file = File::from_std(std::os::fd::OwnedFd::from(reader).into());
        let mut buf = [0; 4];
        assert!(polled(file.read(&mut buf), 3).await.is_none());
        writer.write_all(b"abcdefgh").unwrap();
        let mut got = Vec::new();
        while got.len() < 8 {
            if let Some(count) = polled(file.read(&mut buf), 2).await {
                got.extend_from_slice(&buf[..count.unwrap()]);
            }
        }
        assert_eq!(got, b"abcdefgh");
        assert_eq!(file.seek(SeekFrom::Start(0)).await.unwrap_err().kind(), ErrorKind::NotSeekable);
        drop(writer);
        assert_eq!(file.read(&mut buf).await.unwrap(), 0);
    });
}

/// A file of the kernel's own is read the slow way too, and it has positions: what a dropped read
/// brought is of no use after a seek.
#[test]
fn dropped_reads_are_forgotten_by_a_seek() {
    on_each(|| async {
        let content = std::fs::read("/proc/version").unwrap();
        let mut file = File::open("/proc/version").await.unwrap();
        for at in 0..20 {
            file.seek(SeekFrom::Start(at)).await.unwrap();
            let _ = polled(file.read(&mut [0; 4]), 1 + at as usize % 3).await;
            let mut buf = [0; 6];
            if at % 2 == 0 {
                // Without a seek they come first.
                file.seek(SeekFrom::Start(at)).await.unwrap();
                file.read_exact(&mut buf).await.unwrap();
                assert_eq!(buf, content[at as usize..][..6]);
                let _ = polled(file.read(&mut [0; 4]), 1).await;
            }
            let to = 25 - at;
            file.seek(SeekFrom::Start(to)).await.unwrap();
            file.read_exact(&mut buf).await.unwrap();
            assert_eq!(buf, content[to as usize..][..6], "at {at}");
        }
    });
}

#[test]
fn dropped_writes_keep_their_place() {
    on_each(|| async {
        let place = Place::new();
        let path = place.path("data");
        let mut file = File::create(&path).await.unwrap();
        for n in 0..25_u8 {
            // Begun, since nothing is in flight, and dropped.
            file.flush().await.unwrap();
            let _ = polled(file.write(&[2 * n; 10]), 1 + usize::from(n) % 3).await;
            // It ends before the next, which comes behind it.
            file.write_all(&[2 * n + 1; 10]).await.unwrap();
        }
        file.flush().await.unwrap();
        let position = file.stream_position().await.unwrap();
        drop(file);
        let content = std::fs::read(&path).unwrap();
        assert_eq!(content.len() as u64, position, "as long as the position says");
        let expected: Vec<u8> = (0..50).flat_map(|n| [n; 10]).collect();
        assert!(content == expected);
    });
}

#[test]
fn traits_of_futures_io() {
    on_each(|| async {
        let place = Place::new();
        let path = place.path("data");
        let mut file = File::create_new(&path).await.unwrap();
        let data = pattern(100_000);
        let mut at = 0;
        while at < data.len() {
            let rest = &data[at..(at + 7_000).min(data.len())];
            at += poll_fn(|cx| Pin::new(&mut file).poll_write(cx, rest)).await.unwrap();
        }
        poll_fn(|cx| Pin::new(&mut file).poll_flush(cx)).await.unwrap();
        let end = poll_fn(|cx| Pin::new(&mut file).poll_seek(cx, SeekFrom::End(-10))).await;
        assert_eq!(end.unwrap(), 99_990);
        let mut buf = [0; 64];
        let got = poll_fn(|cx| Pin::new(&mut file).poll_read(cx, &mut buf)).await.unwrap();
        assert!(got == 10 && buf[..10] == data[99_990..]);
        poll_fn(|cx| Pin::new(&mut file).poll_close(cx)).await.unwrap();
        // An error of a write that did not wait comes with the flush.
        let mut file = File::open(&path).await.unwrap();
        let written = poll_fn(|cx| Pin::new(&mut file).poll_write(cx, b"x")).await;
        let flushed = poll_fn(|cx| Pin::new(&mut file).poll_flush(cx)).await;
        let error = written.and(flushed).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EBADF));
        poll_fn(|cx| Pin::new(&mut file).poll_flush(cx)).await.unwrap();
    });
}

#[test]
fn to_std_and_back() {
    on_each(|| async {
        let place = Place::new();
        let path = place.path("data");
        std::fs::write(&path, b"0123456789").unwrap();
        let mut std = std::fs::File::open(&path).unwrap();
        std.seek(SeekFrom::Start(2)).unwrap();
        let mut file = File::from(std);
        let mut buf = [0; 3];
        file.read_exact(&mut buf).await.unwrap();
        assert_eq!(&buf, b"234");
        let mut std = file.into_std().await.unwrap();
        let mut rest = String::new();
        std.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "56789");
    });
}

#[test]
fn calls_on_paths() {
    on_each(|| async {
        let place = Place::new();
        let (a, b) = (place.path("deep/er/a"), place.path("deep/b"));
        fs::create_dir_all(a.parent().unwrap()).await.unwrap();
        fs::write(&a, "text").await.unwrap();
        assert_eq!(fs::read(&a).await.unwrap(), b"text");
        fs::copy(&a, &b).await.unwrap();
        assert_eq!(fs::read_to_string(&b).await.unwrap(), "text");
        fs::rename(&b, &a).await.unwrap();
        assert!(!fs::try_exists(&b).await.unwrap());
        assert!(fs::metadata(&a).await.unwrap().is_file());
        fs::remove_file(&a).await.unwrap();
        let error = fs::metadata(&a).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        fs::remove_dir_all(place.path("deep")).await.unwrap();
    });
}

#[test]
fn a_directory_is_read_whole_whatever_is_dropped() {
    on_each(|| async {
        let place = Place::new();
        let names: BTreeSet<String> = (0..150).map(|n| format!("f{n}")).collect();
        for name in &names {
            std::fs::write(place.path(name), "").unwrap();
        }
        let mut dir = fs::read_dir(&place.0).await.unwrap();
        let mut found = BTreeSet::new();
        loop {
            // A call that is dropped while the pool has it loses nothing.
            let kept = match polled(dir.next_entry(), 1).await {
                Some(entry) => entry,
                None => dir.next_entry().await,
            };
            let Some(entry) = kept.unwrap() else { break };
            assert!(found.insert(entry.file_name().into_string().unwrap()), "told twice");
        }
        assert_eq!(found, names);
        assert!(dir.next_entry().await.unwrap().is_none(), "the end stays the end");
        let error = fs::read_dir(place.path("none")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        fs::symlink("f0", place.path("link")).await.unwrap();
        assert_eq!(fs::read_link(place.path("link")).await.unwrap(), Path::new("f0"));
    });
}

#[test]
fn duplicates_have_positions_of_their_own() {
    on_each(|| async {
        let place = Place::new();
        let path = place.path("data");
        std::fs::write(&path, b"0123456789").unwrap();
        let mut file = OpenOptions::new().read(true).write(true).open(&path).await.unwrap();
        file.seek(SeekFrom::Start(4)).await.unwrap();
        let mut twin = file.try_clone().await.unwrap();
        let (mut a, mut b) = ([0; 2], [0; 3]);
        file.read_exact(&mut a).await.unwrap();
        twin.read_exact(&mut b).await.unwrap();
        assert_eq!((&a, &b), (b"45", b"456"));
        twin.write_all(b"x").await.unwrap();
        drop(twin);
        file.seek(SeekFrom::Start(7)).await.unwrap();
        file.read_exact(&mut a).await.unwrap();
        assert_eq!(&a, b"x8");
    });
}
