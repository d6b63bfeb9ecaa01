/** A client of Server-Sent Events that follows the standard. Named as a test file, without tests of its own. */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { eventually } from '#libs/testing';

export interface ReceivedEvent {
  readonly name: string;
  /** Parsed JSON. */
  readonly data: Record<string, unknown>;
  /** The `Last-Event-ID` after this event. */
  readonly id: string;
}

export class EventClient {
  readonly events: ReceivedEvent[] = [];
  /** The id of the newest block, also of a block without an event. */
  lastId = '';
  comments = 0;
  isEnded = false;
  private text = '';

  private constructor(readonly response: IncomingMessage) {
    response.setEncoding('utf8');
    response.on('data', (part: string) => {
      this.take(part);
    });
    // A connection that was cut off counts as ended, too.
    response.on('error', () => undefined);
    response.on('close', () => {
      this.isEnded = true;
    });
  }

  /** Opens the stream. @returns a client for any answer; it has events where the answer is a stream */
  static async open(
    url: string,
    token: string,
    headers: Record<string, string> = {},
  ): Promise<EventClient> {
    const request = get(`${url}/api/redemptions/events`, {
      agent: false,
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return new EventClient(response);
  }

  close(): void {
    this.response.destroy();
  }

  private take(part: string): void {
    this.text += part;
    for (let end = this.text.indexOf('\n\n'); end >= 0; end = this.text.indexOf('\n\n')) {
      this.takeBlock(this.text.slice(0, end));
      this.text = this.text.slice(end + 2);
    }
  }

  private takeBlock(block: string): void {
    const fields = new Map<string, string>();
    for (const line of block.split('\n')) {
      const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
      if (name === '') this.comments += 1;
      else fields.set(name, value);
    }
    this.lastId = fields.get('id') ?? this.lastId;
    const data = fields.get('data');
    if (data === undefined) return;
    this.events.push({
      name: fields.get('event') ?? 'message',
      data: JSON.parse(data) as Record<string, unknown>,
      id: this.lastId,
    });
  }
}

/** Short intervals, since an expectation may advance the service's clock. */
const LOOKS = { everyMs: 10 };

/** Waits until the expectation holds. Throws its last failure where it does not in time. */
export async function becomes(expectation: () => unknown): Promise<void> {
  let failed: unknown;
  await eventually(async () => {
    try {
      await expectation();
      return true;
    } catch (error) {
      failed = error;
      return false;
    }
  }, LOOKS).catch((late: unknown) => {
    throw failed ?? late;
  });
}
