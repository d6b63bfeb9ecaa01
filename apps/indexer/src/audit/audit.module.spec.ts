import { expect, it } from '@jest/globals';
import { createLogger } from '#libs/service';
import { IndexerModule } from '../indexer.module.js';
import { type IndexerSettings } from '../settings/indexer.env.js';
import { AuditModule } from './audit.module.js';

const logger = createLogger({ app: 'test', level: 'silent' });

it('has neither a schedule nor metrics where it is switched off', () => {
  const importsAt = (auditHourUtc: number | 'off') =>
    IndexerModule.register({ auditHourUtc } as IndexerSettings, logger).imports;
  expect(importsAt('off')).not.toContain(AuditModule);
  expect(importsAt(0)).toContain(AuditModule);
});
