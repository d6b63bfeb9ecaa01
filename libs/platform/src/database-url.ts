/**
 * A PostgreSQL URL that may name several hosts, in libpq's form: `postgresql://user:password@one:5432,two:5432/name`.
 */

/** Kinds of servers that a connection accepts, by libpq's names (`target_session_attrs`). */
export const SESSION_TARGETS = ['any', 'read-write', 'read-only', 'primary', 'standby'] as const;
export type SessionTarget = (typeof SESSION_TARGETS)[number];

interface Login {
  readonly user: string;
  readonly password: string;
  /** Default: the database of the URL. */
  readonly database?: string;
}

const FORM = /^(postgres(?:ql)?:)\/\/([^/?#]*)([^]*)$/;
const TARGET = 'target_session_attrs';

export class DatabaseUrl {
  private constructor(
    /**
     * Hosts in the order in which they are tried, each with its port if given; a single empty host is a local socket.
     */
    readonly hosts: readonly string[],
    readonly target: SessionTarget,
    /** URL of the first host, without `target_session_attrs`. */
    private readonly first: URL,
  ) {}

  /**
   * Parses a URL. Several hosts without `target_session_attrs` mean `read-write`: the server that accepts writes.
   * @throws Error that says what is expected and never repeats the text, which contains a password
   */
  static parse(text: string): DatabaseUrl {
    const [, scheme, authority = '', rest = ''] = FORM.exec(text) ?? [];
    if (scheme === undefined) {
      throw new Error('must be a URL that starts with postgresql:// or postgres://');
    }
    const at = authority.lastIndexOf('@') + 1;
    const hosts = authority.slice(at).split(',');
    const [first] = hosts.map((host, index) => {
      const url = `${scheme}//${authority.slice(0, at)}${host}${rest}`;
      if ((host === '' && hosts.length > 1) || !URL.canParse(url)) {
        throw new Error(
          `must be a URL; its host ${index + 1} is not a name or an address with a port, as in postgresql://user:password@one:5432,two:5432/name ` +
            '(in user and password @ : / ? # are written as %40 %3A %2F %3F %23)',
        );
      }
      return new URL(url);
    });
    if (first === undefined) throw new TypeError('a split text has a first part');
    requireOneList(first, hosts);
    const target = targetOf(first, hosts.length > 1 ? 'read-write' : 'any');
    first.searchParams.delete(TARGET);
    return new DatabaseUrl(hosts, target, first);
  }

  /** One URL for each host. */
  get urls(): readonly URL[] {
    if (this.hosts.length === 1) return [new URL(this.first)];
    return this.hosts.map((host) => new URL(this.first.href.replace(...this.hostList(host))));
  }

  get user(): string {
    return decodeURIComponent(this.first.username);
  }

  get password(): string {
    return decodeURIComponent(this.first.password);
  }

  /** Name of the database; like the driver, defaults to the name of the user. */
  get database(): string {
    return decodeURIComponent(this.first.pathname.slice(1)) || this.user;
  }

  /** Hosts, ports and name of the database, without user and password. */
  get place(): string {
    const hosts = this.hosts.join(',');
    const name = decodeURIComponent(this.first.pathname);
    return `${hosts === '' ? 'a local socket' : hosts}${name}`;
  }

  /** The same servers with another user. */
  as({ user, password, database }: Login): DatabaseUrl {
    const first = new URL(this.first);
    [first.username, first.password] = [user, password];
    if (database !== undefined) first.pathname = `/${encodeURIComponent(database)}`;
    return new DatabaseUrl(this.hosts, this.target, first);
  }

  /** The whole URL, including user and password. */
  get href(): string {
    const url = new URL(this.first);
    const isDefault = this.target === (this.hosts.length > 1 ? 'read-write' : 'any');
    if (!isDefault) url.searchParams.set(TARGET, this.target);
    return url.href.replace(...this.hostList(this.hosts.join(',')));
  }

  /** Pattern and replacer that put other hosts in the place of the first one. */
  private hostList(hosts: string): [RegExp, (whole: string, before: string) => string] {
    return [/^(\w+:\/\/(?:[^/?#]*@)?)[^/?#]*/, (_, before) => `${before}${hosts}`];
  }
}

function requireOneList({ searchParams }: URL, hosts: readonly string[]): void {
  const besides = ['host', 'hostaddr', 'port'].filter((name) => {
    const given = searchParams.get(name);
    return given !== null && (hosts.length > 1 || given.includes(','));
  });
  if (besides.length === 0) return;
  throw new Error(
    `must name several hosts before the name of the database, as in one:5432,two:5432, and not by ${besides.join(', ')}=`,
  );
}

function targetOf({ searchParams }: URL, byDefault: SessionTarget): SessionTarget {
  const given = searchParams.get(TARGET);
  const target = given === null ? byDefault : SESSION_TARGETS.find((one) => one === given);
  if (target === undefined) {
    throw new Error(`must have a ${TARGET} that is one of ${SESSION_TARGETS.join(', ')}`);
  }
  return target;
}
