import { Inject, Injectable } from '@nestjs/common';
import * as oidc from 'openid-client';
import { isLoopback } from '#libs/config';
import { PermanentError } from '#libs/domain';
import { CLOCK, type Clock, type Logger, SingleFlight } from '#libs/platform';
import { HttpProblem, LOGGER } from '#libs/service';
import { ConsoleSettings } from '../console.env.js';
import { bytesUpTo } from '../http/bytes-up-to.js';
import { groupsLeftOut, oidcSubject, roleOfGroups } from './operators.js';
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

const REFUSED = 'A sign-in by OpenID Connect was refused';
const GROUPS_LEFT_OUT =
  'The issuer left the groups out of the ID token, because the person is in too many: no role by it. Let it send only the groups that are assigned to the console, or roles of the application (OIDC_GROUPS_CLAIM); see docs/operating/console.md';

/** Values of the authorization request that the issuer's answer must match. */
export interface AuthorizationRequest {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/**
 * Client of the OpenID Connect issuer. Discovery runs at the first use, and again at the next use where it failed.
 *
 * Only what the issuer signs gives rights: the signature of each ID token is verified by the keys that the issuer
 * publishes, and the user info, which is not signed, is not asked. The library takes asymmetric algorithms alone, keeps
 * the keys for five minutes, and fetches them again for an unknown `kid` once a minute at most.
 */
@Injectable()
export class OidcProvider {
  private readonly discovering = new SingleFlight<oidc.Configuration>();
  private configuration: oidc.Configuration | undefined;

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
    const { scopes_supported: known = [] } = configuration.serverMetadata();
    const { oidcGroupsClaim: groups } = this.settings;
    return ['openid', 'profile', 'email', ...(known.includes(groups) ? [groups] : [])].join(' ');
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
    if (isLeftOut) {
      this.logger.warn({ claim: oidcGroupsClaim }, GROUPS_LEFT_OUT);
    } else if (oidcRoles !== undefined && claims[oidcGroupsClaim] === undefined) {
      this.logger.warn({ claim: oidcGroupsClaim }, 'The ID token has no groups: no role by it');
    }
    if (typeof authTime !== 'number') {
      this.logger.warn({}, 'The issuer does not say auth_time: no sign-in by it counts as fresh');
    }
    const subject = oidcSubject(this.settings.oidcIssuer ?? '', sub);
    if (/\s/.test(subject) || subject.length > LONGEST_SUBJECT) throw signInProblem('OIDC_SUBJECT');
    const names = [claims['preferred_username'], claims['email'], claims['name'], sub];
    const name = names.find((one) => typeof one === 'string' && one !== '') as string;
    return {
      subject,
      name,
      role: roleOfGroups(claims[oidcGroupsClaim], this.settings),
      roleUnknown: isLeftOut ? 'OIDC_GROUPS_LEFT_OUT' : undefined,
      // A browser can remove max_age from the URL, and some issuers then omit auth_time. The age of such an
      // authentication is unknown, so the sign-in never counts as fresh.
      authenticatedAtMs: typeof authTime === 'number' ? authTime * 1000 : 0,
    };
  }

  private async discovered(): Promise<oidc.Configuration> {
    const { oidcIssuer: issuer, oidcClientId = '', oidcClientSecret: secret } = this.settings;
    if (issuer === undefined) throw signInProblem('WAY_OFF');
    try {
      this.configuration ??= await this.discovering.run(async () => {
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
      });
      return this.configuration;
    } catch (error) {
      throw this.unavailable(error);
    }
  }

  /** Logs the code of an error but not its text, which may repeat values of the request. */
  private problemOf(error: unknown): HttpProblem {
    if (error instanceof HttpProblem) return error;
    if (error instanceof oidc.AuthorizationResponseError) return signInProblem('OIDC_DENIED');
    const isRefusal = error instanceof oidc.ClientError || error instanceof oidc.ResponseBodyError;
    const code = codeOf(error);
    if (!isRefusal || code === 'OAUTH_TIMEOUT') return this.unavailable(error);
    this.logger.warn({ code }, REFUSED);
    return signInProblem('OIDC_REFUSED');
  }

  private unavailable(error: unknown): HttpProblem {
    this.logger.warn({ code: codeOf(error) }, 'The issuer of OpenID Connect cannot be asked');
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

/** `fetch` of the client: to the end of a bounded body, and without encryption to this machine only. */
async function fetchUpTo(
  url: string,
  { body: sent, ...options }: oidc.CustomFetchOptions,
): Promise<Response> {
  requireEncrypted(url);
  const answer = await fetch(url, { ...options, ...(sent !== undefined && { body: sent }) });
  const body = await bytesUpTo(MOST_BYTES, answer.body ?? []);
  if (body === undefined)
    throw new PermanentError('OIDC_TOO_LONG', 'The answer of the issuer is too long.');
  const { status, headers } = answer;
  return new Response(answer.body === null ? null : body, { status, headers });
}

/**
 * Accepts a discovery document that is about the configured issuer, and names endpoints that are reached with
 * encryption. The library accepts the documents of all tenants of some providers.
 * @throws PermanentError
 */
function requireOwn(issuer: string, found: oidc.ServerMetadata): void {
  if (new URL(found.issuer).href !== new URL(issuer).href) {
    throw new PermanentError('OIDC_ISSUER', 'The discovery document names another issuer.');
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

function codeOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return typeof code === 'string' ? code : String(name);
}
