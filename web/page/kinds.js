/** How an element is shown: its value, NaN or NaT, the fill value, of a chunk that is not stored, or is damaged, or infinite. */
export const [VALUE, NOTHING, FILL, MISSING, DAMAGED, ABOVE, BELOW] = [0, 1, 2, 3, 4, 5, 6];

/** A number of fewer bits than JavaScript has, in as many digits as it needs. */
function short(value, dtype) {
  if (dtype !== "float32") return String(value);
  for (let digits = 1; digits < 9; digits++) {
    if (Math.fround(value.toPrecision(digits)) === value) return String(Number(value.toPrecision(digits)));
  }
  return String(value);
}

/** An element as text: of its own bits, since a 64-bit integer is not always a number of JavaScript. */
export function textOf({ data, values, kinds }, dtype, at) {
  if (kinds[at] === DAMAGED) return "cannot be read";
  if (values && /float16$/.test(dtype)) return String(values[at]);
  const each = data.length / kinds.length;
  if (/^numpy\./.test(dtype) || each === 1) return dtype === "bool" ? String(Boolean(data[at])) : short(data[at] ?? "", dtype);
  const parts = Array.from(data.slice(at * each, (at + 1) * each));
  return /^complex/.test(dtype) ? `${parts[0]} + ${parts[1]}i` : parts.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
}
