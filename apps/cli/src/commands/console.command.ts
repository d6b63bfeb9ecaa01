import { MakeSignInLink, moment } from '#libs/operations';
import { type CommandGroup } from '../command.js';
import { commandOf } from '../operation-command.js';

const link = commandOf(MakeSignInLink, {
  hasJson: true,
  print(call, made, { role }) {
    const expires = moment(made.expiresAt.getTime()) ?? '';
    call.print(made, `${made.url}\nIt signs in once, as ${role}, until ${expires}.\n`);
  },
});

export const consoleCommands: CommandGroup = {
  name: 'console',
  description: 'the web pages',
  commands: [link],
};
