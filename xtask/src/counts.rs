//! How many tests passed and failed, as told by the summary lines of test programs.

use std::ops::AddAssign;

/// Sums over any number of test programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl Counts {
    /// Adds what a line says, if it is the summary of a test program:
    /// `test result: ok. 12 passed; 0 failed; …`.
    pub(crate) fn read(&mut self, line: &str) {
        let Some((_, numbers)) = line.split_once("test result: ") else { return };
        let mut words = numbers.split([' ', ';']).filter(|word| !word.is_empty());
        let Some("ok." | "FAILED.") = words.next() else { return };
        if let (Some(Ok(passed)), Some("passed"), Some(Ok(failed)), Some("failed")) = (
            words.next().map(str::parse::<u64>),
            words.next(),
            words.next().map(str::parse::<u64>),
            words.next(),
        ) {
            *self += Counts { passed, failed };
        }
    }

    pub(crate) fn any(self) -> bool {
        self.passed + self.failed > 0
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

#[cfg(test)]
mod tests;
