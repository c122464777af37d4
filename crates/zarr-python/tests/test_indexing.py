"""Every index expression against numpy, on arrays with ragged chunks."""

import itertools
import random
import threading

import numpy as np
import pytest
import zarr_kit

SHAPE = (7, 5, 6)
CHUNKS = [(3, 1, 3), (2, 2, 1), 4]


@pytest.fixture(scope="module")
def both():
    values = np.arange(np.prod(SHAPE), dtype="i4").reshape(SHAPE)
    array = zarr_kit.create("memory:", shape=SHAPE, dtype="i4", chunks=CHUNKS)
    array[...] = values
    return array, values


def entries(length):
    """Basic entries for an axis, out of range ones among the slices included."""
    yield from (0, length - 1, -1, -length, np.int8(1))
    ends = (None, 0, 2, length, length + 3, -2, -length - 3)
    for start, stop, step in itertools.product(ends, ends, (None, 1, 2, -1, -3, 100)):
        yield slice(start, stop, step)


def same(found, expected):
    assert np.asarray(found).dtype == np.asarray(expected).dtype
    assert np.shape(found) == np.shape(expected)
    assert isinstance(found, np.ndarray) == isinstance(expected, np.ndarray)
    np.testing.assert_array_equal(found, expected)


def test_basic_keys_read_as_numpy_does(both):
    array, values = both
    pick = random.Random(1)
    choices = [list(entries(length)) for length in SHAPE]
    for key in itertools.chain(
        (..., (), None, (None, ...), (..., None), (None, 1, None, ...)),
        choices[0],
        (tuple(pick.choice(axis) for axis in choices[: pick.randint(1, 3)]) for _ in range(3000)),
        ((..., pick.choice(choices[2])) for _ in range(200)),
        ((None, pick.choice(choices[0]), ..., None, pick.choice(choices[2])) for _ in range(200)),
    ):
        same(array[key], values[key])


def test_basic_keys_write_as_numpy_does():
    pick = random.Random(2)
    choices = [list(entries(length)) for length in SHAPE]
    values = np.zeros(SHAPE, "i4")
    array = zarr_kit.create("memory:", shape=SHAPE, dtype="i4", chunks=CHUNKS)
    for n in range(400):
        key = tuple(pick.choice(axis) for axis in choices[: pick.randint(0, 3)])
        part = np.asarray(values[key])
        new = np.arange(n, n + part.size, dtype="i4").reshape(part.shape)
        if n % 3 == 1 and part.ndim:
            new = new[..., :1]  # broadcast
        if n % 3 == 2:
            new = np.asfortranarray(new)
        if part.size == 0 and new.size != part.size and new.shape[-1:] == (0,):
            continue
        array[key] = new
        values[key] = new
        np.testing.assert_array_equal(array[...], values)


def test_values_are_broadcast_as_numpy_does():
    values = np.zeros(SHAPE, "i4")
    array = zarr_kit.create("memory:", shape=SHAPE, dtype="i4", chunks=CHUNKS)
    keys = [np.s_[0], np.s_[...], np.s_[:, 1:4, 2], np.s_[None, 3], np.s_[0, 1], np.s_[5:5], np.s_[0, 1, 2], [3, 1], np.s_[2:5:2, ..., None]]
    shapes = [(), (1,), (6,), (5, 6), (1, 5, 6), (1, 1, 1, 6), (2, 5, 6), (7, 3), (1, 7, 3), (5, 1), (1, 1), (2, 1, 5, 6), (0,), (1, 0), (3,)]
    taken = 0
    for number, (key, shape) in enumerate(itertools.product(keys, shapes)):
        new = np.full(shape, number + 1, "i4") + np.arange(np.prod(shape), dtype="i4").reshape(shape)
        try:
            values[key] = new
        except ValueError:
            with pytest.raises(ValueError, match="broadcast"):
                array[key] = new
        else:
            array[key] = new
            taken += 1
        np.testing.assert_array_equal(array[...], values, err_msg=f"{key} {shape}")
    assert taken > 40
    points = np.ix_([0, 3], [1], [2])
    array.vindex[points] = values[points] = np.full((1, 1, 2, 1, 1), 7)
    np.testing.assert_array_equal(array[...], values)
    with pytest.raises(ValueError, match=r"could not broadcast input array from shape \(2,\) into shape \(5, 6\)"):
        array[0] = [1, 2]


