import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';
import { type Standing } from './standing.js';

/** What the second half of a sign-in by OpenID Connect needs from the first half. */
export interface LoginAttempt {
  readonly kind: Standing['kind'];
  readonly codeVerifier: string;
  readonly nonce: string;
  /** Path of a page, which begins with one slash. */
  readonly returnTo: string;
}

/** Lifetime of an attempt. */
export const LOGIN_ATTEMPT_MS = 10 * 60_000;

const BEGIN = named<LoginAttempt & { readonly stateHash: Buffer; now: Date; expiresAt: Date }>(
  'login_attempt_begin',
  `INSERT INTO console.login_attempt (state_hash, kind, code_verifier, nonce, return_to, created_at, expires_at)
    VALUES (:stateHash, :kind, :codeVerifier, :nonce, :returnTo, :now, :expiresAt)`,
);

const TAKE = named<{ stateHash: Buffer; now: Date }>(
  'login_attempt_take',
  `DELETE FROM console.login_attempt WHERE state_hash = :stateHash
    RETURNING kind, code_verifier AS "codeVerifier", nonce, return_to AS "returnTo", expires_at > :now AS good`,
);

export class LoginAttemptStore {
  constructor(private readonly database: Database) {}

  /** @param stateHash SHA-256 of the state, 32 bytes */
  async begin(stateHash: Buffer, attempt: LoginAttempt, nowMs: number): Promise<void> {
    const times = { now: new Date(nowMs), expiresAt: new Date(nowMs + LOGIN_ATTEMPT_MS) };
    await this.database.query(BEGIN({ ...attempt, stateHash, ...times }));
  }

  /** Deletes the attempt. Returns it to exactly one caller, and only before it expires. */
  async take(stateHash: Buffer, nowMs: number): Promise<LoginAttempt | undefined> {
    const [row] = await this.database.query<LoginAttempt & { readonly good: boolean }>(
      TAKE({ stateHash, now: new Date(nowMs) }),
    );
    if (row?.good !== true) return undefined;
    const { kind, codeVerifier, nonce, returnTo } = row;
    return { kind, codeVerifier, nonce, returnTo };
  }
}
