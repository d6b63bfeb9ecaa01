import { Inject, Injectable } from '@nestjs/common';
import * as oidc from 'openid-client';
import { isLoopback } from '#libs/config';
import { PermanentError } from '#libs/domain';
import { CLOCK, type Clock, type Logger, SingleFlight } from '#libs/platform';
import { HttpProblem, LOGGER } from '#libs/service';
import { ConsoleSettings } from '../console.env.js';
import { bytesUpTo } from '../http/bytes-up-to.js';
import { claimOf, groupsLeftOut, oidcSubject, roleOfGroups } from './operators.js';
import { secretMethodOf } from './secret-method.js';
import { type Authenticated } from './sign-in.service.js';
import { signInProblem } from './sign-in.problem.js';

export const CALLBACK_PATH = '/api/auth/oidc/callback';

const TIMEOUT_SECONDS = 10;
/** Discovery documents, key sets and tokens have a few kilobytes. */
const MOST_BYTES = 256 * 1024;
/** By how much the clock of the issuer may be ahead. */
const CLOCK_SKEW_SECONDS = 60;
/** In characters; the limit of a subject in the database. */
const LONGEST_SUBJECT = 512;
/** An issuer may move its endpoints or begin to sign by another algorithm. */
const DISCOVERY_HOLDS_MS = 3_600_000;
/** For so long the known document is used after the issuer did not give a new one. */
const REDISCOVERY_PAUSE_MS = 60_000;

const REFUSED = 'A sign-in by OpenID Connect was refused';
const GROUPS_LEFT_OUT =
  'The issuer left the groups out of the ID token, because the person is in too many: no role by it. Let it send only the groups that are assigned to the console, or roles of the application (OIDC_GROUPS_CLAIM); see docs/operating/console.md';

const NO_ROLE =
  'None of the groups in the ID token is in OIDC_ROLES: no role by it. Compare the names with those that the issuer sends; see docs/operating/console.md';
const CLIENT_REFUSED =
  'The issuer refuses this console: check OIDC_CLIENT_ID and OIDC_CLIENT_SECRET, which may have expired at the issuer, and restart the console';
const CLIENT_ERRORS: readonly unknown[] = ['invalid_client', 'unauthorized_client'];
const PASSING_ERRORS: readonly unknown[] = ['server_error', 'temporarily_unavailable'];

/** Values of the authorization request that the issuer's answer must match. */
export interface AuthorizationRequest {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/**
 * Client of the OpenID Connect issuer. Discovery runs at the first use, again at the next use where it failed, and every
 * hour.
 *
 * Only what the issuer signs gives rights: the signature of each ID token is verified by the keys that the issuer
 * publishes, and the user info, which is not signed, is not asked. The library takes asymmetric algorithms alone, keeps
 * the keys for five minutes, and fetches them again for an unknown `kid` once a minute at most.
 */
@Injectable()
export class OidcProvider {
  private readonly discovering = new SingleFlight<oidc.Configuration>();
  private configuration: oidc.Configuration | undefined;
  private discoverAtMs = -Infinity;

  constructor(
    private readonly settings: ConsoleSettings,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  get isOn(): boolean {
    return this.settings.oidcIssuer !== undefined;
  }

  /**
   * The URL of the issuer to which the browser goes.
   * @param maxAgeSeconds maximum age of an authentication that the issuer may reuse; with 0 the issuer authenticates
   * the person again
   * @throws HttpProblem 404, 503
   */
  async authorizationUrl(expected: AuthorizationRequest, maxAgeSeconds: number): Promise<string> {
    const configuration = await this.discovered();
    const url = oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: `${this.settings.consoleOrigin}${CALLBACK_PATH}`,
      scope: this.scopesOf(configuration),
      state: expected.state,
      nonce: expected.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(expected.codeVerifier),
      code_challenge_method: 'S256',
      max_age: String(maxAgeSeconds),
      ...(maxAgeSeconds === 0 && { prompt: 'login' }),
    });
    return url.href;
  }

