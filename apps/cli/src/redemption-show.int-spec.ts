import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CallbackStore, RedemptionStore, RedemptionViews } from '#libs/db';
import {
  type PartnerId,
  type Redemption,
  type UuidV7,
  ZERO_ADDRESS,
  newRedemption,
  type PayoutPlace,
} from '#libs/domain';
import { CliBench } from './testing/cli-bench.support.js';
import { aStored, type Case, CASES, stateOf } from './testing/redemption-rows.support.js';
import { EVIDENCE_KEY, testEvidence } from '#libs/testing/evidence';
import { tokensText, chainEvidence } from '#libs/operations';
import { testConstants } from '#libs/config';
import { FakeClock } from '#libs/testing/clock';
import { VaultBench } from '#libs/testing/vault';
import { vaultIdOf, type Voucher } from '#libs/chain';
import { systemClock } from '#libs/platform';

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

describe('redemption adopt', () => {
  let bench: CliBench;
  let ids: UuidV7[];
  beforeAll(async () => {
    bench = await CliBench.start();
    const partner = await bench.partner('Acme', 'https://game.example/svc');
    // Rows as a program without EVIDENCE_KEY wrote them.
    const open = ['created', 'deducting', 'deducted', 'authorised', 'reverting'] as const;
    ids = [];
    for (const name of open) ids.push((await aStored(bench.database, partner, name)).id);
    await aStored(bench.database, partner, 'claimed');
  });
  afterAll(() => bench.drop());

  const sealed = async (): Promise<boolean[]> => {
    const store = new RedemptionStore(bench.database, testEvidence());
    const stored = await Promise.all(ids.map((id) => store.get(id)));
    // Where points go back, the MAC covers only the names of the deduction.
    return stored.map(
      (one) =>
        one?.namesAreOurs === true &&
        (one.isSealed === true || one.redemption.state === 'reverting'),
    );
  };

  /** The doctor's line about MACs of open redemptions. */
  async function doctorLine(key: string): Promise<string | undefined> {
    const { out } = await bench.runWith({ settings: { EVIDENCE_KEY: key } }, 'doctor');
    return out.split('\n').find((line) => line.includes('open redemptions'));
  }

  it('asks for the key, which the operator’s own settings do not have', async () => {
    const settings = { EVIDENCE_KEY: '' };
    const { code, err } = await bench.runWith({ settings }, 'redemption', 'adopt', '--yes');
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('EVIDENCE_KEY') });
  });

  it('refuses a key that the api has as well, as the service does', async () => {
    const settings = { EVIDENCE_KEY, SECRETS_KEY: EVIDENCE_KEY };
    const { code, err } = await bench.runWith({ settings }, 'redemption', 'adopt', '--yes');
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringContaining('EVIDENCE_KEY is one'),
    });
    expect(err).not.toContain(EVIDENCE_KEY);
    expect(await sealed()).not.toContainEqual(true);
  });

  it('shows what it would vouch for, and changes nothing without a yes', async () => {
    const asked = { settings: { EVIDENCE_KEY }, ask: () => Promise.resolve('no') };
    const { code, out } = await bench.runWith(asked, 'redemption', 'adopt');
    expect(code).toBe(1);
    for (const id of ids) expect(out).toContain(id);
    const rows = await new RedemptionStore(bench.database, testEvidence()).get(ids[0] as UuidV7);
    const { tokenAmount = 0n, tokenDecimals = 0 } = rows?.redemption ?? {};
    const tokens = tokensText({ tokenAmount, tokenDecimals });
    expect(out).toMatch(new RegExp(`${ids[0]} +created +Acme +0x[0-9a-f]{40} +\\d+ +${tokens} `));
    expect(out.split('\n').filter((line) => line.includes('0x'))).toHaveLength(5);
    expect(await sealed()).not.toContainEqual(true);
  });

  it('makes them payable, with an audit row each, and has nothing to do again', async () => {
    const settings = { EVIDENCE_KEY };
    const first = await bench.runWith({ settings }, 'redemption', 'adopt', '--yes', '--as', 'mia');
    expect(first).toMatchObject({ code: 0, out: expect.stringContaining('Adopted 5 of 5.') });
    expect(await sealed()).toEqual(ids.map(() => true));
    const text = `SELECT actor, redemption_id AS id FROM redemption.audit WHERE command = 'redemption adopt'`;
    const rows = await bench.database.query<{ actor: string; id: string }>({ text });
    expect(rows.map(({ id }) => id).sort()).toEqual([...ids].sort());
    expect(rows[0]?.actor).toBe('operator:mia');
    const again = await bench.runWith({ settings }, 'redemption', 'adopt', '--yes');
    expect(again.out).toContain('Every open redemption bears');
  });

  it('leaves nothing for the doctor, who finds a key that was made in place of a lost one', async () => {
    expect(await doctorLine(EVIDENCE_KEY)).toMatch(/^ok .*has a MAC under EVIDENCE_KEY/);
    const another = Buffer.alloc(32, 9).toString('base64');
    expect(await doctorLine(another)).toMatch(/^FAULT .*5 have no MAC under EVIDENCE_KEY/);
  });

  it('vouches for no wallet that nobody holds, and says so', async () => {
    const stored = await new RedemptionStore(bench.database).get(ids[0] as UuidV7);
    const partner = stored?.redemption.partner as PartnerId;
    const terms = { wallet: ZERO_ADDRESS };
    const { id } = await aStored(bench.database, partner, 'deducted', terms);
    const settings = { EVIDENCE_KEY };
    const { out } = await bench.runWith({ settings }, 'redemption', 'adopt', '--yes');
    expect(out).toContain('Adopted 0 of 1.');
    expect(out).toContain(`Not adopted, and not paid, because the wallet has no holder: ${id}.`);
    const after = await new RedemptionStore(bench.database, testEvidence()).get(id);
    expect(after?.isSealed).not.toBe(true);
  });
});

