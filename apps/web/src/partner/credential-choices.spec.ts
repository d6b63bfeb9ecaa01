import { expect, it } from '@jest/globals';
import { choicesOf } from './credential-choices.js';

const CREATED = '2026-11-01T00:00:00.000Z';
const aCredential = (keyPrefix: string, change = {}) => ({
  ...{ keyPrefix, createdAt: CREATED, isActive: true, endsAt: null as string | null },
  ...change,
});
const [one, other] = [aCredential('svck_one'), aCredential('svck_other')];
const ending = aCredential('svck_ending', { endsAt: '2026-12-01T00:00:00.000Z' });
const revoked = aCredential('svck_revoked', { isActive: false });

it('the last one that lasts is told from others', () => {
  expect(choicesOf(one, [one, other]).isLast).toBe(false);
  expect(choicesOf(one, [one, ending, revoked]).isLast).toBe(true);
  expect(choicesOf(ending, [one, ending]).isLast).toBe(false);
});

it('one that was replaced is replaced again only where no other lasts', () => {
  expect(choicesOf(ending, [one, ending]).canReplace).toBe(false);
  expect(choicesOf(ending, [ending, revoked])).toEqual({
    ...{ canReplace: true, canRevoke: true, isLast: true },
  });
});

it('one that no longer works has no choices', () => {
  expect(choicesOf(revoked, [one, revoked])).toMatchObject({
    ...{ canReplace: false, canRevoke: false },
  });
});
