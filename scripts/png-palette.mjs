/**
 * Reduces a PNG to a palette. Pictures of pages have few colours, so a palette halves their size without a visible
 * difference.
 */
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const HEAD = 8;
const MOST_COLOURS = 256;

/** @param png opaque RGB or RGBA with 8 bits per channel, not interlaced, as Chromium makes it */
export function withPalette(png) {
  const { width, height, channels, pixels } = decode(png);
  const count = new Map();
  const at = (place) => (pixels[place] << 16) | (pixels[place + 1] << 8) | pixels[place + 2];
  for (let place = 0; place < pixels.length; place += channels) {
    count.set(at(place), (count.get(at(place)) ?? 0) + 1);
  }
  const palette = [...count]
    .sort(([, a], [, b]) => b - a)
    .slice(0, MOST_COLOURS)
    .map(([colour]) => colour);
  const indexOf = new Map(palette.map((colour, index) => [colour, index]));
  const rows = Buffer.alloc((width + 1) * height);
  for (let place = 0, pixel = 0; place < pixels.length; place += channels, pixel++) {
    const colour = at(place);
    let index = indexOf.get(colour);
    if (index === undefined) {
      index = nearest(palette, colour);
      indexOf.set(colour, index);
    }
    rows[pixel + Math.floor(pixel / width) + 1] = index;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const colours = Buffer.from(palette.flatMap((one) => [one >> 16, (one >> 8) & 255, one & 255]));
  return Buffer.concat([
    png.subarray(0, HEAD),
    chunk('IHDR', header),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function nearest(palette, colour) {
  const far = (one, shift) => (((one >> shift) & 255) - ((colour >> shift) & 255)) ** 2;
  const distances = palette.map((one) => far(one, 16) + far(one, 8) + far(one, 0));
  return distances.indexOf(Math.min(...distances));
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

/** Decodes the pixels. PNG stores each byte as a difference from its neighbours: left, above, and above left. */
function decode(png) {
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const channels = { 2: 3, 6: 4 }[png[25]];
  if (png[24] !== 8 || channels === undefined) throw new Error('This is no RGB picture of 8 bits.');
  const data = [];
  for (let at = HEAD; at < png.length; at += png.readUInt32BE(at) + 12) {
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') {
      data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
    }
  }
  const raw = inflateSync(Buffer.concat(data));
  const stride = width * channels;
  const pixels = Buffer.alloc(stride * height);
  for (let row = 0; row < height; row++) {
    const filter = raw[row * (stride + 1)];
    for (let byte = 0; byte < stride; byte++) {
      const place = row * stride + byte;
      const left = byte < channels ? 0 : pixels[place - channels];
      const above = row === 0 ? 0 : pixels[place - stride];
      const corner = byte < channels || row === 0 ? 0 : pixels[place - stride - channels];
      const guess = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter];
      pixels[place] = raw[row * (stride + 1) + 1 + byte] + guess;
    }
  }
  return { width, height, channels, pixels };
}

function paeth(left, above, corner) {
  const guess = left + above - corner;
  const [a, b, c] = [left, above, corner].map((one) => Math.abs(guess - one));
  if (a <= b && a <= c) return left;
  return b <= c ? above : corner;
}
