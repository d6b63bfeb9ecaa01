/** Commands that settle one redemption: an operator's event, or a repetition of its confirmation. */
import { parseUuidV7, type UuidV7 } from '#libs/domain';
import {
  auditedText,
  evidenceKeys,
  isSettlementNote,
  LONGEST_NOTE,
  NOT_DEDUCTED,
  operate,
  type OperatedEvent,
  OptionError,
  printable,
  replayConfirmation,
  type Resolution,
  RESTORED_OUT_OF_BAND,
  SETTLED_BY_HAND,
  showRedemption,
  waitsFor,
} from '#libs/operations';
import { AdoptSettings, OperatorSettings } from '../cli.env.js';
import { type Call, command } from '../command.js';
import { argument, AS, expecting, option, YES } from '../options.js';

export const REDEMPTION = argument(
  '<id>',
  'the redemption',
  expecting('the id of a redemption, a UUID of version 7.', parseUuidV7),
);

interface Given {
  readonly id: UuidV7;
}

export const retry = command({
  name: 'retry',
  description: 'let the automation go on with a redemption now, from attention too',
  arguments: [REDEMPTION],
  options: [AS],
  settings: OperatorSettings,
  action: (call, { id }: Given) => settle(call, { id, event: { type: 'operator-retry' } }),
});

export const cancel = command({
  name: 'cancel',
  description: 'cancel a redemption; once a voucher exists, the vault decides who was first',
  arguments: [REDEMPTION],
  options: [AS],
  settings: OperatorSettings,
  action: (call, { id }: Given) => settle(call, { id, event: { type: 'cancel', by: 'operator' } }),
});

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
      seal: evidenceKeys(call.settings),
    });
  },
});

interface ResolveGiven extends Given {
  readonly restoredOutOfBand?: true;
  readonly notDeducted?: true;
  readonly settledByHand?: string;
  readonly yes?: true;
}

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
      expecting(`1 to ${LONGEST_NOTE} characters in one line.`, (text) =>
        isSettlementNote(text) ? text : undefined,
      ),
    ),
    YES,
    AS,
  ],
  check: (given: ResolveGiven) => void resolutionOf(given),
  settings: OperatorSettings,
  action(call, given: ResolveGiven) {
    const { as, event, consequence } = resolutionOf(given);
    const { id, settledByHand } = given;
    return settle(call, {
      id,
      event,
      arguments: { as, ...(settledByHand !== undefined && { note: settledByHand }) },
      ...(given.yes !== true && { confirm: (before) => call.confirm(consequence(before)) }),
    });
  },
});

function resolutionOf(given: ResolveGiven): Resolution {
  const [resolution, ...more] = [
    ...(given.restoredOutOfBand === undefined ? [] : [RESTORED_OUT_OF_BAND]),
    ...(given.notDeducted === undefined ? [] : [NOT_DEDUCTED]),
    ...(given.settledByHand === undefined ? [] : [SETTLED_BY_HAND]),
  ];
  if (resolution === undefined || more.length > 0) {
    throw new OptionError(
      'Give exactly one of --restored-out-of-band, --not-deducted and --settled-by-hand.',
    );
  }
  return resolution;
}

/** Applies one operation to one redemption, and prints the resulting state and the next step. */
async function settle(
  call: Call<OperatorSettings>,
  operation: Omit<OperatedEvent, 'actor' | 'command'>,
): Promise<void> {
  const { before, history } = await call.withDatabase(async (database) => ({
    ...(await operate(database, call.clock, { ...call.operator, ...operation })),
    ...(await showRedemption(database, operation.id)),
  }));
  const after = history.redemption;
  const moved =
    before.state === after.state ? `still ${after.state}` : `${before.state} -> ${after.state}`;
  const next = printable(waitsFor(history, call.clock.nowMs()));
  call.terminal.out(`Redemption ${after.id}: ${moved}.\nNext: ${next}\n`);
}

export const replayConfirm = command({
  name: 'replay-confirm',
  description: 'send the confirmation of a finished redemption again',
  arguments: [REDEMPTION],
  options: [AS],
  settings: OperatorSettings,
  async action(call, { id }: Given) {
    const nowMs = call.clock.nowMs();
    await call.withDatabase(replayConfirmation, call.operator, id, nowMs);
    call.terminal.out(`The confirmation of redemption ${id} is sent again at once.\n`);
  },
});
