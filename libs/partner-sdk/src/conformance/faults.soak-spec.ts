/** Tests each known fault of partners, one at a time: the tester finds and names the fault and reports nothing else. */
import { describe, expect, it } from '@jest/globals';
import { ACCESS_FAULTS, TOLERABLE } from './fixtures/access.faults.support.js';
import { LACKING } from './fixtures/capabilities.support.js';
import { DUPLICATE_FAULTS } from './fixtures/duplicate.faults.support.js';
import { type Fault, partnerWith } from './fixtures/fault.support.js';
import { FIELD_FAULTS } from './fixtures/field.faults.support.js';
import { API_KEY, type HonestPartner, PLAYER, SECRET } from './fixtures/honest-partner.support.js';
import { HTTP_FAULTS } from './fixtures/http.faults.support.js';
import { POINTS_FAULTS } from './fixtures/points.faults.support.js';
import { REVERT_FAULTS } from './fixtures/revert.faults.support.js';
import {
  OTHER_BYTES,
  SIGNATURE_FAULTS,
  SIGNED_FOR_US,
} from './fixtures/signature.faults.support.js';
import { failedIn, tryOut } from './fixtures/try-out.support.js';
import { type Report } from './index.js';

/** Expects the report to show the points that the ledger shows. */
function expectHonestBooks(report: Report, partner: HonestPartner): void {
  const { before, after, unresolved } = report.left;
  if (before === null || after === null) return;
  const points = partner.ledger.pointsOf(PLAYER);
  if (Number.isInteger(after)) expect(after).toBe(points);
  if (after !== before) {
    const isOnlyTheClaim = unresolved.every(({ state }) => state === 'claimed');
    const isExact = isOnlyTheClaim && before - unresolved.length === after;
    expect(isExact || report.outcome === 'violates').toBe(true);
  }
}

/** Reports by the name of the fault. */
const reports = new Map<string, Report>();

describe('a partner that', () => {
  const all: readonly Fault[] = [
    ...ACCESS_FAULTS,
    ...TOLERABLE,
    ...OTHER_BYTES,
    ...SIGNED_FOR_US,
    ...SIGNATURE_FAULTS,
    ...HTTP_FAULTS,
    ...FIELD_FAULTS,
    ...POINTS_FAULTS,
    ...DUPLICATE_FAULTS,
    ...REVERT_FAULTS,
  ];
  it.each(all.map((fault) => [fault.name, fault] as const))(
    '%s',
    async (name, { fails, timeoutMs, ...mistake }) => {
      const partner = partnerWith(mistake);
      const report = await tryOut(partner, timeoutMs === undefined ? {} : { timeoutMs });
      reports.set(name, report);
      expect(failedIn(report)).toEqual([...fails].sort());
      const severities = report.checks.filter(({ status }) => status === 'failed');
      const hasError = severities.some(({ severity }) => severity === 'error');
      expect(report.exitStatus === 1).toBe(hasError);
      expectHonestBooks(report, partner);
      expectNoSecret(report);
    },
  );

  it.each(LACKING.map((fault) => [fault.name, fault] as const))(
    '%s',
    async (_, { fails, lacks, ...mistake }) => {
      const report = await tryOut(partnerWith(mistake));
      expect(failedIn(report)).toEqual([...fails].sort());
      expect(report).toMatchObject({ outcome: 'conforms', counts: { errors: 0 } });
      const missing = Object.entries(report.capabilities).filter(([, has]) => has !== true);
      expect(missing).toEqual([[lacks, false]]);
      expect(report.left).toMatchObject({ before: 10, after: 9 });
    },
  );
});

function expectNoSecret(report: Report): void {
  const text = JSON.stringify(report);
  for (const secret of [SECRET, API_KEY]) {
    expect(text).not.toContain(secret);
    expect(text).not.toContain(JSON.stringify(JSON.stringify(secret).slice(1, -1)).slice(1, -1));
  }
}

describe('the capability signs-all-responses', () => {
  const rows = [...SIGNATURE_FAULTS, ...SIGNED_FOR_US].map((fault) => [fault.name, fault] as const);
  it.each(rows)('of a partner that %s', async (name, fault) => {
    const { capabilities } = reports.get(name) ?? (await tryOut(partnerWith(fault)));
    expect(capabilities['signs-all-responses']).toBe(SIGNED_FOR_US.includes(fault));
  });
});
