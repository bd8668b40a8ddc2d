//! `file_read`: what does a random 4 KiB read of a cached file cost?
//!
//! A temporary file of 4,096 blocks (16 MiB), freshly written and so in the page cache. One task
//! opens it and reads 1,000 blocks a round, one at a time, in a fixed pseudo-random order; the open
//! is part of the round. Checked: the length, first, last and one wandering word of each block;
//! words hold the block's number mixed with their place.

use crate::outcome::{Verdict, expect_equal};
use crate::plan::Plan;
use crate::rounds::{Judge, Round, repeat, repeat_blocking};
use crate::rt::Tasks;
use crate::stats::Random;
use std::fs;
use std::future::Future;
use std::path::{Path, PathBuf};

/// Bytes of a block.
pub(crate) const BLOCK: usize = 4096;
const WORDS: usize = BLOCK / 8;

/// A runtime that reads files.
pub(crate) trait Files: Tasks {
    /// Opens `path`, reads the blocks in order and gives each to `check`; the number read.
    fn read(path: PathBuf, job: Job) -> impl Future<Output = Round> + Send + 'static;
}

/// Which blocks a round reads.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    random: Random,
    left: usize,
    blocks: usize,
}

impl Iterator for Job {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        Some(self.random.below(self.blocks) as u64)
    }
}

impl Job {
    fn new(plan: Plan) -> Job {
        let (left, blocks) = plan.size((1_000, 4_096), (20, 64));
        Job { random: Random::new(0xF11E), left, blocks }
    }

    /// Checks what was read for a block, and says how many reads that makes.
    pub(crate) fn check(&self, block: u64, bytes: &[u8]) -> Round {
        if bytes.len() != BLOCK {
            return Err(format!("block {block}: {} bytes", bytes.len()));
        }
        // Reads of the middle wander with the number of blocks left: all places are met.
        for word in [0, self.left % WORDS, WORDS - 1] {
            check_word(block, bytes, word)?;
        }
        Ok(1)
    }
}

fn word_of(block: u64, word: usize) -> u64 {
    (block << 32 | word as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

fn check_word(block: u64, bytes: &[u8], word: usize) -> Result<(), String> {
    let got = bytes[word * 8..][..8].try_into().map(u64::from_le_bytes).unwrap_or(0);
    expect_equal("word of a block", got, word_of(block, word))
}

/// The file, removed when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(blocks: usize) -> Result<Scratch, String> {
        let name = format!("raddle-lab-{}.blocks", std::process::id());
        let scratch = Scratch(std::env::temp_dir().join(name));
        let words = (0..blocks as u64).flat_map(|b| (0..WORDS).map(move |w| word_of(b, w)));
        let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        fs::write(&scratch.0, bytes).map_err(|error| format!("scratch file: {error}"))?;
        Ok(scratch)
    }

    /// Every word of every block, with plain reads: what the rounds check is what was written.
    fn verify(&self) -> Result<(), String> {
        let bytes = fs::read(&self.0).map_err(|error| format!("scratch file: {error}"))?;
        for (block, bytes) in bytes.chunks(BLOCK).enumerate() {
            (0..WORDS).try_for_each(|word| check_word(block as u64, bytes, word))?;
        }
        Ok(())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Left behind in the temporary folder if that fails: nothing better to do in a drop.
        let _ = fs::remove_file(&self.0);
    }
}

/// On tasks.
pub(crate) fn tasks<R: Files>(plan: Plan) -> Verdict {
    let job = Job::new(plan);
    let scratch = Scratch::new(job.blocks)?;
    scratch.verify()?;
    let path = scratch.0.clone();
    R::run(repeat(plan, Judge::Wall, move || R::read(path.clone(), job.clone())))
}

/// On a plain thread: `pread`.
pub(crate) fn threads(plan: Plan) -> Verdict {
    let job = Job::new(plan);
    let scratch = Scratch::new(job.blocks)?;
    scratch.verify()?;
    repeat_blocking(plan, Judge::Wall, || pread(&scratch.0, job.clone()))
}

fn pread(path: &Path, mut job: Job) -> Round {
    use std::os::unix::fs::FileExt;
    let file = fs::File::open(path).map_err(|error| error.to_string())?;
    let mut bytes = vec![0; BLOCK];
    let mut done = 0;
    while let Some(block) = job.next() {
        file.read_exact_at(&mut bytes, block * BLOCK as u64).map_err(|error| error.to_string())?;
        done += job.check(block, &bytes)?;
    }
    Ok(done)
}
