/**
 * Every command on a redemption in every state has exactly the effect that the domain's table defines, and the pages
 * offer it where it has one.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DeliveryStore, RedemptionStore, RedemptionViews } from '#libs/db';
import {
  cellOf,
  deliveryTransition,
  isFinal,
  mintUuidV7,
  type PartnerId,
  type Redemption,
  REDEMPTION_STATES,
  transition,
} from '#libs/domain';
import {
  type ActionName,
  allowedActions,
  type OperatorAction,
  type OperatorEvent,
  prepared,
  RetryRedemption,
} from '#libs/operations';
import { systemClock } from '#libs/platform';
import { testEvidence } from '#libs/testing/evidence';
import { CliBench } from './testing/cli-bench.support.js';
import { aStored, type Case, CASES, POLICY, stateOf } from './testing/redemption-rows.support.js';

let bench: CliBench;
let partner: PartnerId;
/** A redemption of each case, which no test changes. */
const rows = new Map<Case, Redemption>();
beforeAll(async () => {
  bench = await CliBench.start();
  partner = await bench.partner('Acme', 'https://game.example/svc');
  for (const name of CASES) rows.set(name, await aStored(bench.database, partner, name));
});
afterAll(() => bench.drop());

interface Typed {
  readonly argv: (redemption: Redemption) => [command: string, ...string[]];
  readonly event: (redemption: Redemption) => OperatorEvent;
}

const COMMANDS: Readonly<Record<Exclude<ActionName, 'replay-confirm'>, Typed>> = {
  retry: {
    argv: ({ id }) => ['retry', id],
    event: () => ({ type: 'operator-retry' }),
  },
  'set-partner-tx': {
    argv: ({ id }) => ['set-partner-tx', id, `told-${id}`],
    event: ({ id }) => ({ type: 'operator-set-transaction', partnerTransactionId: `told-${id}` }),
  },
  'restored-out-of-band': {
    argv: ({ id }) => ['resolve', id, '--restored-out-of-band', '--yes'],
    event: () => ({ type: 'operator-restored' }),
  },
  'not-deducted': {
    argv: ({ id }) => ['resolve', id, '--not-deducted', '--yes'],
    event: () => ({ type: 'operator-not-deducted' }),
  },
  'settled-by-hand': {
    argv: ({ id }) => ['resolve', id, '--settled-by-hand', 'agreed with Acme', '--yes'],
    event: () => ({ type: 'operator-settled' }),
  },
  cancel: {
    argv: ({ id }) => ['cancel', id],
    event: () => ({ type: 'cancel', by: 'operator' }),
  },
};

async function stored({ id }: Redemption): Promise<Redemption | undefined> {
  return (await new RedemptionStore(bench.database).get(id))?.redemption;
}

/** What the pages offer. */
async function allowed({ id }: Redemption): Promise<OperatorAction[]> {
  const history = await new RedemptionViews(bench.database).show(id);
  if (history === undefined) throw new Error(`no ${id}`);
  return allowedActions(history, { nowMs: Date.now(), policy: POLICY });
}

it('there is a redemption in every state, and something to do about each that is not final', async () => {
  expect(new Set(CASES.map(stateOf))).toEqual(new Set(REDEMPTION_STATES));
  for (const [name, row] of rows) {
    expect([name, (await allowed(row)).length > 0]).toEqual([name, !isFinal(stateOf(name))]);
  }
});

/** Runs the command as an operator. @returns its output and audit row, and the redemption after it */
async function run(typed: Typed, before: Redemption) {
  const argv = typed.argv(before);
  const ran = await bench.run('redemption', ...argv, '--as', 'night-shift');
  const [note] = await bench.audit();
  expect(note).toMatchObject({
    actor: 'operator:night-shift',
    command: `redemption ${argv[0]}`,
    redemption_id: before.id,
    partner,
  });
  return { ran, note, after: await stored(before) };
}

