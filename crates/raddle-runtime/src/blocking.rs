//! stub
#![expect(missing_docs, reason = "stub")]
use raddle_base::clock::Instant;
#[derive(Debug, Clone, Default)]
pub struct Config;
pub struct BlockingPool;
impl BlockingPool {
    pub fn new(_: Config) -> Self {
        BlockingPool
    }
    pub fn close(&self) {}
    pub fn shutdown(&self, _: Instant) -> usize {
        0
    }
}
