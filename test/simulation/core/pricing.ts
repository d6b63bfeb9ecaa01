/** The reading of prices beside an indexer's loop, from a price feed on the simulated chain. */
import { type ChainReader } from '#libs/chain';
import { type PriceStore } from '#libs/db';
import { parseDecimal } from '#libs/domain';
import { type Logger, systemClock } from '#libs/platform';
import { parsePriceSources } from '#libs/price';
import { Registry } from '#libs/service';
import { type IndexStatus } from '../../../apps/indexer/src/health/index-status.js';
import { IndexerSettings } from '../../../apps/indexer/src/settings/indexer.env.js';
import { PriceMetrics } from '../../../apps/indexer/src/price/price.metrics.js';
import { PriceService } from '../../../apps/indexer/src/price/price.service.js';
import { FEED } from '../../../libs/testing/src/fake-node/honest-node.js';

const INTERVAL_MS = 60_000;
const SETTINGS = Object.assign(new IndexerSettings(), {
  priceSource: parsePriceSources(`chainlink:${FEED}`),
  priceMaxAgeSeconds: 7200,
  priceBoundsUsd: { min: parseDecimal('0.01'), max: parseDecimal('1000') },
  priceMaxChange: parseDecimal('0.2'),
} satisfies Partial<IndexerSettings>);

/** Reads prices every minute, as Nest's schedule has it. Call it within the indexer's process. */
export function startPricing(
  chain: ChainReader,
  store: PriceStore,
  status: IndexStatus,
  logger: Logger,
): void {
  const metrics = new PriceMetrics(new Registry());
  const service = new PriceService(SETTINGS, chain, store, status, metrics, systemClock, logger);
  service.onApplicationBootstrap();
  setInterval(() => {
    service.startReading();
  }, INTERVAL_MS);
}

/** More than the settings allow a price to differ from the one before, up or down. */
export function isJump(usd: number, beforeUsd: number): boolean {
  return Math.max(usd / beforeUsd, beforeUsd / usd) > 1.2501;
}
