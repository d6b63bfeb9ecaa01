import { describe, expect, it } from '@jest/globals';
import { parsePartnerId } from '#libs/domain';
import { fieldsOf, SetPartner } from '#libs/operations';
import { partnerBody } from './partner.bodies.js';

const partnerId = parsePartnerId('3e6f0d9a-0000-4000-8000-000000000001');
if (partnerId === undefined) throw new TypeError('not the id of a partner');

describe('the answer about a partner', () => {
  it('has each setting that an operator can change, so that the page shows it', () => {
    const terms = { rate: 20, burst: 100, stakeSet: 'staking' };
    const named = { partnerId, partnerName: 'My Game', createdAt: new Date(0) };
    const body = partnerBody({
      partner: { ...named, ...terms, credentials: [] },
      callback: undefined,
    });
    const ofTheChange = ['partner', 'reason'];
    const settings = [...fieldsOf(SetPartner).keys()].filter((name) => !ofTheChange.includes(name));
    expect(Object.keys(body)).toEqual(expect.arrayContaining(settings));
    expect(settings).toContain('rate');
  });
});
