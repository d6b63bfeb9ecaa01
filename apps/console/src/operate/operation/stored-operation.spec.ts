import { expect, it } from '@jest/globals';
import { prepared, SetPartner } from '#libs/operations';
import { KeyRing, mintSecretsKey } from '#libs/signing';
import { restoredOperation, storedValues } from './stored-operation.js';

const partner = '3e6f0d9a-0000-4000-8000-000000000001';
const keyRing = KeyRing.parse(mintSecretsKey().toString('base64'));
const callback = { key: 'a-key-of-the-game', secret: 'hunter2', maxPoints: '9' };
const stored = storedValues(
  prepared(SetPartner, { partner, rate: 7, callback, reason: 'It was agreed.' }),
  () => keyRing,
);

it('stores the fields without the reason, and the secrets sealed', () => {
  expect(stored).toEqual({
    ...{ partner, rate: 7, callback: { maxPoints: '9' } },
    ...{ newKey: true, newSecret: true, sealed: expect.any(String) },
  });
  expect(JSON.stringify(stored)).not.toMatch(/hunter2|a-key/);
});

it('restores the operation as it was asked for', () => {
  const shown = { ...stored, partnerName: 'Acme' };
  const restored = restoredOperation(SetPartner, shown, () => keyRing);
  expect(restored).toBeInstanceOf(SetPartner);
  expect(restored).toMatchObject({ partner, rate: 7, callback });
  expect(restored.reason).toBeUndefined();
});

it('refuses what was altered since: a value, or the partner of the secrets', () => {
  const restore = (change: object) => () =>
    restoredOperation(SetPartner, { ...stored, ...change }, () => keyRing);
  expect(restore({ rate: 0 })).toThrow(expect.objectContaining({ status: 409 }));
  expect(restore({ callback: { maxPoints: '-1' } })).toThrow('is not of the form');
  const other = partner.replace('1', '2');
  expect(restore({ partner: other })).toThrow(
    expect.objectContaining({ code: 'SEALED_SECRET_INVALID' }),
  );
});
