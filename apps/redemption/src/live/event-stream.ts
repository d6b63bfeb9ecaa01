import { type ServerResponse } from 'node:http';

export const EVENT_STREAM_TYPE = 'text/event-stream';
/** Limit of unsent bytes. At a client that reads, no more than the newest page of its redemptions waits. */
const MAX_BACKLOG_BYTES = 128 * 1024;
/** Milliseconds between heartbeats. Proxies end connections that are silent for a minute or longer. */
const HEARTBEAT_MS = 15_000;
/** Milliseconds after which a browser reconnects. */
const RETRY_MS = 2_000;

export const STREAM_ENDS = ['client', 'session', 'slow', 'shutdown'] as const;
export type StreamEnd = (typeof STREAM_ENDS)[number];

/** The text of one event. `data` is written as JSON, which has no line breaks. */
export function eventText(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n`;
}

/**
 * Server-Sent Events to one client. Unsent data is kept up to a limit, and for one heartbeat. A client that reads
 * slower is disconnected, and continues with `Last-Event-ID` when it reconnects.
 */
export class EventStream {
  private id = '';
  private isBehind = false;
  private endedBy: StreamEnd | undefined;
  private readonly heartbeat: NodeJS.Timeout;

  /** @param response after its head was sent */
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
   * Sends events that belong together. Only the last one bears the id, so that a client that is disconnected between
   * them gets all of them again.
   * @param id the client then knows every change up to this id
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

  /**
   * Sends a comment, with the id from which the client continues after a long silence. Disconnects a client with unsent
   * data at two heartbeats in a row.
   */
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
