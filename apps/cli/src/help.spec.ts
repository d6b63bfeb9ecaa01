import { type Command } from 'commander';
import { expect, it } from '@jest/globals';
import { systemClock } from '#libs/platform';
import { createProgram } from './cli.js';

/** The `--help` texts of the command and of all commands below it, 100 columns wide. */
function helpOf(command: Command, path = command.name()): string[] {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => 100 });
  command.outputHelp();
  const below = command.commands.flatMap((child) => helpOf(child, `${path} ${child.name()}`));
  return [`${path} --help\n${text}`, ...below];
}

/** `-u` stores new texts; operators and their scripts rely on the stored ones. */
it('helps with every command in the words that are stored', () => {
  const terminal = { out: () => undefined, err: () => undefined };
  const program = createProgram({ source: () => ({}), terminal, clock: systemClock });
  expect(helpOf(program).join('\n')).toMatchSnapshot();
});
