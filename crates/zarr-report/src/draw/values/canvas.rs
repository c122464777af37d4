//! The pixels of a picture that is being drawn.

/// A picture that is being drawn.
pub(super) struct Canvas {
    pub(super) width: usize,
    /// Row by row: red, green, blue and how opaque it is.
    pub(super) pixels: Vec<[u8; 4]>,
}

impl Canvas {
    pub(super) fn new(height: usize, width: usize) -> Self {
        Self { width, pixels: vec![[0; 4]; height * width] }
    }

    pub(super) fn set(&mut self, (row, column): (usize, usize), [red, green, blue]: [u8; 3]) {
        if let Some(pixel) = self.pixel((row, column)) {
            *pixel = [red, green, blue, u8::MAX];
        }
    }

    /// Takes away light: none at 0, all at 255.
    pub(super) fn darken(&mut self, place: (usize, usize), ink: u8) {
        if let Some([red, green, blue, _]) = self.pixel(place) {
            for part in [red, green, blue] {
                *part = part.saturating_sub(ink);
            }
        }
    }

    fn pixel(&mut self, (row, column): (usize, usize)) -> Option<&mut [u8; 4]> {
        let width = self.width;
        self.pixels.get_mut(row * width + column).filter(|_| column < width)
    }
}
