import { type Fault, type FaultyHistory } from '#libs/testing/fake-node';
import { parseStakeEvents } from '../stake/parse-stake-events.js';
import { type RpcPool } from '../rpc/rpc-pool.js';
import { LogSource, type LogSourceOptions } from './log-source.js';

/** A log source with one endpoint for each of the faults; undefined: an endpoint without a fault. */
export async function aSourceOf(
  history: FaultyHistory,
  faults: readonly (Fault | readonly Fault[] | undefined)[],
  options: Partial<LogSourceOptions> = {},
): Promise<{ source: LogSource; pool: RpcPool }> {
  const pool = await history.pool(...faults);
  const source = new LogSource(pool, {
    contracts: [history.chain.contracts.staking],
    events: parseStakeEvents('staked-withdrawn'),
    ...options,
  });
  return { source, pool };
}
