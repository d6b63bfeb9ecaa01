/** What a wish to cancel comes to: it moves no money by itself (rule F). */
import { fail, move, restore, type Rule } from './decision.js';
import { type EventOf } from './redemption-event.js';
import { type RevertReason } from './redemption.js';
import { isForgetful, resolveForgotten } from './restored-ledger.js';

const CANCELLED_BY: Readonly<Record<EventOf<'cancel'>['by'], RevertReason>> = {
  user: 'user-cancelled',
  operator: 'operator-cancelled',
  system: 'system-cancelled',
};

/** Nothing was sent yet, as far as the ledger remembers. */
export const cancelCreated: Rule<'cancel'> = (redemption, { by, because }, context) =>
  isForgetful(redemption)
    ? resolveForgotten(redemption, context, CANCELLED_BY[by])
    : fail(redemption, context, because ?? CANCELLED_BY[by]);

/** The payout was never authorised. */
export const cancelDeducted: Rule<'cancel'> = (redemption, { by }, context) =>
  restore(redemption, context, CANCELLED_BY[by]);

/** The vault is asked to cancel, and the state stays until a final block says what became of it. */
export const requestCancel: Rule<'cancel'> = (redemption, { by }, context) =>
  move(
    redemption,
    context,
    {
      revertReason: redemption.revertReason ?? CANCELLED_BY[by],
      nextActionAtMs: context.nowMs,
    },
    [{ kind: 'cancel-payout' }, { kind: 'notify' }],
  );