  /**
   * Exchanges the authorization code of the issuer's answer for an ID token, and returns the person whom the token
   * names.
   * @param query query string of the request to CALLBACK_PATH, with its question mark
   * @throws HttpProblem 401, 503
   */
  async personOf(query: string, expected: AuthorizationRequest): Promise<Authenticated> {
    const configuration = await this.discovered();
    const url = new URL(`${CALLBACK_PATH}${query}`, this.settings.consoleOrigin);
    try {
      const tokens = await oidc.authorizationCodeGrant(configuration, url, {
        expectedState: expected.state,
        expectedNonce: expected.nonce,
        pkceCodeVerifier: expected.codeVerifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims() as oidc.IDToken;
      this.requirePartyAndTime(claims);
      return this.authenticated(claims);
    } catch (error) {
      throw this.problemOf(error);
    }
  }

  /** Some issuers give the groups for a scope of the claim's name only, and refuse scopes that they do not know. */
  private scopesOf(configuration: oidc.Configuration): string {
    // Some issuers write null for what they do not have.
    const known = configuration.serverMetadata().scopes_supported ?? ['profile', 'email'];
    const wanted = ['profile', 'email', this.settings.oidcGroupsClaim];
    return ['openid', ...wanted.filter((scope) => known.includes(scope))].join(' ');
  }

  /** What the library leaves to its caller. @throws HttpProblem 401 */
  private requirePartyAndTime({ azp, iat }: oidc.IDToken): void {
    const isForUs = azp === undefined || azp === this.settings.oidcClientId;
    const isIssued = iat <= this.clock.nowMs() / 1000 + CLOCK_SKEW_SECONDS;
    if (isForUs && isIssued) return;
    this.logger.warn({ claim: isForUs ? 'iat' : 'azp' }, REFUSED);
    throw signInProblem('OIDC_REFUSED');
  }

  private authenticated(claims: oidc.IDToken): Authenticated {
    const { sub, auth_time: authTime } = claims;
    const { oidcGroupsClaim, oidcRoles } = this.settings;
    const isLeftOut = oidcRoles !== undefined && groupsLeftOut(claims, this.settings);
    const role = roleOfGroups(claims, this.settings);
    if (isLeftOut) {
      this.logger.warn({ claim: oidcGroupsClaim }, GROUPS_LEFT_OUT);
    } else if (oidcRoles !== undefined && claimOf(claims, oidcGroupsClaim) === undefined) {
      this.logger.warn({ claim: oidcGroupsClaim }, 'The ID token has no groups: no role by it');
    } else if (oidcRoles !== undefined && role === undefined) {
      this.logger.warn({ claim: oidcGroupsClaim }, NO_ROLE);
    }
    if (typeof authTime !== 'number') {
      this.logger.warn({}, 'The issuer does not say auth_time: no sign-in by it counts as fresh');
    }
    const subject = oidcSubject(this.settings.oidcIssuer ?? '', sub);
    if (subject.length > LONGEST_SUBJECT) {
      this.logger.warn({ claim: 'sub' }, REFUSED);
      throw signInProblem('OIDC_SUBJECT');
    }
    const names = [claims['preferred_username'], claims['email'], claims['name'], sub];
    const name = names.find((one) => typeof one === 'string' && one !== '') as string;
    return {
      subject,
      name,
      role,
      roleUnknown: isLeftOut ? 'OIDC_GROUPS_LEFT_OUT' : undefined,
      // A browser can remove max_age from the URL, and some issuers then omit auth_time. The age of such an
      // authentication is unknown, so the sign-in never counts as fresh.
      authenticatedAtMs: typeof authTime === 'number' ? authTime * 1000 : 0,
    };
  }

  /** The issuer's metadata. Where new ones cannot be had, the known ones are used. @throws HttpProblem 404, 503 */
  private async discovered(): Promise<oidc.Configuration> {
    const { oidcIssuer: issuer } = this.settings;
    if (issuer === undefined) throw signInProblem('WAY_OFF');
    if (this.configuration !== undefined && this.clock.nowMs() < this.discoverAtMs) {
      return this.configuration;
    }
    try {
      this.configuration = await this.discovering.run(() => this.discover(issuer));
      this.discoverAtMs = this.clock.nowMs() + DISCOVERY_HOLDS_MS;
    } catch (error) {
      const problem = this.unavailable(error);
      if (this.configuration === undefined) throw problem;
      this.discoverAtMs = this.clock.nowMs() + REDISCOVERY_PAUSE_MS;
    }
    return this.configuration;
  }

  private async discover(issuer: string): Promise<oidc.Configuration> {
    const { oidcClientId = '', oidcClientSecret: secret } = this.settings;
    const found = await oidc.discovery(
      new URL(issuer),
      oidcClientId,
      undefined,
      secret === undefined ? oidc.None() : secretAsAsked(secret),
      {
        timeout: TIMEOUT_SECONDS,
        [oidc.customFetch]: fetchUpTo,
        // Plain http is accepted only for an issuer on this machine: see `oidcIssuer` in console.env.ts.
        // eslint-disable-next-line @typescript-eslint/no-deprecated -- not outdated: its package marks it as a warning
        execute: issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : [],
      },
    );
    requireOwn(issuer, found.serverMetadata());
    oidc.enableNonRepudiationChecks(found);
    return found;
  }

  /** Logs the codes of an error but not its text, which may repeat values of the request. */
  private problemOf(error: unknown): HttpProblem {
    if (error instanceof HttpProblem) return error;
    if (isPassing(error)) return this.unavailable(error);
    const codes = codesOf(error);
    if (error instanceof oidc.AuthorizationResponseError) {
      this.logger.warn(codes, REFUSED);
      return signInProblem('OIDC_DENIED');
    }
    const isRefusal = error instanceof oidc.ClientError || error instanceof oidc.ResponseBodyError;
    if (!isRefusal) return this.unavailable(error);
    const isClients = CLIENT_ERRORS.includes(codes.error);
    this.logger.warn(codes, isClients ? CLIENT_REFUSED : REFUSED);
    return signInProblem(isClients ? 'OIDC_CLIENT_REFUSED' : 'OIDC_REFUSED');
  }

  private unavailable(error: unknown): HttpProblem {
    const reason = reasonOf(error);
    const said = { ...codesOf(error), ...(reason !== undefined && { reason }) };
    this.logger.warn(said, 'The issuer of OpenID Connect cannot be asked');
    const message = 'The sign-in service does not answer: try again shortly.';
    return new HttpProblem(503, message, { code: 'OIDC_UNAVAILABLE', retryAfterSeconds: 5 });
  }
}

/** Sends the client secret in the way that the issuer's metadata name. */
function secretAsAsked(secret: string): oidc.ClientAuth {
  const ways = {
    client_secret_basic: oidc.ClientSecretBasic(secret),
    client_secret_post: oidc.ClientSecretPost(secret),
  };
  return (issuer, ...request) => {
    ways[secretMethodOf(issuer)](issuer, ...request);
  };
}

/**
 * `fetch` of the client: to the end of a bounded body, and without encryption to this machine only. The JSON of a
 * refusal says why the issuer refuses. The library does not read it beside a challenge or under another media type.
 */
async function fetchUpTo(
  url: string,
  { body: sent, ...options }: oidc.CustomFetchOptions,
): Promise<Response> {
  requireEncrypted(url);
  const answer = await fetch(url, { ...options, ...(sent !== undefined && { body: sent }) });
  const body = await bytesUpTo(MOST_BYTES, answer.body ?? []);
  if (body === undefined)
    throw new PermanentError('OIDC_TOO_LONG', 'The answer of the issuer is too long.');
  const { status } = answer;
  const headers = new Headers(answer.headers);
  if (/^\s*\{/.test(body.subarray(0, 64).toString())) {
    headers.set('content-type', 'application/json');
    headers.delete('www-authenticate');
  }
  return new Response(answer.body === null ? null : body, { status, headers });
}

/**
 * Accepts a discovery document that is about the configured issuer, and names endpoints that are reached with
 * encryption. The library accepts the documents of all tenants of some providers.
 * @throws PermanentError
 */
function requireOwn(issuer: string, found: oidc.ServerMetadata): void {
  if (new URL(found.issuer).href !== new URL(issuer).href) {
    throw new PermanentError('OIDC_ISSUER', otherIssuer(found.issuer));
  }
  for (const endpoint of ['jwks_uri', 'token_endpoint', 'authorization_endpoint'] as const) {
    const url = found[endpoint];
    if (url === undefined)
      throw new PermanentError('OIDC_ENDPOINT', `The discovery document has no ${endpoint}.`);
    requireEncrypted(url);
  }
}

/** @throws PermanentError */
function requireEncrypted(url: string): void {
  if (new URL(url).protocol === 'https:' || isLoopback(url)) return;
  throw new PermanentError('OIDC_PLAIN', 'The issuer and its endpoints must have https URLs.');
}

/** Whether the issuer may answer the same request a moment later. */
function isPassing(error: unknown): boolean {
  const { code, error: said } = codesOf(error);
  const { cause } = error as { cause?: unknown };
  const isDown = cause instanceof Response && (cause.status >= 500 || cause.status === 429);
  return code === 'OAUTH_TIMEOUT' || isDown || PASSING_ERRORS.includes(said);
}

/** The code of the library, and that of the issuer if it gave one (RFC 6749, section 5.2). */
function codesOf(thrown: unknown): { readonly code: string; readonly error?: string } {
  const { code, name, error } = (thrown ?? {}) as Readonly<Record<string, unknown>>;
  return {
    code: typeof code === 'string' ? code : String(name),
    ...(typeof error === 'string' && /^[A-Za-z_]{1,64}$/.test(error) && { error }),
  };
}

/** What is wrong with the discovery document, and what to do; undefined for other errors. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof PermanentError) return error.message;
  const { cause } = (error ?? {}) as {
    cause?: { attribute?: unknown; body?: { issuer?: unknown } };
  };
  return cause?.attribute === 'issuer' ? otherIssuer(String(cause.body?.issuer)) : undefined;
}

function otherIssuer(named: string): string {
  return `The discovery document names the issuer ${named.slice(0, 200)}: set OIDC_ISSUER exactly so, if it is yours.`;
}
