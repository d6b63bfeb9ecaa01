/** Says that endpoints tell different things, at most once a minute however often they do. */
import { type RangeAnswer } from '#libs/chain';
import { type Clock, type Logger } from '#libs/platform';

const A_LINE_EVERY_MS = 60_000;

export interface Disagreement {
  readonly answer: Pick<RangeAnswer, 'from' | 'to' | 'endpoint'>;
  /** The endpoint that told something else; the same one where it was asked twice. */
  readonly other: string;
  readonly differingBlocks: number;
}

export class DisagreementLog {
  private saidAtMs = -Infinity;
  private sinceLine = 0;

  constructor(private readonly parts: { readonly clock: Clock; readonly logger: Logger }) {}

  differ({ answer, other, differingBlocks }: Disagreement): void {
    const { clock, logger } = this.parts;
    this.sinceLine++;
    const nowMs = clock.nowMs();
    if (nowMs - this.saidAtMs < A_LINE_EVERY_MS) return;
    const { from: fromBlock, to: toBlock, endpoint } = answer;
    const endpoints = [...new Set([endpoint, other])];
    const times = this.sinceLine;
    logger.warn(
      { endpoints, fromBlock, toBlock, differingBlocks, times },
      endpoints.length > 1
        ? `${endpoint} and ${other} tell different events or times of the same blocks: asking again. Where this goes on, one of them loses logs: compare both with a block explorer, and replace that one in RPC_URLS`
        : `${endpoint} tells different events or times of the same blocks when it is asked twice: asking again. Where this goes on, it loses logs: add an endpoint of another provider to RPC_URLS, or replace this one`,
    );
    this.saidAtMs = nowMs;
    this.sinceLine = 0;
  }
}
