export { type Address, parseAddress } from './chain/address.js';
export { type BlockHash, type BlockHeader, type BlockRef } from './chain/block.js';
export {
  type BalanceChange,
  type BalanceDay,
  type BlockDeltas,
  type StakeDelta,
  type WalletState,
} from './balance/balance.js';
export { foldBlocks, type FoldedBlocks, NegativeBalanceError } from './balance/fold-blocks.js';
export { dayOf, type DayWindow, SECONDS_PER_DAY, windowOf } from './day/day.js';
export {
  LowmarkError,
  type LowmarkErrorOptions,
  PermanentError,
  RetryableError,
} from './errors/errors.js';
export { coverage, type CoverageGap, type IndexProgress } from './snapshot/coverage.js';
export { dailyMinima, type DailyMinimum } from './snapshot/daily-minima.js';
export { type Decimal, parseDecimal } from './amount/decimal.js';
export { type Ratio, ratioToNumber } from './amount/ratio.js';
export { averageStaked, tokensToNumber, valueOf } from './amount/staked-amount.js';
export { canonicalJson } from './signing/canonical-json.js';
export { pathOf, type SignableMessage, signedContent } from './signing/signed-content.js';
