/** Commands that settle one redemption: an operator's event, or another round of its confirmation. */
import { InvalidArgumentError } from 'commander';
import { type Database, DeliveryStore, RedemptionMissingError, RedemptionStore } from '#libs/db';
import {
  deliveryTransition,
  parseUuidV7,
  PermanentError,
  type Redemption,
  type UuidV7,
} from '#libs/domain';
import { audited, auditedText } from '../audited.js';
import { OptionError } from '../cli.errors.js';
import { AdoptSettings, OperatorSettings } from '../cli.env.js';
import { type AuditedCommand, type Call, command } from '../command.js';
import { argument, AS, option, YES } from '../options.js';
import { printable } from '../output/text.js';
import {
  evidenceKeys,
  operate,
  type Operation,
  type OperatorEvent,
} from '../redemption/operate.js';
import { waitsFor } from '../redemption/waits-for.js';

const LONGEST_NOTE = 255;

export const REDEMPTION = argument('<id>', 'the redemption', (text) => {
  const id = parseUuidV7(text);
  if (id === undefined) {
    throw new InvalidArgumentError('Expected the id of a redemption, a UUID of version 7.');
  }
  return id;
});

interface Given {
  readonly id: UuidV7;
}

/** The automation goes on where it stopped. */
export const retry = command({
  name: 'retry',
  description: 'let the automation go on with a redemption now, from attention too',
  arguments: [REDEMPTION],
  options: [AS],
  settings: OperatorSettings,
  action: (call, { id }: Given) => settle(call, { id, event: { type: 'operator-retry' } }),
});

/** Asks for the end; once authorised, only the chain can say whether it came in time. */
export const cancel = command({
  name: 'cancel',
  description: 'cancel a redemption; once a voucher exists, the vault decides who was first',
  arguments: [REDEMPTION],
  options: [AS],
  settings: OperatorSettings,
  action: (call, { id }: Given) => settle(call, { id, event: { type: 'cancel', by: 'operator' } }),
});

/** The deduction as the partner names it, so that it can be reverted. */
export const setPartnerTx = command({
  name: 'set-partner-tx',
  description: "give the partner's transaction id of the deduction; it is reverted then",
  arguments: [
    REDEMPTION,
    argument('<transaction>', 'partnerTransactionId, exactly as the partner has it'),
  ],
  options: [AS],
  settings: AdoptSettings,
  action(call, { id, transaction }: Given & { readonly transaction: string }) {
    return settle(call, {
      id,
      event: { type: 'operator-set-transaction', partnerTransactionId: transaction },
      arguments: { transaction: auditedText(transaction) },
      seal: evidenceKeys(call),
    });
  },
});

interface ResolveGiven extends Given {
  readonly restoredOutOfBand?: true;
  readonly notDeducted?: true;
  readonly settledByHand?: string;
  readonly yes?: true;
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

/** What the partner has told the operator, which no call can verify. Final. */
export const resolve = command({
  name: 'resolve',
  description: 'end a redemption by what the partner has told you; final',
  arguments: [REDEMPTION],
  options: [
    option('--restored-out-of-band', 'the partner has given the points back by hand'),
    option('--not-deducted', 'the partner has searched its books: no points were taken'),
    option(
      '--settled-by-hand <note>',
      'paid-after-dead only: settled with the partner; the note stays in the audit',
      note,
    ),
    YES,
    AS,
  ],
  check: (given: ResolveGiven) => void resolutionOf(given),
  settings: OperatorSettings,
  action(call, given: ResolveGiven) {
    const { as, event: type, consequence } = resolutionOf(given);
    const { id, settledByHand } = given;
    return settle(call, {
      id,
      event: { type } as OperatorEvent,
      arguments: { as, ...(settledByHand !== undefined && { note: settledByHand }) },
      ...(given.yes !== true && { confirm: (before) => call.confirm(consequence(before)) }),
    });
  },
});

function resolutionOf(given: ResolveGiven): Resolution {
  const [resolution, ...more] = RESOLUTIONS.filter((one) => given[one.option] !== undefined);
  if (resolution === undefined || more.length > 0) {
    throw new OptionError(
      'Give exactly one of --restored-out-of-band, --not-deducted and --settled-by-hand.',
    );
  }
  return resolution;
}

function note(text: string): string {
  if (text.trim() === '' || text.length > LONGEST_NOTE || /\p{Cc}/u.test(text)) {
    throw new InvalidArgumentError(`Expected 1 to ${LONGEST_NOTE} characters in one line.`);
  }
  return text;
}

/** Does one operation on one redemption and says what it led to. */
async function settle(
  call: Call<OperatorSettings>,
  operation: Omit<Operation, 'actor' | 'command'>,
): Promise<void> {
  const { before, after } = await call.withDatabase((database) =>
    operate(database, call.clock, { ...call.audited(), ...operation }),
  );
  const moved =
    before.state === after.state ? `still ${after.state}` : `${before.state} -> ${after.state}`;
  const next = printable(waitsFor({ redemption: after }, call.clock.nowMs()));
  call.terminal.out(`Redemption ${after.id}: ${moved}.\nNext: ${next}\n`);
}

/** Another round of the same confirmation. The redemption stays as it is. */
export const replayConfirm = command({
  name: 'replay-confirm',
  description: 'send the confirmation of a finished redemption again',
  arguments: [REDEMPTION],
  options: [AS],
  settings: OperatorSettings,
  async action(call, { id }: Given) {
    const nowMs = call.clock.nowMs();
    await call.withDatabase((database) => replay(database, id, call.audited(), nowMs));
    call.terminal.out(`The confirmation of redemption ${id} is sent again at once.\n`);
  },
});

async function replay(
  database: Database,
  id: UuidV7,
  command: AuditedCommand,
  nowMs: number,
): Promise<void> {
  const stored = await new RedemptionStore(database).get(id);
  const concerned = { redemptionId: id, ...(stored && { partner: stored.redemption.partner }) };
  await audited(database, command, concerned, async () => {
    if (stored === undefined) throw new RedemptionMissingError(id);
    const deliveries = new DeliveryStore(database);
    const found = await deliveries.get(id);
    if (found === undefined) {
      throw new PermanentError(
        'NO_CONFIRMATION',
        'No confirmation is owed: the redemption is not claimed or reverted, or its partner took none when it ended.',
      );
    }
    const { delivery: before } = found;
    const context = { nowMs, jitter: Math.random() };
    const decision = deliveryTransition(before, { type: 'replay' }, context);
    if (decision.kind === 'refused') {
      throw new PermanentError(
        'STILL_TRYING',
        'The confirmation is still being sent: `redemption show` says how often so far.',
      );
    }
    const { next } = decision;
    await deliveries.apply({ redemptionId: id, before, next, audit: command });
  });
}
