/** A PostgreSQL URL: `postgresql://user:password@host:5432/name`. */

interface Login {
  readonly user: string;
  readonly password: string;
  /** Default: the database of the URL. */
  readonly database?: string;
}

const AUTHORITY = /^postgres(?:ql)?:\/\/([^/?#]*)/;

const ONE_HOST =
  'must name one host. If PostgreSQL has several, name what leads to the primary: an address of two HAProxies, ' +
  'the service of your platform, or a managed endpoint. See deploy/ha/README.md';

export class DatabaseUrl {
  private constructor(private readonly url: URL) {}

  /**
   * Parses a URL of one host.
   * @throws Error that says what is expected and never repeats the text, which contains a password
   */
  static parse(text: string): DatabaseUrl {
    const authority = AUTHORITY.exec(text)?.[1];
    if (authority === undefined) {
      throw new Error('must be a URL that starts with postgresql:// or postgres://');
    }
    const host = authority.slice(authority.lastIndexOf('@') + 1);
    if (host.includes(',')) throw new Error(ONE_HOST);
    if (!URL.canParse(text)) {
      throw new Error(
        'must be a URL; its host is not a name or an address with a port, as in postgresql://user:password@host:5432/name ' +
          '(in user and password @ : / ? # are written as %40 %3A %2F %3F %23)',
      );
    }
    const url = new URL(text);
    if ([url.username, url.password, url.pathname].some((part) => decoded(part) === undefined)) {
      throw new Error('must be a URL; in user, password and database % is written as %25');
    }
    const given = ['host', 'hostaddr', 'port'].map((name) => url.searchParams.get(name) ?? '');
    if (given.some((value) => value.includes(','))) throw new Error(ONE_HOST);
    return new DatabaseUrl(url);
  }

  get user(): string {
    return decoded(this.url.username) ?? '';
  }

  get password(): string {
    return decoded(this.url.password) ?? '';
  }

  /** Name of the database; like the driver, defaults to the name of the user. */
  get database(): string {
    return decoded(this.url.pathname.slice(1)) || this.user;
  }

  /** Host, port and name of the database, without user and password. */
  get place(): string {
    return `${this.url.host || 'a local socket'}${decoded(this.url.pathname) ?? ''}`;
  }

  /** Host and port. */
  get server(): string {
    return `${this.url.hostname.toLowerCase()}:${this.url.port || '5432'}`;
  }

  /** The same server with another user. */
  as({ user, password, database }: Login): DatabaseUrl {
    const url = new URL(this.url);
    [url.username, url.password] = [user, password].map(encodeURIComponent) as [string, string];
    if (database !== undefined) url.pathname = `/${encodeURIComponent(database)}`;
    return new DatabaseUrl(url);
  }

  /** The whole URL, including user and password. */
  get href(): string {
    return this.url.href;
  }
}

/** Like the driver, takes a percent sign without two hex digits for itself. Undefined: not text in UTF-8. */
function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part.replaceAll(/%(?![0-9a-f]{2})/gi, '%25'));
  } catch {
    return undefined;
  }
}
