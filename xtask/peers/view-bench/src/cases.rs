//! The copies that are compared.

use zarr_view::View;

/// A copy of a part of an array, in another order of axes.
pub struct Case {
    pub name: String,
    /// The table of the records that it is in.
    pub table: String,
    /// The array that is read.
    pub shape: Vec<usize>,
    /// As in `numpy.transpose`.
    pub order: Vec<usize>,
    /// What is read along each axis, after the transpose.
    pub parts: Vec<Part>,
    /// Elements around the result on each axis: it is a window of an array that is larger by
    /// twice as many.
    pub margin: usize,
    /// Bytes per element.
    pub size: usize,
}

/// Elements of one axis: `first`, and then `count - 1` more, each `step` further on. A step of 0
/// repeats the first.
#[derive(Clone, Copy)]
pub struct Part {
    pub first: usize,
    pub step: isize,
    pub count: usize,
}

impl Case {
    /// Bytes of the array that is read.
    pub fn stored(&self) -> usize {
        self.shape.iter().product::<usize>() * self.size
    }

    /// Bytes that are written.
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(|part| part.count).product::<usize>() * self.size
    }

    /// The array around the result.
    pub fn outer(&self) -> Vec<usize> {
        self.parts.iter().map(|part| part.count + 2 * self.margin).collect()
    }

    pub fn from(&self) -> View {
        let view = View::contiguous(&self.shape).unwrap().permute(&self.order).unwrap();
        self.parts.iter().enumerate().fold(view, |view, (axis, part)| {
            view.slice(axis, part.first, part.step, part.count).unwrap()
        })
    }

    pub fn to(&self) -> View {
        let range = |part: &Part| self.margin..self.margin + part.count;
        let ranges: Vec<_> = self.parts.iter().map(range).collect();
        View::contiguous(&self.outer()).unwrap().shrink(&ranges).unwrap()
    }

    fn new(name: &str, shape: &[usize], order: &[usize], size: usize) -> Self {
        let whole = |&axis: &usize| Part { first: 0, step: 1, count: shape[axis] };
        let (parts, order) = (order.iter().map(whole).collect(), order.to_vec());
        let (name, shape, table) = (name.into(), shape.into(), "copies: transposes".into());
        Self { name, table, shape, order, parts, margin: 0, size }
    }

    /// As `numpy`'s `[::step]` along an axis of the result; a step of 0 repeats the axis, which has
    /// one element, `step.1` times.
    fn part(mut self, axis: usize, step: isize, repeats: usize) -> Self {
        let count = self.parts[axis].count;
        self.parts[axis] = match step {
            0 => Part { first: 0, step, count: repeats },
            1.. => Part { first: 0, step, count: count.div_ceil(step.unsigned_abs()) },
            _ => Part { first: count - 1, step, count: count.div_ceil(step.unsigned_abs()) },
        };
        self
    }
}

/// All cases: large transposes, and copies of every other kind at sizes in and out of the cache.
pub fn all() -> Vec<Case> {
    let mut cases = transposes();
    cases.extend(small_axes());
    cases.extend(parts());
    cases
}