def test_oindex_is_the_outer_product(both):
    array, values = both
    pick = random.Random(3)

    def entry(length):
        kind = pick.randrange(5)
        if kind == 0:
            return slice(pick.randrange(length), None, pick.choice((1, 2)))
        if kind == 1:
            return pick.randrange(-length, length)
        if kind == 2:
            return np.array([pick.random() < 0.5 for _ in range(length)])
        return [pick.randrange(-length, length) for _ in range(pick.randrange(6))]

    for _ in range(500):
        key = tuple(entry(length) for length in SHAPE)
        expected = values
        for axis in reversed(range(3)):
            expected = expected[(slice(None),) * axis + (np.array(key[axis], int) if isinstance(key[axis], list) else key[axis],)]
        same(array.oindex[key], expected)


def test_oindex_writes(both):
    array = zarr_kit.create("memory:", shape=SHAPE, dtype="i4", chunks=CHUNKS)
    values = np.zeros(SHAPE, "i4")
    new = np.arange(12, dtype="i4").reshape(2, 3, 2)
    array.oindex[[6, 0], 1:4, [True, False, False, False, False, True]] = new
    values[np.ix_([6, 0], [1, 2, 3], [0, 5])] = new
    np.testing.assert_array_equal(array[...], values)


def test_vindex_reads_and_writes_points():
    values = np.arange(np.prod(SHAPE), dtype="i4").reshape(SHAPE)
    array = zarr_kit.create("memory:", shape=SHAPE, dtype="i4", chunks=CHUNKS)
    array[...] = values
    pick = np.random.default_rng(4)
    for _ in range(100):
        key = tuple(pick.integers(-length, length, (4, 3)) for length in SHAPE)
        same(array.vindex[key], values[key])
    mask = pick.random(SHAPE) < 0.2
    same(array.vindex[mask], values[mask])
    same(array[mask], values[mask])
    for n in range(50):
        key = tuple(pick.integers(0, length, 9) for length in SHAPE)
        new = np.arange(n, n + 9, dtype="i4")
        array.vindex[key] = new
        values[key] = new
        np.testing.assert_array_equal(array[...], values)
    array.vindex[mask] = 7
    values[mask] = 7
    np.testing.assert_array_equal(array[...], values)


@pytest.mark.parametrize("key", [[0, 2], (slice(1, 3), [0, -1]), ([4, 4, 1],), (0, [1, 2]), ([1, 2], 0), (..., [3, 0])])
def test_one_list_reads_as_numpy_does(both, key):
    array, values = both
    same(array[key], values[key])


MASK = np.arange(35).reshape(7, 5) % 3 == 0


@pytest.mark.parametrize(
    "key",
    [
        ([0, 5], [1, 2]),
        ([0, 5], slice(None), [1, 2]),
        (0, slice(None), [1, 2]),
        ([0, 5], slice(None, None, -1), 3),
        (slice(1, 6, 2), [[0], [4]], [1, 2, 3]),
        ([[0, 1], [2, 3]],),
        np.array([[0, 1], [2, 3]]),
        ([[1], [2]], [0, 3]),
        ([[1], [2]], ..., [0, 3]),
        (..., [0, 3], [0, 3]),
        ([-1, -2], [-1, -2]),
        ([True, False] * 3 + [True], [0, 1, 2, 3]),
        MASK,
        (MASK, 2),
        (MASK, slice(1, 4)),
        ([], slice(None), []),
    ],
    ids=str,
)
def test_several_lists_are_as_in_numpy(both, key):
    array, values = both
    found = array[key]
    same(found, values[key])
    written, expected = array[...], values.copy()
    array[key] = expected[key] = -np.arange(found.size).reshape(found.shape)
    same(array[...], expected)
    array[...] = written


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ((None, [0]), "new axes"),
        (9, "index 9 is out of bounds for axis 0 with size 7"),
        ((0, 0, -7), "index -7 is out of bounds for axis 2 with size 6"),
        (([9],), "index 9 is out of bounds for axis 0 with size 7"),
        ((0, 0, 0, 0), "too many indices: 4 for an array of 3 dimensions"),
        ((..., ...), "single ellipsis"),
        (1.0, "axis 0: 1.0 is no index"),
        ("a", "axis 0: 'a' is no index"),
        (True, "is no index"),
        ([0.5], "indices are integers"),
        (np.ones(3, bool), "the mask has 3 entries, the axis 7"),
        (np.ones((7, 4), bool), "the mask has shape"),
        (([0, 1], [0, 1, 2]), "cannot be broadcast together"),
        (([0, 1], [0, 9]), "index 9 is out of bounds for axis 1"),
    ],
)
def test_other_keys_are_index_errors(both, key, says):
    array, _ = both
    with pytest.raises(IndexError, match=says):
        array[key]
    with pytest.raises(IndexError, match=says):
        array[key] = 0


