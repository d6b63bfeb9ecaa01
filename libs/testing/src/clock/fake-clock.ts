import { type Clock } from '#libs/platform';

/** A clock that only a test moves. */
export class FakeClock implements Clock {
  constructor(private now: number) {}

  nowMs(): number {
    return this.now;
  }

  set(nowMs: number): void {
    this.now = nowMs;
  }

  advance(milliseconds: number): void {
    this.now += milliseconds;
  }
}