fn transposes() -> Vec<Case> {
    let rows: &[(&str, &[usize], &[usize])] = &[
        ("4096 x 4096", &[4096, 4096], &[1, 0]),
        ("4093 x 4099", &[4093, 4099], &[1, 0]),
        ("[64,128,128,16] to [3,0,2,1]", &[64, 128, 128, 16], &[3, 0, 2, 1]),
        ("[64,128,128,16] to [0,3,1,2]", &[64, 128, 128, 16], &[0, 3, 1, 2]),
        ("[64,128,128,16] to [2,1,0,3]", &[64, 128, 128, 16], &[2, 1, 0, 3]),
        ("[64,128,128,16] to [1,3,0,2]", &[64, 128, 128, 16], &[1, 3, 0, 2]),
        ("[251,259,257] to [2,1,0]", &[251, 259, 257], &[2, 1, 0]),
        ("[251,259,257] to [1,0,2]", &[251, 259, 257], &[1, 0, 2]),
        ("[251,259,257] to [0,2,1]", &[251, 259, 257], &[0, 2, 1]),
        ("[509,511,63] to [1,0,2]", &[509, 511, 63], &[1, 0, 2]),
        ("[512,512,64] to [1,0,2]", &[512, 512, 64], &[1, 0, 2]),
        ("[512,64,257] to [1,0,2]", &[512, 64, 257], &[1, 0, 2]),
        ("[31,33,35,63] to [2,0,3,1]", &[31, 33, 35, 63], &[2, 0, 3, 1]),
        ("[17,19,21,23,9] to [4,2,0,3,1]", &[17, 19, 21, 23, 9], &[4, 2, 0, 3, 1]),
        ("[17,19,21,23,9] to [1,3,0,2,4]", &[17, 19, 21, 23, 9], &[1, 3, 0, 2, 4]),
        ("[9,11,13,7,15,17] to [5,3,1,4,2,0]", &[9, 11, 13, 7, 15, 17], &[5, 3, 1, 4, 2, 0]),
        ("[9,11,13,7,15,17] to [1,0,3,2,5,4]", &[9, 11, 13, 7, 15, 17], &[1, 0, 3, 2, 5, 4]),
        ("[61,61,9] to [1,0,2]", &[61, 61, 9], &[1, 0, 2]),
        ("[301,301,9] to [1,0,2]", &[301, 301, 9], &[1, 0, 2]),
        ("[601,601,9] to [1,0,2]", &[601, 601, 9], &[1, 0, 2]),
        ("[64,64,4096] to [2,0,1]", &[64, 64, 4096], &[2, 0, 1]),
        ("[64,64,4096] to [1,2,0]", &[64, 64, 4096], &[1, 2, 0]),
        ("[64,64,64] to [1,0,2]", &[64, 64, 64], &[1, 0, 2]),
        ("[64,64,64] to [2,1,0]", &[64, 64, 64], &[2, 1, 0]),
        ("[64,64,64] to [0,2,1]", &[64, 64, 64], &[0, 2, 1]),
        ("1024 x 1024", &[1024, 1024], &[1, 0]),
        ("1000 x 1000", &[1000, 1000], &[1, 0]),
        ("256 x 256 in cache", &[256, 256], &[1, 0]),
        ("30 x 30", &[30, 30], &[1, 0]),
        ("8 x 8", &[8, 8], &[1, 0]),
        ("contiguous", &[1 << 24], &[0]),
    ];
    let mut cases = Vec::new();
    for &(name, shape, order) in rows {
        for size in [1, 2, 4, 8, 16] {
            if shape.iter().product::<usize>() * size > 256 << 20 {
                continue;
            }
            cases.push(Case::new(name, shape, order, size));
        }
    }
    cases
}

/// A short axis that moves from one end to the other, or from and to the middle.
fn small_axes() -> Vec<Case> {
    let mut cases = Vec::new();
    for side in [64, 256, 2048] {
        for short in [2, 3, 4, 5, 7, 8, 12] {
            let rows: [(&str, [usize; 3], [usize; 3]); 4] = [
                ("planes to pixels", [short, side, side], [1, 2, 0]),
                ("pixels to planes", [side, side, short], [2, 0, 1]),
                ("middle to pixels", [side, short, side], [0, 2, 1]),
                ("pixels to middle", [side, side, short], [0, 2, 1]),
            ];
            for (name, shape, order) in rows {
                for size in [1, 2, 4, 8, 16] {
                    if shape.iter().product::<usize>() * size <= 128 << 20 {
                        let name = format!("{name} {shape:?} to {order:?}").replace(", ", ",");
                        let mut case = Case::new(&name, &shape, &order, size);
                        case.table = format!("copies: a short axis beside {side} x {side}");
                        cases.push(case);
                    }
                }
            }
        }
    }
    cases
}

/// Flips, steps, repeats and windows.
fn parts() -> Vec<Case> {
    let mut cases = Vec::new();
    for side in [8, 64, 256, 4096] {
        for size in [1, 2, 4, 8, 16] {
            if side * side * size > 64 << 20 {
                continue;
            }
            let table = format!("copies: parts of {side} x {side}");
            let case = |name: &str, shape: [usize; 2]| {
                let mut case = Case::new(&format!("{side} x {side} {name}"), &shape, &[0, 1], size);
                case.table = table.clone();
                case
            };
            let whole = [side, side];
            cases.extend([
                case("[:, ::-1]", whole).part(1, -1, 0),
                case("[::-1, :]", whole).part(0, -1, 0),
                case("[::-1, ::-1]", whole).part(0, -1, 0).part(1, -1, 0),
                case("[:, ::2]", whole).part(1, 2, 0),
                case("[:, ::3]", whole).part(1, 3, 0),
                case("[:, ::-2]", whole).part(1, -2, 0),
                case("[::2, :]", whole).part(0, 2, 0),
                case("[::2, ::2]", whole).part(0, 2, 0).part(1, 2, 0),
                case("from a column", [side, 1]).part(1, 0, side),
                case("from a row", [1, side]).part(0, 0, side),
            ]);
            let mut window = case("into a window", whole);
            window.margin = 7;
            cases.push(window);
            let mut turned = Case::new(
                &format!("{side} x {side} transposed into a window"),
                &whole,
                &[1, 0],
                size,
            );
            turned.margin = 7;
            turned.table = table;
            cases.push(turned.part(1, -1, 0));
        }
    }
    cases
}
