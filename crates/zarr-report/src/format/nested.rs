//! One JSON document: nested lists of the elements.

/// Puts elements, given in C order, into nested lists.
pub struct Nested {
    shape: Vec<u64>,
    /// The index of the next element.
    at: Vec<u64>,
    any: bool,
}

impl Nested {
    /// For elements of this shape.
    pub fn new(shape: &[u64]) -> Self {
        Self { shape: shape.to_vec(), at: vec![0; shape.len()], any: false }
    }

    /// Appends the next element, with the brackets that open and close around it.
    pub fn element(&mut self, json: &str, out: &mut String) {
        let rank = self.shape.len();
        // As many lists begin here as there are zeros at the end of the index.
        let begun = self.at.iter().rev().take_while(|at| **at == 0).count();
        if self.any && rank > 0 {
            out.push_str(if begun > 0 { ",\n" } else { ", " });
            let indent = if begun > 0 { rank.saturating_sub(begun) } else { 0 };
            out.extend(std::iter::repeat_n(' ', indent));
        }
        out.extend(std::iter::repeat_n('[', begun));
        out.push_str(json);
        self.any = true;
        for (at, size) in self.at.iter_mut().zip(&self.shape).rev() {
            *at += 1;
            if *at < *size {
                break;
            }
            *at = 0;
            out.push(']');
        }
    }

    /// The end of the document; without elements, the whole document.
    pub fn end(self) -> String {
        if self.any {
            return "\n".to_owned();
        }
        // Lists down to the first empty axis, at most as many as fit a page.
        let empty = self.shape.iter().position(|size| *size == 0).unwrap_or(0);
        let outer = self.shape.get(..empty).unwrap_or_default();
        let lists = outer.iter().fold(1_u64, |product, size| product.saturating_mul(*size));
        let outer = if lists > 1 << 16 { &[] } else { outer };
        let mut text = "[]".to_owned();
        for size in outer.iter().rev() {
            let copies = usize::try_from(*size).unwrap_or(0);
            text = format!("[{}]", vec![text; copies].join(", "));
        }
        text.push('\n');
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(shape: &[u64]) -> String {
        let count: u64 = shape.iter().product();
        let (mut nested, mut out) = (Nested::new(shape), String::new());
        (0..count).for_each(|n| nested.element(&n.to_string(), &mut out));
        out + &nested.end()
    }

    #[test]
    fn documents_are_nested_as_the_shape_says() {
        for (shape, expected) in [
            (&[][..], "0"),
            (&[3], "[0, 1, 2]"),
            (&[2, 2], "[[0, 1], [2, 3]]"),
            (&[2, 1, 2], "[[[0, 1]], [[2, 3]]]"),
            (&[0], "[]"),
            (&[2, 0], "[[], []]"),
            (&[0, 2], "[]"),
        ] {
            let found: serde_json::Value = serde_json::from_str(&text(shape)).expect("JSON");
            let expected: serde_json::Value = serde_json::from_str(expected).expect("JSON");
            assert_eq!(found, expected, "{shape:?}");
        }
        assert_eq!(text(&[2, 3]), "[[0, 1, 2],\n [3, 4, 5]]\n");
    }
}
