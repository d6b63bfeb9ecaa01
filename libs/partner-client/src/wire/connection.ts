/**
 * One connection to a partner, and the HTTP on it. undici is given a socket that stands instead of a way to make one, and refused a
 * second, so that it can neither send anything again nor connect to an address that was not checked.
 */
import { type Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';

const MAX_HEADER_BYTES = 16_384;
/** A partner's server that does not say how long it keeps an idle connection may close it after two seconds (gunicorn). */
const UNANNOUNCED_IDLE_MS = 1000;
const LONGEST_IDLE_MS = 30_000;
/** Sooner than the partner says: its close must not cross our request. */
const IDLE_MARGIN_MS = 1000;

export class Connection {
  private readonly client: Client;
  private isGiven = false;
  private writtenBefore: number;

  constructor(
    private readonly socket: Socket,
    origin: string,
    /** What was checked: the connection leads nowhere else for as long as it lives. */
    readonly remoteAddress: string | undefined,
  ) {
    this.writtenBefore = socket.bytesWritten;
    this.client = new Client(origin, {
      connect: (_options, callback) => {
        const isFirst = !this.isGiven;
        this.isGiven = true;
        // undici expects the answer to come later.
        queueMicrotask(() => {
          if (isFirst) callback(null, socket);
          else callback(new Error('the connection was lost'), null);
        });
      },
      allowH2: false,
      maxHeaderSize: MAX_HEADER_BYTES,
      // The one deadline of a call is its signal's.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: UNANNOUNCED_IDLE_MS,
      keepAliveMaxTimeout: LONGEST_IDLE_MS,
      keepAliveTimeoutThreshold: IDLE_MARGIN_MS,
    });
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.writtenBefore = this.socket.bytesWritten;
    this.client.dispatch(options, handler);
  }

  /** Proof that no byte of the newest request was given to the connection. */
  get isUntouched(): boolean {
    return this.socket.bytesWritten === this.writtenBefore;
  }

  get isOpen(): boolean {
    const { socket, client } = this;
    return !socket.destroyed && socket.readable && socket.writable && !client.destroyed;
  }

  onClose(listener: () => void): void {
    this.socket.once('close', listener);
  }

  /** Not waited for: how a connection ends is no part of a call, and by now no call waits for anything on it. */
  destroy(): void {
    void this.client.destroy();
    this.socket.destroy();
  }
}

/** For how long a connection may be idle and used again, by the `Keep-Alive` of its last answer (RFC 9112, appendix C.2.2). */
export function idleMs(announced: string | readonly string[] | undefined): number {
  const seconds =
    typeof announced === 'string' ? /\btimeout=(\d+)/i.exec(announced)?.[1] : undefined;
  return seconds === undefined
    ? UNANNOUNCED_IDLE_MS
    : Math.min(LONGEST_IDLE_MS, Number(seconds) * 1000 - IDLE_MARGIN_MS);
}
