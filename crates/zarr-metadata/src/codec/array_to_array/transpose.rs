//! `transpose`.

use std::fmt::Write;

use crate::codec::configuration::{Configuration, Context, Input, Members, dimension};
use crate::error::rule::Rule;
use crate::error::{At, MetadataError, Result};
use crate::json::{Object, read_elements};
use crate::limits::check_rank;

/// The configuration of `transpose`.
///
/// # Examples
/// ```
/// use zarr_metadata::{Codec, Transpose};
///
/// let json = br#"{"name": "transpose", "configuration": {"order": [1, 0]}}"#;
/// assert_eq!(Codec::from_json(json)?, Codec::Transpose(Transpose::new([1, 0])));
/// # Ok::<(), zarr_metadata::MetadataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Transpose {
    /// A permutation: output dimension `i` is input dimension `order[i]`.
    pub order: Vec<usize>,
}

impl Transpose {
    /// A transpose: output dimension `i` is input dimension `order[i]`.
    pub fn new(order: impl Into<Vec<usize>>) -> Self {
        Transpose { order: order.into() }
    }
}

impl Configuration for Transpose {
    fn read(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Self> {
        const ALLOWED: &str = "a permutation of the dimensions such as [1, 0]";
        members.check_known(&["order"])?;
        let raw = members.require("order", ALLOWED)?;
        let allowed = match raw.text() {
            r#""C""# => "a permutation: \"C\" is [0, 1, ...], the order that needs no transpose",
            r#""F""# => "a permutation: \"F\" is the dimensions reversed, [1, 0] for two of them",
            _ => ALLOWED,
        };
        let order =
            read_elements(raw, allowed, dimension).breaks(Rule::TRANSPOSE_ORDER).member("order")?;
        check_rank(order.len()).member("order")?;
        let mut seen = vec![false; order.len()];
        for (index, &dim) in order.iter().enumerate() {
            let error = |allowed: String| {
                let error = MetadataError::unexpected(dim.to_string(), allowed);
                let error = error.breaks(Rule::TRANSPOSE_PERMUTATION);
                Err(error.in_element(index).in_member("order"))
            };
            match seen.get_mut(dim) {
                Some(seen) if !*seen => *seen = true,
                Some(_) => return error("each dimension once".to_owned()),
                None => return error(format!("a dimension below {}", order.len())),
            }
        }
        Ok(Transpose { order })
    }

    fn write(&self, members: &mut Members<'_>) {
        let _infallible = write!(members.begin("order"), "{:?}", self.order);
    }

    fn check(&self, input: Input<'_>) -> Result<()> {
        match input.rank {
            Some(rank) if rank != self.order.len() => {
                let found = format!("length {}", self.order.len());
                let allowed = format!("length {rank}, the rank of the input");
                let error = MetadataError::unexpected(found, allowed);
                Err(error.breaks(Rule::TRANSPOSE_RANK).in_member("order"))
            }
            _ => Ok(()),
        }
    }
}
