//! The traits that all types implement, whatever they hold: checked at compile time.

use std::fmt::Debug;

use zarr_view::*;

fn shared<T: Send + Sync + Debug>() {}
fn cloned<T: Clone>() {}
fn compared<T: Eq>() {}

#[test]
fn types_can_be_sent_shown_cloned_and_compared() {
    shared::<(View, ViewStack, ViewError, CopyPlan, CopyError, CopyElement, InstructionSet)>();
    shared::<(Output<'_>, OutputGrid<'_>, Run, Runs)>();
    cloned::<(
        View,
        ViewStack,
        ViewError,
        CopyPlan,
        CopyError,
        CopyElement,
        InstructionSet,
        Run,
        Runs,
    )>();
    compared::<(View, ViewStack, ViewError, CopyError, CopyElement, InstructionSet, Run)>();
    let _: &dyn std::error::Error = &CopyError::from(ViewError::Position);
    assert_eq!(ViewStack::from(View::contiguous(&[2]).unwrap()).as_view().unwrap().shape(), [2]);
}
