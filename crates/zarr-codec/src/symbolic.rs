//! Shapes of all occupied chunks at once.
//!
//! On a rectilinear grid one chain applies to many chunk shapes, and its constraints must hold for
//! each (SD-24). The shapes are the full product of the axes' edges, so the check does not visit
//! them. Every dimension, at any depth of the chain, is a constant times the edges of some grid
//! axes, and each axis occurs in at most one dimension. Two questions can then be answered for all
//! shapes:
//!
//! - *are two products equal?* After common axes cancel, exactly if each remaining axis has one
//!   distinct edge and the numbers match: varying one edge alone changes only one side;
//! - *does `c` divide this product?* Exactly if `c` divides the product of the axes' greatest
//!   common divisors, since the greatest common divisor of all products `a b` is `gcd(A) gcd(B)`.
//!
//! An axis with one distinct edge is a number, and becomes part of the constants from the start. So
//! only varying axes remain in a dimension. A concrete chunk shape is the special case in which no
//! axis varies.
//!
//! A hostile document may have a thousand dimensions and a thousand codecs on them: everything
//! here takes time in proportion to the number of dimensions. [`Balance`] compares all prefixes
//! of two lists in one pass.

// Edges come from documents, and are multiplied.
#![warn(clippy::arithmetic_side_effects)]

use core::fmt;
use core::num::NonZero;

use zarr_metadata::Rule;

use crate::error::ChainErrorKind;

/// The condition of a chain on the edges of one grid axis's occupied chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxisEdges {
    min: u64,
    max: u64,
    gcd: u64,
}

impl AxisEdges {
    /// An axis of occupied chunks that all have the length `edge`.
    #[must_use]
    pub const fn one(edge: u64) -> Self {
        Self { min: edge, max: edge, gcd: edge }
    }

    /// An axis without occupied chunks: every constraint holds.
    #[must_use]
    pub const fn empty() -> Self {
        Self { min: 0, max: 0, gcd: 0 }
    }

    /// The axis with these edges; the order and repetitions do not matter.
    #[must_use]
    pub fn of(edges: impl IntoIterator<Item = u64>) -> Self {
        edges.into_iter().fold(Self::empty(), |axis, edge| Self {
            min: if axis.is_empty() { edge } else { axis.min.min(edge) },
            max: axis.max.max(edge),
            gcd: gcd(axis.gcd.into(), edge.into()).try_into().unwrap_or(edge),
        })
    }

    /// Whether the axis has no occupied chunk.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.max == 0
    }

    /// The edge of all occupied chunks, if it is the same.
    #[must_use]
    pub const fn single(&self) -> Option<u64> {
        if self.min == self.max && self.max > 0 { Some(self.max) } else { None }
    }

    /// The longest edge.
    #[must_use]
    pub const fn max(&self) -> u64 {
        self.max
    }
}

impl fmt::Display for AxisEdges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.single() {
            Some(edge) => write!(f, "{edge}"),
            None => write!(f, "{} to {}", self.min, self.max),
        }
    }
}

/// The size of one dimension for all chunks: `numerator / denominator` times the edges of `axes`.
///
/// The fraction is in lowest terms. The edges make the size a whole number: for example, half of an
/// axis of even edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dimension {
    numerator: u128,
    denominator: u128,
    axes: Vec<usize>,
}

impl Dimension {
    pub(crate) fn constant(size: u64) -> Self {
        Self { numerator: size.into(), denominator: 1, axes: Vec::new() }
    }

    fn axis(axis: usize) -> Self {
        Self { numerator: 1, denominator: 1, axes: vec![axis] }
    }

    /// Multiplies a running product.
    fn times_number(&mut self, other: &Self) -> Result<(), ChainErrorKind> {
        self.numerator = multiply(self.numerator, other.numerator)?;
        self.denominator = multiply(self.denominator, other.denominator)?;
        if let Some(common) = NonZero::new(gcd(self.numerator, self.denominator)) {
            self.numerator /= common;
            self.denominator /= common;
        }
        Ok(())
    }

    fn times(mut self, other: &Self) -> Result<Self, ChainErrorKind> {
        self.times_number(other)?;
        self.axes.extend_from_slice(&other.axes);
        Ok(self)
    }
}

