//! Pages in a real browser: nothing is fetched, nothing goes wrong, every picture has a size and its labels are whole.
//!
//! The page is shown in two frames, as wide as a phone and as a desktop, of a page whose script measures what is there; the
//! browser prints that page when it has loaded, logs what pages say on their consoles, and logs every request with who
//! made it. No name is resolved, so that nothing leaves the machine.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::room::Room;

const PATIENCE: Duration = Duration::from_secs(60);

/// Measures the pages in the frames when everything has loaded.
const MEASURE: &str = r#"
addEventListener("load", () => {
  const faults = [];
  let nPictures = 0;
  for (const frame of document.querySelectorAll("iframe")) {
    const page = frame.contentDocument, at = ` at ${frame.width} pixels`;
    if (page.documentElement.scrollWidth > page.documentElement.clientWidth + 1) faults.push(`the page scrolls sideways${at}`);
    for (const picture of page.querySelectorAll("svg")) {
      nPictures += 1;
      const outer = picture.getBoundingClientRect(), name = picture.querySelector("title")?.textContent;
      if (!name) faults.push(`a picture without title${at}`);
      if (outer.width < 10 || outer.height < 10) faults.push(`picture "${name}" has no size${at}`);
      const texts = [...picture.querySelectorAll("text")].map(text => {
        const r = text.getBoundingClientRect();
        return {words: text.firstChild?.textContent, left: r.left, right: r.right, top: r.top + r.height / 5, bottom: r.bottom - r.height / 5};
      });
      texts.forEach((a, k) => {
        if (a.left < outer.left - 1 || a.right > outer.right + 1 || a.top < outer.top - 1 || a.bottom > outer.bottom + 1)
          faults.push(`"${a.words}" is cut off in picture "${name}"${at}`);
        for (const b of texts.slice(k + 1))
          if (a.left + 1 < b.right && b.left + 1 < a.right && a.top < b.bottom && b.top < a.bottom)
            faults.push(`"${a.words}" and "${b.words}" overlap in picture "${name}"${at}`);
      });
    }
  }
  document.getElementById("findings").textContent = JSON.stringify({faults, nPictures});
});
"#;

/// What the browser found out about a page.
#[derive(Debug)]
pub(crate) struct Seen {
    /// What is wrong with it.
    pub(crate) faults: Vec<String>,
    /// How many pictures it has.
    pub(crate) n_pictures: usize,
}

/// Opens the page and fails on whatever is wrong with it; without a browser, says that `test` was skipped.
#[track_caller]
pub(crate) fn check_page(test: &str, page: &Path, n_pictures: usize) {
    let Some(seen) = open(test, page) else { return };
    assert!(seen.faults.is_empty(), "{}:\n{}", page.display(), seen.faults.join("\n"));
    assert_eq!(seen.n_pictures, n_pictures, "{}", page.display());
}

/// Opens a page; `None`, and a line that says so, without a browser.
pub(crate) fn open(test: &str, page: &Path) -> Option<Seen> {
    let Some(browser) = browser() else {
        // Straight to standard error: what a passing test prints is not shown.
        let line = format!("skipped: {test} (no chromium, chromium-browser or google-chrome on the PATH)\n");
        std::io::stderr().write_all(line.as_bytes()).unwrap();
        return None;
    };
    let room = tempfile::tempdir().unwrap();
    let file = |name: &str| room.path().join(name);
    let frame = |width: u32| format!("<iframe src=\"{}\" width=\"{width}\" height=\"800\"></iframe>", address(page));
    let wrapper = format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><pre id=\"findings\"></pre>{}{}<script>{MEASURE}</script>",
        frame(320),
        frame(1200)
    );
    std::fs::write(file("wrapper.html"), wrapper).unwrap();
    let mut child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"])
        .args(["--disable-background-networking", "--disable-component-update", "--allow-file-access-from-files"])
        .args(["--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr", "--v=0", "--dump-dom"])
        .arg(format!("--user-data-dir={}", file("profile").display()))
        .arg(format!("--log-net-log={}", file("requests.json").display()))
        .arg(address(&file("wrapper.html")))
        .stdin(Stdio::null())
        .stdout(File::create(file("out")).unwrap())
        .stderr(File::create(file("err")).unwrap())
        .spawn()
        .unwrap();
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("the browser did not end within {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let read = |name: &str| String::from_utf8_lossy(&std::fs::read(file(name)).unwrap()).into_owned();
    let log = read("err");
    assert!(status.success(), "the browser failed: {status}\n{log}");
    let mut seen = findings(&read("out"));
    let console = log.lines().filter(|line| line.contains(":CONSOLE"));
    seen.faults.extend(console.map(|line| format!("console: {}", line.split(":CONSOLE").nth(1).unwrap_or(line))));
    seen.faults.extend(requests(&read("requests.json")).into_iter().map(|url| format!("request: {url}")));
    Some(seen)
}

/// The first browser on the PATH.
fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let places = names.iter().flat_map(|name| std::env::split_paths(&path).map(move |directory| directory.join(name)));
    places.into_iter().find(|place| place.is_file())
}

