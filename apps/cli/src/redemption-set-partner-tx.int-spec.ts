import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PartnerId } from '#libs/domain';
import { RedemptionStore } from '#libs/db';
import { testEvidence } from '#libs/testing';
import { CliBench } from './testing/cli-bench.support.js';
import { aStored } from './testing/redemption-rows.support.js';

let bench: CliBench;
let partner: PartnerId;
beforeAll(async () => {
  bench = await CliBench.start();
  partner = await bench.partner('Acme', 'https://game.example/svc');
});
afterAll(() => bench.drop());

describe('redemption set-partner-tx', () => {
  it('without EVIDENCE_KEY no transaction is named: no revert would take it', async () => {
    const before = await aStored(bench.database, partner, 'attention: deduction-unresolved');
    const argv = ['redemption', 'set-partner-tx', before.id, 'tx-9'];
    const ran = await bench.runWith({ settings: { EVIDENCE_KEY: '' } }, ...argv);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toContain('EVIDENCE_KEY');
    expect((await new RedemptionStore(bench.database).get(before.id))?.redemption).toEqual(before);
  });

  it('what a person has named bears the MAC, beside candidates that bear none', async () => {
    const before = await aStored(bench.database, partner, 'attention: deduction-unresolved');
    await bench.run('redemption', 'set-partner-tx', before.id, `said-${before.id}`);
    const sealed = await new RedemptionStore(bench.database, testEvidence()).get(before.id);
    expect(sealed).toMatchObject({ namesAreOurs: true, redemption: { state: 'reverting' } });
  });
});
