import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { RequestBatch, RequestLogStore } from '#libs/db';
import { CLOCK, type Clock, type Logger, messageOf } from '#libs/platform';
import { LOGGER } from '#libs/service';
import { ApiSettings } from '../api.env.js';

const WRITE_EVERY_MS = 1000;
const SWEEP_EVERY_MS = 60_000;
/** Deletions in one sweep, of some thousand rows each. */
const MOST_REMOVALS = 50;
const FLUSH_MS = 3000;
const DAY_MS = 86_400_000;

/** The code of an error answer, which is always the first field of its body. */
const CODE = /^\{"code":"([A-Z][A-Z0-9_]*)"/;

/**
 * Log of the partners' requests and of their answers, which partners can read. Rows are written once a second, at most
 * a thousand, and no answer waits for the write. Rows beyond that number are lost, of the partners with the most rows,
 * and so are rows that a slow or unavailable database does not take. Requests without a valid key are not logged.
 */
@Injectable()
export class RequestLog {
  dropped = 0;
  written = 0;
  private batch = new RequestBatch();
  private spare = new RequestBatch();
  private writing: Promise<void> | undefined;
  private isFailing = false;
  private readonly timers: NodeJS.Timeout[] = [];

  constructor(
    private readonly store: RequestLogStore,
    private readonly settings: ApiSettings,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Logs each answer to a partner from now on. */
  follow(fastify: FastifyInstance): void {
    fastify.addHook('onResponse', (request, reply, done) => {
      this.note(request, reply);
      done();
    });
    this.timers.push(
      setInterval(this.write, WRITE_EVERY_MS),
      setInterval(() => void this.sweep(), SWEEP_EVERY_MS),
    );
  }

  /** Writes the waiting rows, within `FLUSH_MS`. */
  async close(): Promise<void> {
    for (const timer of this.timers.splice(0)) clearInterval(timer);
    await Promise.race([this.flush(), sleep(FLUSH_MS, undefined, { ref: false })]);
  }

  note(request: FastifyRequest, reply: FastifyReply): void {
    if (this.timers.length === 0) return;
    const { admission, answer, raw } = request;
    if (admission?.caller === undefined || answer === null) return;
    const { signature } = answer;
    // The body as sent and signed: a HEAD answer has none.
    const body = raw.method === 'HEAD' ? '' : answer.body;
    const elapsedMs = reply.elapsedTime;
    const { statusCode: status } = reply;
    this.dropped += this.batch.add({
      partnerId: admission.caller.partnerId,
      credentialId: admission.caller.credentialId,
      requestId: request.id,
      atMs: this.clock.nowMs() - elapsedMs,
      method: raw.method ?? '',
      path: raw.url ?? '',
      status,
      code: status < 400 ? undefined : CODE.exec(body.toString())?.[1],
      body,
      signature,
      durationUs: elapsedMs * 1000,
    });
  }

  private readonly write = (): void => {
    if (this.writing !== undefined || this.batch.count === 0) return;
    const { batch } = this;
    this.batch = this.spare;
    this.writing = this.writeBatch(batch).finally(() => {
      batch.clear();
      this.spare = batch;
      this.writing = undefined;
    });
  };

  private async flush(): Promise<void> {
    await this.writing;
    this.write();
    await this.writing;
  }

  /** Rows that the database does not take are lost. */
  private async writeBatch(batch: RequestBatch): Promise<void> {
    try {
      const added = await this.store.note(batch);
      this.written += added;
      this.dropped += batch.count - added;
      this.isFailing = false;
    } catch (error) {
      this.dropped += batch.count;
      if (!this.isFailing) this.warn(error, 'Requests are not logged');
      this.isFailing = true;
    }
  }

  private async sweep(): Promise<void> {
    const beforeMs = this.clock.nowMs() - this.settings.requestLog * DAY_MS;
    try {
      for (let left = MOST_REMOVALS; left > 0; left -= 1) {
        if (!(await this.store.forget(beforeMs))) return;
      }
    } catch (error) {
      this.warn(error, 'Old requests were not removed from the log');
    }
  }

  private warn(error: unknown, message: string): void {
    this.logger.warn({ reason: messageOf(error) }, message);
  }
}
