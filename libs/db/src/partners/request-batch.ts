/** Bytes that are kept of an answer's body, and characters of a path. */
const MOST_BODY = 8192;
const MOST_PATH = 2048;
/** The most that a row's JSON can take: a path of which every character is escaped. */
const MOST_ROW = 6 * MOST_PATH + 1024;
/** Some 4 KiB for each of a thousand answers, which is more than most have. */
const BODIES_SIZE = 4 * 1024 * 1024;
const ROWS_SIZE = 512 * 1024;
const MOST_ROWS = 1000;

/** What a partner asked, and the answer. */
export interface LoggedRequest {
  readonly credentialId: string;
  /** X-Request-Id of the answer: 1 to 64 of A-Z a-z 0-9 . _ - */
  readonly requestId: string;
  readonly atMs: number;
  readonly method: string;
  /** As sent, with the query: a character for each byte. */
  readonly path: string;
  readonly status: number;
  /** Of an error. */
  readonly code?: string | undefined;
  /** Of the answer; of a string its UTF-8. */
  readonly body: string | Buffer;
  /** Hex digits. */
  readonly signature: string;
  readonly durationUs: number;
}

/**
 * Requests as they will be written: the bodies one after the other, the rest as JSON. They are copied at once, since what lives for a
 * second on the heap costs more than all the rest.
 */
export class RequestBatch {
  count = 0;
  private readonly allBodies = Buffer.allocUnsafeSlow(BODIES_SIZE);
  private readonly allRows = Buffer.allocUnsafeSlow(ROWS_SIZE);
  private bodiesEnd = 0;
  private rowsEnd = 0;

  /** False where there is no more room. */
  add({ body, path, durationUs, ...request }: LoggedRequest): boolean {
    const start = this.bodiesEnd;
    const isFull =
      this.count >= MOST_ROWS ||
      BODIES_SIZE - start < MOST_BODY ||
      ROWS_SIZE - this.rowsEnd < MOST_ROW;
    if (isFull) return false;
    const isText = typeof body === 'string';
    const kept = isText
      ? this.allBodies.write(body, start, MOST_BODY)
      : body.copy(this.allBodies, start, 0, MOST_BODY);
    this.bodiesEnd += kept;
    const row = JSON.stringify({
      ...request,
      path: path.length > MOST_PATH ? path.slice(0, MOST_PATH) : path,
      pathLength: path.length,
      bodyStart: start,
      bodyKept: kept,
      bodyBytes: isText ? Buffer.byteLength(body) : body.length,
      durationUs: Math.round(durationUs),
    });
    this.rowsEnd += this.allRows.write((this.count === 0 ? '[' : ',') + row, this.rowsEnd);
    this.count += 1;
    return true;
  }

  /** As JSON, and the bodies that it points into. */
  get content(): { readonly requests: Buffer; readonly bodies: Buffer } {
    const end = this.rowsEnd + this.allRows.write(this.count === 0 ? '[]' : ']', this.rowsEnd);
    return {
      requests: this.allRows.subarray(0, end),
      bodies: this.allBodies.subarray(0, this.bodiesEnd),
    };
  }

  clear(): void {
    this.count = 0;
    this.bodiesEnd = 0;
    this.rowsEnd = 0;
  }
}
