//! What clients are given in confidence is in no error, and in no `Debug`.

use std::time::Duration;

use zarr_store::{Key, StoreExt as _, StoreOptions, open_url};

/// Would be noticed in any text.
const SECRET: &str = "zQ7secretX4";

/// Opens and reads; all that can be shown of it.
fn shown(url: &str, settings: &[(&str, &str)]) -> String {
    let mut options = StoreOptions::new().retries(0, Duration::from_secs(1));
    for (name, value) in settings {
        options = options.setting(*name, *value);
    }
    let mut text = format!("{options:?}\n");
    match open_url(url, &options) {
        Ok(store) => {
            let place = store.location(&zarr_store::Prefix::root());
            text.push_str(&format!("{store:?}\n{place:?}\n"));
            let key = Key::new("zarr.json").unwrap();
            for error in
                [store.read(&key).map(drop), store.put(&key, b"{}")].map(Result::unwrap_err)
            {
                text.push_str(&format!("{error}\n{error:?}\n"));
            }
        }
        Err(error) => text.push_str(&format!("{error}\n{error:?}\n")),
    }
    text
}

#[test]
fn settings_are_not_shown() {
    let fill = |text: &str| text.replace("SECRET", SECRET);
    let endpoint = fill("http://user:SECRET@127.0.0.1:1/?SECRET");
    let broken = fill("http://user:SECRET@127.0.0.1:port");
    let signature = fill("sv=1&sig=SECRET");
    let not_pairs = fill("SECRET%zz");
    let account = fill(r#"{"private_key": "SECRET", "client_email": "SECRET"}"#);
    let not_json = fill("{SECRET");
    let not_header = fill("SECRET\n");
    let keys = [("access_key_id", SECRET), ("secret_access_key", SECRET)];
    let azure =
        [("account_name", "account"), ("endpoint", "http://127.0.0.1:1"), ("allow_http", "true")];
    let s3 = |more: &[(&str, &str)]| shown("s3://bucket/x", &[&keys[..], more].concat());
    let az = |more: &[(&str, &str)]| shown("az://container/x", &[&azure[..], more].concat());
    let gs = |more: &[(&str, &str)]| shown("gs://bucket/x", more);
    let http = |more: &[(&str, &str)]| shown("http://127.0.0.1:1/x", more);
    let texts = [
        s3(&[("endpoint", "http://127.0.0.1:1"), ("allow_http", "true")]),
        s3(&[("endpoint", &endpoint), ("allow_http", "true")]),
        s3(&[("endpoint", &endpoint)]),
        s3(&[("endpoint", &broken)]),
        s3(&[("token", &not_header), ("endpoint", "http://127.0.0.1:1"), ("allow_http", "true")]),
        s3(&[("proxy_url", &broken)]),
        s3(&[(SECRET, "value of an unknown option")]).replace(SECRET, "a name"),
        az(&[("account_key", SECRET)]),
        az(&[("account_key", "c2VjcmV0")]),
        az(&[("sas_key", &signature)]),
        az(&[("sas_key", &not_pairs)]),
        az(&[("bearer_token", &not_header)]),
        gs(&[("service_account_key", &account)]),
        gs(&[("service_account_key", &not_json)]),
        gs(&[("service_account_key", SECRET)]),
        http(&[("proxy_url", &broken)]),
        http(&[("proxy_url", &endpoint)]),
        shown(&fill("http://user:SECRET@127.0.0.1:1/x"), &[]),
        shown(&fill("http://127.0.0.1:1/x?sig=SECRET"), &[]),
        shown(&fill("https://account.blob.core.windows.net/c/x?sig=SECRET"), &[]),
    ];
    for text in texts {
        assert!(!text.contains(SECRET), "{text}");
        assert!(text.lines().count() > 2, "{text}");
    }
}

#[test]
fn a_user_in_a_url_is_refused_and_a_container_is_none() {
    let options = StoreOptions::new();
    let error = open_url("https://me:word@host/a", &options).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot open \"https://host/a\": a store's URL has no user and password; the environment or \
         options have them"
    );
    let container = "abfss://container@account.dfs.core.windows.net/a";
    assert!(open_url(container, &options.setting("skip_signature", "true")).is_ok());
}
