import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CallbackStore, RedemptionStore, RedemptionViews } from '#libs/db';
import { type PartnerId, type Redemption } from '#libs/domain';
import { CliBench } from './testing/cli-bench.support.js';
import { aStored, type Case, CASES, stateOf } from './testing/redemption-rows.support.js';

let bench: CliBench;
let acme: PartnerId;
const rows = new Map<string, Redemption>();
beforeAll(async () => {
  bench = await CliBench.start();
  acme = await bench.partner('Acme', 'https://game.example/svc');
  const nova = await bench.partner('Nova', 'https://nova.example');
  for (const name of CASES) rows.set(name, await aStored(bench.database, acme, name));
  rows.set('nova', await aStored(bench.database, nova, 'created'));
});
afterAll(() => bench.drop());

function row(name: string): Redemption {
  const found = rows.get(name);
  if (found === undefined) throw new Error(name);
  return found;
}

async function listed(...argv: string[]): Promise<string[]> {
  const { code, out, err } = await bench.run('redemption', 'list', '--json', ...argv);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return (JSON.parse(out) as { id: string }[]).map(({ id }) => id);
}

function newestFirst(ids: Iterable<Redemption>): string[] {
  return [...ids]
    .map(({ id }) => id as string)
    .sort()
    .reverse();
}

describe('redemption list', () => {
  it('lists all, the newest first, and no more than asked for', async () => {
    const all = newestFirst(rows.values());
    expect(await listed()).toEqual(all);
    expect(await listed('--limit', '3')).toEqual(all.slice(0, 3));
    const more = /There may be more/;
    expect((await bench.run('redemption', 'list', '--limit', '3')).err).toMatch(more);
    expect((await bench.run('redemption', 'list')).err).not.toMatch(more);
  });

  it('lists those that wait for an operator, the longest first', async () => {
    const waiting = [...rows.values()].filter(({ state }) => state === 'attention');
    waiting.sort((a, b) => a.stateSinceMs - b.stateSinceMs || (a.id < b.id ? -1 : 1));
    expect(await listed('--attention')).toEqual(waiting.map(({ id }) => id));
    const { out } = await bench.run('redemption', 'list', '--attention');
    expect(out).toMatch(/^ID +STATE +FOR +PARTNER +WALLET +POINTS +TOKENS +REASON\n/);
    expect(out).toMatch(
      /attention +\d+d \d+h +Acme +0x[0-9a-f]{40} +5000 +340 +payout-unresolved\n/,
    );
  });

  it('filters by partner, wallet and state', async () => {
    expect(await listed('--partner', 'nOVA')).toEqual([row('nova').id]);
    expect(await listed('--partner', acme, '--state', 'claimed')).toEqual([row('claimed').id]);
    const { wallet, id } = row('deducted');
    expect(await listed('--wallet', `0x${wallet.slice(2).toUpperCase()}`)).toEqual([id]);
    expect(await listed('--wallet', wallet, '--state', 'failed')).toEqual([]);
    expect((await bench.run('redemption', 'list', '--wallet', wallet, '--attention')).out).toBe(
      'There are none.\n',
    );
  });

  it.each([
    [['--state', 'lost'], /Allowed choices are created/],
    [['--wallet', "0x' OR 1=1"], /Expected 0x and 40 hex digits/],
    [['--partner', "x' OR '1'='1"], /\[PARTNER_UNKNOWN\]/],
    [['--attention', '--state', 'claimed'], /either --attention or --state/],
  ])('refuses %j', async (argv, message) => {
    const ran = await bench.run('redemption', 'list', ...argv);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toMatch(message);
  });
});

