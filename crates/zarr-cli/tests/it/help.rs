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
        "resize",
        "append",
        "tree",
        "attrs",
        "consolidate",
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