/// The shape of all occupied chunks at some depth of a chain.
#[derive(Clone, Debug)]
pub(crate) struct Shape<'a> {
    pub(crate) dimensions: Vec<Dimension>,
    edges: &'a [AxisEdges],
    /// Whether there is no occupied chunk at all, so that every constraint holds.
    vacuous: bool,
}

impl<'a> Shape<'a> {
    /// The shape of the grid's chunks: one dimension per axis.
    pub(crate) fn of_grid(edges: &'a [AxisEdges]) -> Result<Self, ChainErrorKind> {
        let vacuous = edges.iter().any(AxisEdges::is_empty);
        let dimensions = edges.iter().enumerate().map(|(axis, edges)| match edges.single() {
            // Without chunks the product of the edges has no bound.
            Some(edge) if !vacuous => Dimension::constant(edge),
            _ => Dimension::axis(axis),
        });
        let shape = Self { dimensions: dimensions.collect(), edges, vacuous };
        // Every number below divides or equals a product of some dimensions of some chunk, so
        // none can overflow once the largest chunk is known to be countable.
        if !shape.is_vacuous() {
            let most = edges.iter().map(|axis| axis.max);
            most.clone().try_fold(1_u64, u64::checked_mul).ok_or_else(|| {
                let shape: Vec<u64> = most.collect();
                let reason = format!("a chunk of shape {shape:?} has more than 2^64 elements");
                ChainErrorKind::broken(Rule::CHUNK_TOO_LARGE, "", reason)
            })?;
        }
        Ok(shape)
    }

    /// The edges of the inner chunks of arrays of this shape: none if there is no such array.
    pub(crate) fn inner_edges(&self, inner_shape: &[u64]) -> Vec<AxisEdges> {
        let edges = |size: &u64| match self.is_vacuous() {
            true => AxisEdges::empty(),
            false => AxisEdges::one(*size),
        };
        inner_shape.iter().map(edges).collect()
    }

    pub(crate) fn with(&self, dimensions: Vec<Dimension>) -> Self {
        Self { dimensions, ..*self }
    }

    pub(crate) fn rank(&self) -> usize {
        self.dimensions.len()
    }

    /// Whether there is no occupied chunk, so that every constraint holds.
    pub(crate) fn is_vacuous(&self) -> bool {
        self.vacuous
    }

    /// The product of some dimensions.
    pub(crate) fn product<'d>(
        dimensions: impl IntoIterator<Item = &'d Dimension>,
    ) -> Result<Dimension, ChainErrorKind> {
        dimensions.into_iter().try_fold(Dimension::constant(1), Dimension::times)
    }

    /// Whether two products are equal in every chunk.
    pub(crate) fn equal(&self, a: &Dimension, b: &Dimension) -> Result<bool, ChainErrorKind> {
        let mut balance = Balance::new(self);
        balance.left(a)?;
        balance.right(b)?;
        balance.is_even()
    }

    /// `dimension / divisor`, if `divisor` divides it in every chunk.
    pub(crate) fn divided(
        &self,
        dimension: &Dimension,
        divisor: u64,
    ) -> Result<Option<Dimension>, ChainErrorKind> {
        let mut quotient = dimension.clone();
        quotient.times_number(&Dimension {
            numerator: 1,
            denominator: divisor.into(),
            axes: Vec::new(),
        })?;
        if self.is_vacuous() {
            return Ok(Some(quotient));
        }
        let gcds = quotient.axes.iter().filter_map(|axis| self.edges.get(*axis));
        let sure = gcds.map(|axis| u128::from(axis.gcd)).try_fold(1, multiply)?;
        Ok(sure.is_multiple_of(quotient.denominator).then_some(quotient))
    }

    /// The dimension's size, if it is the same in every chunk.
    pub(crate) fn size(&self, dimension: &Dimension) -> Option<u64> {
        self.of_edges(dimension, AxisEdges::single)
    }

    /// The dimension's smallest size; `None` without chunks.
    pub(crate) fn least(&self, dimension: &Dimension) -> Option<u64> {
        self.of_edges(dimension, |edges| Some(edges.min).filter(|_| !self.vacuous))
    }

    /// The dimension's size where axes have the edges that are chosen.
    fn of_edges(
        &self,
        dimension: &Dimension,
        choose: impl Fn(&AxisEdges) -> Option<u64>,
    ) -> Option<u64> {
        let edges = dimension.axes.iter().map(|axis| choose(self.edges.get(*axis)?));
        let product = edges
            .map(|edge| edge.map(u128::from))
            .try_fold(dimension.numerator, |product, edge| product.checked_mul(edge?))?;
        u64::try_from(product.checked_div(dimension.denominator)?).ok()
    }

    /// Describes a dimension for messages: `12`, `axis 0 (28 to 31)`, `4 x axis 1 (2 to 6) / 2`.
    pub(crate) fn describe(&self, dimension: &Dimension) -> String {
        if let Some(size) = self.size(dimension) {
            return size.to_string();
        }
        let mut factors = Vec::new();
        if dimension.numerator != 1 || dimension.axes.is_empty() {
            factors.push(dimension.numerator.to_string());
        }
        for axis in dimension.axes.iter().take(NAMED) {
            factors.push(match self.edges.get(*axis) {
                Some(edges) => format!("axis {axis} ({edges})"),
                None => format!("axis {axis}"),
            });
        }
        match dimension.axes.len().saturating_sub(NAMED) {
            0 => {}
            1 => factors.push("1 more axis".to_owned()),
            more => factors.push(format!("{more} more axes")),
        }
        let product = factors.join(" x ");
        if dimension.denominator == 1 {
            product
        } else {
            format!("{product} / {}", dimension.denominator)
        }
    }
}

