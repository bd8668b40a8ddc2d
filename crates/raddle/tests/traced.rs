//! A task that does not return is an event of `tracing`, whether or not somebody is told besides.

use std::fmt;
use std::sync::{Mutex, mpsc};
use std::time::Duration;

use raddle::Builder;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Sends the message of each event on.
struct Messages(Mutex<mpsc::Sender<(Level, String)>>);

/// What an event says.
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

impl Subscriber for Messages {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "raddle"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut message = Message(String::new());
        event.record(&mut message);
        self.0.lock().unwrap().send((*event.metadata().level(), message.0)).unwrap();
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[test]
fn a_stuck_task_is_traced() {
    let (told, wait) = mpsc::channel();
    tracing::subscriber::set_global_default(Messages(Mutex::new(told))).unwrap();
    let runtime =
        Builder::new().workers(1).report_after(Some(Duration::from_millis(5))).build().unwrap();
    let (level, message) = runtime
        .run(async {
            raddle::task::Builder::new().name("mill").spawn(async move { wait.recv() }).await
        })
        .unwrap()
        .unwrap();
    assert_eq!(level, Level::WARN);
    assert!(message.contains("(mill)") && message.contains("traced.rs"), "{message}");
}
