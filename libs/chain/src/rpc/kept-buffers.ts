/** Most bytes of a buffer that is kept. Answers are seldom larger. */
const MOST_KEPT_BYTES = 8 * 2 ** 20;
const FIRST_BYTES = 2 ** 16;

/**
 * Reads bodies into buffers that are used again. The system hands out a new buffer of some MiB page by page, which takes
 * longer than the parsing of the body.
 */
export class KeptBuffers {
  /** As many as there were bodies at once. */
  private readonly free: Buffer[] = [];

  /**
   * @param onBytes receives the bytes so far, before they are kept; what it throws ends the reading
   * @param use receives the whole body, which is valid until it returns
   */
  async read<T>(
    chunks: AsyncIterable<Buffer>,
    onBytes: (bytes: number) => void,
    use: (body: Buffer) => T,
  ): Promise<T> {
    let buffer = this.free.pop() ?? Buffer.allocUnsafeSlow(FIRST_BYTES);
    let bytes = 0;
    try {
      for await (const chunk of chunks) {
        const end = bytes + chunk.byteLength;
        onBytes(end);
        if (end > buffer.byteLength) buffer = grown(buffer, bytes, end);
        buffer.set(chunk, bytes);
        bytes = end;
      }
      return use(buffer.subarray(0, bytes));
    } finally {
      if (buffer.byteLength <= MOST_KEPT_BYTES) this.free.push(buffer);
    }
  }
}

/** A larger buffer with the same first bytes. */
function grown(buffer: Buffer, bytes: number, needed: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * buffer.byteLength));
  buffer.copy(larger, 0, 0, bytes);
  return larger;
}
