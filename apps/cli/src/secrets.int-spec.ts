import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CallbackStore, PartnerStore } from '#libs/db';
import { hashApiKey, KeyRing, mintSecretsKey } from '#libs/signing';
import { CALLBACK_SECRET, CliBench } from './testing/cli-bench.support.js';

/** An unused URL: these partners are never called. */
const URL = 'https://game.example/svc';
const OLD = mintSecretsKey().toString('base64');
const NEW = mintSecretsKey().toString('base64');
const [OLD_ID] = KeyRing.parse(OLD).keyIds;
const [NEW_ID] = KeyRing.parse(NEW).keyIds;
const PARTNERS = 130;

let bench: CliBench;
let shared: { apiKey: string; sharedSecret: string };
beforeAll(async () => {
  bench = await CliBench.start();
  bench.settings['SECRETS_KEY'] = OLD;
  const created = await bench.run('partner', 'create', '--name', 'First', '--json');
  shared = JSON.parse(created.out) as typeof shared;
  await bench.partner('Called', URL);
  // More secrets than one batch holds; no partner ever decrypts them.
  const keyRing = KeyRing.parse(OLD);
  const store = new PartnerStore(bench.database);
  for (let ordinal = 0; ordinal < PARTNERS; ordinal++) {
    const keyHash = hashApiKey(`svck_${ordinal}`);
    const secretCiphertext = keyRing.seal(`secret-${ordinal}`, keyHash);
    const credential = { keyHash, keyPrefix: `svck_${ordinal}`, secretCiphertext };
    await store.create({ name: `Many ${ordinal}`, rate: 1, burst: 1, credential });
  }
  await bench.run('partner', 'rotate', 'First');
  await bench.run('partner', 'rotate', 'Called');
});
afterAll(() => bench.drop());

function run(secretsKey: string, ...argv: string[]) {
  return bench.runWith({ settings: { SECRETS_KEY: secretsKey } }, 'secrets', ...argv);
}

async function opened(secretsKey: string): Promise<string[]> {
  const keyRing = KeyRing.parse(secretsKey);
  const keyHash = hashApiKey(shared.apiKey);
  const credential = await new PartnerStore(bench.database).findCredential(keyHash);
  const callbacks = await new CallbackStore(bench.database).list();
  const callback = callbacks.find(({ partnerName }) => partnerName === 'Called');
  return [
    keyRing.open(credential?.secretCiphertext ?? Buffer.alloc(0), keyHash),
    keyRing.open(callback?.secretCiphertext ?? Buffer.alloc(0), hashApiKey(callback?.key ?? '')),
  ];
}

/** The credentials of First and Called, their rotated ones, and the many partners. */
const CREDENTIALS = PARTNERS + 4;

describe('secrets', () => {
  it('says which keys are in use, and fails where one that is needed is not there', async () => {
    const before = await run(`${NEW},${OLD}`, 'status');
    expect(before).toMatchObject({ code: 0 });
    expect(before.out).toMatch(new RegExp(`${NEW_ID} +first: seals +0 +0 +0`));
    expect(before.out).toMatch(new RegExp(`${OLD_ID} +behind: opens +${CREDENTIALS} +1 +0`));
    expect(before.out).toContain(`Key ${OLD_ID} is still used`);
    const missing = await run(NEW, 'status', '--json');
    expect(missing.code).toBe(1);
    expect(JSON.parse(missing.out)).toEqual([
      { keyId: NEW_ID, standing: 'first', credentials: 0, callbacks: 0, webhooks: 0, revoked: 0 },
      {
        keyId: OLD_ID,
        standing: 'missing',
        credentials: CREDENTIALS,
        callbacks: 1,
        webhooks: 0,
        revoked: 0,
      },
    ]);
  });

  it('leaves what it cannot open as it is, says so and fails', async () => {
    const { code, out } = await run(NEW, 'rewrap');
    expect(code).toBe(1);
    expect(out).toContain(
      `Sealed again: 0. Sealed so already: 0. Left as they are: ${CREDENTIALS + 1}.`,
    );
    expect(out).toMatch(/ {2}credential of First: .*Add that key .*\[SECRETS_KEY_MISSING\]/);
    expect(await opened(OLD)).toEqual([shared.sharedSecret, CALLBACK_SECRET]);
    expect((await bench.audit()).filter(({ command }) => command === 'secrets rewrap')).toEqual([]);
  });

  it('seals all of them again, the same secrets, with an audit row for each batch', async () => {
    const { code, out } = await run(`${NEW},${OLD}`, 'rewrap', '--as', 'ann');
    expect(code).toBe(0);
    expect(out).toContain(
      `Sealed again: ${CREDENTIALS + 1}. Sealed so already: 0. Left as they are: 0.`,
    );
    expect(out).toContain(`Key ${OLD_ID} is no longer used`);
    expect(await opened(NEW)).toEqual([shared.sharedSecret, CALLBACK_SECRET]);
    await expect(opened(OLD)).rejects.toThrow(NEW_ID);
    const rows = (await bench.audit()).filter(({ command }) => command === 'secrets rewrap');
    expect(rows.map(({ actor, arguments: given }) => ({ actor, given }))).toEqual([
      { actor: 'operator:ann', given: { place: 'callback', secrets: 1, underKey: NEW_ID } },
      { actor: 'operator:ann', given: { place: 'credential', secrets: 34, underKey: NEW_ID } },
      { actor: 'operator:ann', given: { place: 'credential', secrets: 100, underKey: NEW_ID } },
    ]);
  });

  it('finds nothing to do the second time, also without the older key', async () => {
    const rows = (await bench.audit()).length;
    const { code, out } = await run(NEW, 'rewrap', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ changed: 0, unchanged: CREDENTIALS + 1, left: [] });
    expect(await bench.audit()).toHaveLength(rows);
  });

  it('tells a damaged secret, and does not mind a revoked one', async () => {
    await bench.run('partner', 'revoke', 'Many 1', '--key-prefix', 'svck_1', '--force');
    const damage = async (name: string) =>
      bench.database.query(
        {
          text: `UPDATE partners.credential SET secret_ciphertext = set_byte(secret_ciphertext, 40, 255 - get_byte(secret_ciphertext, 40))
            WHERE partner_id = (SELECT id FROM partners.partner WHERE name = $1)`,
        },
        [name],
      );
    await damage('Many 1');
    const revoked = await run(NEW, 'rewrap');
    expect(revoked.code).toBe(0);
    expect(revoked.out).toContain('  revoked credential of Many 1: ');
    await damage('Many 2');
    const { code, out } = await run(NEW, 'rewrap');
    expect(code).toBe(1);
    expect(out).toMatch(/ {2}credential of Many 2: .*\[SEALED_SECRET_INVALID\]/);
  });

  it('never shows a secret or a key', async () => {
    const written = bench.printed + (await bench.written());
    for (const secret of [OLD, NEW, CALLBACK_SECRET, 'secret-1']) {
      expect(written).not.toContain(secret);
    }
  });
});
