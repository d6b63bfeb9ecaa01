/** The pages offer exactly the actions of a redemption that the commands perform. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RedemptionViews } from '#libs/db';
import { type PartnerId, type Redemption } from '#libs/domain';
import {
  type ActionName,
  allowedActions,
  type OperatorAction,
  prepared,
  RetryRedemption,
} from '#libs/operations';
import { systemClock } from '#libs/platform';
import { CliBench } from './testing/cli-bench.support.js';
import { aStored, type Case, CASES, POLICY } from './testing/redemption-rows.support.js';

const NOTE = 'agreed with Acme';
const ARGV: Readonly<Record<ActionName, (id: string) => readonly string[]>> = {
  retry: (id) => ['retry', id],
  cancel: (id) => ['cancel', id],
  'set-partner-tx': (id) => ['set-partner-tx', id, `told-${id}`],
  'restored-out-of-band': (id) => ['resolve', id, '--restored-out-of-band', '--yes'],
  'not-deducted': (id) => ['resolve', id, '--not-deducted', '--yes'],
  'settled-by-hand': (id) => ['resolve', id, '--settled-by-hand', NOTE, '--yes'],
  'replay-confirm': (id) => ['replay-confirm', id],
};
const ACTIONS = Object.keys(ARGV) as ActionName[];

let bench: CliBench;
let partner: PartnerId;
beforeAll(async () => {
  bench = await CliBench.start();
  partner = await bench.partner('Acme', 'https://game.example/svc');
});
afterAll(() => bench.drop());

async function allowed({ id }: Redemption): Promise<OperatorAction[]> {
  const history = await new RedemptionViews(bench.database).show(id);
  if (history === undefined) throw new Error(`no ${id}`);
  return allowedActions(history, { nowMs: Date.now(), policy: POLICY });
}

const cells = ACTIONS.flatMap((action) => CASES.map((name) => ({ action, name })));

describe('what is offered', () => {
  it.each(cells)('$action of $name', async ({ action, name }) => {
    const redemption = await aStored(bench.database, partner, name);
    const offered = (await allowed(redemption)).find((one) => one.action === action);
    const { code } = await bench.run('redemption', ...ARGV[action](redemption.id));
    expect(offered !== undefined).toBe(code === 0);
    if (offered === undefined) return;
    const [note] = await bench.audit();
    expect(note?.command).toBe(offered.command);
    expect(offered.consequence).toContain(redemption.id);
  });

  it('says what is asked before it is done, in the words of the command', async () => {
    const name: Case = 'attention: deduction-unresolved';
    const redemption = await aStored(bench.database, partner, name);
    const found = (await allowed(redemption)).find(({ action }) => action === 'not-deducted');
    const questions: string[] = [];
    const ask = (question: string): Promise<string> => {
      questions.push(question);
      return Promise.resolve('no');
    };
    const argv = ['redemption', 'resolve', redemption.id, '--not-deducted'];
    await bench.runWith({ ask }, ...argv);
    expect(questions).toEqual([`${String(found?.consequence)}\nType yes to go on: `]);
  });

  it('names what has to be given, and what the confirmation was', async () => {
    const inputs = async (name: Case) => {
      const actions = await allowed(await aStored(bench.database, partner, name));
      return Object.fromEntries(actions.map(({ action, input }) => [action, input ?? null]));
    };
    expect(await inputs('attention: deduction-unresolved')).toEqual({
      retry: null,
      'set-partner-tx': 'transaction',
      'restored-out-of-band': null,
      'not-deducted': null,
    });
    expect(await inputs('attention: paid-after-dead')).toEqual({
      'settled-by-hand': 'settledByHand',
    });
    expect(await inputs('failed')).toEqual({});
  });
});

it('a refusal has its code and its advice apart from its text too', async () => {
  const { id } = await aStored(bench.database, partner, 'failed');
  const refused = prepared(RetryRedemption, { id }).perform({
    ...{ database: bench.database, clock: systemClock, actor: 'operator:ann' },
    keyRing: () => {
      throw new Error('a retry needs no key');
    },
  });
  await expect(refused).rejects.toMatchObject({
    code: 'FINAL',
    refusal: 'final',
    instead: 'Nothing can be changed any more; `redemption show` has its end.',
    message:
      'This redemption is finished. Nothing can be changed any more; `redemption show` has its end.',
  });
  const [note] = await bench.audit();
  expect(note).toMatchObject({ actor: 'operator:ann', outcome: 'refused: FINAL' });
});
