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

describe('the settings of the nightly audit', () => {
  it('have defaults', () => {
    expect(read()).toMatchObject({ auditHourUtc: 3, auditSample: 1000 });
  });

  it('take an hour or off, and a number or all', () => {
    expect(read({ AUDIT_HOUR_UTC: '0', AUDIT_SAMPLE: 'all' })).toMatchObject({
      auditHourUtc: 0,
      auditSample: 'all',
    });
    expect(read({ AUDIT_HOUR_UTC: 'off', AUDIT_SAMPLE: '100000' })).toMatchObject({
      auditHourUtc: 'off',
      auditSample: 100_000,
    });
  });

  it.each(['24', '-1', '3.5', 'never', '003'])('refuse the hour %s', (hour) => {
    expect(() => read({ AUDIT_HOUR_UTC: hour })).toThrow('AUDIT_HOUR_UTC must be off, or 0 to 23');
  });

  it.each(['0', '100001', '1e3', 'some'])('refuse a sample of %s', (sample) => {
    expect(() => read({ AUDIT_SAMPLE: sample })).toThrow(
      'AUDIT_SAMPLE must be all, or 1 to 100000',
    );
  });
});

describe('the bounds of the price', () => {
  it('are refused where no price is within them', () => {
    expect(() => read({ PRICE_MIN_USD: '0.5', PRICE_MAX_USD: '0.05' })).toThrow(
      'PRICE_MAX_USD must not be below PRICE_MIN_USD',
    );
    read({ PRICE_MIN_USD: '0.05', PRICE_MAX_USD: '0.05' });
    read({ PRICE_MAX_USD: '0.05' });
    read({ PRICE_MIN_USD: '0.05' });
  });
});
