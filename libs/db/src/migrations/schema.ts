import { SqlMigration } from '../connection/schema-migration.js';
import {
  APPROVALS,
  CONFORMANCE_DEDUCTIONS,
  CONFORMANCE_RUNS,
  CONSOLE_SIGN_IN,
  MEMBERS,
} from '../schema/console.js';
import { PAYOUTS, RESERVED_TOKENS, RESTORES, UNNOTED_RESTORE } from '../schema/ledger.js';
import { LOWMARK, READER_ROLE } from '../schema/lowmark.js';
import { CORRECTIONS, PARTNERS, REQUEST_LOG } from '../schema/partners.js';
import { PORTAL } from '../schema/portal.js';
import { FORGETTING, REDEMPTION_GUARDS, SHAPES } from '../schema/redemption-guards.js';
import { REDEMPTIONS, SIGN_IN } from '../schema/redemption.js';
import { REGISTRY } from '../schema/registry.js';
import { REDEMPTION_EVENTS, WEBHOOKS } from '../schema/webhooks.js';

/** All schemas but those of the stake sets. */
export class Schema1770000000000 extends SqlMigration {
  readonly statements = [
    READER_ROLE,
    LOWMARK,
    PARTNERS,
    REQUEST_LOG,
    CORRECTIONS,
    REDEMPTIONS,
    SIGN_IN,
    REDEMPTION_GUARDS,
    FORGETTING,
    SHAPES,
    RESERVED_TOKENS,
    PAYOUTS,
    RESTORES,
    UNNOTED_RESTORE,
    REGISTRY,
    WEBHOOKS,
    REDEMPTION_EVENTS,
    CONSOLE_SIGN_IN,
    MEMBERS,
    APPROVALS,
    CONFORMANCE_RUNS,
    CONFORMANCE_DEDUCTIONS,
    PORTAL,
  ];
}
