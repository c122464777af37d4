//! `locate` and `plan`.

use crate::support::{root, session};

#[test]
fn where_elements_are() {
    const RANGE: &str = "fixtures/seattle-weather.zarr/temp_range_12bit";
    const TENTHS: &str = "fixtures/seattle-weather.zarr/temp_max_12bit";
    const RAIN: &str = "fixtures/seattle-weather.zarr/rain";
    insta::assert_snapshot!(session(
        &root(),
        &[
            &["locate", RANGE, "31,1"],
            &["locate", RANGE, "-1,0", "--json"],
            &["locate", TENTHS, "59"],
            &["locate", RAIN, "225"],
            &["locate", RANGE, "31"],
            &["locate", RANGE, "1461,0"],
            &["locate", RANGE, "x"],
        ],
    ));
}

#[test]
fn what_a_read_touches() {
    const DAILY: &str = "fixtures/seattle-weather.zarr/daily";
    const RAIN: &str = "fixtures/seattle-weather.zarr/rain";
    insta::assert_snapshot!(session(
        &root(),
        &[
            &["plan", DAILY, "--region", "28:64,1:3"],
            &["plan", DAILY, "--region", "28:34", "--json"],
            &["plan", RAIN, "--region", "200:260"],
            &["plan", RAIN, "--region", "5:5"],
        ],
    ));
}
