import { Command } from 'commander';
import { type UuidV7 } from '#libs/domain';
import { type CommandContext } from '../command-context.js';
import { actorOption } from '../operator/actor.js';
import { runOperation } from '../redemption/operation-command.js';
import { redemptionId } from '../redemption/redemption-id.js';

/** `redemption retry`: the automation goes on where it stopped. */
export function redemptionRetryCommand(context: CommandContext): Command {
  const command = new Command('retry')
    .description('let the automation go on with a redemption now, from attention too')
    .argument('<id>', 'the redemption', redemptionId)
    .addOption(actorOption());
  return command.action(async (id: UuidV7, { as }: { readonly as?: string }) => {
    await runOperation(context, { command, id, as }, { event: { type: 'operator-retry' } });
  });
}
