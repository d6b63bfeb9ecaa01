import { StakingIndex1760000000000 } from './1760000000000-staking-index.js';
import { Partners1760000000001 } from './1760000000001-partners.js';
import { ReaderRole1760000000002 } from './1760000000002-reader-role.js';
import { Redemption1760000000003 } from './1760000000003-redemption.js';
import { RedemptionDue1760000000004 } from './1760000000004-redemption-due.js';
import { Sessions1760000000005 } from './1760000000005-sessions.js';
import { Reconciliation1760000000006 } from './1760000000006-reconciliation.js';
import { IndexGeneration1760000000007 } from './1760000000007-index-generation.js';
import { ReaderSeesSchema1760000000008 } from './1760000000008-reader-sees-schema.js';
import { CredentialUse1760000000009 } from './1760000000009-credential-use.js';
import { AuditRun1760000000010 } from './1760000000010-audit-run.js';
import { RestoredLedger1760000000011 } from './1760000000011-restored-ledger.js';
import { OlderStart1760000000012 } from './1760000000012-older-start.js';
import { CoinSpent1760000000013 } from './1760000000013-coin-spent.js';
import { ClaimWatch1760000000014 } from './1760000000014-claim-watch.js';
import { PriceHold1760000000015 } from './1760000000015-price-hold.js';
import { EvidenceMac1760000000017 } from './1760000000017-evidence-mac.js';
import { ReservedTokens1760000000019 } from './1760000000019-reserved-tokens.js';
import { BoundedAttempts1760000000020 } from './1760000000020-bounded-attempts.js';
import { SessionMac1760000000021 } from './1760000000021-session-mac.js';
import { NamesMac1760000000022 } from './1760000000022-names-mac.js';
import { SealedLedger1760000000023 } from './1760000000023-sealed-ledger.js';
import { RestoreMark1760000000024 } from './1760000000024-restore-mark.js';

/** All migrations, oldest first. One that was released is never edited. */
export const migrations = [
  StakingIndex1760000000000,
  Partners1760000000001,
  ReaderRole1760000000002,
  Redemption1760000000003,
  RedemptionDue1760000000004,
  Sessions1760000000005,
  Reconciliation1760000000006,
  IndexGeneration1760000000007,
  ReaderSeesSchema1760000000008,
  CredentialUse1760000000009,
  AuditRun1760000000010,
  RestoredLedger1760000000011,
  OlderStart1760000000012,
  CoinSpent1760000000013,
  ClaimWatch1760000000014,
  PriceHold1760000000015,
  EvidenceMac1760000000017,
  ReservedTokens1760000000019,
  BoundedAttempts1760000000020,
  SessionMac1760000000021,
  NamesMac1760000000022,
  SealedLedger1760000000023,
  RestoreMark1760000000024,
];
