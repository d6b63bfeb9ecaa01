import { randomBytes } from 'node:crypto';

/** A browser as HTTP sees it: it keeps cookies, sends its origin, and follows no redirect. */
export class Visitor {
  readonly cookies = new Map<string, string>();

  /** @param clientAddress default: a random one, so that the limits of one test do not refuse another test */
  constructor(
    readonly origin: string,
    readonly clientAddress = `10.${randomBytes(3).join('.')}`,
  ) {}

  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.send(path, { headers });
  }

  /** Sends the request as the pages do; `headers` override the defaults. */
  post(
    path: string,
    body: object = {},
    headers: Record<string, string | undefined> = {},
  ): Promise<Response> {
    const own: Record<string, string | undefined> = {
      ...this.ownHeaders(),
      'content-type': 'application/json',
    };
    const sent = Object.entries({ ...own, ...headers }).filter(([, value]) => value !== undefined);
    return this.send(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: Object.fromEntries(sent),
    });
  }

  delete(path: string): Promise<Response> {
    return this.send(path, { method: 'DELETE', headers: this.ownHeaders() });
  }

  form(url: string, body: URLSearchParams): Promise<Response> {
    return this.send(url, { method: 'POST', body });
  }

  private ownHeaders(): Record<string, string> {
    const csrf = this.cookies.get('lowmark-console-csrf') ?? 'none';
    return { origin: this.origin, 'x-csrf-token': csrf };
  }

  private async send(path: string, options: RequestInit): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(new URL(path, this.origin), {
      ...options,
      redirect: 'manual',
      headers: {
        ...(options.headers as Record<string, string> | undefined),
        cookie,
        'x-forwarded-for': this.clientAddress,
      },
    });
    for (const line of answer.headers.getSetCookie()) this.keep(line);
    return answer;
  }

  private keep(line: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    const isGone = /;\s*(?:max-age=0|expires=Thu, 01 Jan 1970)/i.test(line);
    if (isGone || value === '') this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}
