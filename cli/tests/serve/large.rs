//! Files larger than memory should have to be: 1 GiB arrives intact, and positions beyond 32 bits
//! are positions.
//!
//! The files are sparse: zeros with marks at known places, among them both ends and the borders
//! of chunks. Comparing with zeros is a memcmp, so a debug build is fast enough.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use super::client::{Client, request};
use super::setup::{ANY, Site, each_setup};

const GIB: u64 = 1 << 30;
const STEP: usize = 1 << 20;

/// Where the marks are; eight bytes each, holding their own position.
fn marks(length: u64) -> Vec<u64> {
    let mut marks: Vec<u64> = (0..length / GIB * 16).map(|n| n * (GIB / 16) + n * 4099).collect();
    marks.extend([64 * 1024 - 4, STEP as u64, length - 8]);
    marks.sort_unstable();
    marks
}

fn sparse(site: &Site, name: &str, length: u64) {
    let file = File::create(site.dir().join(name)).expect("created");
    file.set_len(length).expect("sparse files are possible");
    for at in marks(length) {
        file.write_all_at(&mark(at), at).expect("written");
    }
}

/// A mark has no zero byte, so each of its bytes shows.
fn mark(at: u64) -> [u8; 8] {
    at.to_le_bytes().map(|byte| byte | 0x80)
}

/// What is at `at..at + into.len()` of a file of `length` bytes.
fn expected(at: u64, length: u64, into: &mut [u8]) {
    into.fill(0);
    for start in marks(length) {
        for (offset, byte) in mark(start).into_iter().enumerate() {
            let position =
                (start + offset as u64).checked_sub(at).map(|position| position as usize);
            if let Some(slot) = position.and_then(|position| into.get_mut(position)) {
                *slot = byte;
            }
        }
    }
}

/// The largest resident size that a process has had, in KiB.
fn peak(pid: i32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("own child");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("documented");
    line.split_whitespace().nth(1).and_then(|size| size.parse().ok()).expect("a number")
}

#[test]
fn one_gibibyte_arrives_intact_in_bounded_memory() {
    let site = Site::new();
    sparse(&site, "big", GIB);
    each_setup(|setup| {
        let server = site.serve(setup, &[]);
        let mut client = Client::connect(server.address);
        client.send(request("GET", "/big", &[]));
        assert_eq!(client.header().length() as u64, GIB);
        let (mut got, mut wanted) = (vec![0; STEP], vec![0; STEP]);
        for at in (0..GIB).step_by(STEP) {
            client.body(&mut got);
            expected(at, GIB, &mut wanted);
            assert!(got == wanted, "bytes from {at} differ");
        }
        // The connection is where it should be.
        assert_eq!(client.ask("HEAD", "/big", &[]).status, 200);
        let peak = peak(server.pid());
        assert!(peak < 128 * 1024, "{peak} KiB for a file of 1 GiB");
        server.stop();
    });
}

#[test]
fn parts_beyond_four_gibibytes() {
    let site = Site::new();
    let length = 5 * GIB;
    sparse(&site, "huge", length);
    let server = site.serve(ANY, &[]);
    let mut client = Client::connect(server.address);
    let mut wanted = vec![0; 1000];
    for at in [0, GIB / 16 + 4099, 4 * GIB - 4, 4 * GIB + 64 * 4099, length - 1000] {
        let last = at + 999;
        let answer = client.ask("GET", "/huge", &[("Range", &format!("bytes={at}-{last}"))]);
        assert_eq!(answer.must("content-range"), format!("bytes {at}-{last}/{length}"));
        expected(at, length, &mut wanted);
        assert!(answer.body == wanted, "bytes from {at} differ");
    }
    let answer = client.ask("GET", "/huge", &[("Range", "bytes=-8")]);
    assert_eq!(answer.body, mark(length - 8));
    server.stop();
}

/// A file that is shortened while it is sent ends the connection rather than the promise.
#[test]
fn a_file_that_is_shortened_ends_the_connection() {
    let site = Site::new();
    sparse(&site, "big", GIB);
    each_setup(|setup| {
        let server = site.serve(setup, &[]);
        let mut client = Client::connect(server.address);
        client.send(request("GET", "/big", &[]));
        assert_eq!(client.header().length() as u64, GIB);
        let file = File::options().write(true).open(site.dir().join("big")).expect("there");
        file.set_len(1 << 20).expect("shortened");
        assert!((client.rest().len() as u64) < GIB);
        file.set_len(GIB).expect("for the next setup");
        assert_eq!(Client::connect(server.address).get("/none").status, 404);
        server.stop();
    });
}
