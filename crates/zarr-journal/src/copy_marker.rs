//! The text of the marker of a copy, join or creation.

use serde_json::Value;

use crate::unfinished::{ENDED, Kind, UnfinishedWork, marker_text};

/// The progress of an unfinished copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyStep {
    /// The previous content of the target is being removed, and may be there in part.
    Clearing,
    /// The target has only objects of this copy.
    Copying,
    /// Nothing is unfinished. The marker stays where it cannot be removed on a condition.
    Ended,
}

/// What the marker of a copy says. Two copies are the same if all but [`run`](Self::run),
/// [`follows`](Self::follows) and the step are equal.
///
/// ```
/// use zarr_journal::{CopyMarker, CopyStep, Kind};
///
/// let marker = CopyMarker::new(Kind::Array, [1, 2, 3]);
/// let text = marker.text(CopyStep::Copying);
/// let other = CopyMarker { run: Some("f".repeat(16)), ..marker.clone() };
/// assert_ne!(other.text(CopyStep::Copying), text);
/// assert_eq!(other.step_of(text.as_bytes()), Some(CopyStep::Copying));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyMarker {
    /// The kind of node that the target will be.
    pub kind: Kind,
    /// The place of the source, for messages.
    pub from: Option<String>,
    /// The work.
    pub work: UnfinishedWork,
    /// The number of parts, if it is a copy in parts.
    pub parts: Option<u32>,
    /// Where intermediates are, if not beside the chunks: a copy that is resumed uses or removes them.
    pub intermediates: Option<String>,
    /// The digest of the objects of the source, if it is known: of the root of a copy.
    pub content: Option<u64>,
    /// The digest of the documents that the arrays below the root will have, if it is a group. Markers
    /// of older builds have none, and mark each array instead.
    pub below: Option<u64>,
    /// The [number](crate::run_number) of this run, by which it finds that another has taken the copy
    /// over. All parts of a copy have one number. Markers of older builds may have none.
    pub run: Option<String>,
    /// Whether another work was unfinished at the target when this one began to replace it, in a
    /// store where its objects may still come: see [`Hold::excludes_late_puts`](crate::Hold).
    pub follows: bool,
    /// The place of the source, its document, and the target's document, each as a hash.
    pub identity: [u64; 3],
}

impl CopyMarker {
    /// A marker of a copy with nothing more.
    #[must_use]
    pub fn new(kind: Kind, identity: [u64; 3]) -> Self {
        Self {
            kind,
            from: None,
            work: UnfinishedWork::Copy,
            parts: None,
            intermediates: None,
            content: None,
            below: None,
            run: None,
            follows: false,
            identity,
        }
    }

    /// The text of the object, at a step.
    #[must_use]
    pub fn text(&self, step: CopyStep) -> String {
        let kind = match self.kind {
            Kind::Array => "array",
            Kind::Group => "group",
        };
        let step = match step {
            CopyStep::Clearing => "clearing",
            CopyStep::Copying => "copying",
            CopyStep::Ended => ENDED,
        };
        let quoted = |text: &str| Value::from(text).to_string();
        let hash = |hash: u64| quoted(&format!("{hash:016x}"));
        let [place, source, target] = self.identity.map(hash);
        let work = Some(self.work).filter(|work| *work != UnfinishedWork::Copy);
        let members = [
            ("node", Some(quoted(kind))),
            ("from", self.from.as_deref().map(quoted)),
            ("work", work.map(|work| quoted(&work.to_string()))),
            ("parts", self.parts.map(|parts| quoted(&parts.to_string()))),
            ("intermediates", self.intermediates.as_deref().map(quoted)),
            ("content", self.content.map(hash)),
            ("below", self.below.map(hash)),
            ("run", self.run.as_deref().map(quoted)),
            ("follows", self.follows.then(|| "true".to_owned())),
            ("step", Some(quoted(step))),
            ("source_place", Some(place)),
            ("source", Some(source)),
            ("target", Some(target)),
        ];
        let members = members.into_iter().filter_map(|(name, json)| Some((name, json?)));
        marker_text("unfinished_copy", &members.collect::<Vec<_>>())
    }

