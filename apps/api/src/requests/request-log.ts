import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { RequestBatch, RequestLogStore } from '#libs/db';
import { CLOCK, type Clock, type Logger } from '#libs/platform';
import { LOGGER } from '#libs/service';
import { ApiSettings } from '../api.env.js';

const WRITE_EVERY_MS = 1000;
const SWEEP_EVERY_MS = 60_000;
/** In one sweep, some thousand rows each. */
const MOST_REMOVALS = 50;
const FLUSH_MS = 3000;
const DAY_MS = 86_400_000;

/** Every error answer says its code first. */
const CODE = /^\{"code":"([A-Z][A-Z0-9_]*)"/;

/**
 * What partners ask and what they are answered, for them to look at. Written after the answers, once a second, at most a thousand of
 * them; what is beyond, and where the database is slow or away, the log loses rows, and no answer waits. Requests without a valid key are
 * not in it.
 */
@Injectable()
export class RequestLog {
  /** Rows that were not kept, and those that were. */
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

  /** From now on each answer to a partner is kept. */
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

  /** Writes what waits, for some seconds at most. */
  async close(): Promise<void> {
    for (const timer of this.timers.splice(0)) clearInterval(timer);
    await Promise.race([this.flush(), sleep(FLUSH_MS, undefined, { ref: false })]);
  }

  /** Of an answer that was sent. */
  note(request: FastifyRequest, reply: FastifyReply): void {
    if (this.timers.length === 0) return;
    const { admission, answer, raw } = request;
    if (admission?.caller === undefined || answer === null) return;
    const { signature } = answer;
    // What was sent, and signed.
    const body = raw.method === 'HEAD' ? '' : answer.body;
    const elapsedMs = reply.elapsedTime;
    const { statusCode: status } = reply;
    const isAdded = this.batch.add({
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
    if (!isAdded) this.dropped += 1;
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

  /** What the database does not take is lost. */
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
    const beforeMs = this.clock.nowMs() - this.settings.requestLogDays * DAY_MS;
    try {
      for (let left = MOST_REMOVALS; left > 0; left -= 1) {
        if (!(await this.store.forget(beforeMs))) return;
      }
    } catch (error) {
      this.warn(error, 'Old requests were not removed from the log');
    }
  }

  private warn(error: unknown, message: string): void {
    this.logger.warn({ reason: error instanceof Error ? error.message : String(error) }, message);
  }
}
