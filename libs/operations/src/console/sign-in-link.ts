/**
 * Links that sign in once. The token is in the fragment of the URL, which browsers send to no server and no log has.
 */
import { isLoopback } from '#libs/config';
import { type Database, type OperatorRole, SignInLinkStore } from '#libs/db';
import { type Clock } from '#libs/platform';
import { newToken } from '#libs/signing';
import { type Operator } from '../audit/audited.js';
import { OptionError } from '../operation.error.js';

const LINK_MS = 15 * 60_000;
const LINK_PATH = '/sign-in/link';

export interface SignInLinkWish {
  readonly role: OperatorRole;
  /** Lower-case letters, digits and dashes; see `LINK_NAME`. */
  readonly name: string;
  /** Origin at which browsers reach the console. */
  readonly origin: string;
  /** Allows an origin on another machine. */
  readonly isRemote: boolean;
}

export interface PrintedLink {
  readonly url: string;
  readonly expiresAt: Date;
}

/** A person who signs in by a link has the subject `link:NAME`. */
export const LINK_NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** @throws OptionError where the origin is on another machine and `isRemote` is false */
export async function makeSignInLink(
  database: Database,
  clock: Clock,
  { actor, command }: Operator,
  { role, name, origin, isRemote }: SignInLinkWish,
): Promise<PrintedLink> {
  if (!isRemote && !isLoopback(origin)) {
    throw new OptionError(
      `${origin} is not on this machine: who sees the link can sign in. Add --remote where you mean it.`,
    );
  }
  const nowMs = clock.nowMs();
  const { token, tokenHash } = newToken();
  const expiresAtMs = nowMs + LINK_MS;
  const link = { tokenHash, standing: { kind: 'operator', role } as const, name };
  await new SignInLinkStore(database).create(
    { ...link, createdBy: actor, nowMs, expiresAtMs },
    { command, arguments: { role, name, origin }, outcome: 'done' },
  );
  return { url: `${origin}${LINK_PATH}#${token}`, expiresAt: new Date(expiresAtMs) };
}
