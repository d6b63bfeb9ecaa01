import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RedemptionStore } from '#libs/db';
import { type PartnerId, type UuidV7, ZERO_ADDRESS } from '#libs/domain';
import { EVIDENCE_KEY, testEvidence } from '#libs/testing/evidence';
import { tokensText } from '#libs/operations';
import { CliBench } from './testing/cli-bench.support.js';
import { aStored } from './testing/redemption-rows.support.js';

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
      one?.namesAreOurs === true && (one.isSealed === true || one.redemption.state === 'reverting'),
  );
};

/** The doctor's line about MACs of open redemptions. */
async function doctorLine(key: string): Promise<string | undefined> {
  const { out } = await bench.runWith({ settings: { EVIDENCE_KEY: key } }, 'doctor');
  return out.split('\n').find((line) => line.includes('open redemptions'));
}

describe('redemption adopt', () => {
  it('asks for the key, which the operator’s own settings do not have', async () => {
    const settings = { EVIDENCE_KEY: '' };
    const { code, err } = await bench.runWith({ settings }, 'redemption', 'adopt', '--yes');
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('EVIDENCE_KEY') });
  });

  it('refuses a key that the api has as well, as the service does', async () => {
    const settings = { EVIDENCE_KEY, SECRETS_KEY: EVIDENCE_KEY };
    const { code, err } = await bench.runWith({ settings }, 'redemption', 'adopt', '--yes');
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('EVIDENCE_KEY is one') });
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
