"""Decides who is right where two programs differ: the specifications, through the plain reader."""

from typing import NamedTuple

import faults
import reader
import words

AGREE, LACKS, PEER, OURS, OPEN = "agree", "not supported", "peer", "ours", "undecided"


class Finding(NamedTuple):
    """The result of exchanging one array with one peer."""

    case: object
    direction: str  # "ours" or "theirs": who wrote it
    peer: str
    verdict: str
    reason: str = ""  # an id of docs/decisions.md, or words
    detail: str = ""


def plain(folder):
    """The array's elements by the specifications, or why it cannot be read."""
    try:
        return reader.read(folder), None
    except Exception as error:  # noqa: BLE001 - the reader asserts what the documents say
        return None, f"{type(error).__name__}: {error}"


def difference(found, expected):
    if found is None:
        return "nothing"
    if len(found) != len(expected):
        return f"{len(found)} bytes for {len(expected)}"
    at = next(i for i, (a, b) in enumerate(zip(found, expected, strict=True)) if a != b)
    return f"byte {at} is {found[at]:#04x} for {expected[at]:#04x}"


def refused(case, said):
    """Our command did not create the array of a fixture's document."""
    reason = faults.refusal(said)
    return Finding(case, "ours", "plain reader", LACKS if reason else OURS, reason or "", said)


def read_by_text(case, folder):
    """Judges what we wrote, by the specifications."""
    raw, wrong = plain(folder)
    if raw == case.expected:
        return Finding(case, "ours", "plain reader", AGREE)
    said = wrong or difference(raw, case.expected)
    lacking = words.lacks("plain reader", case.document)
    if lacking:
        return Finding(case, "ours", "plain reader", LACKS, lacking, said)
    return Finding(case, "ours", "plain reader", OURS, detail=said)


def read_by_peer(case, peer, status, raw, by_text):
    """Judges a peer's reading of what we wrote; `by_text` is the plain reader's."""
    if status == "read" and raw == case.expected:
        return Finding(case, "ours", peer, AGREE)
    lacking = words.lacks(peer, case.document)
    said = difference(raw, case.expected) if status == "read" else status
    if lacking:
        return Finding(case, "ours", peer, LACKS, lacking, said)
    known = faults.found(peer, case.document, status)
    if by_text.verdict == AGREE:
        return Finding(case, "ours", peer, PEER if known else OPEN, known or "", said)
    return Finding(case, "ours", peer, OURS if by_text.verdict == OURS else OPEN, detail=said)


def written_by_peer(case, peer, status, folder, said, raw):
    """What a peer wrote, as we read it; `said` is our error.

    zarrs may have written what it then could not read: that counts where it is the reader.
    """
    if raw == case.expected:
        return Finding(case, "theirs", peer, AGREE)
    if not status.startswith("written"):
        lacking = words.lacks(peer, case.document)
        known = faults.found(peer, case.document, status)
        verdict = LACKS if lacking else PEER if known else OPEN
        return Finding(case, "theirs", peer, verdict, lacking or known or "", status)
    shown = said or difference(raw, case.expected)
    by_text, wrong = plain(folder)
    if by_text == case.expected:
        return Finding(case, "theirs", peer, OURS, detail=shown)
    known = faults.found(peer, case.document, status)
    agreed = raw is not None and raw == by_text or said is not None and wrong is not None
    return Finding(case, "theirs", peer, PEER if agreed and known else OPEN, known or "", shown)
