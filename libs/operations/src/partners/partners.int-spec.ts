/** Changes of partners as a page makes them. The commands have specs of their own. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AuditLog, type Database, PartnerUnknownError } from '#libs/db';
import { parseDecimal, type PartnerId } from '#libs/domain';
import { KeyRing, mintSecretsKey } from '#libs/signing';
import { aPartnerId, createTestDatabase, type TestDatabase } from '#libs/testing';
import { operatorActor } from '../audit/audited.js';
import { revokeCredential, rotateCredential } from './credentials.js';
import { resolveAudited, resolvePartner } from './partner-reference.js';
import { createPartner, listPartners, pausePartner, setPartner } from './partners.js';

const SECRET = 'whsec/Zx+81-no-page-may-show-this';
const KEY = 'pk-live-7Qm2-callback-key';
const CALLBACK = {
  url: 'https://game.example/svc',
  key: KEY,
  secret: SECRET,
  usdPerPoint: parseDecimal('0.01'),
  dailyTokenBudget: parseDecimal('1000'),
};
const keyRing = KeyRing.parse(mintSecretsKey().toString('base64'));

let test: TestDatabase;
let database: Database;
beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open({ url: test.urlAs('cli') });
});
afterAll(() => test.drop());

function as(command: string) {
  return { actor: operatorActor('ann@example.org'), command };
}

async function newestNote() {
  const { entries } = await new AuditLog(database).newest({}, { limit: 1 });
  return entries[0];
}

describe('a partner', () => {
  const name = '<b onclick=x>Gâme 🎲';
  let id: PartnerId;

  it('is created with a name that is only a text, and its secrets are in no audit row', async () => {
    const partner = { name, rate: 20, burst: 100, callback: CALLBACK };
    const { issued, callback } = await createPartner(
      database,
      as('partner create'),
      partner,
      keyRing,
    );
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
    await expect(setPartner(database, as('partner set'), nothing, keyRing)).rejects.toMatchObject({
      code: 'OPTION_INVALID',
    });
    expect(await newestNote()).toMatchObject({ outcome: 'refused: OPTION_INVALID' });
  });

  it('whose budget is only to be lowered is not changed where that would raise it by now', async () => {
    const cut = (tokens: string) => {
      const callback = { dailyTokenBudget: parseDecimal(tokens) };
      const change = { partner: id, callback, mustOnlyCutBudget: true };
      return setPartner(database, as('partner set'), change, keyRing);
    };
    expect((await cut('999')).callback?.dailyTokenBudget).toEqual(parseDecimal('999'));
    await expect(cut('999.5')).rejects.toMatchObject({ code: 'OPTION_INVALID' });
    expect(await newestNote()).toMatchObject({ outcome: 'refused: OPTION_INVALID' });
    const [found] = await listPartners(database);
    expect(found?.callback?.dailyTokenBudget).toEqual(parseDecimal('999'));
  });

  it('keeps what is not given, and its address is checked', async () => {
    const change = (callback: object) =>
      setPartner(database, as('partner set'), { partner: id, rate: 7, callback }, keyRing);
    const { callback, terms } = await change({ maxPoints: 5000n });
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
    const rotation = { partner: id };
    const issued = await rotateCredential(database, as('partner rotate'), rotation, keyRing);
    const revoke = (keyPrefix: string) =>
      revokeCredential(database, as('partner revoke'), { partner: id, keyPrefix, force: false });
    expect(await revoke(first)).toMatchObject({ keyPrefix: first, left: 1 });
    const last = issued.apiKey.slice(0, 12);
    await expect(revoke(last)).rejects.toMatchObject({ code: 'LAST_CREDENTIAL' });
    expect(await newestNote()).toMatchObject({ outcome: 'refused: LAST_CREDENTIAL' });
  });

  it('that is not there is refused, and the id is audited', async () => {
    const missing = aPartnerId();
    const paused = pausePartner(database, as('partner pause'), missing, true);
    await expect(paused).rejects.toThrow(PartnerUnknownError);
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
    const resolved = resolveAudited(database, as('partner pause'), key);
    await expect(resolved).rejects.toThrow(PartnerUnknownError);
    const note = await newestNote();
    expect(note).toMatchObject({ outcome: 'refused: PARTNER_UNKNOWN', partner: null });
    expect(JSON.stringify(note)).not.toContain(key);
  });
});
