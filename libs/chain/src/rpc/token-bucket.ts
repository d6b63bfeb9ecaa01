/** Tokens that flow in at a steady rate, up to a short burst. Time is handed in; nothing here waits. */
export class TokenBucket {
  private tokens: number;
  private atMs: number;

  constructor(
    private rate: number,
    private readonly burstSeconds: number,
    nowMs: number,
  ) {
    this.tokens = rate * burstSeconds;
    this.atMs = nowMs;
  }

  get perSecond(): number {
    return this.rate;
  }

  /** Until so many may be taken. More than a full bucket may be taken as soon as it is full; the debt is paid back afterwards. */
  waitMs(amount: number, nowMs: number): number {
    this.refill(nowMs);
    const missing = Math.min(amount, this.rate * this.burstSeconds) - this.tokens;
    return missing <= 0 ? 0 : Math.ceil((missing / this.rate) * 1000);
  }

  take(amount: number, nowMs: number): void {
    this.refill(nowMs);
    this.tokens -= amount;
  }

  changeRate(perSecond: number, nowMs: number): void {
    this.refill(nowMs);
    this.rate = perSecond;
  }

  private refill(nowMs: number): void {
    const full = this.rate * this.burstSeconds;
    const seconds = Math.max(0, nowMs - this.atMs) / 1000;
    this.tokens = Math.min(full, this.tokens + seconds * this.rate);
    this.atMs = Math.max(this.atMs, nowMs);
  }
}
