//! `resize`.

use crate::support::{run_with, session, succeed, text};

#[test]
fn sd_08_edges_keep_and_discard() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let create = [
        "create", "a", "--shape", "59,2", "--dtype", "uint8", "--chunks", "31|28,2", "--dims",
        "time,x",
    ];
    succeed(folder, &create);
    assert!(run_with(folder, &["write", "a", "--from", "-"], &[7; 118]).status.success());
    insta::assert_snapshot!(session(
        folder,
        &[
            &["resize", "a", "--shape", "90,2", "--edges", "time=31"],
            &["info", "a"],
            &["resize", "a", "--shape", "150,2"],
            &["resize", "a", "--shape", "30,1"],
            &["resize", "a", "--shape", "59,2"],
            &["read", "a", "--region", "28:33"],
            &["resize", "a", "--shape", "30,1", "--discard"],
            &["resize", "a", "--shape", "59,2"],
            &["read", "a", "--region", "28:33"],
            &["check", "a", "--data"],
            &["resize", "a", "--shape", "59"],
            &["resize", "a", "--shape", "200,2", "--edges", "time=5"],
            &["resize", "a", "--shape", "200,2", "--edges", "31|x"],
            &["resize", "a", "--shape", "59,9", "--edges", "x=5"],
            &["resize", "a", "--shape", "59,2", "--edges", "y=5"],
        ],
    ));
    assert!(text(folder, &["info", "a"]).contains("59"));
}
