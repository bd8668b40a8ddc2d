//! Tasks that stay on one worker may hold what no other thread may see.

use std::cell::Cell;
use std::rc::Rc;

fn main() -> std::io::Result<()> {
    let runtime = raddle::Runtime::builder().workers(2).build()?;
    let total = runtime.run(async {
        let counters = (0..4).map(|_| {
            raddle::spawn_pinned(|| async {
                let count = Rc::new(Cell::new(0));
                let home = std::thread::current().id();
                for _ in 0..25 {
                    raddle::task::yield_now().await;
                    assert_eq!(std::thread::current().id(), home);
                    count.set(count.get() + 1);
                }
                count.get()
            })
        });
        let mut total = 0;
        for counter in counters.collect::<Vec<_>>() {
            total += counter.await.expect("the counter ended");
        }
        total
    });
    assert_eq!(total, 100);
    println!("counted to {total}");
    Ok(())
}
