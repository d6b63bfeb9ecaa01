import { SqlMigration } from './schema-migration.js';
import { CONSOLE } from '../schema/console.js';
import { LEDGER } from '../schema/ledger.js';
import { LOWMARK, READER_ROLE } from '../schema/lowmark.js';
import { PARTNERS } from '../schema/partners.js';
import { PORTAL } from '../schema/portal.js';
import { REDEMPTION_GUARDS } from '../schema/redemption-guards.js';
import { REDEMPTION } from '../schema/redemption.js';
import { REGISTRY } from '../schema/registry.js';
import { WEBHOOKS } from '../schema/webhooks.js';

/** All schemas but those of the stake sets. */
export class Schema1770000000000 extends SqlMigration {
  readonly statements = [
    ...[READER_ROLE, LOWMARK, PARTNERS, REDEMPTION, REDEMPTION_GUARDS, LEDGER, REGISTRY, WEBHOOKS],
    ...[CONSOLE, PORTAL],
  ];
}
