import { type ServerResponse } from 'node:http';

export const EVENT_STREAM_TYPE = 'text/event-stream';
/** What a client that reads has in its way at most is the newest page of its redemptions. */
const MAX_BACKLOG_BYTES = 128 * 1024;
/** Proxies end connections on which nothing was said for a minute, or longer. */
const HEARTBEAT_MS = 15_000;
/** After which time a browser connects again. */
const RETRY_MS = 2_000;

/** Why a stream has ended. */
export const STREAM_ENDS = ['client', 'session', 'slow', 'shutdown'] as const;
export type StreamEnd = (typeof STREAM_ENDS)[number];

/** One event of a stream, as text. `data` is JSON, which has no line breaks. */
export function eventText(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n`;
}

/**
 * Server-Sent Events to one client. What it has not taken is kept up to a bound, and for one heartbeat: a client that reads slower is cut
 * off, and continues with `Last-Event-ID` when it comes again.
 */
export class EventStream {
  private id = '';
  private isBehind = false;
  private endedBy: StreamEnd | undefined;
  private readonly heartbeat: NodeJS.Timeout;

  /** @param response whose head was sent */
  constructor(
    private readonly response: ServerResponse,
    private readonly onEnd: (by: StreamEnd) => void,
    { heartbeatMs = HEARTBEAT_MS }: { readonly heartbeatMs?: number } = {},
  ) {
    this.heartbeat = setInterval(() => {
      this.beat();
    }, heartbeatMs).unref();
    response.on('error', () => {
      response.destroy();
    });
    response.once('close', () => {
      this.finish('client');
    });
    response.write(`retry: ${RETRY_MS}\n\n`);
  }

  /**
   * Events that belong together: only the last one bears the id, so that a client which was cut off between them is sent all again.
   * @param id up to where the client knows everything then
   */
  send(events: readonly string[], id: string): void {
    this.id = id;
    if (events.length > 0) this.write(`${events.join('\n')}id: ${id}\n\n`);
  }

  end(by: StreamEnd): void {
    if (this.endedBy !== undefined) return;
    this.finish(by);
    this.response.end();
  }

  /** A comment, and the id that the client continues with after a long silence. */
  private beat(): void {
    const wasBehind = this.isBehind;
    this.isBehind = this.response.writableLength > 0;
    if (wasBehind && this.isBehind) this.drop();
    else this.write(this.id === '' ? ':\n\n' : `:\nid: ${this.id}\n\n`);
  }

  private write(text: string): void {
    if (this.endedBy !== undefined) return;
    if (this.response.writableLength > MAX_BACKLOG_BYTES) this.drop();
    else this.response.write(text);
  }

  private drop(): void {
    this.finish('slow');
    this.response.destroy();
  }

  private finish(by: StreamEnd): void {
    if (this.endedBy !== undefined) return;
    this.endedBy = by;
    clearInterval(this.heartbeat);
    this.onEnd(by);
  }
}