describe('the evidence of the chain', () => {
  const ID = '0199d000-0000-7000-8000-0000000000aa' as UuidV7;

  let vault: VaultBench;
  beforeAll(async () => {
    vault = await VaultBench.start();
  });
  afterAll(() => vault.chain.stop());

  function authorised(voucher: Voucher): { redemption: Redemption; place: PayoutPlace } {
    const { recipient, amount, deadlineSeconds } = voucher;
    const redemption = newRedemption(
      {
        id: ID,
        partner: '5f0c1f0e-0000-4000-8000-000000000001' as PartnerId,
        wallet: recipient,
        points: 1n,
        usdAmount: { digits: 1n, scale: 0 },
        tokenAmount: amount,
        tokenDecimals: 18,
        priceUsd: { digits: 1n, scale: 0 },
        quoteExpiresAtMs: 0,
      },
      0,
    );
    return {
      redemption: { ...redemption, plan: { recipient, amount, deadlineSeconds } },
      place: { ...vault.place, fromBlock: 0n },
    };
  }

  const settingsOf = ({ chain }: VaultBench): Record<string, string> => ({
    CHAIN_ID: String(chain.chainId),
    RPC_URLS: chain.url,
    TOKEN_CONTRACT: chain.contracts.token,
  });

  it('asks the vault that the plan names', async () => {
    const { chain } = vault;
    const settings = settingsOf(vault);
    const voucher = vault.voucher({ vaultId: vaultIdOf(ID) });
    const stored = authorised(voucher);
    await vault.finalise();
    const live = await chainEvidence(stored, settings, systemClock);
    expect(live).toEqual({ asked: true, evidence: { outcome: 'live' } });
    await vault.mine(await vault.claim(voucher));
    await vault.finalise();
    const paid = await chainEvidence(stored, settings, systemClock);
    expect(paid).toMatchObject({ asked: true, evidence: { outcome: 'paid' } });
    const elsewhere = { ...stored, place: { ...stored.place, vault: chain.contracts.token } };
    const fault = await chainEvidence(elsewhere, settings, systemClock);
    expect(fault).toEqual({ asked: false, why: expect.stringMatching(/\[[A-Z_]+\]$/) });
  });

  it.each([
    ['300, as the service', {}, 300],
    ['as it is set', testConstants({ payoutExpiryMarginSeconds: 60 }), 60],
  ])(
    'calls a voucher expired on the word of one endpoint only after the margin: %s',
    async (_, change, marginSeconds) => {
      const settings = { ...settingsOf(vault), ...change };
      const voucher = vault.voucher({ vaultId: vaultIdOf(ID.replace(/aa$/, 'ab')) });
      const stored = authorised(voucher);
      const expired = { ...stored.redemption, id: ID.replace(/aa$/, 'ab') as UuidV7 };
      await vault.mineAt(Math.max(vault.seconds, voucher.deadlineSeconds) + 1);
      await vault.finalise();
      const clock = new FakeClock((voucher.deadlineSeconds + marginSeconds) * 1000);
      const evidenceNow = () => chainEvidence({ ...stored, redemption: expired }, settings, clock);
      expect(await evidenceNow()).toEqual({ asked: true, evidence: { outcome: 'live' } });
      clock.advance(1000);
      expect(await evidenceNow()).toMatchObject({ asked: true, evidence: { outcome: 'dead' } });
    },
  );
});
