//! From a request to its answer: checks it, finds the file, plans, replies.
//!
//! The one place where the pure parts (`admission.rs`, `plan.rs`), the blocking part
//! (`lookup.rs`) and the streaming part (`answer.rs`) meet. A worker never waits for the file
//! system here.

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use hyper::body::{Body, Incoming};
use hyper::header::EXPECT;
use hyper::http::request::Parts;
use hyper::{Request, Response, StatusCode};
use raddle::fs::File;

use super::access_log::{self, AccessLog, Record};
use super::activity::Activity;
use super::admission;
use super::answer::{Answer, Receipt};
use super::content_type;
use super::lookup::{self, Found, Located};
use super::plan::{self, Content, Plan, Representation};
use super::root::Root;
use super::target::Target;
use super::validators::Validators;

/// What is served, shared by all connections.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) root: Arc<Root>,
    pub(crate) log: AccessLog,
}

/// Bytes of a request's body that are read and forgotten, so that a peer which is still sending
/// them finds the answer and not a reset.
const DISCARDED: u64 = 1024 * 1024;

/// Answers one request.
pub(crate) async fn answer(
    site: Arc<Site>,
    peer: IpAddr,
    activity: Arc<Activity>,
    request: Request<Incoming>,
) -> Result<Response<Answer>, Infallible> {
    activity.requested();
    let now = now();
    let line = site.log.is_on().then(|| access_log::request_line(&request));
    let (head, body) = request.into_parts();
    if !body.is_end_stream() && !head.headers.contains_key(EXPECT) {
        discard(body).await;
    }
    let (plan, file) = plan(&site, &head, now).await;
    let status = plan.status.as_u16();
    let record = line.map(|request| Record { peer, at: now, request, status, bytes: 0 });
    let receipt = Receipt::new(activity, site.log.clone(), record);
    Ok(respond(plan, file, receipt))
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// The plan, and the file that it may be about.
async fn plan(site: &Site, head: &Parts, now: u64) -> (Plan, Option<File>) {
    let (method, headers) = (&head.method, &head.headers);
    let target = match admission::admit(method, &head.uri, head.version, headers) {
        Ok(target) => target,
        Err(status) => return (plan::failure(method, status), None),
    };
    match find(site, target).await {
        Ok(Found::File(Located { file, metadata, name })) => {
            let representation = Representation {
                length: metadata.length,
                kind: content_type::of(&name),
                validators: Validators::of(&metadata, now),
            };
            (plan::file(method, headers, &representation), Some(File::from_std(file)))
        }
        Ok(Found::Page(html)) => (plan::page(method, headers, html), None),
        Ok(Found::Elsewhere(mut link)) => {
            if let Some(query) = head.uri.query() {
                link.push('?');
                link.push_str(query);
            }
            (plan::redirect(method, &link), None)
        }
        Err(status) => (plan::failure(method, status), None),
    }
}

/// Looks a target up, on the blocking pool unless the kernel has all of it at hand.
async fn find(site: &Site, target: Target) -> Result<Found, StatusCode> {
    if let Some(found) = lookup::at_hand(&site.root, &target) {
        return found;
    }
    let root = Arc::clone(&site.root);
    match raddle::spawn_blocking(move || lookup::find(&root, &target)).await {
        Ok(found) => found,
        // The pool is closing, or the look-up panicked.
        Err(_) => Err(StatusCode::SERVICE_UNAVAILABLE),
    }
}

fn respond(plan: Plan, file: Option<File>, receipt: Receipt) -> Response<Answer> {
    let body = match (plan.content, file) {
        (Content::Text(text), _) => Answer::text(text, receipt),
        (Content::File(span), Some(file)) => Answer::file(file, span, receipt),
        (Content::Nothing | Content::File(_), _) => Answer::nothing(receipt),
    };
    let mut response = Response::new(body);
    *response.status_mut() = plan.status;
    *response.headers_mut() = plan.headers;
    response
}

/// Reads a request's body up to a limit, or to its end or first error.
async fn discard(mut body: Incoming) {
    let mut left = DISCARDED;
    while left > 0 {
        let frame = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await;
        let Some(Ok(frame)) = frame else { return };
        let length = frame.data_ref().map_or(0, |data| data.len() as u64);
        left = left.saturating_sub(length);
    }
}
