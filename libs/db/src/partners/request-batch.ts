/** Stored bytes of an answer's body, and stored characters of a path. */
const MOST_BODY = 8192;
const MOST_PATH = 2048;
/** Maximum length of a row's JSON, where every character of the path is escaped. */
const MOST_ROW = 6 * MOST_PATH + 1024;
/** Requests at most: each takes at least one piece. */
const PIECES = 1000;
/** Room for the row and the body of most requests. */
const PIECE_BYTES = 4608;
/** Room for what `content` adds to a row: a separator, and the place of the body. */
const MOST_ADDED = 64;

/** A partner's request and its answer. */
export interface LoggedRequest {
  readonly partnerId: PartnerId;
  readonly credentialId: CredentialId;
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

/** A request in the pool: its row and, after that, its body. */
interface Entry {
  readonly pieces: readonly number[];
  readonly rowBytes: number;
  readonly bodyBytes: number;
}

/** The requests of one partner, oldest first. */
interface Share {
  readonly entries: Entry[];
  pieces: number;
}

/**
 * Requests in the form in which they are written: the bodies one after the other, all else as JSON. Each request is
 * copied at once into a pool of pieces, because its texts would live for a second on the heap and cost more than all
 * other work.
 *
 * Partners share the pool. If it is full, the partner with the largest share gives up its newest requests for those of
 * partners with less. A partner therefore loses none as long as it has no more than an equal part of the pool, whatever
 * the others do.
 */
export class RequestBatch {
  /** Requests that are in the batch. */
  count = 0;
  private readonly pool = Buffer.allocUnsafeSlow(PIECES * PIECE_BYTES);
  private readonly free: number[] = [];
  private readonly shares = new Map<string, Share>();
  /** Pieces of the largest share, or more, so that most requests of the largest one are refused without a search. */
  private largest = 0;
  /** One request, in order to divide it into pieces, or to put it together. */
  private readonly whole = Buffer.allocUnsafeSlow(MOST_ROW + MOST_BODY);
  private readonly allRows = Buffer.allocUnsafeSlow(PIECES * (PIECE_BYTES + MOST_ADDED));
  private readonly allBodies = Buffer.allocUnsafeSlow(PIECES * PIECE_BYTES);

  constructor() {
    this.clear();
  }

  /** @returns number of requests that are lost by it: none, the request itself, or those of the largest share */
  add({ partnerId, body, path, durationUs, ...request }: LoggedRequest): number {
    const share = this.shareOf(partnerId);
    if (this.free.length === 0 && share.pieces + 1 >= this.largest) return 1;
    const { whole } = this;
    const isText = typeof body === 'string';
    const row = JSON.stringify({
      ...request,
      path: path.length > MOST_PATH ? path.slice(0, MOST_PATH) : path,
      pathLength: path.length,
      bodyBytes: isText ? Buffer.byteLength(body) : body.length,
      durationUs: Math.round(durationUs),
    });
    // `content` closes the object.
    const rowBytes = whole.write(row, 0, MOST_ROW) - 1;
    const bodyBytes = isText
      ? whole.write(body, rowBytes, MOST_BODY)
      : body.copy(whole, rowBytes, 0, MOST_BODY);
    const needed = Math.ceil((rowBytes + bodyBytes) / PIECE_BYTES);
    const before = this.count;
    if (!this.makeRoom(share, needed)) return before - this.count + 1;
    const pieces = this.free.splice(-needed);
    for (const [place, piece] of pieces.entries()) {
      const from = place * PIECE_BYTES;
      whole.copy(
        this.pool,
        piece * PIECE_BYTES,
        from,
        Math.min(from + PIECE_BYTES, rowBytes + bodyBytes),
      );
    }
    share.entries.push({ pieces, rowBytes, bodyBytes });
    share.pieces += needed;
    this.largest = Math.max(this.largest, share.pieces);
    this.count += 1;
    return before + 1 - this.count;
  }

  /** The requests as JSON, and the bodies to which the JSON refers by position. Each partner's are in their order. */
  get content(): { readonly requests: Buffer; readonly bodies: Buffer } {
    const { whole, allRows, allBodies } = this;
    let [rowsEnd, bodiesEnd] = [0, 0];
    for (const { entries } of this.shares.values()) {
      for (const { pieces, rowBytes, bodyBytes } of entries) {
        for (const [place, piece] of pieces.entries()) {
          const from = piece * PIECE_BYTES;
          this.pool.copy(whole, place * PIECE_BYTES, from, from + PIECE_BYTES);
        }
        allRows[rowsEnd] = (rowsEnd === 0 ? '[' : ',').charCodeAt(0);
        rowsEnd += 1 + whole.copy(allRows, rowsEnd + 1, 0, rowBytes);
        rowsEnd += allRows.write(`,"bodyKept":${bodyBytes},"bodyStart":${bodiesEnd}}`, rowsEnd);
        bodiesEnd += whole.copy(allBodies, bodiesEnd, rowBytes, rowBytes + bodyBytes);
      }
    }
    rowsEnd += allRows.write(rowsEnd === 0 ? '[]' : ']', rowsEnd);
    return { requests: allRows.subarray(0, rowsEnd), bodies: allBodies.subarray(0, bodiesEnd) };
  }

  clear(): void {
    this.count = 0;
    this.shares.clear();
    this.largest = 0;
    this.free.length = 0;
    for (let piece = PIECES - 1; piece >= 0; piece -= 1) this.free.push(piece);
  }

  private shareOf(partnerId: PartnerId): Share {
    let share = this.shares.get(partnerId);
    if (share === undefined) this.shares.set(partnerId, (share = { entries: [], pieces: 0 }));
    return share;
  }

  /** @returns whether there is room; only a share that is larger than this one would become gives up requests */
  private makeRoom(share: Share, needed: number): boolean {
    while (this.free.length < needed) {
      let most = share;
      for (const one of this.shares.values()) if (one.pieces > most.pieces) most = one;
      this.largest = most.pieces;
      if (most.pieces <= share.pieces + needed) return false;
      const last = most.entries.pop();
      if (last === undefined) return false;
      this.free.push(...last.pieces);
      most.pieces -= last.pieces.length;
      this.count -= 1;
    }
    return true;
  }
}
import { type CredentialId, type PartnerId } from '#libs/domain';
