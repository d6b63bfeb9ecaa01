import { CallbackStore } from '#libs/db';
import { printable } from '../../output/text.js';
import { type Check } from '../check.js';
import { ok, warning } from '../finding.js';

const NAME = 'partners';

/** Whether the partners that are open for redemptions have a daily token budget: without one they are refused. */
export const partnersCheck: Check = {
  name: NAME,
  needs: ['DATABASE_URL'],
  needsDatabase: true,
  needsSchema: true,
  async *look(subject) {
    const callbacks = await new CallbackStore(await subject.database()).list();
    const open = callbacks.filter(({ paused }) => !paused);
    const without = open.filter(({ dailyTokenBudget }) => dailyTokenBudget === undefined);
    if (without.length === 0) {
      yield ok(NAME, `${open.length} open for redemptions, each with a daily token budget`);
      return;
    }
    const names = without.map(({ partnerName }) => printable(partnerName)).join(', ');
    yield warning(
      NAME,
      `without a daily token budget, so nothing can be redeemed with them: ${names}`,
      'Set one for each: `partner set NAME --daily-token-budget TOKENS`.',
    );
  },
};
