import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { constants, createGzip } from 'node:zlib';
import { Inject, Injectable } from '@nestjs/common';
import { type AccountId, canonicalJson, type PartnerId } from '#libs/domain';
import { type Logger } from '#libs/platform';
import { HttpProblem, LOGGER } from '#libs/service';
import { Admissions, requireCaller } from '../../auth/admission.js';
import { type Exchange, sendListHead } from '../../http/signed-wire.js';
import { type DayListSource, SealedDays } from '../sealed-days.service.js';
import { DayLines, type ExportFormat, MEDIA_TYPES } from './day-lines.js';
import { type Representation, representationFor } from './representation.js';

/** Injection token: time in milliseconds after which a client that reads nothing of its list is disconnected. */
export const EXPORT_IDLE_MS = Symbol('ExportIdleMs');
const DEFAULT_IDLE_MS = 30_000;
/** Longest time for sending a list, in milliseconds. A slower client asks for the rest by `Range`. */
const MOST_MS = 900_000;
/**
 * Pause of a turn after its chunk, in milliseconds, so that other requests have their turn. A million wallets take some
 * 15 seconds.
 */
const PAUSE_MS = 3;
/** Lists that read a chunk at once in this process: few enough to leave database connections for other requests. */
const TURNS = 4;
/** Wallets of a list that count as one request. */
const WALLETS_OF_A_REQUEST = 10_000;
/** Lists sent at once by this process. A list whose client is slow costs memory only: it has no turn meanwhile. */
const PLACES = 40;
/** Lists sent at once to one partner. */
const PLACES_OF_PARTNER = 2;
const RETRY_AFTER_SECONDS = 10;
/** A named revision never changes; the newest revision may be another one at the next request. */
const CACHE_OF_REVISION = 'private, immutable, max-age=31536000';
const CACHE_OF_NEWEST = 'private, no-cache';

export interface AskedExport {
  readonly format: ExportFormat;
  readonly day: number;
  /** Undefined for the newest revision. */
  readonly revision: number | undefined;
  readonly contract: AccountId | undefined;
}

/** Sends lists of sealed days while they are read, so that memory does not grow with their length. */
@Injectable()
export class DayExports {
  private readonly places = new ExportSlots();
  private readonly turns = new Turns(TURNS);
  private readonly idleMs: number;

  constructor(
    private readonly sealedDays: SealedDays,
    private readonly admissions: Admissions,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(EXPORT_IDLE_MS) idleMs?: number,
  ) {
    this.idleMs = idleMs ?? DEFAULT_IDLE_MS;
  }

  /** Number of lists that are being sent. */
  get activeLists(): number {
    return this.places.count;
  }

  /**
   * @throws HttpProblem as `SealedDays.list`, and 416, 429, 503; errors of the database; all before the answer has
   * begun
   */
  async send({ request, reply }: Exchange, { contract, ...asked }: AskedExport): Promise<void> {
    const caller = requireCaller(request.admission);
    const source = await this.sealedDays.list(caller, asked, contract);
    const lines = new DayLines(asked.format, source.sealed);
    const { method = '', headers } = request.raw;
    const chosen = representationFor({ method, headers }, lines, source.sealed.root);
    const { status } = chosen;
    if (status === 416) {
      void reply.header('content-range', `bytes */${lines.size}`);
      throw new HttpProblem(416, `The list has ${lines.size} bytes.`, {
        code: 'RANGE_NOT_SATISFIABLE',
      });
    }
    const head = {
      status,
      sealedDay: canonicalJson(source.answer),
      cacheControl: asked.revision === undefined ? CACHE_OF_NEWEST : CACHE_OF_REVISION,
      headers: headersFor(chosen, lines),
    };
    if (status === 304 || method === 'HEAD') {
      sendListHead({ request, reply }, head);
      reply.raw.end();
      return;
    }
    const giveBack = this.places.take(caller.partnerId);
    try {
      const weight = Math.ceil(lines.linesIn(chosen.span) / WALLETS_OF_A_REQUEST);
      await this.admissions.countAs(request, caller, Math.min(weight, caller.burst));
      sendListHead({ request, reply }, head);
      await this.stream(reply.raw, this.bytesOf(source, lines, chosen), chosen.isGzip);
    } finally {
      giveBack();
    }
  }

  private async *bytesOf(
    { sealed, lists }: DayListSource,
    lines: DayLines,
    { span }: Representation,
  ): AsyncGenerator<Buffer> {
    const parts = lines.bytes(span, (chunk) => lists.chunks(sealed, chunk));
    for (;;) {
      // The turn ends before the client takes the part: a slow client holds up no other list.
      const part = await this.turns.run(async () => {
        const next = await parts.next();
        await pause(PAUSE_MS);
        return next;
      });
      if (part.done === true) return;
      yield part.value;
    }
  }

  /** Cuts the connection where sending ends early, so that the client sees an incomplete list. */
  private async stream(
    response: Exchange['reply']['raw'],
    bytes: AsyncGenerator<Buffer>,
    isGzip: boolean,
  ): Promise<void> {
    const signal = AbortSignal.timeout(MOST_MS);
    const body = Readable.from(bytes, { objectMode: false });
    response.setTimeout(this.idleMs, () => response.destroy());
    try {
      // The fastest level, because the digits of addresses hardly shrink more at a higher one.
      const packed = createGzip({ level: constants.Z_BEST_SPEED });
      await (isGzip
        ? pipeline(body, packed, response, { signal })
        : pipeline(body, response, { signal }));
    } catch (error) {
      response.destroy();
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET') return;
      this.logger.warn({ reason: message }, 'A list of a day was cut off');
    }
  }
}

/** Header names and values, alternating. */
function headersFor(
  { status, isGzip, etag, span }: Representation,
  { format, size }: DayLines,
): string[] {
  const headers = ['etag', etag, 'vary', 'Accept-Encoding', 'accept-ranges', 'bytes'];
  if (status === 304) return headers;
  headers.push('content-type', MEDIA_TYPES[format]);
  if (isGzip) return [...headers, 'content-encoding', 'gzip'];
  headers.push('content-length', String(span.to - span.from));
  if (status === 206) headers.push('content-range', `bytes ${span.from}-${span.to - 1}/${size}`);
  return headers;
}

/** Limits the number of lists that are sent at once. */
class ExportSlots {
  private readonly taken: string[] = [];

  get count(): number {
    return this.taken.length;
  }

  /**
   * @returns a function that frees the place
   * @throws HttpProblem 429 (the partner has all its places), 503 (all places are taken)
   */
  take(partnerId: PartnerId): () => void {
    const retryAfterSeconds = RETRY_AFTER_SECONDS;
    const own = this.taken.filter((one) => one === partnerId).length;
    if (own >= PLACES_OF_PARTNER) {
      const message = `${PLACES_OF_PARTNER} lists are being sent to you: read one of them first.`;
      throw new HttpProblem(429, message, { retryAfterSeconds });
    }
    if (this.taken.length >= PLACES) {
      throw new HttpProblem(503, 'Many lists are being sent: try again shortly.', {
        retryAfterSeconds,
      });
    }
    this.taken.push(partnerId);
    return () => void this.taken.splice(this.taken.indexOf(partnerId), 1);
  }
}

/** Runs some pieces of work at once, and the others in the order in which they came. */
class Turns {
  private readonly waiting: (() => void)[] = [];

  constructor(private free: number) {}

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.free += 1;
      else next();
    }
  }
}
