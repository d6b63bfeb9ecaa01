import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const BLOCK_BYTES = 1024 * 1024;

/** The folder of temporary files. */
export class ScratchFolder {
  /** @param blockBytes most bytes in a block that is read, and in the buffer of what is not written yet */
  constructor(
    private readonly path: string,
    private readonly blockBytes = BLOCK_BYTES,
  ) {}

  open(): ScratchFile {
    return new ScratchFile(this.path, this.blockBytes);
  }
}

/**
 * A temporary file that is written from its start to its end. Its name is removed as soon as it is open, so the system
 * frees it when the file is closed, or the thread or the process ends in any way.
 */
export class ScratchFile {
  private readonly file: number;
  private readonly buffer: Buffer;
  private buffered = 0;
  private written = 0;
  private isOpen = true;

  constructor(
    folder: string,
    private readonly blockBytes: number,
  ) {
    this.buffer = Buffer.allocUnsafeSlow(blockBytes);
    const path = join(folder, `lowmark-seal-${process.pid}-${randomUUID()}`);
    this.file = openSync(path, 'wx+', 0o600);
    unlinkSync(path);
  }

  /** In bytes. */
  get length(): number {
    return this.written + this.buffered;
  }

  /** @param bytes at most a block */
  append(bytes: Uint8Array): void {
    if (this.buffered + bytes.length > this.blockBytes) this.flush();
    this.buffer.set(bytes, this.buffered);
    this.buffered += bytes.length;
  }

  /** Fills `bytes` with what the file has from `start` on. @throws RangeError where the file ends before */
  read(start: number, bytes: Buffer): void {
    if (start + bytes.length > this.written) this.flush();
    for (let done = 0; done < bytes.length;) {
      const read = readSync(this.file, bytes, done, bytes.length - done, start + done);
      if (read === 0) throw new RangeError('a temporary file ends before what is read of it');
      done += read;
    }
  }

  /**
   * Reads the file in blocks of whole records, also what is appended meanwhile. A block is valid until the next one.
   */
  *blocks(recordBytes: number): Generator<Buffer> {
    const { blockBytes } = this;
    const memory = Buffer.allocUnsafeSlow(blockBytes - (blockBytes % recordBytes));
    for (let start = 0; ;) {
      const bytes = Math.min(memory.length, this.length - start);
      const block = memory.subarray(0, bytes - (bytes % recordBytes));
      if (block.length === 0) return;
      this.read(start, block);
      yield block;
      start += block.length;
    }
  }

  /** Reads the file record by record. A record is valid until the next one. */
  *records(recordBytes: number): Generator<Buffer> {
    for (const block of this.blocks(recordBytes)) {
      for (let start = 0; start < block.length; start += recordBytes) {
        yield block.subarray(start, start + recordBytes);
      }
    }
  }

  /** Does nothing where the file is closed. */
  close(): void {
    if (this.isOpen) closeSync(this.file);
    this.isOpen = false;
  }

  private flush(): void {
    for (let done = 0; done < this.buffered;) {
      done += writeSync(this.file, this.buffer, done, this.buffered - done, this.written + done);
    }
    this.written += this.buffered;
    this.buffered = 0;
  }
}
