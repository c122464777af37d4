"""Text from outside, made safe to show."""

from __future__ import annotations

import re

_HIDDEN = re.compile(
    # Control characters, and what the native part's messages escape: bidirectional controls, separators
    # of lines and paragraphs, and invisible characters except the joiners that some scripts need.
    "[\0-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)

_SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def printable(text: str) -> str:
    r"""The text with escapes in place of characters that control a terminal or hide text.

    Names come from the writer of a store, who may be hostile. The escapes are those of the native
    part's messages, such as ``\u{1b}``. Backslashes stay as they are, so that text may pass twice.
    """
    return _HIDDEN.sub(lambda found: _SHORT.get(found[0], f"\\u{{{ord(found[0]):x}}}"), text)