fn address(path: &Path) -> String {
    let path = path.canonicalize().unwrap();
    let escaped = path.to_str().unwrap().replace('%', "%25").replace(' ', "%20").replace('#', "%23");
    format!("file://{escaped}")
}

/// What the script wrote into the page.
fn findings(dom: &str) -> Seen {
    let inner = dom.split("<pre id=\"findings\">").nth(1).and_then(|rest| rest.split("</pre>").next());
    let inner = inner.unwrap_or_else(|| panic!("no findings in {dom}"));
    let json = inner.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", "\u{a0}").replace("&amp;", "&");
    let value: Value = serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error} in {json:?}"));
    let faults = value["faults"].as_array().unwrap().iter().map(|fault| fault.as_str().unwrap().to_string());
    // Two frames show the same page.
    Seen { faults: faults.collect(), n_pictures: value["nPictures"].as_u64().unwrap() as usize / 2 }
}

/// What pages asked for beside files and data; the browser's own requests have no page that made them.
fn requests(log: &str) -> Vec<String> {
    let log: Value = serde_json::from_str(log).unwrap();
    let events = log["events"].as_array().unwrap();
    assert!(!events.is_empty(), "the log of requests is empty");
    let request = |event: &Value| {
        let params = &event["params"];
        let (url, who) = (params["url"].as_str()?, params["initiator"].as_str()?);
        let is_own = url.starts_with("file:") || url.starts_with("data:");
        (who != "not an origin" && !is_own).then(|| url.to_string())
    };
    events.iter().filter_map(request).collect()
}

/// A page with this body.
fn page(body: &str) -> String {
    format!("<!DOCTYPE html><meta charset=\"utf-8\"><link rel=\"icon\" href=\"data:,\">{body}")
}

#[test]
fn faults_are_seen() {
    let picture = |size: &str, inside: &str| format!("<svg {size}>{inside}</svg>");
    let square = "width=\"99\" height=\"99\"";
    // Each with the fault that has to be found.
    let cases = [
        ("<img src=\"http://pictures.example/cat.png\">".into(), "request: http://pictures.example/cat.png"),
        (
            "<style>@font-face{font-family:f;src:url(https://fonts.example/f.woff2)}p{font-family:f}</style><p>x</p>"
                .into(),
            "request: https://fonts.example/f.woff2",
        ),
        ("<script>nobody.knows()</script>".into(), "nobody is not defined"),
        ("<script>console.error('told')</script>".into(), "told"),
        (picture("width=\"99\" height=\"0\"", "<title>flat</title>"), "picture \"flat\" has no size"),
        (picture(square, ""), "a picture without title"),
        (
            picture(square, "<title>cut</title><text x=\"70\" y=\"20\">too long</text>"),
            "\"too long\" is cut off in picture \"cut\"",
        ),
        (
            picture(square, "<title>over</title><text x=\"9\" y=\"20\">one</text><text x=\"12\" y=\"22\">two</text>"),
            "\"one\" and \"two\" overlap in picture \"over\"",
        ),
        ("<div style=\"width:900px\">x</div>".into(), "the page scrolls sideways at 320 pixels"),
    ];
    let room = Room::new();
    let bodies: Vec<&str> = cases.iter().map(|(body, _)| body.as_str()).collect();
    room.write("bad #1.html", &page(&bodies.concat()));
    let Some(bad) = open("faults_are_seen", &room.path("bad #1.html")) else { return };
    for (body, fault) in &cases {
        assert!(bad.faults.iter().any(|found| found.contains(fault)), "{body}: no {fault:?} in {:#?}", bad.faults);
    }
    assert_eq!(bad.n_pictures, 4);

    // What the page's own policy forbids is not asked for, but told.
    let policy = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'\">";
    room.write("policy.html", &page(&format!("{policy}{}", bodies[0])));
    let forbidden = open("faults_are_seen", &room.path("policy.html")).unwrap();
    assert!(forbidden.faults.iter().all(|fault| fault.starts_with("console: ")), "{:?}", forbidden.faults);
    assert!(!forbidden.faults.is_empty());

    let fine = picture(square, "<title>fine</title><text x=\"9\" y=\"20\">one</text><text x=\"9\" y=\"60\">two</text>");
    room.write("fine.html", &page(&fine));
    let fine = open("faults_are_seen", &room.path("fine.html")).unwrap();
    assert_eq!((fine.faults, fine.n_pictures), (vec![], 1));
}

#[test]
fn a_report_is_sound_in_a_browser() {
    let room = Room::with_model();
    room.run("report model --pairs test.csv -o report.html --svg pictures").ends(0);
    check_page("a_report_is_sound_in_a_browser", &room.path("report.html"), 5);
}

#[test]
fn a_report_with_hostile_names_is_sound_in_a_browser() {
    let room = Room::new();
    room.write_hostile_tables();
    room.run("train --pairs pairs.csv --items items.csv --scale standard -o model").ends(0);
    room.run("report model --pairs pairs.csv --items items.csv -o report.html").ends(0);
    check_page("a_report_with_hostile_names_is_sound_in_a_browser", &room.path("report.html"), 3);
}
