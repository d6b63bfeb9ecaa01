import { Command } from 'commander';
import { type Redemption, type UuidV7 } from '#libs/domain';
import { type CommandContext } from '../command-context.js';
import { actorOption } from '../operator/actor.js';
import { confirmed } from '../operator/confirmed.js';
import { OptionError } from '../option.error.js';
import { runOperation } from '../redemption/operation-command.js';
import { redemptionId } from '../redemption/redemption-id.js';

interface Options {
  readonly restoredOutOfBand?: true;
  readonly notDeducted?: true;
  readonly yes?: true;
  readonly as?: string;
}

/** `redemption resolve`: what the partner has told the operator, which no call can verify. Final. */
export function redemptionResolveCommand(context: CommandContext): Command {
  const command = new Command('resolve')
    .description('end a redemption in attention by what the partner has told you; final')
    .argument('<id>', 'the redemption', redemptionId)
    .option('--restored-out-of-band', 'the partner has given the points back by hand')
    .option('--not-deducted', 'the partner has searched its books: no points were taken')
    .option('--yes', 'do not ask')
    .addOption(actorOption());
  return command.action(async (id: UuidV7, options: Options) => {
    const isRestored = options.restoredOutOfBand === true;
    if (isRestored === (options.notDeducted === true)) {
      throw new OptionError('Give exactly one of --restored-out-of-band and --not-deducted.');
    }
    const confirm = (redemption: Redemption): Promise<void> =>
      confirmed(context.terminal, consequence(redemption, isRestored));
    await runOperation(
      context,
      { command, id, as: options.as },
      {
        event: { type: isRestored ? 'operator-restored' : 'operator-not-deducted' },
        arguments: { as: isRestored ? 'restored-out-of-band' : 'not-deducted' },
        ...(options.yes !== true && { confirm }),
      },
    );
  });
}

function consequence({ id, points, wallet }: Redemption, isRestored: boolean): string {
  const amount = points.toString();
  return isRestored
    ? `Redemption ${id} ends as reverted: the partner has given ${amount} points back to ${wallet} by hand.`
    : `Redemption ${id} ends as failed: the partner has never taken ${amount} points from ${wallet}.`;
}
