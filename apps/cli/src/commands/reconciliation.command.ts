import { Command } from 'commander';
import { type CommandContext } from '../command-context.js';
import { reconciliationAcknowledgeCommand } from './reconciliation-acknowledge.command.js';
import { reconciliationListCommand } from './reconciliation-list.command.js';

export function reconciliationCommand(context: CommandContext): Command {
  return new Command('reconciliation')
    .description('claims on chain that the ledger does not explain')
    .addCommand(reconciliationListCommand(context))
    .addCommand(reconciliationAcknowledgeCommand(context));
}