    /// The step that this text says, if it is the marker of the same copy, of any run.
    #[must_use]
    pub fn step_of(&self, text: &[u8]) -> Option<CopyStep> {
        let there = self.with_below_of(text);
        let (run, follows) = (Self::run_in(text), Self::follows_in(text));
        let there = Self { run, follows, ..there };
        let steps = [CopyStep::Clearing, CopyStep::Copying, CopyStep::Ended];
        steps.into_iter().find(|step| there.text(*step).as_bytes() == text)
    }

    /// Whether this text is of the same copy, but the objects of the source have changed, and with
    /// them perhaps what is below.
    #[must_use]
    pub fn is_of_other_content(&self, text: &[u8]) -> bool {
        let (own, there) = (self.text(CopyStep::Copying), without_content(text));
        let content = |text: &[u8]| member(text, "content");
        let mut steps = [CopyStep::Clearing, CopyStep::Copying].into_iter();
        content(own.as_bytes()) != content(text)
            && steps.any(|step| without_content(self.text(step).as_bytes()) == there)
    }

    /// The same, if one of the two does not say what is below: as the text says.
    fn with_below_of(&self, text: &[u8]) -> Self {
        let there = member(text, "below").and_then(|below| below.as_str().map(str::to_owned));
        let there = there.and_then(|hash| u64::from_str_radix(&hash, 16).ok());
        Self { below: there.map(|there| self.below.unwrap_or(there)), ..self.clone() }
    }

    /// The number of the run in the text of a marker.
    #[must_use]
    pub fn run_in(text: &[u8]) -> Option<String> {
        member(text, "run")?.as_str().map(str::to_owned)
    }

    /// The place of intermediates in the text of a marker.
    #[must_use]
    pub fn intermediates_in(text: &[u8]) -> Option<String> {
        member(text, "intermediates")?.as_str().map(str::to_owned)
    }

    /// Whether the work follows another, by the text of its marker.
    #[must_use]
    pub fn follows_in(text: &[u8]) -> bool {
        member(text, "follows") == Some(Value::Bool(true))
    }
}

fn member(text: &[u8], name: &str) -> Option<Value> {
    let json: Value = serde_json::from_slice(text).unwrap_or_default();
    json.get("unfinished_copy")?.get(name).cloned()
}

/// The identity of a copy in its marker, without the run and the objects of the source.
fn without_content(text: &[u8]) -> Value {
    let mut json: Value = serde_json::from_slice(text).unwrap_or_default();
    if let Some(members) = json.get_mut("unfinished_copy").and_then(Value::as_object_mut) {
        for name in ["content", "below", "run", "follows"] {
            members.remove(name);
        }
    }
    json
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text that the release 0.1 wrote, byte for byte, is read and written.
    #[test]
    fn markers_of_earlier_builds_are_of_the_same_copy() {
        let older = "{\"unfinished_copy\": {\n  \"version\": 1,\n  \"node\": \"group\",\n  \"from\": \"/a\",\n  \
                     \"step\": \"copying\",\n  \"source_place\": \"0000000000000001\",\n  \
                     \"source\": \"0000000000000002\",\n  \"target\": \"0000000000000003\"\n}}\n";
        let marker =
            CopyMarker { from: Some("/a".into()), ..CopyMarker::new(Kind::Group, [1, 2, 3]) };
        assert_eq!(marker.text(CopyStep::Copying), older);
        let now = CopyMarker { run: Some("ab".into()), follows: true, ..marker.clone() };
        assert_eq!(now.step_of(older.as_bytes()), Some(CopyStep::Copying));
        assert_eq!(
            marker.step_of(now.text(CopyStep::Clearing).as_bytes()),
            Some(CopyStep::Clearing)
        );
        let other = CopyMarker { content: Some(4), ..marker };
        assert_eq!(other.step_of(older.as_bytes()), None);
        assert!(other.is_of_other_content(older.as_bytes()));
        // Arrays with other documents are another copy, unless they have markers of their own.
        let with = |below| CopyMarker { below: Some(below), ..now.clone() };
        assert_eq!(with(5).step_of(older.as_bytes()), Some(CopyStep::Copying));
        let text = with(5).text(CopyStep::Copying);
        assert_eq!(with(5).step_of(text.as_bytes()), Some(CopyStep::Copying));
        assert_eq!(with(6).step_of(text.as_bytes()), None);
        assert!(!with(6).is_of_other_content(text.as_bytes()));
        assert_eq!(now.step_of(text.as_bytes()), Some(CopyStep::Copying));
    }
}
