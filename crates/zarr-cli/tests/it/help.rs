//! Help, version and completions.

use crate::support::{root, session, text};

#[test]
fn every_command_explains_itself() {
    let commands = [
        "info",
        "read",
        "write",
        "create",
        "copy",
        "join",
        "check",
        "locate",
        "plan",
        "draw",
        "stats",
        "advise",
        "diff",
        "resize",
        "append",
        "rearrange",
        "tree",
        "attrs",
        "consolidate",
        "export",
        "delete",
        "completions",
    ];
    let help: Vec<[&str; 2]> = commands.iter().map(|command| [*command, "--help"]).collect();
    let mut all: Vec<&[&str]> = vec![&["--help"]];
    all.extend(help.iter().map(|command| &command[..]));
    insta::assert_snapshot!(session(&root(), &all));
}

#[test]
fn completions_know_all_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = text(&root(), &["completions", shell]);
        for word in ["locate", "--region", "--explain"] {
            let word = if shell == "fish" { word.trim_start_matches('-') } else { word };
            assert!(script.contains(word), "{shell} has no {word}");
        }
    }
}

#[test]
fn man_pages_and_completions_lie_where_they_are_found() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let place = folder.path().join("share").display().to_string();
    let output = crate::support::run(&root(), &["completions", "--into", &place]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read =
        |name: &str| std::fs::read_to_string(folder.path().join("share").join(name)).expect(name);
    for name in [
        "bash-completion/completions/zarr-kit",
        "zsh/site-functions/_zarr-kit",
        "fish/vendor_completions.d/zarr-kit.fish",
    ] {
        assert!(read(name).contains("consolidate"), "{name}");
    }
    assert!(read("man/man1/zarr-kit.1").contains(".TH zarr-kit 1"));
    assert!(read("man/man1/zarr-kit-read.1").contains("\\-\\-region"));
}
