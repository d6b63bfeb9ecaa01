import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { readSettings } from '#libs/config';
import { IndexerSettings } from './indexer.env.js';

const ENOUGH = {
  DATABASE_URL: 'postgresql://lowmark@127.0.0.1:5432/lowmark',
  RPC_URLS: 'http://127.0.0.1:8545',
  CHAIN_ID: '31337',
  STAKE_CONTRACT: '0x2222222222222222222222222222222222222222',
  STAKE_START_BLOCK: '1',
  TOKEN_CONTRACT: '0x1111111111111111111111111111111111111111',
};

function read(more: Record<string, string> = {}): IndexerSettings {
  return readSettings(IndexerSettings, { ...ENOUGH, ...more });
}

describe('INDEX_PART', () => {
  it('is the index in use by default, or the next one', () => {
    expect(read().indexPart).toBe('current');
    expect(read({ INDEX_PART: 'next' }).indexPart).toBe('next');
    expect(() => read({ INDEX_PART: 'before' })).toThrow(/INDEX_PART must be .*current.*next/);
  });
});

describe('the hour of the nightly audit', () => {
  it('has a default', () => {
    expect(read().auditHourUtc).toBe(3);
  });

  it('takes an hour or off', () => {
    expect(read({ AUDIT_HOUR_UTC: '0' }).auditHourUtc).toBe(0);
    expect(read({ AUDIT_HOUR_UTC: 'off' }).auditHourUtc).toBe('off');
  });

  it.each(['24', '-1', '3.5', 'never', '003'])('refuses the hour %s', (hour) => {
    expect(() => read({ AUDIT_HOUR_UTC: hour })).toThrow('AUDIT_HOUR_UTC must be off, or 0 to 23');
  });
});
