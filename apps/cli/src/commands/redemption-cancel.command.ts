import { Command } from 'commander';
import { type UuidV7 } from '#libs/domain';
import { type CommandContext } from '../command-context.js';
import { actorOption } from '../operator/actor.js';
import { runOperation } from '../redemption/operation-command.js';
import { redemptionId } from '../redemption/redemption-id.js';

/** `redemption cancel`: asks for the end; once authorised, only the chain can say whether it came in time. */
export function redemptionCancelCommand(context: CommandContext): Command {
  const command = new Command('cancel')
    .description('cancel a redemption; once a voucher exists, the vault decides who was first')
    .argument('<id>', 'the redemption', redemptionId)
    .addOption(actorOption());
  return command.action(async (id: UuidV7, { as }: { readonly as?: string }) => {
    await runOperation(context, { command, id, as }, { event: { type: 'cancel', by: 'operator' } });
  });
}
