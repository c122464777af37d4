/** How an element is shown: its value, NaN or NaT, the fill value, of a chunk that is not stored, or is damaged. */
export const [VALUE, NOTHING, FILL, MISSING, DAMAGED] = [0, 1, 2, 3, 4];

/** A number of fewer bits than JavaScript has, in as many digits as it needs. */
export function short(value, dtype) {
  if (dtype !== "float32") return String(value);
  for (let digits = 1; digits < 9; digits++) {
    if (Math.fround(value.toPrecision(digits)) === value) return String(Number(value.toPrecision(digits)));
  }
  return String(value);
}
