//! Where a path may lead: index files, redirects, listings whose links work, and never out.

use super::client::{Answer, Client};
use super::setup::{ANY, Setup, Site, each_setup};

/// Asks for a path exactly as written.
fn raw(client: &mut Client, path: &[u8]) -> Answer {
    client.send([b"GET ", path, b" HTTP/1.1\r\nHost: x\r\n\r\n"].concat());
    client.answer("GET")
}

fn site() -> Site {
    let site = Site::new();
    site.file("a.txt", "inside").file("sub/inner.txt", "inner").file("page/index.html", "<p>hi");
    site.link("../secret", "out").link("..", "above").link("/etc", "absolute");
    site.link("../../secret", "sub/out").link("a.txt", "in").link("sub", "other");
    site
}

#[test]
fn no_path_leads_out() {
    let site = site();
    each_setup(|setup| {
        let server = site.serve(setup, &[]);
        let mut client = Client::connect(server.address);
        for path in [
            "/../secret",
            "/..",
            "/../",
            "/sub/../../secret",
            "/sub/../a.txt",
            "/%2e%2e/secret",
            "/%2E%2E/secret",
            "/.%2e/secret",
            "/%2e./secret",
            "/..%2fsecret",
            "/..%2Fsecret",
            "/sub/..%2f..%2fsecret",
            "/..%5csecret",
            "/%252e%252e/secret",
            "/%2fetc/passwd",
            "//etc/passwd",
            "///etc/passwd",
            "/out",
            "/above/secret",
            "/above/",
            "/absolute/passwd",
            "/sub/out",
            "/other/out",
            "/etc/passwd",
            "/proc/self/environ",
            "http://x/../secret",
            "http://x/%2e%2e/secret",
            "/../../../../../../../../etc/passwd",
            "/....//....//etc/passwd",
            "/a.txt/",
            "/a.txt/../../secret",
        ] {
            let answer = raw(&mut client, path.as_bytes());
            assert_eq!((answer.status, answer.text()), (404, "404 Not Found\n"), "{path}");
        }
        for path in ["/%00", "/a.txt%00", "/a.txt%00.html", "/%", "/%zz", "/%c"] {
            assert_eq!(raw(&mut client, path.as_bytes()).status, 400, "{path}");
        }
        assert_eq!(raw(&mut client, b"/a.txt").text(), "inside");
        server.stop();
    });
}

/// Forms that the parser below us refuses, and those that it lets through.
#[test]
fn targets_that_are_no_paths() {
    let site = site();
    let server = site.serve(ANY, &[]);
    for path in ["a.txt", "../secret", "*", "/a b", "/\0", "", "etc/passwd", "\\..\\secret"] {
        let mut client = Client::connect(server.address);
        let answer = raw(&mut client, path.as_bytes());
        assert!(matches!(answer.status, 400 | 404), "{path:?}: {answer:?}");
        assert!(!answer.text().contains("secret"));
    }
    let mut client = Client::connect(server.address);
    assert_eq!(raw(&mut client, b"http://elsewhere.example/a.txt").text(), "inside");
    assert_eq!(raw(&mut client, b"/a.txt?x=/../../secret").text(), "inside");
    assert_eq!(raw(&mut client, b"/./sub//./inner.txt").text(), "inner");
    assert_eq!(raw(&mut client, b"/%61%2etxt").text(), "inside");
    server.stop();
}

#[test]
fn links_inside_are_followed() {
    let site = site();
    each_setup(|setup| {
        let server = site.serve(setup, &[]);
        let mut client = Client::connect(server.address);
        assert_eq!(client.get("/in").text(), "inside");
        assert_eq!(client.get("/other/inner.txt").text(), "inner");
        server.stop();
    });
}

