/**
 * The list of a sealed day as text: a line for each wallet, all of one length. So the place of each byte is known before anything is read:
 * the size of the whole, and which leaves a range of bytes needs. No low is above the sum of all, whose digits are the width of a low.
 */
import { LEAVES_IN_CHUNK, type SealedDay } from '#libs/db';
import { DayList, ENTRY_BYTES, WALLET_BYTES } from '#libs/domain';

export type ExportFormat = 'ndjson' | 'csv';

export const MEDIA_TYPES: Readonly<Record<ExportFormat, string>> = {
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
};

/** Bytes of a text, from the first one up to, not including, another. */
export interface ByteSpan {
  readonly from: number;
  readonly to: number;
}

const QUOTE = 0x22;
const ADDRESS_DIGITS = 2 * WALLET_BYTES;

export class DayLines {
  readonly header: Buffer;
  readonly lineBytes: number;
  /** Of the whole text. */
  readonly size: number;
  /** A line whose wallet and low are still to be written. */
  private readonly blank: Buffer;
  private readonly addressAt: number;
  private readonly lowAt: number;
  private readonly width: number;

  /** Another form of the same list has to have another name: it is part of the ETag. */
  constructor(
    readonly format: ExportFormat,
    { wallets, total }: Pick<SealedDay, 'wallets' | 'total'>,
  ) {
    this.width = String(total).length;
    const address = '0'.repeat(ADDRESS_DIGITS);
    // Blanks between tokens mean nothing in JSON, nor do zeros before a number in CSV.
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

  /** How many lines a span touches. */
  linesIn({ from, to }: ByteSpan): number {
    return to <= from ? 0 : this.lineAt(to - 1) - this.lineAt(from) + 1;
  }

  /**
   * The bytes of a span, a chunk of leaves at a time.
   * @param chunksFrom the chunks of the day from one on
   * @throws Error where they end before the span does
   */
  async *bytes(
    { from, to }: ByteSpan,
    chunksFrom: (chunk: number) => AsyncIterable<Buffer>,
  ): AsyncGenerator<Buffer> {
    const { header } = this;
    if (from < header.length && from < to) yield header.subarray(from, Math.min(header.length, to));
    let at = Math.max(from, header.length);
    if (at >= to) return;
    // The first leaf is that of the zero address.
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

  /** The line that a byte belongs to, from 0 on; the header counts for the first one. */
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
