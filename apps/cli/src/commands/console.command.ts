import { type OperatorRole } from '#libs/db';
import { LINK_NAME, makeSignInLink, moment } from '#libs/operations';
import { ConsoleLinkSettings } from '../cli.env.js';
import { command, type CommandGroup } from '../command.js';
import { AS, JSON_LINE, matching, oneOf, option, required } from '../options.js';

const ROLES: readonly OperatorRole[] = ['viewer', 'operator', 'admin'];

interface LinkGiven {
  readonly role: OperatorRole;
  readonly name: string;
  readonly remote?: true;
}

/** Makes the first sign-in possible, before operators have a wallet or an identity provider. */
const link = command({
  name: 'link',
  description: 'print a link to the web pages that signs an operator in, once, within 15 minutes',
  options: [
    required('--role <role>', `what the operator may do: ${ROLES.join(', ')}`, oneOf(ROLES)),
    option(
      '--name <name>',
      'whom it is for, as the pages and the audit show it',
      matching(LINK_NAME, '1 to 64 lower-case letters, digits and dashes.'),
      'cli',
    ),
    option('--remote', 'also where CONSOLE_ORIGIN is not on this machine'),
    JSON_LINE,
    AS,
  ],
  settings: ConsoleLinkSettings,
  async action(call, { role, name, remote }: LinkGiven) {
    const { consoleOrigin: origin } = call.settings;
    const wish = { role, name, origin, isRemote: remote === true };
    const made = await call.withDatabase(makeSignInLink, call.clock, call.operator, wish);
    const expires = moment(made.expiresAt.getTime()) ?? '';
    call.print(made, `${made.url}\nIt signs in once, as ${role}, until ${expires}.\n`);
  },
});

export const consoleCommands: CommandGroup = {
  name: 'console',
  description: 'the web pages',
  commands: [link],
};