describe.each(Object.entries(COMMANDS))('%s', (action, typed) => {
  const expectedOf = (before: Redemption) =>
    transition(before, typed.event(before), { nowMs: Date.now(), jitter: 0, policy: POLICY });

  it('is offered by the pages exactly where the table has it, and elsewhere refused with the reason', async () => {
    const reasons = new Set<string>();
    for (const [name, before] of rows) {
      const expected = expectedOf(before);
      const offered = (await allowed(before)).some((one) => one.action === action);
      expect([name, offered]).toEqual([name, expected.kind !== 'refused']);
      if (expected.kind !== 'refused' || reasons.has(expected.code)) continue;
      reasons.add(expected.code);
      const { ran, note, after } = await run(typed, before);
      expect(ran).toMatchObject({ code: 1, out: '' });
      const code = expected.code.replaceAll('-', '_').toUpperCase();
      expect(ran.err).toContain(expected.message);
      expect(ran.err).toContain(`[${code}]`);
      expect(note?.outcome).toBe(`refused: ${code}`);
      expect(after).toEqual(before);
    }
  });

  it('has the effect of the table on every state in which it is possible', async () => {
    let tried = 0;
    for (const [name, row] of rows) {
      if (expectedOf(row).kind === 'refused') continue;
      tried += 1;
      const before = await aStored(bench.database, partner, name);
      const expected = expectedOf(before);
      if (expected.kind === 'refused') throw new Error(expected.message);
      const offered = (await allowed(before)).find((one) => one.action === action);
      const { ran, note, after } = await run(typed, before);
      expect(offered?.command).toBe(note?.command);
      expect(offered?.consequence).toContain(before.id);
      expect([name, ran.code, ran.err]).toEqual([name, 0, '']);
      expect(note?.outcome).toBe(`now ${expected.next.state}`);
      expect(after).toMatchObject({ state: expected.next.state, version: before.version + 1 });
      const cell = cellOf(before.state, typed.event(before).type);
      expect(typeof cell === 'string' ? [] : cell.to).toContain(after?.state);
      // Independent of the table.
      expect(after?.state).not.toBe('claimed');
      if (before.plan !== null && before.deadEvidence === null) {
        expect(after?.state).toBe('authorised');
      }
    }
    expect(tried).toBeGreaterThan(0);
  });
});

describe('settled by hand', () => {
  it('keeps the note of what was settled by hand, and counts it no more', async () => {
    const views = new RedemptionViews(bench.database);
    const inAttention = async (): Promise<number> =>
      (await views.counts()).states.find(({ state }) => state === 'attention')?.count ?? 0;
    const { id } = await aStored(bench.database, partner, 'attention: paid-after-dead');
    const before = await inAttention();
    const ran = await bench.run('redemption', ...settle(id, 'agreed with Acme'), '--yes');
    expect(ran.out).toContain('still attention');
    expect((await bench.audit())[0]).toMatchObject({
      arguments: { as: 'settled-by-hand', note: 'agreed with Acme' },
    });
    expect(await inAttention()).toBe(before - 1);
    const bad = await bench.run('redemption', ...settle(id, 'a\nb'), '--yes');
    expect(bad.err).toContain('in one line');
  });
});

const settle = (id: string, note: string): string[] => ['resolve', id, '--settled-by-hand', note];