def test_a_zero_step_is_a_value_error(both):
    with pytest.raises(ValueError, match="axis 0: the step of a slice cannot be zero"):
        both[0][::0]


def test_steps_of_any_size_select_one_index(both):
    array, values = both
    for key in (np.s_[:: 2**63], np.s_[:: -(2**63)], np.s_[2 :: 2**64, 1], np.s_[:, :: -(2**70)]):
        same(array[key], values[key])
        same(array.oindex[key], values[key])
    assert len(array.plan(np.s_[:: 2**63, 0, 0])) == 1


def test_no_axes():
    array = zarr_kit.create("memory:", shape=(), dtype="f8", chunks=None)
    assert array[()] == 0.0 and isinstance(array[()], np.float64)
    assert array[...].shape == ()
    array[()] = 2.5
    same(array[...], np.array(2.5))
    with pytest.raises(TypeError, match="without axes"):
        len(array)


def test_reads_go_into_memory_with_any_strides(both):
    array, values = both
    room = np.full((20, 12, 14), -1, "i4")
    for out in (room[2:16:2, 1:11:2, ::-1][:, :, :6], room[:7, :5, :6].T[::-1].T, np.empty(SHAPE, "i4", order="F")):
        assert array.read(out=out) is out
        np.testing.assert_array_equal(out, values)
    out = room.transpose(2, 0, 1)[3, :7, 4:10]
    array.read(np.s_[:, 2], out=out)
    np.testing.assert_array_equal(out, values[:, 2])
    out = np.empty((1, 7, 1, 6), "i4")
    array.read(np.s_[None, :, 2:3], out=out)
    np.testing.assert_array_equal(out, values[None, :, 2:3])
    with pytest.raises(ValueError, match="shape"):
        array.read(out=np.empty((7, 5), "i4"))
    with pytest.raises(ValueError, match="dtype"):
        array.read(out=np.empty(SHAPE, "i8"))
    frozen = np.empty(SHAPE, "i4")
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        array.read(out=frozen)


def test_only_the_out_views_elements_change(both):
    array, values = both
    room = np.full((9, 7, 8), -1, "i4")
    array.read(out=room[1:8, 1:6, 1:7])
    expected = np.full((9, 7, 8), -1, "i4")
    expected[1:8, 1:6, 1:7] = values
    np.testing.assert_array_equal(room, expected)


@pytest.mark.parametrize("dtype", ["u1", "i2", "i4", "f8", "c16"])
def test_writes_come_from_memory_with_any_strides(dtype):
    """With gaps, a box at a time; without, as they lie. Keys with steps back, lists, points and new axes."""
    room = np.random.default_rng(1).integers(0, 100, (30, 12, 14)).astype(dtype)
    array = zarr_kit.create("memory:", shape=SHAPE, dtype=dtype, chunks=CHUNKS)
    whole = np.zeros(SHAPE, dtype)
    sources = (
        room[2:16:2, 1:11:2, ::-1][:, :, 2:8],
        room[:7, :5, :6],
        room[:7, :5, :6].T[::-1].T,
        np.asfortranarray(room[:7, :5, :6]),
        np.broadcast_to(room[3, 2:12:2, None, 1], (7, 5, 6)),
        room[8:1:-1, 3:8, 1:13:2],
    )
    keys = (np.s_[:], np.s_[::-2, 1:4, ::-1], np.s_[2, :, 1:5], np.s_[:, [3, 0, 4], 2], np.s_[None, 1:6, 2:3])
    for source, key in itertools.product(sources, keys):
        array[...] = whole
        expected = whole.copy()
        array[key] = source[key]
        expected[key] = source[key]
        np.testing.assert_array_equal(array[...], expected)
    points = [6, 0, 3], [4, 1, 0], [5, 0, 2]
    array.vindex[points] = room[0, 2:8:2, 3]
    expected[points] = room[0, 2:8:2, 3]
    np.testing.assert_array_equal(array[...], expected)


def test_others_may_write_between_the_elements_that_are_written():
    room = np.zeros((512, 512), "i4")
    room[:, ::2] = np.arange(512 * 256).reshape(512, 256)
    source, gaps = room[:, ::2], room[:, 1::2]
    array = zarr_kit.create("memory:", shape=source.shape, dtype="i4", chunks=[64, [100, 156]])
    ends = threading.Event()

    def write_gaps():
        while not ends.is_set():
            gaps[...] += 1

    thread = threading.Thread(target=write_gaps)
    thread.start()
    try:
        for _ in range(5):
            array[...] = source
            np.testing.assert_array_equal(array[...], source)
    finally:
        ends.set()
        thread.join()


