use zarr_store::{Key, KeyError, MAX_KEY_LEN, MemoryStore, Prefix, StoreExt as _};

#[test]
fn keys_that_lead_elsewhere_are_refused() {
    let mut messages = Vec::new();
    for text in [
        "", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/..", "a/../b", "a/./b", "./a", "a\\b",
        "..\\a", "a\0b", "C:\\x",
    ] {
        let error = Key::new(text).unwrap_err();
        let is_expected = match text {
            "" | "/" | "/a" | "a/" | "a//b" => matches!(error, KeyError::EmptySegment { .. }),
            _ if text.contains(['\\', '\0']) => matches!(error, KeyError::Character { .. }),
            _ => matches!(error, KeyError::DotSegment { .. }),
        };
        assert!(is_expected, "{error:?}");
        messages.push(error.to_string());
        if !text.is_empty() {
            assert_eq!(Prefix::new(text).unwrap_err(), error);
            assert!(Prefix::new("p").unwrap().key(text).is_err());
            assert!(Prefix::new("p").unwrap().join(text).is_err());
        }
    }
    let long = "a".repeat(MAX_KEY_LEN + 1);
    messages.push(Key::new(&long).unwrap_err().to_string());
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn ordinary_keys_are_accepted() {
    let longest = "a".repeat(MAX_KEY_LEN);
    for text in
        ["a", "zarr.json", "c/0/1", "0.0", "...", "..a", "a..", ".hidden/x", "a b", "é/𝄞", &longest]
    {
        assert_eq!(Key::new(text).unwrap().as_str(), text);
        assert_eq!(Prefix::new(text).unwrap().as_str(), text);
    }
    // Too long only together.
    assert!(matches!(Prefix::new("p").unwrap().key(&longest), Err(KeyError::TooLong { .. })));
}

#[test]
fn prefixes_and_keys_go_together() {
    let root = Prefix::root();
    let array = root.join("g/a").unwrap();
    let chunk = array.key("c/0").unwrap();
    assert_eq!(chunk.as_str(), "g/a/c/0");
    assert_eq!(chunk.name(), "0");
    assert_eq!(chunk.parent().as_str(), "g/a/c");
    assert_eq!(array.strip(&chunk), Some("c/0"));
    assert_eq!(root.strip(&chunk), Some("g/a/c/0"));
    assert_eq!(Prefix::new("g/a/c/0").unwrap().strip(&chunk), None);
    assert_eq!(array.join("").unwrap(), array);
    assert_eq!(Prefix::new("").unwrap(), root);
    let parents: Vec<String> =
        std::iter::successors(Some(array), Prefix::parent).map(|p| p.to_string()).collect();
    assert_eq!(parents, ["g/a", "g", ""]);
    assert_eq!(Key::new("x").unwrap().parent(), root);
}

#[test]
fn keys_are_case_sensitive() {
    let store = MemoryStore::new();
    let [lower, upper] = ["foo", "FOO"].map(|text| Key::new(text).unwrap());
    store.put(&lower, b"old").unwrap();
    store.put(&upper, b"2").unwrap();
    store.put(&lower, b"1").unwrap();
    assert_eq!(store.read(&lower).unwrap().as_deref(), Some(&b"1"[..]));
    assert_eq!(store.read(&upper).unwrap().as_deref(), Some(&b"2"[..]));
}
