import { expect, it } from '@jest/globals';
import { createLogger } from '#libs/service';
import { FakeClock } from '#libs/testing';
import { AuditModule } from './audit.module.js';

const tools = { clock: new FakeClock(0), logger: createLogger({ app: 'test', level: 'silent' }) };

it('has neither a schedule nor metrics where it is switched off', () => {
  const off = AuditModule.register({ auditHourUtc: 'off', auditSample: 'all' }, tools);
  expect(off.providers).toBeUndefined();
  const on = AuditModule.register({ auditHourUtc: 0, auditSample: 'all' }, tools);
  expect(on.providers).toHaveLength(1);
});