/// The most axes of a product that a message names.
const NAMED: usize = 6;

/// Two products that grow factor by factor, and whether they are equal in every chunk.
pub(crate) struct Balance<'s> {
    shape: &'s Shape<'s>,
    left: Dimension,
    right: Dimension,
    /// The number of times each axis is a factor on the left, minus that on the right.
    surplus: Vec<i64>,
    /// The number of axes with a surplus other than 0. Each of them varies, and can vary alone, so
    /// if there is one the products are not equal.
    uneven: usize,
}

impl<'s> Balance<'s> {
    /// Starts with 1 and 1. The factors must be dimensions of `shape`, or of another shape of the
    /// same chunks.
    pub(crate) fn new(shape: &'s Shape<'_>) -> Self {
        let one = Dimension::constant(1);
        let surplus = vec![0; shape.edges.len()];
        Self { shape, left: one.clone(), right: one, surplus, uneven: 0 }
    }

    /// Multiplies the left side.
    pub(crate) fn left(&mut self, factor: &Dimension) -> Result<(), ChainErrorKind> {
        self.count(factor, 1);
        self.left.times_number(factor)
    }

    /// Multiplies the right side.
    pub(crate) fn right(&mut self, factor: &Dimension) -> Result<(), ChainErrorKind> {
        self.count(factor, -1);
        self.right.times_number(factor)
    }

    fn count(&mut self, factor: &Dimension, by: i64) {
        for axis in &factor.axes {
            let Some(surplus) = self.surplus.get_mut(*axis) else { continue };
            let before = *surplus != 0;
            *surplus = surplus.saturating_add(by);
            match (before, *surplus != 0) {
                (false, true) => self.uneven = self.uneven.saturating_add(1),
                (true, false) => self.uneven = self.uneven.saturating_sub(1),
                _ => {}
            }
        }
    }

    /// Whether the sides are equal.
    pub(crate) fn is_even(&self) -> Result<bool, ChainErrorKind> {
        if self.shape.is_vacuous() {
            return Ok(true);
        }
        let left = multiply(self.left.numerator, self.right.denominator)?;
        let right = multiply(self.right.numerator, self.left.denominator)?;
        Ok(self.uneven == 0 && left == right)
    }
}

fn multiply(a: u128, b: u128) -> Result<u128, ChainErrorKind> {
    a.checked_mul(b).ok_or(ChainErrorKind::SIZE_OVERFLOW)
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while let Some(divisor) = NonZero::new(b) {
        (a, b) = (divisor.get(), a % divisor);
    }
    a
}
