//! Which requests are looked at further: a pure check of method, host and path.
//!
//! | request                                                | answer                      |
//! |--------------------------------------------------------|-----------------------------|
//! | HTTP/1.1 without Host; Host given twice or malformed   | 400 (RFC 9112, section 3.2) |
//! | method other than GET and HEAD                         | 405 with Allow              |
//! | path not in origin or absolute form, or badly encoded  | 400                         |
//! | path that nothing below DIR can have                   | 404                         |
//! | otherwise                                              | the target                  |

use hyper::header::HOST;
use hyper::http::uri::Authority;
use hyper::{HeaderMap, Method, StatusCode, Uri, Version};

use super::target::{BadTarget, Target};

/// Reads the head of a request; an error is the status to answer with.
pub(crate) fn admit(
    method: &Method,
    uri: &Uri,
    version: Version,
    headers: &HeaderMap,
) -> Result<Target, StatusCode> {
    if !host_is_legal(version, headers) {
        return Err(StatusCode::BAD_REQUEST);
    }
    if method != Method::GET && method != Method::HEAD {
        return Err(StatusCode::METHOD_NOT_ALLOWED);
    }
    Target::parse(uri.path()).map_err(|bad| match bad {
        BadTarget::Malformed => StatusCode::BAD_REQUEST,
        BadTarget::Nowhere => StatusCode::NOT_FOUND,
    })
}

/// The value itself does not matter here: there is one site, whatever it is called.
fn host_is_legal(version: Version, headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(HOST).iter();
    match (values.next(), values.next()) {
        (None, _) => version < Version::HTTP_11,
        (Some(_), Some(_)) => false,
        (Some(host), None) if host.is_empty() => true,
        (Some(host), None) => {
            Authority::try_from(host.as_bytes()).is_ok_and(|host| !host.as_str().contains('@'))
        }
    }
}

#[cfg(test)]
mod tests;
