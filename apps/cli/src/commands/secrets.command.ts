import { Command } from 'commander';
import { type CommandContext } from '../command-context.js';
import { secretsRewrapCommand } from './secrets-rewrap.command.js';
import { secretsStatusCommand } from './secrets-status.command.js';

export function secretsCommand(context: CommandContext): Command {
  return new Command('secrets')
    .description('the stored secrets and the keys that seal them')
    .addCommand(secretsStatusCommand(context))
    .addCommand(secretsRewrapCommand(context));
}
