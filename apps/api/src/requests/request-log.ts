import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type LoggedRequest, RequestLogStore } from '#libs/db';
import { CLOCK, type Clock, type Logger } from '#libs/platform';
import { LOGGER } from '#libs/service';
import { ApiSettings } from '../api.env.js';

const WRITE_EVERY_MS = 1000;
const SWEEP_EVERY_MS = 60_000;
/** Rows of one statement. */
const BATCH = 500;
/** What waits to be written at most. */
const MOST_WAITING = 5000;
const MOST_WAITING_BODY_LENGTH = 32 * 1024 * 1024;
/** In one sweep, some thousand rows each. */
const MOST_REMOVALS = 50;
const FLUSH_MS = 3000;
const DAY_MS = 86_400_000;

/** Every error answer says its code first. */
const CODE = /^\{"code":"([A-Z][A-Z0-9_]*)"/;

/**
 * What partners ask and what they are answered, for them to look at. Written after the answer, some hundred at once; where the database
 * is slow or away the log loses rows, and no answer waits. Requests without a valid key are not in it.
 */
@Injectable()
export class RequestLog {
  /** Rows that were not kept, and those that were. */
  dropped = 0;
  written = 0;
  private waiting: LoggedRequest[] = [];
  private waitingBodyLength = 0;
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
    const flushed = this.writeAll();
    await Promise.race([flushed, sleep(FLUSH_MS, undefined, { ref: false })]);
    this.dropped += this.waiting.length;
    this.waiting = [];
  }

  /** Of an answer that was sent. */
  note(request: FastifyRequest, reply: FastifyReply): void {
    if (this.timers.length === 0) return;
    const { admission, answer, raw } = request;
    if (admission?.caller === undefined || answer === null) return;
    const { signature } = answer;
    // What was sent, and signed.
    const body = raw.method === 'HEAD' ? '' : answer.body;
    const isFull =
      this.waiting.length >= MOST_WAITING || this.waitingBodyLength > MOST_WAITING_BODY_LENGTH;
    if (isFull) {
      this.dropped += 1;
      return;
    }
    const elapsedMs = reply.elapsedTime;
    const { statusCode: status } = reply;
    this.waitingBodyLength += body.length;
    this.waiting.push({
      credentialId: admission.caller.credentialId,
      atMs: this.clock.nowMs() - elapsedMs,
      method: raw.method ?? '',
      path: raw.url ?? '',
      status,
      code: status < 400 ? undefined : CODE.exec(body.toString())?.[1],
      body,
      signature,
      durationUs: elapsedMs * 1000,
    });
    if (this.waiting.length >= BATCH && !this.isFailing) this.write();
  }

  private readonly write = (): void => {
    this.writing ??= this.writeAll().finally(() => (this.writing = undefined));
  };

  /** Until nothing waits, or the database does not take it: what it was given then is lost. */
  private async writeAll(): Promise<void> {
    await this.writing;
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0, BATCH);
      for (const { body } of batch) this.waitingBodyLength -= body.length;
      try {
        const added = await this.store.note(batch);
        this.written += added;
        this.dropped += batch.length - added;
        this.isFailing = false;
      } catch (error) {
        this.dropped += batch.length;
        if (!this.isFailing) this.warn(error, 'Requests are not logged');
        this.isFailing = true;
        return;
      }
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
