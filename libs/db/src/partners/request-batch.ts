/** Stored bytes of an answer's body, and stored characters of a path. */
const MOST_BODY = 8192;
const MOST_PATH = 2048;
/** Maximum length of a row's JSON, where every character of the path is escaped. */
const MOST_ROW = 6 * MOST_PATH + 1024;
/** About 4 KiB for each of a thousand answers, which is more than most answers have. */
const BODIES_SIZE = 4 * 1024 * 1024;
const ROWS_SIZE = 512 * 1024;
const MOST_ROWS = 1000;

/** A partner's request and its answer. */
export interface LoggedRequest {
  readonly credentialId: string;
  /** X-Request-Id of the answer: 1 to 64 characters of A-Z a-z 0-9 . _ - */
  readonly requestId: string;
  readonly atMs: number;
  readonly method: string;
  /** As sent, with the query: one character for each byte. */
  readonly path: string;
  readonly status: number;
  /** Code of an error. */
  readonly code?: string | undefined;
  /** Body of the answer. A string stands for its UTF-8. */
  readonly body: string | Buffer;
  /** Hex digits. */
  readonly signature: string;
  readonly durationUs: number;
}

/**
 * Requests in the form in which they are written: the bodies one after the other, all else as JSON. Each request is
 * copied at once, because objects that live for a second on the heap cost more than all other work.
 */
export class RequestBatch {
  count = 0;
  private readonly allBodies = Buffer.allocUnsafeSlow(BODIES_SIZE);
  private readonly allRows = Buffer.allocUnsafeSlow(ROWS_SIZE);
  private bodiesEnd = 0;
  private rowsEnd = 0;

  /** @returns false where there is no more room */
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

  /** The requests as JSON, and the bodies to which the JSON refers by position. */
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
