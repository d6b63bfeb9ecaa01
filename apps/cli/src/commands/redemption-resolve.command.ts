import { Command, InvalidArgumentError } from 'commander';
import { type Redemption, type UuidV7 } from '#libs/domain';
import { type CommandContext } from '../command-context.js';
import { actorOption } from '../operator/actor.js';
import { confirmed } from '../operator/confirmed.js';
import { OptionError } from '../option.error.js';
import { type OperatorEvent } from '../redemption/operate.js';
import { runOperation } from '../redemption/operation-command.js';
import { redemptionId } from '../redemption/redemption-id.js';

interface Options {
  readonly restoredOutOfBand?: true;
  readonly notDeducted?: true;
  readonly settledByHand?: string;
  readonly yes?: true;
  readonly as?: string;
}

interface Resolution {
  readonly option: 'restoredOutOfBand' | 'notDeducted' | 'settledByHand';
  readonly as: string;
  readonly event: OperatorEvent['type'];
  readonly consequence: (redemption: Redemption) => string;
}

const RESOLUTIONS: readonly Resolution[] = [
  {
    option: 'restoredOutOfBand',
    as: 'restored-out-of-band',
    event: 'operator-restored',
    consequence: ({ id, points, wallet }) =>
      `Redemption ${id} ends as reverted: the partner has given ${points.toString()} points back to ${wallet} by hand.`,
  },
  {
    option: 'notDeducted',
    as: 'not-deducted',
    event: 'operator-not-deducted',
    consequence: ({ id, points, wallet }) =>
      `Redemption ${id} ends as failed: the partner has never taken ${points.toString()} points from ${wallet}.`,
  },
  {
    option: 'settledByHand',
    as: 'settled-by-hand',
    event: 'operator-settled',
    consequence: ({ id, points, wallet }) =>
      `Redemption ${id} stays as it is and needs no person any more: ${wallet} has the tokens, and what became of its ${points.toString()} points is settled with the partner.`,
  },
];
const LONGEST_NOTE = 255;

/** `redemption resolve`: what the partner has told the operator, which no call can verify. Final. */
export function redemptionResolveCommand(context: CommandContext): Command {
  const command = new Command('resolve')
    .description('end a redemption by what the partner has told you; final')
    .argument('<id>', 'the redemption', redemptionId)
    .option('--restored-out-of-band', 'the partner has given the points back by hand')
    .option('--not-deducted', 'the partner has searched its books: no points were taken')
    .option(
      '--settled-by-hand <note>',
      'paid-after-dead only: settled with the partner; the note stays in the audit',
      note,
    )
    .option('--yes', 'do not ask')
    .addOption(actorOption());
  return command.action(async (id: UuidV7, options: Options) => {
    const [resolution, ...more] = RESOLUTIONS.filter(({ option }) => options[option] !== undefined);
    if (resolution === undefined || more.length > 0) {
      throw new OptionError(
        'Give exactly one of --restored-out-of-band, --not-deducted and --settled-by-hand.',
      );
    }
    const { as, event: type, consequence } = resolution;
    const { settledByHand } = options;
    const confirm = (redemption: Redemption): Promise<void> =>
      confirmed(context.terminal, consequence(redemption));
    await runOperation(
      context,
      { command, id, as: options.as },
      {
        event: { type } as OperatorEvent,
        arguments: { as, ...(settledByHand !== undefined && { note: settledByHand }) },
        ...(options.yes !== true && { confirm }),
      },
    );
  });
}

function note(text: string): string {
  if (text.trim() === '' || text.length > LONGEST_NOTE || /\p{Cc}/u.test(text)) {
    throw new InvalidArgumentError(`Expected 1 to ${LONGEST_NOTE} characters in one line.`);
  }
  return text;
}
