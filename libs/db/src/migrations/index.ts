import { StakingIndex1760000000000 } from './1760000000000-staking-index.js';
import { Partners1760000000001 } from './1760000000001-partners.js';
import { ReaderRole1760000000002 } from './1760000000002-reader-role.js';
import { Redemption1760000000003 } from './1760000000003-redemption.js';

/** All migrations, oldest first. One that was released is never edited. */
export const migrations = [
  StakingIndex1760000000000,
  Partners1760000000001,
  ReaderRole1760000000002,
  Redemption1760000000003,
];