#[test]
fn directories() {
    let site = site();
    each_setup(|setup| {
        let server = site.serve(setup, &[]);
        let mut client = Client::connect(server.address);
        let index = client.get("/page/");
        assert_eq!((index.status, index.text()), (200, "<p>hi"));
        assert_eq!(index.must("content-type"), "text/html; charset=utf-8");
        for (path, location) in [
            ("/page", "/page/"),
            ("/page?a=b&c", "/page/?a=b&c"),
            ("//page", "/page/"),
            ("///other", "/other/"),
        ] {
            let moved = client.get(path);
            assert_eq!((moved.status, moved.must("location")), (301, location));
        }
        let listing = client.get("/");
        assert_eq!(listing.must("content-type"), "text/html; charset=utf-8");
        let head = client.ask("HEAD", "/", &[]);
        assert_eq!(head.length(), listing.body.len());
        assert_eq!(links(&listing), ["other/", "page/", "sub/", "a.txt", "in"]);
        assert_eq!(links(&client.get("/sub/")), ["../", "inner.txt"]);
        server.stop();
    });
}

/// The targets of a page's links.
fn links(page: &Answer) -> Vec<String> {
    let parts = page.text().split("href=\"").skip(1);
    parts.map(|part| part.split('"').next().expect("closed").to_owned()).collect()
}

#[test]
fn hidden_files_are_served_only_when_asked_for() {
    let site = site();
    site.file(".env", "KEY").file("sub/.git/config", "url").file(".well-known/x", "known");
    let server = site.serve(ANY, &[]);
    let mut client = Client::connect(server.address);
    let paths = ["/.env", "/%2eenv", "/sub/.git/config", "/sub/.git/", "/.well-known/x"];
    for path in paths {
        assert_eq!(client.get(path).status, 404, "{path}");
    }
    assert!(!links(&client.get("/")).iter().any(|link| link.starts_with('.')));
    server.stop();
    let server = site.serve(ANY, &["--hidden"]);
    let mut client = Client::connect(server.address);
    for path in paths {
        assert_eq!(client.get(path).status, 200, "{path}");
    }
    assert_eq!(client.get("/.env").text(), "KEY");
    assert_eq!(links(&client.get("/sub/")), ["../", ".git/", "inner.txt"]);
    server.stop();
}

/// Every link of a listing is followed, for names that need encoding.
#[test]
fn listed_links_lead_to_their_files() {
    use std::os::unix::ffi::OsStrExt as _;
    let site = Site::new();
    let names: [&[u8]; 12] = [
        b"plain.txt",
        b"with space",
        b"per%cent",
        b"%2e%2e",
        b"quote\"s",
        b"<b>&amp;",
        b"a:b",
        b"que?ry",
        b"ha#sh",
        b"new\nline",
        "\u{e9}t\u{e9}".as_bytes(),
        b"\xff\xfe",
    ];
    for name in names {
        let path = site.dir().join(std::ffi::OsStr::from_bytes(name));
        std::fs::write(path, name).expect("file");
    }
    let server = site.serve(ANY, &[]);
    let mut client = Client::connect(server.address);
    let page = client.get("/");
    assert!(!page.text().contains("<b>") && !page.text().contains("<b&"));
    let mut found: Vec<_> = links(&page)
        .iter()
        .map(|link| {
            assert!(link.bytes().all(|byte| byte.is_ascii_graphic()), "{link}");
            client.get(&format!("/{link}")).body
        })
        .collect();
    let mut wanted: Vec<_> = names.iter().map(|name| name.to_vec()).collect();
    found.sort();
    wanted.sort();
    assert_eq!(found, wanted);
    server.stop();
}

#[test]
fn what_is_no_file_is_not_found_and_hangs_nobody() {
    let site = site();
    let fifo = site.dir().join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().expect("coreutils");
    assert!(made.success());
    let _socket = std::os::unix::net::UnixListener::bind(site.dir().join("socket"));
    site.link("/dev/zero", "zero").link("fifo", "to-fifo");
    let one = Setup { io: None, workers: 1 };
    let server = site.serve(one, &[]);
    let mut client = Client::connect(server.address);
    for path in ["/fifo", "/to-fifo", "/socket", "/zero"] {
        assert_eq!(client.get(path).status, 404, "{path}");
    }
    let page = client.get("/");
    for name in ["fifo", "socket", "zero", "out", "above"] {
        assert!(!links(&page).iter().any(|link| link.contains(name)), "{name} is listed");
    }
    server.stop();
}
