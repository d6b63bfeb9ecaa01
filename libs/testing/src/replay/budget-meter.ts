/** Compute units as providers bill them, and the budget of them a second. */

/** Alchemy's table, https://www.alchemy.com/docs/reference/compute-unit-costs, with the prices that the benchmark's goal names. */
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
 * A token bucket, full at first. It lets pass what costs no more than it holds; what costs more than it can ever hold passes when
 * it is full, and is paid off afterwards. So no span of time spends more than its budget, the bucket and one such request.
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

  /** @returns 0 where the price was taken, else the milliseconds until there is enough */
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
