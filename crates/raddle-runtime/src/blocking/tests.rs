//! Tests of the blocking pool: its books at random, its threads, and the models.

mod books;
mod model;
mod pool;
