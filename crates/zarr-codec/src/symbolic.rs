//! Shapes of all occupied chunks at once.
//!
//! On a rectilinear grid one chain applies to many chunk shapes, and its constraints must hold for
//! each (SD-24). The shapes are the full product of the axes' edges, so they need not be visited:
//! every dimension, at any depth of the chain, is a constant times the edges of some grid axes, and
//! each axis occurs in at most one dimension. Two questions can then be answered for all shapes:
//!
//! - *are two products equal?* After common axes cancel, exactly if each remaining axis has one
//!   distinct edge and the numbers match: varying one edge alone changes only one side;
//! - *does `c` divide this product?* Exactly if `c` divides the product of the axes' greatest
//!   common divisors, since the greatest common divisor of all products `a b` is `gcd(A) gcd(B)`.
//!
//! A concrete chunk shape is the special case in which every axis has one edge.

use core::fmt;

use crate::error::ChainErrorKind;

/// What a chain needs of the edges of one grid axis's occupied chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxisEdges {
    min: u64,
    max: u64,
    gcd: u64,
}

impl AxisEdges {
    /// An axis whose occupied chunks all have the length `edge`.
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
/// axis whose edges are all even.
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

    fn times(mut self, other: &Self) -> Result<Self, ChainErrorKind> {
        self.numerator = multiply(self.numerator, other.numerator)?;
        self.denominator = multiply(self.denominator, other.denominator)?;
        self.axes.extend_from_slice(&other.axes);
        Ok(self.reduced())
    }

    fn reduced(mut self) -> Self {
        let common = gcd(self.numerator, self.denominator).max(1);
        self.numerator /= common;
        self.denominator /= common;
        self
    }
}

/// The shape of all occupied chunks at some depth of a chain.
#[derive(Clone, Debug)]
pub(crate) struct Shape<'a> {
    pub(crate) dimensions: Vec<Dimension>,
    edges: &'a [AxisEdges],
}

impl<'a> Shape<'a> {
    /// The shape of the grid's chunks: one dimension per axis.
    pub(crate) fn of_grid(edges: &'a [AxisEdges]) -> Result<Self, ChainErrorKind> {
        let shape = Self { dimensions: (0..edges.len()).map(Dimension::axis).collect(), edges };
        // Every number below divides or equals a product of some dimensions of some chunk, so
        // that none can overflow once the largest chunk is known to be countable.
        if !shape.is_vacuous() {
            edges.iter().try_fold(1_u64, |product, axis| product.checked_mul(axis.max)).ok_or(
                ChainErrorKind::ChunkTooLarge {
                    shape: edges.iter().map(|axis| axis.max).collect(),
                },
            )?;
        }
        Ok(shape)
    }

    pub(crate) fn with(&self, dimensions: Vec<Dimension>) -> Self {
        Self { dimensions, edges: self.edges }
    }

    pub(crate) fn rank(&self) -> usize {
        self.dimensions.len()
    }

    /// Whether there is no occupied chunk, so that every constraint holds.
    pub(crate) fn is_vacuous(&self) -> bool {
        self.edges.iter().any(AxisEdges::is_empty)
    }

    /// The product of some dimensions.
    pub(crate) fn product<'d>(
        dimensions: impl IntoIterator<Item = &'d Dimension>,
    ) -> Result<Dimension, ChainErrorKind> {
        dimensions.into_iter().try_fold(Dimension::constant(1), Dimension::times)
    }

    /// Whether two products are equal in every chunk.
    pub(crate) fn equal(&self, a: &Dimension, b: &Dimension) -> Result<bool, ChainErrorKind> {
        if self.is_vacuous() {
            return Ok(true);
        }
        let mut left = multiply(a.numerator, b.denominator)?;
        let mut right = multiply(b.numerator, a.denominator)?;
        for (side, axes, others) in [(&mut left, &a.axes, &b.axes), (&mut right, &b.axes, &a.axes)]
        {
            for axis in axes.iter().filter(|axis| !others.contains(axis)) {
                match self.edges.get(*axis).and_then(AxisEdges::single) {
                    Some(edge) => *side = multiply(*side, edge.into())?,
                    None => return Ok(false),
                }
            }
        }
        Ok(left == right)
    }

    /// `dimension / divisor`, if `divisor` divides it in every chunk.
    pub(crate) fn divided(
        &self,
        dimension: &Dimension,
        divisor: u64,
    ) -> Result<Option<Dimension>, ChainErrorKind> {
        let quotient = Dimension {
            numerator: dimension.numerator,
            denominator: multiply(dimension.denominator, divisor.into())?,
            axes: dimension.axes.clone(),
        }
        .reduced();
        if self.is_vacuous() {
            return Ok(Some(quotient));
        }
        let gcds = quotient.axes.iter().filter_map(|axis| self.edges.get(*axis));
        let sure = gcds.map(|axis| u128::from(axis.gcd)).try_fold(1, multiply)?;
        Ok((sure % quotient.denominator == 0).then_some(quotient))
    }

    /// The dimension's size, if it is the same in every chunk.
    pub(crate) fn size(&self, dimension: &Dimension) -> Option<u64> {
        let edges = dimension.axes.iter().map(|axis| self.edges.get(*axis)?.single());
        let product = edges
            .map(|edge| edge.map(u128::from))
            .try_fold(dimension.numerator, |product, edge| product.checked_mul(edge?))?;
        u64::try_from(product.checked_div(dimension.denominator)?).ok()
    }

    /// A dimension in words, for messages: `12`, `axis 0 (28 to 31)`, `4 x axis 1 (2 to 6) / 2`.
    pub(crate) fn describe(&self, dimension: &Dimension) -> String {
        if let Some(size) = self.size(dimension) {
            return size.to_string();
        }
        let mut factors = Vec::new();
        if dimension.numerator != 1 || dimension.axes.is_empty() {
            factors.push(dimension.numerator.to_string());
        }
        for axis in &dimension.axes {
            factors.push(match self.edges.get(*axis) {
                Some(edges) => format!("axis {axis} ({edges})"),
                None => format!("axis {axis}"),
            });
        }
        let product = factors.join(" x ");
        if dimension.denominator == 1 {
            product
        } else {
            format!("{product} / {}", dimension.denominator)
        }
    }
}

fn multiply(a: u128, b: u128) -> Result<u128, ChainErrorKind> {
    a.checked_mul(b).ok_or(ChainErrorKind::SizeOverflow)
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
