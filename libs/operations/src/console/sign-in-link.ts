/**
 * Links that sign in once. The token is in the fragment of the URL, which browsers send to no server and no log has.
 */
import { isLoopback } from '#libs/config';
import { type OperatorRole, SignInLinkStore } from '#libs/db';
import { newToken } from '#libs/signing';
import { Field } from '../operation/field.js';
import { Operation, type OperationContext, operatorOf } from '../operation/operation.js';
import { OptionError } from '../operation.error.js';

const LINK_MS = 15 * 60_000;
const LINK_PATH = '/sign-in/link';

export interface PrintedLink {
  readonly url: string;
  readonly expiresAt: Date;
}

const ROLES = ['viewer', 'operator', 'admin'] as const satisfies readonly OperatorRole[];

/** Makes the first sign-in possible, before operators have a wallet or an identity provider. */
export class MakeSignInLink extends Operation<PrintedLink> {
  static readonly spec = {
    command: 'console link',
    description: 'print a link to the web pages that signs an operator in, once, within 15 minutes',
    needs: 'consoleOrigin',
  } as const;

  @Field({
    type: 'choice',
    help: 'what the operator may do',
    option: '--role <role>',
    values: ROLES,
    required: true,
  })
  readonly role!: OperatorRole;

  /** A person who signs in by a link has the subject `link:NAME`. */
  @Field({
    type: 'text',
    help: 'whom it is for, as the pages and the audit show it (default: cli)',
    option: '--name <name>',
    expected: '1 to 64 lower-case letters, digits and dashes',
    pattern: /^[a-z0-9][a-z0-9-]{0,63}$/,
  })
  readonly name: string = 'cli';

  @Field({
    type: 'flag',
    help: 'also where CONSOLE_ORIGIN is not on this machine',
    option: '--remote',
  })
  readonly isRemote?: boolean;

  /** @throws OptionError where the origin is on another machine and `isRemote` is not given */
  async perform(context: OperationContext): Promise<PrintedLink> {
    const { clock, consoleOrigin: origin = '' } = context;
    const { actor, command } = operatorOf(this, context);
    const { role, name, isRemote = false } = this;
    if (!isRemote && !isLoopback(origin)) {
      throw new OptionError(
        `${origin} is not on this machine: who sees the link can sign in. Add --remote where you mean it.`,
      );
    }
    const nowMs = clock.nowMs();
    const { token, tokenHash } = newToken();
    const expiresAtMs = nowMs + LINK_MS;
    const link = { tokenHash, standing: { kind: 'operator', role } as const, name };
    await new SignInLinkStore(context.database).create(
      { ...link, createdBy: actor, nowMs, expiresAtMs },
      { command, arguments: { role, name, origin }, outcome: 'done' },
    );
    return { url: `${origin}${LINK_PATH}#${token}`, expiresAt: new Date(expiresAtMs) };
  }
}
