/** Changes of partners as a page makes them. The commands have specs of their own. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AuditLog, type Database, PartnerUnknownError } from '#libs/db';
import { parseDecimal, type PartnerId } from '#libs/domain';
import { systemClock } from '#libs/platform';
import { KeyRing, mintSecretsKey } from '#libs/signing';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { aPartnerId } from '#libs/testing/partner';
import { operatorActor } from '../audit/audited.js';
import { type Operation, type OperationType, prepared } from '../operation/operation.js';
import { AddCredential, RevokeCredential } from './credentials.js';
import { resolveAudited, resolvePartner } from './partner-reference.js';
import { CreatePartner, listPartners, PausePartner, SetPartner } from './partners.js';

const SECRET = 'whsec/Zx+81-no-page-may-show-this';
const KEY = 'pk-live-7Qm2-callback-key';
const CALLBACK = {
  url: 'https://game.example/svc',
  key: KEY,
  secret: SECRET,
  usdPerPoint: '0.01',
  dailyTokenBudget: '1000',
};
const keyRing = KeyRing.parse(mintSecretsKey().toString('base64'));

let test: TestDatabase;
let database: Database;
beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open({ url: test.urlAs('cli') });
});
afterAll(() => test.drop());

const actor = operatorActor('ann@example.org');

function run<Result, T extends Operation<Result>>(
  type: OperationType<T> & { new (): Operation<Result> },
  values: Partial<T>,
): Promise<Result> {
  const context = { database, clock: systemClock, actor, keyRing: () => keyRing };
  return prepared(type, values).perform(context);
}

async function newestNote() {
  const { entries } = await new AuditLog(database).newest({}, { limit: 1 });
  return entries[0];
}

describe('a partner', () => {
  const name = '<b onclick=x>Gâme 🎲';
  let id: PartnerId;

  it('is created with a name that is only a text, and its secrets are in no audit row', async () => {
    const { issued, callback } = await run(CreatePartner, { name, callback: CALLBACK });
    id = issued.partnerId;
    expect(callback).toMatchObject({ url: CALLBACK.url, key: KEY });
    const note = await newestNote();
    expect(note).toMatchObject({
      ...{ actor: 'operator:ann@example.org', command: 'partner create', outcome: 'done' },
      partner: issued.partnerId,
      arguments: { name, callbackKey: 'given', callbackSecret: 'given' },
    });
    const audited = JSON.stringify(note);
    for (const secret of [SECRET, KEY, issued.apiKey, issued.sharedSecret]) {
      expect(audited).not.toContain(secret);
    }
    const [found] = await listPartners(database);
    expect(found?.partner).toMatchObject({ partnerName: name, partnerId: issued.partnerId });
  });

  it('is not changed by a change that has nothing in it, and the refusal is audited', async () => {
    const nothing = { partner: id, callback: { allowPrivate: true } };
    await expect(run(SetPartner, nothing)).rejects.toMatchObject({
      code: 'OPTION_INVALID',
    });
    expect(await newestNote()).toMatchObject({ outcome: 'refused: OPTION_INVALID' });
  });

  it('whose budget is only to be lowered is not changed where that would raise it by now', async () => {
    const cut = (dailyTokenBudget: string) => {
      const callback = { dailyTokenBudget };
      return run(SetPartner, { partner: id, callback, mustOnlyCutBudget: true });
    };
    expect((await cut('999')).callback?.dailyTokenBudget).toEqual(parseDecimal('999'));
    await expect(cut('999.5')).rejects.toMatchObject({ code: 'OPTION_INVALID' });
    expect(await newestNote()).toMatchObject({ outcome: 'refused: OPTION_INVALID' });
    const [found] = await listPartners(database);
    expect(found?.callback?.dailyTokenBudget).toEqual(parseDecimal('999'));
  });

  it('keeps what is not given, and its address is checked', async () => {
    const change = (callback: object) => run(SetPartner, { partner: id, rate: 7, callback });
    const { callback, terms } = await change({ maxPoints: '5000' });
    expect(callback).toMatchObject({ maxPoints: 5000n, url: CALLBACK.url, key: KEY });
    expect(terms).toMatchObject({ rate: 7, burst: 100 });
    for (const url of [
      'http://169.254.169.254/',
      'https://user:pw@game.example/',
      'javascript:0',
    ]) {
      await expect(change({ url })).rejects.toMatchObject({ code: 'OPTION_INVALID' });
      expect(JSON.stringify(await newestNote())).not.toContain('user:pw');
    }
  });

  it('gets one more credential, loses one, and keeps the last', async () => {
    const first = (await listPartners(database))[0]?.partner.credentials[0]?.keyPrefix ?? '';
    const issued = await run(AddCredential, { partner: id });
    const revoke = (keyPrefix: string) =>
      run(RevokeCredential, { partner: id, keyPrefix, force: false });
    expect(await revoke(first)).toMatchObject({ keyPrefix: first, left: 1 });
    const last = issued.apiKey.slice(0, 12);
    await expect(revoke(last)).rejects.toMatchObject({ code: 'LAST_CREDENTIAL' });
    expect(await newestNote()).toMatchObject({ outcome: 'refused: LAST_CREDENTIAL' });
  });

  it('that is not there is refused, and the id is audited', async () => {
    const missing = aPartnerId();
    await expect(run(PausePartner, { partner: missing })).rejects.toThrow(PartnerUnknownError);
    const refused = { command: 'partner pause', outcome: 'refused: PARTNER_UNKNOWN' };
    expect(await newestNote()).toMatchObject({ ...refused, partner: missing });
  });

  it('is named by its name in any capitals, or by its id', async () => {
    for (const text of [name, name.replace('onclick', 'ONCLICK'), id, id.toUpperCase()]) {
      expect(await resolvePartner(database, text)).toEqual({ partnerId: id, partnerName: name });
    }
  });

  it('that nothing is named so is refused, and what was typed is audited without a credential', async () => {
    const key = `svck_${'a'.repeat(43)}`;
    const resolved = resolveAudited(database, { actor, command: 'partner pause' }, key);
    await expect(resolved).rejects.toThrow(PartnerUnknownError);
    const note = await newestNote();
    expect(note).toMatchObject({ outcome: 'refused: PARTNER_UNKNOWN', partner: null });
    expect(JSON.stringify(note)).not.toContain(key);
  });
});
