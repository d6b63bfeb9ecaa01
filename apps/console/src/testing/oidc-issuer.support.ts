/** A certified OpenID provider on loopback, with made-up persons. A spec by name only: it has no tests. */
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { freePort } from '#libs/devprocess';
import { Visitor } from './visitor.support.js';

export const CLIENT_ID = 'lowmark-console';
export const CLIENT_SECRET = 'a-secret-of-the-console-and-its-issuer';

/** A variable, since the library has no types for a literal import. */
const LIBRARY: string = 'oidc-provider';

interface Grant {
  addOIDCScope(scope: string): void;
  save(): Promise<string>;
}

/** The parts of the library that the tests use. */
interface Library {
  readonly Provider: new (
    issuer: string,
    options: object,
  ) => {
    callback(): RequestListener;
    readonly Grant: new (of: { clientId: string; accountId: string }) => Grant;
  };
}

interface Context {
  readonly oidc: {
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string };
  };
}

export interface IssuerKind {
  /** The only way in which the issuer takes the client secret. Default: Basic, among all that it offers. */
  readonly onlyMethod?: 'client_secret_post';
  /** Whether the groups come with the scope `openid`, and there is no scope for them. Default: false. */
  readonly hasNoGroupsScope?: boolean;
}

/** A person who signs in by the name `ann` is the subject `ann`, in the groups that `groups` has for this name. */
export class OidcIssuer {
  readonly groups = new Map<string, readonly string[]>();
  /** Paths of the requests, in order. */
  readonly asked: string[] = [];
  /** Changes the answer of a path on its way to the console, as a proxy would that holds no key of the issuer. */
  readonly onTheWay = new Map<string, (body: string, answer: ServerResponse) => string>();

  private constructor(
    readonly url: string,
    private readonly server: Server,
  ) {}

  static async start(
    redirectUri: string,
    { onlyMethod, hasNoGroupsScope = false }: IssuerKind = {},
  ): Promise<OidcIssuer> {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const server = createServer();
    const issuer = new OidcIssuer(url, server);
    const { Provider } = (await import(LIBRARY)) as Library;
    // Suppresses the library's warning that it is not set up for production.
    const warn = console.warn.bind(console);
    console.warn = () => undefined;
    const provider = new Provider(url, {
      clients: [
        {
          client_id: CLIENT_ID,
          client_secret: CLIENT_SECRET,
          redirect_uris: [redirectUri],
          grant_types: ['authorization_code'],
          response_types: ['code'],
          ...(onlyMethod !== undefined && { token_endpoint_auth_method: onlyMethod }),
        },
      ],
      ...(onlyMethod !== undefined && { clientAuthMethods: [onlyMethod] }),
      claims: {
        ...(hasNoGroupsScope
          ? { openid: ['sub', 'groups'] }
          : { openid: ['sub'], groups: ['groups'] }),
        ...{ profile: ['preferred_username'], email: ['email'] },
      },
      conformIdTokenClaims: false,
      cookies: { keys: ['of the test'] },
      ttl: { Interaction: 600, Grant: 600, Session: 600, AccessToken: 600, IdToken: 600 },
      findAccount: (_: unknown, accountId: string) => ({
        accountId,
        claims: () => ({
          sub: accountId,
          preferred_username: accountId,
          groups: issuer.groups.get(accountId) ?? [],
        }),
      }),
      async loadExistingGrant({ oidc: { client, session } }: Context) {
        const { clientId } = client;
        const grant = new provider.Grant({ clientId, accountId: session.accountId });
        grant.addOIDCScope('openid profile email groups');
        await grant.save();
        return grant;
      },
    });
    console.warn = warn;
    const answer = provider.callback();
    server.on('request', (request, response) => {
      const path = new URL(request.url ?? '', url).pathname;
      issuer.asked.push(path);
      const change = issuer.onTheWay.get(path);
      if (change !== undefined) changeBody(response, change);
      answer(request, response);
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return issuer;
  }

  /**
   * Signs a person in at the issuer, as in the browser that was sent there.
   * @returns the URL to which the issuer redirects
   */
  async signIn(
    authorizationUrl: string,
    login: string,
    browser = new Visitor(this.url),
  ): Promise<string> {
    let answer = await browser.get(authorizationUrl);
    for (let hops = 0; hops < 10; hops++) {
      const location = answer.headers.get('location');
      if (location !== null && !new URL(location, this.url).href.startsWith(this.url))
        return location;
      if (location !== null) {
        answer = await browser.get(new URL(location, this.url).href);
        continue;
      }
      const page = await answer.text();
      const action = /action="([^"]+)"/.exec(page)?.[1];
      if (action === undefined) throw new Error(`The issuer shows no form: ${page.slice(0, 2000)}`);
      const form = new URLSearchParams({ prompt: 'login', login, password: 'any' });
      answer = await browser.form(new URL(action, this.url).href, form);
    }
    throw new Error('The issuer leads nowhere.');
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** The provider passes the whole body to `end`. */
function changeBody(
  response: ServerResponse,
  change: (body: string, answer: ServerResponse) => string,
): void {
  const end = response.end.bind(response) as (body: string) => ServerResponse;
  response.end = ((body: Buffer | string = '') => {
    const changed = change(body.toString(), response);
    response.setHeader('content-length', Buffer.byteLength(changed));
    return end(changed);
  }) as typeof response.end;
}
