//! Servers that do not answer.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use crate::support::{root, run};

/// A server that accepts and never answers: reported after 5 s, and given up after the given
/// time.
#[test]
fn a_silent_server_is_waited_for_aloud_and_not_for_ever() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
    let host = listener.local_addr().expect("bound").to_string();
    // The system accepts by itself.
    let url = format!("http://{host}/data.zarr");
    let begun = Instant::now();
    let output = run(&root(), &["info", &url, "--timeout", "6"]);
    let took = begun.elapsed();
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    let waiting = format!(
        "waiting: {host} has not answered for 5 s, asked to read \"zarr.json\"; tried again for up \
         to 6 s (--timeout)\n"
    );
    assert!(stderr.starts_with(&waiting), "{stderr}");
    assert_eq!(stderr.matches("waiting").count(), 1, "{stderr}");
    assert!(took > Duration::from_secs(5) && took < Duration::from_secs(40), "{took:?}");
}

#[test]
fn a_timeout_is_a_number_of_seconds() {
    for wrong in ["0", "-1", "soon", "4294967296"] {
        let output = run(&root(), &["info", "x", &format!("--timeout={wrong}")]);
        let stderr = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("--timeout"), "{stderr}");
    }
}
