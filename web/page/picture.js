// Draws what a look has read: a picture of two axes, or a line of one.

import { ABOVE, BELOW, DAMAGED, FILL, MISSING, NOTHING, VALUE } from "./kinds.js";

const RAMP = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
const OTHERS = { [NOTHING]: [128, 128, 128], [FILL]: [205, 205, 215], [MISSING]: [255, 255, 255], [DAMAGED]: [255, 205, 200], [ABOVE]: [230, 0, 160], [BELOW]: [0, 0, 0] };
const NAMES = { [NOTHING]: "NaN or NaT", [FILL]: "the fill value", [MISSING]: "in a chunk that is not stored", [DAMAGED]: "in a chunk that cannot be read", [ABOVE]: "Infinity", [BELOW]: "-Infinity" };
/** The place on an axis that an array does not have. */
const ONE = { from: 0, to: 1 };
const LINES = { [MISSING]: "#777", [DAMAGED]: "#b3261e" };

function color(share) {
  const at = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1);
  const low = Math.min(Math.floor(at), RAMP.length - 2);
  return RAMP[low].map((from, channel) => from + (RAMP[low + 1][channel] - from) * (at - low));
}

/** The extremes of what is shown as a value, which is finite. Their difference may not be. */
function range({ values, kinds }) {
  let [low, high] = [Infinity, -Infinity];
  values.forEach((value, at) => {
    if (kinds[at] === VALUE) [low, high] = [Math.min(low, value), Math.max(high, value)];
  });
  const by = high - low === Infinity ? 2 : 1;
  return { low, high, share: (value) => (high > low ? (value / by - low / by) / (high / by - low / by) : 0.5) };
}

function sheet(width, height) {
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  return [canvas, canvas.getContext("2d")];
}

function hatch(context, kind, x, y, width, height) {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.fillStyle = `rgb(${OTHERS[kind]})`;
  context.fillRect(x, y, width, height);
  context.strokeStyle = LINES[kind];
  context.beginPath();
  for (let at = -height; at < width; at += 8) {
    context.moveTo(x + at, y + height);
    context.lineTo(x + at + height, y);
  }
  context.stroke();
  context.restore();
}

/** The picture, and the element at a place of it. */
export function draw(look) {
  return look.shape.length === 1 ? line(look) : plane(look);
}

function plane(look) {
  const [rows, columns] = look.shape.length === 2 ? look.shape : [1, 1];
  const { share } = range(look);
  const pixels = new ImageData(columns, rows);
  look.kinds.forEach((kind, at) => pixels.data.set([...(kind === VALUE ? color(share(look.values[at])) : OTHERS[kind]), 255], 4 * at));
  const [small, context] = sheet(columns, rows);
  context.putImageData(pixels, 0, 0);
  const scale = Math.min(720 / columns, 480 / rows);
  const size = (count) => Math.round(Math.max(count * (scale > 1 ? Math.floor(scale) : scale), 120));
  const [canvas, large] = sheet(size(columns), size(rows));
  large.imageSmoothingEnabled = false;
  large.drawImage(small, 0, 0, canvas.width, canvas.height);
  const [x, y] = [canvas.width / columns, canvas.height / rows];
  look.edges.forEach(([down = ONE, across = ONE], at) => {
    const place = [across.from * x, down.from * y, (across.to - across.from) * x, (down.to - down.from) * y];
    const kind = look.states[at];
    if (kind !== VALUE) hatch(large, kind, ...place);
    large.strokeStyle = "#0005";
    if (place[2] > 6 && place[3] > 6) large.strokeRect(...place);
  });
  return { canvas, at: (left, top) => [Math.floor(top * rows), Math.floor(left * columns)] };
}

function line(look) {
  const [canvas, context] = sheet(720, 240);
  const [count] = look.shape;
  const { share } = range(look);
  const [x, y] = [(at) => ((at + 0.5) / count) * canvas.width, (value) => 230 - 220 * share(value)];
  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  look.edges.forEach(([across], at) => {
    const left = (across.from / count) * canvas.width, width = ((across.to - across.from) / count) * canvas.width;
    if (look.states[at] !== VALUE) hatch(context, look.states[at], left, 0, width, canvas.height);
    context.fillStyle = "#0002";
    if (width > 3) context.fillRect(left, 0, 1, canvas.height);
  });
  context.strokeStyle = context.fillStyle = "#1f4e8c";
  context.lineWidth = 1.5;
  context.beginPath();
  let pen = false;
  look.kinds.forEach((kind, at) => {
    const is = (next) => look.kinds[next] === VALUE;
    if (is(at)) pen ? context.lineTo(x(at), y(look.values[at])) : context.moveTo(x(at), y(look.values[at]));
    // A value between two gaps is a point.
    if (is(at) && !is(at - 1) && !is(at + 1)) context.fillRect(x(at) - 1.5, y(look.values[at]) - 1.5, 3, 3);
    pen = is(at);
    if (OTHERS[kind] && !LINES[kind]) {
      context.save();
      context.fillStyle = `rgb(${OTHERS[kind]})`;
      context.fillRect((at / count) * canvas.width, kind === ABOVE ? 0 : 234, Math.max(canvas.width / count, 1), 6);
      context.restore();
    }
  });
  context.stroke();
  return { canvas, at: (left) => [Math.floor(left * count)] };
}

/** What the colours mean, as pairs of a sample and a text. */
export function legend(look) {
  const { low, high } = range(look);
  const samples = [];
  if (low <= high) {
    const [bar, context] = sheet(120, 12);
    for (let at = 0; at < 120; at++) {
      context.fillStyle = `rgb(${color(high > low ? at / 119 : 0.5)})`;
      context.fillRect(at, 0, 1, 12);
    }
    const isLine = look.shape.length === 1;
    if (low === high) samples.push([isLine ? undefined : bar, `all ${number(low)}`]);
    else samples.push(isLine ? [undefined, `from ${number(low)} at the bottom to ${number(high)} at the top`] : [bar, `${number(low)} to ${number(high)}`]);
  }
  for (const kind of [NOTHING, FILL, MISSING, DAMAGED, ABOVE, BELOW]) {
    const count = look.kinds.reduce((sum, one) => sum + (one === kind), 0);
    if (count === 0) continue;
    const [canvas, context] = sheet(24, 12);
    if (LINES[kind]) hatch(context, kind, 0, 0, 24, 12);
    else {
      context.fillStyle = `rgb(${OTHERS[kind]})`;
      context.fillRect(0, 0, 24, 12);
    }
    samples.push([canvas, `${count.toLocaleString("en")} ${NAMES[kind]}`]);
  }
  return samples;
}

const number = (value) => String(Number.isSafeInteger(value) ? value : Number(value.toPrecision(6)));