describe('replay-confirm', () => {
  it.each(['created', 'claimed', 'reverted'] as const)('on %s is refused', async (name) => {
    const before = await aStored(bench.database, partner, name);
    const offered = (await allowed(before)).map(({ action }) => action);
    expect(offered).not.toContain('replay-confirm');
    const ran = await bench.run('redemption', 'replay-confirm', before.id);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toContain(name === 'created' ? '[NO_CONFIRMATION]' : '[STILL_TRYING]');
    expect(await stored(before)).toEqual(before);
    expect((await bench.audit())[0]).toMatchObject({
      command: 'redemption replay-confirm',
      redemption_id: before.id,
      outcome: expect.stringMatching(/^refused: /),
    });
  });

  it('sends a delivered confirmation again, with the same bytes', async () => {
    const { id: redemptionId } = await aStored(bench.database, partner, 'claimed');
    const deliveries = new DeliveryStore(bench.database);
    const first = await deliveries.get(redemptionId);
    const requestId = mintUuidV7(Date.now(), Buffer.alloc(10, 9));
    for (const type of ['call-due', 'delivered'] as const) {
      const before = (await deliveries.get(redemptionId))?.delivery;
      if (before === undefined) throw new Error('no delivery');
      const context = { nowMs: Date.now(), jitter: 0 };
      const decision = deliveryTransition(before, { type, requestId }, context);
      if (decision.kind === 'refused') throw new Error(decision.code);
      await deliveries.apply({ redemptionId, before, next: decision.next });
    }
    const ran = await bench.run('redemption', 'replay-confirm', redemptionId, '--as', 'ann');
    expect(ran).toMatchObject({ code: 0, err: '' });
    const again = await deliveries.get(redemptionId);
    expect(again?.payload).toBe(first?.payload);
    expect(again?.delivery).toMatchObject({ state: 'pending', attempts: 0 });
    expect((await bench.audit())[0]).toMatchObject({ actor: 'operator:ann', outcome: 'done' });
  });
});

describe('resolve', () => {
  const resolve = ['resolve', '--not-deducted'] as const;

  it('asks, and changes nothing without a yes', async () => {
    const before = await aStored(bench.database, partner, 'attention: deduction-unresolved');
    const argv = ['redemption', ...resolve, before.id];
    const nobody = await bench.run(...argv);
    expect(nobody).toMatchObject({ code: 1, out: '' });
    expect(nobody.err).toMatch(/never taken 5000 points .*add --yes.*\[NOT_CONFIRMED\]/);
    const consequence = (await allowed(before)).find(
      ({ action }) => action === 'not-deducted',
    )?.consequence;
    const asked: string[] = [];
    const answering = (answer: string) => ({
      ask: (question: string) => Promise.resolve((asked.push(question), answer)),
    });
    const no = await bench.runWith(answering('n'), ...argv);
    expect(no).toMatchObject({ code: 1, out: '' });
    expect(await stored(before)).toEqual(before);
    expect((await bench.audit())[0]?.outcome).toBe('refused: NOT_CONFIRMED');
    const yes = await bench.runWith(answering(' YES '), ...argv);
    expect(yes).toMatchObject({ code: 0, err: '' });
    // In the words of the pages.
    expect(asked[0]).toBe(`${String(consequence)}\nType yes to go on: `);
    expect(await stored(before)).toMatchObject({
      state: 'failed',
      reason: 'not-deducted-out-of-band',
    });
  });

  it('does not ask about what the rules refuse anyway', async () => {
    const { id } = await aStored(bench.database, partner, 'authorised');
    const ask = () => Promise.reject(new Error('asked'));
    const ran = await bench.runWith({ ask }, 'redemption', ...resolve, id);
    expect(ran.err).toContain('[NOT_IN_ATTENTION]');
  });

  it('takes exactly one of its two answers', async () => {
    const { id } = await aStored(bench.database, partner, 'attention: deduction-unresolved');
    for (const both of [[], ['--not-deducted', '--restored-out-of-band']]) {
      const ran = await bench.run('redemption', 'resolve', id, ...both, '--yes');
      expect(ran).toMatchObject({ code: 1, out: '' });
      expect(ran.err).toContain('[OPTION_INVALID]');
    }
  });

  it('is refused where somebody else was faster', async () => {
    const before = await aStored(bench.database, partner, 'attention: deduction-unresolved');
    const ask = async (): Promise<string> => {
      await bench.run('redemption', 'retry', before.id);
      return 'yes';
    };
    const ran = await bench.runWith({ ask }, 'redemption', ...resolve, before.id);
    expect(ran.err).toContain('[REDEMPTION_STALE]');
    expect(await stored(before)).toMatchObject({ state: 'reverting' });
    expect((await bench.audit())[0]?.outcome).toBe('refused: REDEMPTION_STALE');
  });
});

