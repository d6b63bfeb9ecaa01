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
beforeAll(async () => {
  bench = await CliBench.start();
  partner = await bench.partner('Acme', 'https://game.example/svc');
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

const cells = Object.entries(COMMANDS).flatMap(([action, typed]) =>
  CASES.map((name) => ({ action, name, typed })),
);

async function stored({ id }: Redemption): Promise<Redemption | undefined> {
  return (await new RedemptionStore(bench.database).get(id))?.redemption;
}

/** What the pages offer. */
async function allowed({ id }: Redemption): Promise<OperatorAction[]> {
  const history = await new RedemptionViews(bench.database).show(id);
  if (history === undefined) throw new Error(`no ${id}`);
  return allowedActions(history, { nowMs: Date.now(), policy: POLICY });
}

describe('every command on every state', () => {
  it('is tried', () => {
    expect(new Set(CASES.map(stateOf))).toEqual(new Set(REDEMPTION_STATES));
  });

  it.each(cells)('$action on $name', async ({ action, name, typed }) => {
    const before = await aStored(bench.database, partner, name);
    const from = stateOf(name);
    expect(before.state).toBe(from);
    const event = typed.event(before);
    const expected = transition(before, event, { nowMs: Date.now(), jitter: 0, policy: POLICY });
    const offered = (await allowed(before)).find((one) => one.action === action);

    const argv = typed.argv(before);
    const ran = await bench.run('redemption', ...argv, '--as', 'night-shift');

    const after = await stored(before);
    const [note] = await bench.audit();
    expect(note).toMatchObject({
      actor: 'operator:night-shift',
      command: `redemption ${argv[0]}`,
      redemption_id: before.id,
      partner,
    });
    const cell = cellOf(from, event.type);
    if (expected.kind === 'refused') {
      expect(offered).toBeUndefined();
      expect(ran).toMatchObject({ code: 1, out: '' });
      const code = expected.code.replaceAll('-', '_').toUpperCase();
      expect(ran.err).toContain(expected.message);
      expect(ran.err).toContain(`[${code}]`);
      expect(note?.outcome).toBe(`refused: ${code}`);
      expect(after).toEqual(before);
      return;
    }
    expect(offered?.command).toBe(note?.command);
    expect(offered?.consequence).toContain(before.id);
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(note?.outcome).toBe(`now ${expected.next.state}`);
    expect(after).toMatchObject({ state: expected.next.state, version: before.version + 1 });
    expect(typeof cell === 'string' ? [] : cell.to).toContain(after?.state);
    // Independent of the table.
    expect(after?.state).not.toBe('claimed');
    if (before.plan !== null && before.deadEvidence === null) {
      expect(after?.state).toBe('authorised');
    }
  });
});

describe('every redemption that is not final', () => {
  it.each(CASES.filter((name) => !isFinal(stateOf(name))))(
    '%s: there is something to do',
    async (name) => {
      expect(await allowed(await aStored(bench.database, partner, name))).not.toEqual([]);
    },
  );

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
  it.each(CASES)('on %s changes nothing of the redemption', async (name: Case) => {
    const before = await aStored(bench.database, partner, name);
    const offered = (await allowed(before)).map(({ action }) => action);
    expect(offered).not.toContain('replay-confirm');
    const ran = await bench.run('redemption', 'replay-confirm', before.id);
    const isOwed = before.state === 'claimed' || before.state === 'reverted';
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toContain(isOwed ? '[STILL_TRYING]' : '[NO_CONFIRMATION]');
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
    ['a zero', 'tx\0'],
    ['too much', 'x'.repeat(256)],
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
      instead: 'Nothing can be changed any more; `redemption show` has its end.',
      message:
        'This redemption is finished. Nothing can be changed any more; `redemption show` has its end.',
    });
    const [note] = await bench.audit();
    expect(note).toMatchObject({ actor: 'operator:ann', outcome: 'refused: FINAL' });
  });
});
