import { Command } from 'commander';
import { type CommandContext } from '../command-context.js';
import { redemptionAdoptCommand } from './redemption-adopt.command.js';
import { redemptionCancelCommand } from './redemption-cancel.command.js';
import { redemptionListCommand } from './redemption-list.command.js';
import { redemptionReplayConfirmCommand } from './redemption-replay-confirm.command.js';
import { redemptionResolveCommand } from './redemption-resolve.command.js';
import { redemptionRetryCommand } from './redemption-retry.command.js';
import { redemptionSetPartnerTxCommand } from './redemption-set-partner-tx.command.js';
import { redemptionShowCommand } from './redemption-show.command.js';

export function redemptionCommand(context: CommandContext): Command {
  return new Command('redemption')
    .description('redemptions, and what only a person can settle')
    .addCommand(redemptionListCommand(context))
    .addCommand(redemptionShowCommand(context))
    .addCommand(redemptionRetryCommand(context))
    .addCommand(redemptionSetPartnerTxCommand(context))
    .addCommand(redemptionResolveCommand(context))
    .addCommand(redemptionCancelCommand(context))
    .addCommand(redemptionReplayConfirmCommand(context))
    .addCommand(redemptionAdoptCommand(context));
}
