import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { PARTNER_CAPABILITIES, type UuidV7 } from '#libs/domain';
import { ATTENTION, attentionAdvice } from './waits-for.js';

const page = readFileSync(
  new URL('../../../../docs/operating/redemption.md', import.meta.url),
  'utf8',
);
const ID = '0199d000-0000-7000-8000-0000000000aa' as UuidV7;

describe('advice for attention', () => {
  it.each(Object.keys(ATTENTION))('%s is on the operator’s page too', (reason) => {
    expect(page).toContain(`| \`${reason}\``);
  });

  it('names this redemption in the commands', () => {
    const advice = attentionAdvice({ id: ID, reason: 'deduction-unresolved' });
    expect(advice).toContain(`\`redemption resolve ${ID} --not-deducted\``);
    expect(advice).not.toContain(' ID');
    expect(attentionAdvice({ id: ID, reason: null })).toMatch(/timeline/);
  });

  it('is of a page that knows the first capability', () => {
    expect(page).toContain(`\`${PARTNER_CAPABILITIES[0]}\``);
  });
});
