import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addressBytes, type DayList, DayLeaves, DayListBuilder, LAST_ADDRESS } from '#libs/domain';
import { aWallet } from '#libs/testing/database';
import { type ByteSpan, DayLines, type ExportFormat } from './day-lines.js';

const LEAVES_IN_CHUNK = 256;

function listOf(lows: readonly bigint[], endsAtLast = false): DayList {
  const builder = new DayListBuilder();
  for (const [place, low] of lows.entries()) {
    const isLast = endsAtLast && place === lows.length - 1;
    builder.add(addressBytes(isLast ? LAST_ADDRESS : aWallet(3 * place + 3)), low);
  }
  return builder.list();
}

/** The leaves of a list in stored chunks, and the indices of the chunks that were read. */
function chunksOf(list: DayList) {
  const leaves = new DayLeaves(list);
  const read: number[] = [];
  const chunksFrom = async function* (first: number): AsyncGenerator<Buffer> {
    for (let chunk = first; chunk * LEAVES_IN_CHUNK < leaves.length; chunk += 1) {
      read.push(chunk);
      const bytes: Uint8Array[] = [];
      const start = chunk * LEAVES_IN_CHUNK;
      const end = Math.min(start + LEAVES_IN_CHUNK, leaves.length);
      for (let place = start; place < end; place += 1) {
        bytes.push(leaves.wallet(place), leaves.low(place));
      }
      yield await Promise.resolve(Buffer.concat(bytes));
    }
  };
  return { read, chunksFrom };
}

function textOf(format: ExportFormat, list: DayList): string {
  const width = String(list.total).length;
  const lines = [...list].map(({ wallet, low }) => {
    if (format === 'csv') return `${wallet},${String(low).padStart(width, '0')}\r\n`;
    const blanks = ' '.repeat(width - String(low).length);
    return `{"walletAddress":"${wallet}","low":"${low}"${blanks}}\n`;
  });
  return (format === 'csv' ? 'walletAddress,low\r\n' : '') + lines.join('');
}

async function read(list: DayList, format: ExportFormat, span?: ByteSpan): Promise<string> {
  const lines = new DayLines(format, { wallets: list.length, total: list.total });
  const parts: Buffer[] = [];
  const { chunksFrom } = chunksOf(list);
  for await (const part of lines.bytes(span ?? { from: 0, to: lines.size }, chunksFrom)) {
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

describe('DayLines', () => {
  it.each([0, 1, 254, 255, 256, 257, 1000])('writes the whole list of %s', async (count) => {
    const list = listOf(Array.from({ length: count }, (_, place) => BigInt(place) ** 9n + 1n));
    for (const format of ['ndjson', 'csv'] as const) {
      const text = textOf(format, list);
      const { size } = new DayLines(format, { wallets: count, total: list.total });
      expect(size).toBe(Buffer.byteLength(text));
      expect(await read(list, format)).toBe(text);
    }
  });

  it('writes what JSON reads, up to the largest amount and the highest address', async () => {
    const lows = [1n, 2n ** 256n - 1n, 7n];
    const text = await read(listOf(lows, true), 'ndjson');
    const parsed = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { low: string });
    expect(parsed.map(({ low }) => BigInt(low))).toEqual(lows);
    expect(parsed.at(-1)).toMatchObject({ walletAddress: LAST_ADDRESS });
    expect(
      new Set(
        text
          .trimEnd()
          .split('\n')
          .map(({ length }) => length),
      ).size,
    ).toBe(1);
  });

  it('writes any part as it is in the whole', async () => {
    const list = listOf(Array.from({ length: 600 }, (_, place) => 10n ** BigInt(place % 30)));
    const format = fc.constantFrom<ExportFormat>('ndjson', 'csv');
    await fc.assert(
      fc.asyncProperty(format, fc.nat(60_000), fc.nat(60_000), async (form, a, b) => {
        const text = textOf(form, list);
        const from = Math.min(a, b, text.length);
        const to = Math.min(Math.max(a, b), text.length);
        expect(await read(list, form, { from, to })).toBe(text.slice(from, to));
      }),
    );
  });

  it('reads what a part needs, and nothing else', async () => {
    const list = listOf(Array.from({ length: 2000 }, () => 1n));
    const lines = new DayLines('ndjson', { wallets: 2000, total: list.total });
    const { read: chunks, chunksFrom } = chunksOf(list);
    const span = { from: 700 * lines.lineBytes + 5, to: 800 * lines.lineBytes + 5 };
    let bytes = 0;
    for await (const part of lines.bytes(span, chunksFrom)) bytes += part.length;
    expect(bytes).toBe(100 * lines.lineBytes);
    expect(lines.linesIn(span)).toBe(101);
    expect(chunks).toEqual([2, 3]);
  });

  it('does not end as if it were whole where the list is removed meanwhile', async () => {
    const list = listOf(Array.from({ length: 600 }, () => 1n));
    const lines = new DayLines('csv', { wallets: 600, total: 600n });
    const { chunksFrom } = chunksOf(list);
    const cut = async function* (first: number): AsyncGenerator<Buffer> {
      for await (const chunk of chunksFrom(first)) {
        yield chunk;
        return;
      }
    };
    const readAll = async (): Promise<void> => {
      for await (const part of lines.bytes({ from: 0, to: lines.size }, cut))
        expect(part).toBeDefined();
    };
    await expect(readAll()).rejects.toThrow('ends early');
  });
});
