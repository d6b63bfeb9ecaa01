/** Compute units as providers charge them, and a budget of compute units per second. */

/**
 * Alchemy's prices, https://www.alchemy.com/docs/reference/compute-unit-costs, for the methods that the benchmarks use.
 */
const PRICES: Readonly<Record<string, number>> = {
  eth_chainId: 0,
  eth_blockNumber: 10,
  eth_getBlockByNumber: 16,
  eth_getBlockByHash: 16,
  eth_getBlockReceipts: 20,
  eth_getCode: 20,
  eth_call: 26,
  eth_getLogs: 75,
};
const OTHER_METHODS = 20;

export function priceOf(method: string): number {
  return PRICES[method] ?? OTHER_METHODS;
}

/**
 * A token bucket, full at first. A request passes where the bucket holds enough for it; a request that costs more than
 * the full bucket passes when the bucket is full, and the rest is paid off afterwards. So no span of time spends more
 * than its budget, one full bucket and one such large request.
 */
export class BudgetMeter {
  private held: number;
  private filledAtMs: number | undefined;

  constructor(
    private readonly unitsPerSecond: number,
    private readonly burst: number,
  ) {
    this.held = burst;
  }

  /** @returns 0 where the price was taken, otherwise the milliseconds until the bucket holds enough */
  take(price: number, nowMs: number): number {
    const passed = nowMs - (this.filledAtMs ?? nowMs);
    this.filledAtMs = nowMs;
    this.held = Math.min(this.burst, this.held + (passed * this.unitsPerSecond) / 1000);
    const needed = Math.min(price, this.burst);
    if (this.held < needed) return Math.ceil(((needed - this.held) * 1000) / this.unitsPerSecond);
    this.held -= price;
    return 0;
  }
}