describe('redemption show', () => {
  it.each(CASES)('%s: says what it waits for', async (name) => {
    const { out, code } = await bench.run('redemption', 'show', row(name).id);
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`^redemption +${row(name).id}\nstate +${stateOf(name)} `));
    expect(out).toMatch(/\nwaits for +\S/);
    expect(out.split('\n').filter((line) => line.includes('->')).length).toBeLessThanOrEqual(
      row(name).version,
    );
    if (row(name).state === 'attention') {
      const isSettled = row(name).reason === 'settled-by-hand';
      expect(out).toContain(`waits for            ${isSettled ? 'nothing: ' : 'an operator. '}`);
      expect(out).not.toMatch(/ ID[ `]/);
    }
    if (row(name).plan === null) expect(out).toContain('the ledger has no plan');
    else
      expect(out).toMatch(/not asked: CHAIN_ID must be set; RPC_URLS must be set; TOKEN_CONTRACT/);
  });

  it.each<[Case, string]>([
    ['created', 'none: no call could have deducted'],
    ['deducting', 'possible: 0 deduct calls ended without a proof, one is under way'],
    ['attention: deduction-unresolved', 'possible: 1 deduct calls ended without a proof'],
    ['deducted', 'confirmed by the partner; the points are taken'],
    ['reverted', 'given back'],
  ])('%s: says what is known of the deduction', async (name, text) => {
    const { out } = await bench.run('redemption', 'show', row(name).id);
    expect(out).toContain(`\ndeduction            ${text}\n`);
  });

  it('shows calls with their verdicts, the lease and the confirmation', async () => {
    const { id, openCall } = row('deducting');
    const store = new RedemptionStore(bench.database);
    const record = {
      verdict: 'bad-signature',
      status: 200,
      timings: { total: 17 },
      excerpt: 'x\ny',
    };
    const requestId = openCall?.requestId;
    if (requestId === undefined) throw new Error('no call is open');
    await store.endCall({ requestId, outcome: 'answer', record });
    await store.lease({ count: 100, owner: 'worker-1', leaseMs: 60_000 });
    const { out } = await bench.run('redemption', 'show', id);
    expect(out).toMatch(/lease +worker-1 until 20/);
    expect(out).toMatch(
      new RegExp(`deduct +${requestId} +answer +200 +bad-signature +17 ms +x\\\\u000ay\n`),
    );
    const claimed = (await bench.run('redemption', 'show', row('claimed').id)).out;
    expect(claimed).toMatch(
      /state +pending\n +attempts +0\n +next attempt +20\d\d-[^\n]+\n +payload +\{"address"/,
    );
    expect(claimed).toMatch(/\nwaits for [^\n]+\(0 attempts so far, the next due [^)]+\)\n/);
    expect(claimed).toMatch(/stored as paid +paid in 0xc{64}, block \d+, by final block/);
  });

  it('is JSON without numbers that lose digits', async () => {
    const { id, tokenAmount } = row('claimed');
    const { out } = await bench.run('redemption', 'show', id, '--json');
    const shown = JSON.parse(out) as {
      redemption: Record<string, unknown>;
      transitions: { event: string }[];
    };
    expect(shown).toMatchObject({
      partnerName: 'Acme',
      place: { chainId: 31_337, fromBlock: '1' },
      chain: { asked: false },
      confirmation: { state: 'pending' },
      lease: null,
    });
    expect(shown.redemption).toMatchObject({
      id,
      state: 'claimed',
      tokenAmount: tokenAmount.toString(),
      usdAmount: '50.00',
      claimedAt: expect.stringMatching(/Z$/),
      revertedAt: null,
    });
    expect(shown.transitions.map(({ event }) => event)).toEqual([
      'create',
      'call-due',
      'deduct-confirmed',
      'plan-committed',
      'payout-paid',
    ]);
  });

  it('says which setting is wrong, without its value', async () => {
    const { id } = row('authorised');
    const settings = { CHAIN_ID: '1', RPC_URLS: 'hunter2', TOKEN_CONTRACT: id };
    const { out } = await bench.runWith({ settings }, 'redemption', 'show', id);
    expect(out).toMatch(/not asked: RPC_URLS must be a URL.*; TOKEN_CONTRACT must be/);
    expect(out).not.toContain('hunter2');
    const other = {
      ...settings,
      RPC_URLS: 'http://127.0.0.1:1',
      TOKEN_CONTRACT: `0x${'1'.repeat(40)}`,
    };
    const shown = await bench.runWith({ settings: other }, 'redemption', 'show', id);
    expect(shown.out).toContain('not asked: the voucher is of chain 31337, CHAIN_ID is 1');
    const deaf = { ...other, CHAIN_ID: '31337' };
    const unheard = await bench.runWith({ settings: deaf }, 'redemption', 'show', id);
    expect(unheard.code).toBe(0);
    expect(unheard.out).toMatch(/the chain now +not asked: .*\[[A-Z_]+\]/);
  });

  it('names one that cannot be read, and lists the others', async () => {
    const { id, partner } = await aStored(bench.database, acme, 'deducted');
    await bench.database.transaction(async (client) => {
      await client.query('SET LOCAL session_replication_role = replica');
      await client.query(
        `UPDATE redemption.redemption SET quote_expires_at = 'infinity' WHERE id = $1`,
        [id],
      );
    });
    const shown = await bench.run('redemption', 'show', id);
    expect(shown).toMatchObject({ code: 1, out: '' });
    expect(shown.err).toMatch(new RegExp(`^Redemption ${id} cannot be read .*UNREADABLE\\]\n$`));
    const { code, out, err } = await bench.run('redemption', 'list', '--partner', partner);
    expect(code).toBe(0);
    expect(err).toMatch(new RegExp(`^Redemption ${id} cannot be read .*\n$`));
    expect(out).not.toContain(id);
    expect(out).toContain(row('deducted').id);
  });

  it('reads only: no row is written', async () => {
    const callbacks = await new CallbackStore(bench.database).list();
    expect(callbacks).toHaveLength(2);
    expect((await bench.audit()).filter(({ command }) => /list|show/.test(command))).toEqual([]);
    const history = await new RedemptionViews(bench.database).show(row('created').id);
    expect(history?.transitions).toHaveLength(1);
  });
});
