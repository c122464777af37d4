//! `zarrs.squeeze`, a forerunner of `reshape`.

use crate::codec::configuration::{Configuration, Context, Input, NoConfiguration};
use crate::error::Result;
use crate::json::Object;

/// `zarrs.squeeze` has no configuration.
pub(crate) struct Squeeze;

impl Configuration for Squeeze {
    fn read(members: &mut Object<'_>, context: &mut Context<'_>) -> Result<Self> {
        NoConfiguration::read(members, context).map(|_| Squeeze)
    }

    fn output<'a>(&'a self, input: Input<'a>) -> Input<'a> {
        // The number of dimensions depends on the chunks.
        Input { rank: None, ..input }
    }
}
