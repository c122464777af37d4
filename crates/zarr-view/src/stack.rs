//! Views on top of views, for maps that no single view expresses.

use smallvec::{SmallVec, smallvec};

use crate::ViewError;
use crate::view::{View, unravel};

/// A chain of views in which each reads the C-order elements of the one below; the lowest reads
/// the buffer.
///
/// Operations work on the uppermost view, through [`apply`](ViewStack::apply).
/// [`reshape`](ViewStack::reshape) always succeeds: if no single view is enough, it puts a
/// contiguous view of the new shape on top. After each operation the two uppermost views are
/// merged if a single view can hold both.
///
/// # Examples
/// ```
/// use zarr_view::{View, ViewStack};
///
/// let mut stack = ViewStack::new(View::contiguous(&[2, 3])?.permute(&[1, 0])?);
/// stack.reshape(&[6])?; // 0 3 1 4 2 5
/// assert_eq!(stack.views().len(), 2);
/// assert_eq!(stack.position(&[1]), Some(3));
/// stack.apply(|top| top.shrink(&[2..4]))?; // 1 4: a single view again
/// assert_eq!(stack.views(), [View::new(&[2], &[3], 1)?]);
/// # Ok::<(), zarr_view::ViewError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ViewStack {
    /// Lowest first; never empty.
    views: SmallVec<[View; 1]>,
}

impl ViewStack {
    /// A stack of one view.
    #[must_use]
    pub fn new(view: View) -> Self {
        Self { views: smallvec![view] }
    }

    /// The views, the lowest first.
    #[must_use]
    pub fn views(&self) -> &[View] {
        &self.views
    }

    /// The only view, if there is just one.
    #[must_use]
    pub fn as_view(&self) -> Option<&View> {
        match self.views.as_slice() {
            [view] => Some(view),
            _ => None,
        }
    }

    /// The uppermost view. It has the shape of the stack.
    #[must_use]
    pub fn top(&self) -> &View {
        &self.views[self.views.len() - 1]
    }

    /// The shape that the stack presents.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        self.top().shape()
    }

    /// The position in the buffer of the element at `index`; `None` if any view masks it.
    #[must_use]
    pub fn position(&self, index: &[usize]) -> Option<usize> {
        let mut views = self.views.iter().rev();
        let mut position = views.next()?.position(index)?;
        for view in views {
            position = view.position(&unravel(position, view.shape()))?;
        }
        Some(position)
    }

    /// Puts a view on top that reads the elements of this stack in C order.
    ///
    /// # Errors
    /// [`ViewError::Outer`] if it reaches past them; the stack is unchanged then.
    pub fn push(&mut self, view: View) -> Result<(), ViewError> {
        check_reach(&view, self.top())?;
        self.views.push(view);
        self.collapse()
    }

    /// Reshapes the same elements, in C order.
    ///
    /// # Errors
    /// [`ViewError::Elements`] or [`ViewError::TooLarge`] if the shape is wrong.
    pub fn reshape(&mut self, shape: &[usize]) -> Result<(), ViewError> {
        match self.top().reshape(shape) {
            Ok(Some(view)) => self.replace(view),
            // If the offset cannot be represented, no such view exists either.
            Ok(None) | Err(ViewError::Offset) => self.push(View::contiguous(shape)?),
            Err(error) => Err(error),
        }
    }

    /// Applies an operation to the uppermost view: `stack.apply(|top| top.permute(order))`.
    ///
    /// # Errors
    /// The errors of the operation, and [`ViewError::Outer`] if its result reaches past the
    /// elements below. The stack is unchanged then.
    pub fn apply(
        &mut self,
        operation: impl FnOnce(&View) -> Result<View, ViewError>,
    ) -> Result<(), ViewError> {
        let top = operation(self.top())?;
        if let [.., below, _] = self.views.as_slice() {
            check_reach(&top, below)?;
        }
        self.replace(top)
    }

    fn replace(&mut self, top: View) -> Result<(), ViewError> {
        self.views.pop();
        self.views.push(top);
        self.collapse()
    }

    /// Merges the uppermost views while a single view can hold two.
    fn collapse(&mut self) -> Result<(), ViewError> {
        while let [.., inner, outer] = self.views.as_slice() {
            match outer.compose_over(inner) {
                Ok(Some(view)) => {
                    self.views.pop();
                    self.views.pop();
                    self.views.push(view);
                }
                Ok(None) | Err(ViewError::Offset) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Refuses a view that reaches past the elements of the one below it.
fn check_reach(view: &View, below: &View) -> Result<(), ViewError> {
    let (reach, elements) = (view.span().end, below.len());
    match reach.checked_sub(1) {
        Some(position) if reach > elements => Err(ViewError::Outer { position, elements }),
        _ => Ok(()),
    }
}

impl From<View> for ViewStack {
    fn from(view: View) -> Self {
        Self::new(view)
    }
}
