import { CallLogShares1760000004000 } from './call-log-shares.js';
import { StakingIndex1760000000000 } from './staking-index.js';
import {
  Partners1760000000001,
  CredentialUse1760000000009,
  CredentialEnd1760000000032,
} from './partners.js';
import {
  ReaderRole1760000000002,
  ReaderSeesSchema1760000000008,
  OlderStart1760000000012,
} from './readers.js';
import { Redemption1760000000003 } from './redemption.js';
import {
  RedemptionDue1760000000004,
  Sessions1760000000005,
  Reconciliation1760000000006,
  SearchIndexes1760000000038,
} from './redemption-work.js';
import {
  IndexGeneration1760000000007,
  AuditRun1760000000010,
  PriceHold1760000000015,
} from './staking-state.js';
import {
  RestoredLedger1760000000011,
  CoinSpent1760000000013,
  ClaimWatch1760000000014,
} from './redemption-payouts.js';
import {
  EvidenceMac1760000000017,
  SessionMac1760000000021,
  NamesMac1760000000022,
} from './redemption-macs.js';
import { ReservedTokens1760000000019 } from './reserved-tokens.js';
import { BoundedAttempts1760000000020 } from './bounded-attempts.js';
import { RestoreMark1760000000024, SealedLedger1760000000023 } from './sealed-ledger.js';
import { StakeSets1760000000025 } from './stake-sets.js';
import { ConformanceDeductions1760000000039, Console1760000000026 } from './console.js';
import { RequestLog1760000000027 } from './request-log.js';
import { Portal1760000000028 } from './portal.js';
import { SealedDays1760000000033 } from './sealed-days.js';
import { LastDelivery1760000000043, Webhooks1760000000040 } from './webhooks.js';
import { RegistryPublications1760000000041 } from './registry-publications.js';
import { Reasons1760000000042 } from './reasons.js';
import { Partitions1760000000044 } from './partitions.js';
import { GrantedRoles1760000005000 } from './granted-roles.js';
import { MemberLimits1760000005001 } from './member-limits.js';
import { DayTotals1760000007000 } from './day-totals.js';
import { AuditSums1760000007900 } from './audit-sums.js';
import { Corrections1760000007001 } from './corrections.js';
import { IndexRepair1760000007011 } from './index-repair.js';
import { TaskLease1760000007003 } from './task-lease.js';
import { UnnotedRestore1760000006000 } from './unnoted-restore.js';

/** All migrations, oldest first, whichever file they are in: each file is a topic. One that was released is never edited. */
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
  StakeSets1760000000025,
  Console1760000000026,
  RequestLog1760000000027,
  Portal1760000000028,
  CredentialEnd1760000000032,
  SealedDays1760000000033,
  SearchIndexes1760000000038,
  ConformanceDeductions1760000000039,
  Webhooks1760000000040,
  RegistryPublications1760000000041,
  Reasons1760000000042,
  LastDelivery1760000000043,
  Partitions1760000000044,
  CallLogShares1760000004000,
  GrantedRoles1760000005000,
  MemberLimits1760000005001,
  UnnotedRestore1760000006000,
  DayTotals1760000007000,
  Corrections1760000007001,
  TaskLease1760000007003,
  IndexRepair1760000007011,
  AuditSums1760000007900,
];
