import { type Command } from 'commander';
import { expect, it } from '@jest/globals';
import { systemClock } from '#libs/platform';
import { createProgram } from './cli.js';

/** What `--help` of the command and of all below it prints, 100 columns wide. */
function helpOf(command: Command, path = command.name()): string[] {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => 100 });
  command.outputHelp();
  const below = command.commands.flatMap((child) => helpOf(child, `${path} ${child.name()}`));
  return [`${path} --help\n${text}`, ...below];
}

/** `-u` writes the stored texts anew; operators and their scripts know them. */
it('helps with every command in the words that are stored', () => {
  const terminal = { out: () => undefined, err: () => undefined };
  const program = createProgram({ source: () => ({}), terminal, clock: systemClock });
  expect(helpOf(program).join('\n')).toMatchSnapshot();
});
