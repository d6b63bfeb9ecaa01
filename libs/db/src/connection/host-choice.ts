import { type ClientConfig } from 'pg';
import { DatabaseUrl, type SessionTarget } from '#libs/platform';
import { type SessionSettings } from './session-settings.js';

/** The servers of one URL, and which of them is tried next: the one that was good last, after that the others in their order. */
export class HostChoice {
  readonly target: SessionTarget;
  // They hold a password: not to be shown where the choice is.
  readonly #urls: readonly URL[];
  private index = 0;

  constructor(url: string) {
    const parsed = DatabaseUrl.parse(url);
    this.#urls = parsed.urls;
    this.target = parsed.target;
  }

  /** The URL of one host; the same object for as long as no attempt failed there. */
  get current(): URL {
    const url = this.#urls[this.index];
    if (url === undefined) throw new TypeError('a URL has a host');
    return url;
  }

  get isSingle(): boolean {
    return this.#urls.length === 1;
  }

  /** Connections that find it out at the same time move the choice once. */
  failed(url: URL): void {
    if (url === this.current) this.index = (this.index + 1) % this.#urls.length;
  }

  /** Connects to the current host; where that fails and moves the choice, to the next one, each once. @throws the last error */
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

/** What pg needs for one host. The settings of the session travel in the start-up packet, so no statement can run before them. */
export function serverConfig(host: URL, session: SessionSettings = {}): ClientConfig {
  const url = new URL(host);
  // pg lets `options` of the URL replace ours; both are meant, ours last because the last one wins.
  const given = url.searchParams.get('options');
  url.searchParams.delete('options');
  // Neither may it replace our name, by which programs are counted.
  url.searchParams.delete('application_name');
  // sslmode means what it means to libpq: `require` encrypts, `verify-full` also checks the name.
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
