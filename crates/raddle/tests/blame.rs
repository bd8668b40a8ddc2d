//! A call that is refused panics at the place of the call, in the user's file. One test: the panic
//! hook belongs to the process.

use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

static PLACES: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[test]
fn a_runtime_in_a_task_is_refused_where_it_is_called() {
    panic::set_hook(Box::new(|info| {
        let file = info.location().map_or("", |location| location.file());
        PLACES.lock().unwrap().push(file.to_owned());
    }));
    raddle::run(async {
        let one = || raddle::Runtime::builder().workers(1).build().unwrap();
        let (first, second, local) = (one(), one(), raddle::LocalRuntime::new().unwrap());
        let refused =
            |call: &mut dyn FnMut()| assert!(catch_unwind(AssertUnwindSafe(call)).is_err());
        let mut first = Some(first);
        refused(&mut || raddle::run(async {}));
        refused(&mut || first.take().unwrap().run(async {}));
        refused(&mut || second.block_on(async {}));
        let mut local = Some(local);
        refused(&mut || local.take().unwrap().run(async {}));
    });
    let _ = panic::take_hook();
    assert_eq!(*PLACES.lock().unwrap(), [file!(); 4]);
}
