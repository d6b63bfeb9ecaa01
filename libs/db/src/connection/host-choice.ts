import { type ClientConfig } from 'pg';
import { DatabaseUrl, type SessionTarget } from '#libs/platform';
import { type SessionSettings } from './session-settings.js';

/**
 * The hosts of one URL, and the choice of the host to try next: the last good one first, then the
 * others in their order.
 */
export class HostChoice {
  readonly target: SessionTarget;
  // The URLs hold a password. A `#` field is not shown where the object is printed.
  readonly #urls: readonly URL[];
  private index = 0;

  constructor(url: string) {
    const parsed = DatabaseUrl.parse(url);
    this.#urls = parsed.urls;
    this.target = parsed.target;
  }

  /** The URL of the chosen host. It stays the same object until an attempt at this host fails. */
  get current(): URL {
    const url = this.#urls[this.index];
    if (url === undefined) throw new TypeError('a URL has a host');
    return url;
  }

  get isSingle(): boolean {
    return this.#urls.length === 1;
  }

  /** Moves the choice to the next host. Several connections that report the same failure move it once. */
  failed(url: URL): void {
    if (url === this.current) this.index = (this.index + 1) % this.#urls.length;
  }

  /**
   * Connects to the current host, and after a failure that moved the choice to the next one. Tries
   * each host at most once.
   * @throws the last error
   */
  async attempt<T>(connect: () => Promise<T>): Promise<T> {
    for (let left = this.#urls.length; ; left--) {
      const tried = this.current;
      try {
        return await connect();
      } catch (error) {
        if (left <= 1 || this.current === tried) throw error;
      }
    }
  }
}

/**
 * pg's options for one host. The session settings are part of the start-up packet, so they hold
 * for the first statement.
 */
export function serverConfig(host: URL, session: SessionSettings = {}): ClientConfig {
  const url = new URL(host);
  // In pg, `options` of the URL would replace the session settings. Both are sent, the session settings last,
  // because the last value wins.
  const given = url.searchParams.get('options');
  url.searchParams.delete('options');
  // Nor may the URL replace the application name, by which `countPrograms` counts programs.
  url.searchParams.delete('application_name');
  // sslmode has libpq's meaning: `require` encrypts, `verify-full` also checks the host name.
  if (!url.searchParams.has('uselibpqcompat')) url.searchParams.set('uselibpqcompat', 'true');
  const all = [
    ...(given === null ? [] : [given]),
    ...Object.entries(session).map(([name, value]) => `-c ${name}=${value}`),
  ];
  return {
    connectionString: url.href,
    ...(all.length > 0 && { options: all.join(' ') }),
  };
}