@pytest.mark.parametrize("threads", [None, 1])
@pytest.mark.parametrize("dtype", ["i4", "string"])
def test_points_of_many_chunks_keep_their_order(dtype, threads):
    array = zarr_kit.create("memory:", shape=(40, 30, 20), dtype=dtype, chunks=[(7, 3) * 4, 11, 6])
    values = np.arange(24000).reshape(array.shape).astype(array.dtype)
    array[...] = values
    rng = np.random.default_rng(2)
    for count in (0, 1, 2, 5000):
        points = tuple(rng.integers(-length, length, (count, 2)) for length in array.shape)
        found = array.with_threads(threads).vindex[points]
        np.testing.assert_array_equal(found, values[points])


def test_points_of_more_chunks_than_integers_can_count():
    length = 1 << 22
    array = zarr_kit.create("memory:", shape=(length,) * 3, dtype="u1", chunks=1)
    array[length - 1, 5, length - 1] = 7
    array[5, length - 1, 0] = 8
    points = [length - 1, 5, 0, length - 1], [5, length - 1, 0, 5], [length - 1, 0, 0, length - 1]
    assert array.vindex[points].tolist() == [7, 8, 0, 7]


@pytest.mark.parametrize("dtype", ["i2", "string", "bytes", "S2", "M8[s]", [("a", "i1"), ("b", "f4")]])
@pytest.mark.parametrize("shape", [(0,), (7,), (7, 2), (7, 0), (3, 2, 2)])
@pytest.mark.parametrize("limit", [1, 100, 1 << 28])
def test_iterating_gives_what_single_indices_give(monkeypatch, dtype, shape, limit):
    monkeypatch.setattr("zarr_kit._array.BLOCK", limit)
    array = zarr_kit.create("memory:", shape=shape, dtype=dtype, chunks=3)
    rows, expected = list(array), [array[index] for index in range(len(array))]
    assert [type(row) for row in rows] == [type(row) for row in expected]
    for row, single in zip(rows, expected, strict=True):
        assert np.asarray(row).tolist() == np.asarray(single).tolist()
        assert np.asarray(row).dtype == np.asarray(single).dtype
    bases = [base for row in rows if (base := getattr(row, "base", None)) is not None]
    assert all(base.size == 1 for base in bases)


def test_iterating_reads_each_chunk_once(monkeypatch):
    reads = []
    read = zarr_kit._elements.Fixed.read
    monkeypatch.setattr(
        "zarr_kit._elements.Fixed.read", lambda *arguments: reads.append(1) or read(*arguments)
    )
    array = zarr_kit.create("memory:", shape=(12, 4), dtype="i2", chunks=[(3, 4, 5), 2])
    array[...] = np.arange(48).reshape(12, 4)
    rows = [row.tolist() for row in array]
    assert rows == np.arange(48).reshape(12, 4).tolist()
    assert len(reads) == 3
    # Rows of 8 bytes: 2 at a time.
    reads.clear()
    monkeypatch.setattr("zarr_kit._array.BLOCK", 16)
    assert [row.tolist() for row in array] == rows
    assert len(reads) == 2 + 2 + 3


def test_arrays_without_axes_have_the_truth_of_their_element():
    array = zarr_kit.create("memory:", shape=(), dtype="i2")
    assert not array
    array[...] = 3
    assert array
    with pytest.raises(TypeError, match="without axes"):
        iter(array)
    assert zarr_kit.create("memory:", shape=2, dtype="i2")
    assert not zarr_kit.create("memory:", shape=0, dtype="i2")


def test_tuples_in_a_key_are_lists():
    values = np.arange(12).reshape(3, 4)
    array = zarr_kit.create_array(data=values, chunks=2)
    for key in [((0, 2),), ((0, 2), (1, 3)), (slice(None), (3, 0)), (..., (1,))]:
        np.testing.assert_array_equal(array[key], values[key])


def test_fields_say_where_they_are():
    array = zarr_kit.create_array(data=np.zeros(3, dtype=[("a", "i4"), ("b", "f4")]))
    for key in ["a", ["a", "b"], (..., "a")]:
        with pytest.raises(IndexError, match="take the field of the result"):
            array[key]


def test_chunks_of_a_huge_array_are_counted():
    array = zarr_kit.create("memory:", shape=(1 << 62, 3), dtype="i1", chunks=(1 << 20, 2))
    assert (array.cdata_shape, array.nchunks) == ((1 << 42, 2), 1 << 43)