describe('set-partner-tx', () => {
  it('without EVIDENCE_KEY no transaction is named: no revert would take it', async () => {
    const before = await aStored(bench.database, partner, 'attention: deduction-unresolved');
    const argv = ['redemption', 'set-partner-tx', before.id, 'tx-9'];
    const ran = await bench.runWith({ settings: { EVIDENCE_KEY: '' } }, ...argv);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toContain('EVIDENCE_KEY');
    expect(await stored(before)).toEqual(before);
  });

  it('what a person has named bears the MAC, beside candidates that bear none', async () => {
    const before = await aStored(bench.database, partner, 'attention: deduction-unresolved');
    await bench.run('redemption', 'set-partner-tx', before.id, `said-${before.id}`);
    const sealed = await new RedemptionStore(bench.database, testEvidence()).get(before.id);
    expect(sealed).toMatchObject({ namesAreOurs: true, redemption: { state: 'reverting' } });
  });
});

describe('hostile arguments', () => {
  const unknown = mintUuidV7(Date.now(), Buffer.alloc(10, 1));

  it.each([
    ['nonsense', '; DROP TABLE x', /Expected the id of a redemption/],
    ['another version', '5f0c1f0e-0000-4000-8000-000000000001', /Expected the id of a redemption/],
    ['an id of nobody', unknown, /There is no redemption .*\[REDEMPTION_MISSING\]/],
  ])('%s is no redemption', async (_, id, message) => {
    for (const argv of [
      ['retry', id],
      ['show', id],
      ['cancel', id],
      ['replay-confirm', id],
    ]) {
      const ran = await bench.run('redemption', ...argv);
      expect(ran).toMatchObject({ code: 1, out: '' });
      expect(ran.err).toMatch(message);
    }
  });

  it.each([
    ['nothing', ''],
    ['a line break', 'tx-1\nDONE'],
    ['an escape', 'tx\u001b[2J'],
    ['too much, cut in the middle of a character', `${'x'.repeat(254)}\u{1f600}${'x'.repeat(9)}`],
  ])('%s is no transaction id', async (_, transaction) => {
    const before = await aStored(bench.database, partner, 'attention: deduction-unresolved');
    const ran = await bench.run('redemption', 'set-partner-tx', before.id, transaction);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toContain('[INVALID_TRANSACTION_ID]');
    expect(await stored(before)).toEqual(before);
  });

  it("another redemption's transaction is refused", async () => {
    const other = await aStored(bench.database, partner, 'deducted');
    const before = await aStored(bench.database, partner, 'attention: deduction-unresolved');
    const ran = await bench.run('redemption', 'set-partner-tx', before.id, `tx-${other.id}`);
    expect(ran.err).toContain('[PARTNER_ID_REUSED]');
    expect(await stored(before)).toEqual(before);
  });

  it('a name with more than a name in it is refused', async () => {
    const ran = await bench.run('redemption', 'retry', unknown, '--as', 'ann\nworker');
    expect(ran.err).toMatch(/Expected 1 to 64 letters/);
  });

  it('without a name, the user of the system is it', async () => {
    await bench.run('redemption', 'retry', unknown);
    expect((await bench.audit())[0]?.actor).toMatch(/^operator:[\w.@+-]+$/);
  });
});

describe('what the pages offer', () => {
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
      instead: 'Nothing can be changed now; `redemption show` says how it ended.',
      message:
        'This redemption is finished. Nothing can be changed now; `redemption show` says how it ended.',
    });
    const [note] = await bench.audit();
    expect(note).toMatchObject({ actor: 'operator:ann', outcome: 'refused: FINAL' });
  });
});
