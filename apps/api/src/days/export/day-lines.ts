/**
 * The list of a sealed day as text, with a line for each wallet and all lines of one length. The position of each byte
 * is therefore known before anything is read: the size of the text, and the leaves that a range of bytes needs. No
 * low-water mark exceeds the sum of all, so the digits of the sum are the width of the amount.
 */
import { LEAVES_IN_CHUNK, type SealedDay } from '#libs/db';
import { DayList, ENTRY_BYTES, WALLET_BYTES } from '#libs/domain';

export type ExportFormat = 'ndjson' | 'csv';

export const MEDIA_TYPES: Readonly<Record<ExportFormat, string>> = {
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
};

/** A range of bytes, `to` exclusive. */
export interface ByteSpan {
  readonly from: number;
  readonly to: number;
}

const QUOTE = 0x22;
const ADDRESS_DIGITS = 2 * WALLET_BYTES;

export class DayLines {
  readonly header: Buffer;
  readonly lineBytes: number;
  /** Size of the whole text, in bytes. */
  readonly size: number;
  /** A line without wallet and amount. */
  private readonly blank: Buffer;
  private readonly addressAt: number;
  private readonly lowAt: number;
  private readonly width: number;

  /** The format's name is part of the ETag, so another layout of the lines needs another name. */
  constructor(
    readonly format: ExportFormat,
    { wallets, total }: Pick<SealedDay, 'wallets' | 'total'>,
  ) {
    this.width = String(total).length;
    const address = '0'.repeat(ADDRESS_DIGITS);
    // Padding does not change the values: blanks between JSON tokens, zeros before a CSV number.
    const [header, before, between, rest] =
      format === 'ndjson'
        ? ['', '{"walletAddress":"0x', '","low":"', `${' '.repeat(this.width + 1)}}\n`]
        : ['walletAddress,low\r\n', '0x', ',', `${'0'.repeat(this.width)}\r\n`];
    this.header = Buffer.from(header);
    this.blank = Buffer.from(before + address + between + rest);
    this.addressAt = before.length;
    this.lowAt = before.length + ADDRESS_DIGITS + between.length;
    this.lineBytes = this.blank.length;
    this.size = this.header.length + wallets * this.lineBytes;
  }

  linesIn({ from, to }: ByteSpan): number {
    return to <= from ? 0 : this.lineAt(to - 1) - this.lineAt(from) + 1;
  }

  /**
   * The bytes of a span, one chunk of leaves at a time.
   * @param chunksFrom reads the chunks of the day from this one on
   * @throws Error where the chunks end before the span does
   */
  async *bytes(
    { from, to }: ByteSpan,
    chunksFrom: (chunk: number) => AsyncIterable<Buffer>,
  ): AsyncGenerator<Buffer> {
    const { header } = this;
    if (from < header.length && from < to) yield header.subarray(from, Math.min(header.length, to));
    let at = Math.max(from, header.length);
    if (at >= to) return;
    // The first leaf is the zero address, which has no line.
    let place = this.lineAt(at) + 1;
    const last = this.lineAt(to - 1) + 1;
    for await (const leaves of chunksFrom(Math.floor(place / LEAVES_IN_CHUNK))) {
      const start = place % LEAVES_IN_CHUNK;
      const end = Math.min(leaves.length / ENTRY_BYTES, start + last - place + 1);
      const lines = this.render(leaves.subarray(start * ENTRY_BYTES, end * ENTRY_BYTES));
      const linesAt = header.length + (place - 1) * this.lineBytes;
      yield lines.subarray(at - linesAt, to - linesAt);
      place += end - start;
      at = linesAt + lines.length;
      if (place > last) return;
    }
    throw new Error('the list of the day ends early: it was removed meanwhile');
  }

  /** Index of the line that holds a byte, from 0 on. The header counts as part of the first line. */
  private lineAt(byte: number): number {
    return Math.max(0, Math.floor((byte - this.header.length) / this.lineBytes));
  }

  private render(leaves: Buffer): Buffer {
    const { blank, lineBytes, addressAt, lowAt, width } = this;
    const list = new DayList(leaves);
    const lines = Buffer.allocUnsafe(list.length * lineBytes);
    const hex = leaves.toString('hex');
    for (let place = 0, at = 0; place < list.length; place += 1, at += lineBytes) {
      const digits = String(list.amount(place));
      const hexAt = place * 2 * ENTRY_BYTES;
      lines.set(blank, at);
      lines.write(hex.slice(hexAt, hexAt + ADDRESS_DIGITS), at + addressAt, 'latin1');
      if (this.format === 'ndjson') {
        lines.write(digits, at + lowAt, 'latin1');
        lines[at + lowAt + digits.length] = QUOTE;
      } else {
        lines.write(digits, at + lowAt + width - digits.length, 'latin1');
      }
    }
    return lines;
  }
}
