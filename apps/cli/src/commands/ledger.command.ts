import { Command } from 'commander';
import { type CommandContext } from '../command-context.js';
import { ledgerRestoredCommand } from './ledger-restored.command.js';

export function ledgerCommand(context: CommandContext): Command {
  return new Command('ledger')
    .description('the ledger of the redemptions as a whole')
    .addCommand(ledgerRestoredCommand(context));
}
