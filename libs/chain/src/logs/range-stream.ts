import { RangeTooLargeError } from '../rpc/rpc.errors.js';
import { type BlockRange } from './read-range.js';

interface RangeSizerOptions {
  readonly targetBytes: number;
  readonly maxBlocks: number;
  readonly initialBlocks: number;
}

/** Full ranges in a row before more than the limit is tried again: at first, and at most. */
const FIRST_PATIENCE = 8;
const LONGEST_PATIENCE = 1024;
/** The limit counts as known where the smallest refused range is at most this many times the largest accepted one. */
const KNOWN_WITHIN = 1.06;
/** Round limits, which providers prefer. */
const ROUND = [1, 2, 5].flatMap((digit) => [1, 10, 100, 1000, 10_000].map((unit) => digit * unit));

/**
 * Decides how many blocks to request at once. The size grows while answers are small, and shrinks when the provider
 * refuses a range for its size or an answer is large. Between the largest accepted range and the smallest refused one it
 * bisects, so that a limit that the provider does not name is found in a few tries. A refused size is tried again soon,
 * and less soon each time that it is refused again.
 */
export class RangeSizer {
  private blocks: number;
  /** The largest accepted range that no later refusal contradicts; 0 where there is none. */
  private accepted = 0;
  private refusedBlocks = Infinity;
  private patience = FIRST_PATIENCE;
  private successes = 0;
  /** Whether the smallest refused size is to be tried again. */
  private isProbeDue = false;
  private bytesPerBlock = 0;

  constructor(private readonly options: RangeSizerOptions) {
    this.blocks = Math.min(options.initialBlocks, options.maxBlocks);
  }

  /** Blocks that fit as far as is known, at least 1. */
  get size(): number {
    return this.blocks;
  }

  /** Blocks to request next: `size`, but now and then a single range tries the refused size. */
  next(): number {
    if (!this.isProbeDue) return this.blocks;
    this.isProbeDue = false;
    this.successes = 0;
    return Math.min(this.options.maxBlocks, this.refusedBlocks);
  }

  /** Expected bytes of the next answer, by the last answers. */
  get expectedBytes(): number {
    return this.bytesPerBlock * this.blocks;
  }

  /** Records an answer of `bytes` bytes for `blocks` blocks. Changes the size by a factor of two at most. */
  succeeded(blocks: number, bytes: number): void {
    const isFull = blocks * 2 >= this.blocks;
    // A short range at the head does not show how many bytes a long range would bring.
    if (!isFull && bytes < this.options.targetBytes) return;
    this.bytesPerBlock = (this.bytesPerBlock + bytes / blocks) / (this.bytesPerBlock === 0 ? 1 : 2);
    this.accepted = Math.max(this.accepted, blocks);
    if (blocks >= this.refusedBlocks) this.forgetRefusal();
    const fitting = (blocks * this.options.targetBytes) / Math.max(1, bytes);
    this.blocks = clamp(
      Math.min(Math.max(fitting, this.blocks / 2), this.blocks * 2),
      this.ceiling,
    );
    const isAtLimit = this.isLimitKnown && this.blocks >= Math.floor(this.ceiling);
    if (isAtLimit && ++this.successes >= this.patience) this.isProbeDue = true;
  }

  /**
   * Records that a range of `blocks` blocks was too large. `proposedBlocks` is what the provider says would fit: only a
   * hint, because it counts logs and not bytes, and may not even be smaller.
   * @returns the number of blocks to try instead, less than `blocks` unless that is 1
   */
  refused(blocks: number, proposedBlocks?: number): number {
    this.successes = 0;
    if (this.isLimitKnown && blocks === this.refusedBlocks)
      this.patience = Math.min(LONGEST_PATIENCE, this.patience * 2);
    this.isProbeDue = false;
    this.refusedBlocks = Math.min(this.refusedBlocks, blocks);
    // A size that was accepted before is refused now: the limit has changed, or is of another kind.
    if (this.accepted >= this.refusedBlocks) this.accepted = 0;
    const isUsable =
      proposedBlocks !== undefined && proposedBlocks >= 1 && proposedBlocks < this.refusedBlocks;
    if (isUsable) {
      this.refusedBlocks = proposedBlocks + 1;
      this.accepted = Math.min(this.accepted, proposedBlocks);
      this.blocks = Math.min(this.blocks, proposedBlocks);
      return proposedBlocks;
    }
    this.blocks = clamp(Math.min(this.blocks, this.ceiling), this.options.maxBlocks);
    return this.blocks;
  }

  private get isLimitKnown(): boolean {
    return this.refusedBlocks <= Math.max(this.accepted + 1, this.accepted * KNOWN_WITHIN);
  }

  /** The largest size that is worth a try. */
  private get ceiling(): number {
    const { maxBlocks } = this.options;
    if (this.refusedBlocks === Infinity) return maxBlocks;
    if (this.accepted === 0) return Math.min(maxBlocks, this.refusedBlocks / 2);
    if (this.isLimitKnown) return Math.min(maxBlocks, this.accepted);
    const round = ROUND.findLast((size) => size > this.accepted && size < this.refusedBlocks);
    return Math.min(maxBlocks, round ?? (this.accepted + this.refusedBlocks) / 2);
  }

  private forgetRefusal(): void {
    this.refusedBlocks = Infinity;
    this.successes = 0;
    this.patience = FIRST_PATIENCE;
    this.isProbeDue = false;
  }
}

function clamp(blocks: number, ceiling: number): number {
  return Math.max(1, Math.floor(Math.min(ceiling, blocks)));
}

/** Planned ranges for each request in flight. Those that wait to be handed out can be joined. */
const SLOTS_PER_REQUEST = 4;

interface RangeStreamOptions<T> {
  readonly fetch: (range: BlockRange, signal: AbortSignal) => Promise<T>;
  readonly sizer: RangeSizer;
  /** Number of ranges that are useful to fetch at once; called each time, because endpoints come and go. */
  readonly concurrency: () => number;
  /** Most bytes that are fetched and not yet handed out, by the size of the answers as received. */
  readonly maxBufferedBytes: number;
  /** Shortens a planned range from its end, where the following blocks must be read in another way. */
  readonly cut?: (range: BlockRange) => BlockRange;
  /** Joins the answers of two neighbours that have both arrived; undefined where they must be handed out one by one. */
  readonly join?: (earlier: T, later: T) => T | undefined;
}

interface Slot<T> {
  range: BlockRange;
  state: 'waiting' | 'flying' | 'done' | 'failed';
  answer?: T;
  error?: unknown;
}

/**
 * Fetches block ranges several at a time, and hands them out in order, without a gap.
 *
 * Invariant: the ranges of the slots, in order, cover exactly the planned blocks that are still to be handed out. A
 * range that proves too large is cut in two in its place. Fetched ranges that are not handed out yet are bounded in
 * bytes, so that memory does not grow with history, however much faster the node is than the database.
 *
 * @returns the answers for `range`, ascending. An error other than RangeTooLargeError ends the stream when its turn
 * comes, after all earlier ranges were handed out.
 */
export async function* streamRanges<T extends { readonly bytes: number }>(
  range: BlockRange,
  options: RangeStreamOptions<T>,
  signal: AbortSignal = new AbortController().signal,
): AsyncGenerator<T, void, undefined> {
  const stop = new AbortController();
  const fetchSignal = AbortSignal.any([signal, stop.signal]);
  const slots: Slot<T>[] = [];
  let planned = range.from;
  let buffered = 0;
  let wake: () => void = () => undefined;

  const launch = (slot: Slot<T>): void => {
    slot.state = 'flying';
    options.fetch(slot.range, fetchSignal).then(
      (answer) => {
        slot.state = 'done';
        slot.answer = answer;
        buffered += answer.bytes;
        options.sizer.succeeded(blocksIn(slot.range), answer.bytes);
        wake();
      },
      (error: unknown) => {
        const rest = narrowed(slot, error, options.sizer);
        if (rest) slots.splice(slots.indexOf(slot) + 1, 0, rest);
        wake();
      },
    );
  };

  /**
   * Number of requests in flight. Their answers may take half of the buffer; two are always allowed, because a slow
   * line needs several requests, however large their answers are.
   */
  const flights = (): number => {
    const fitting = Math.floor(
      options.maxBufferedBytes / 2 / Math.max(1, options.sizer.expectedBytes),
    );
    return Math.max(1, Math.min(options.concurrency(), Math.max(2, fitting)));
  };

  const nextSlot = (): Slot<T> | undefined => {
    const place = slots.findIndex((slot) => slot.state === 'waiting');
    const waiting = slots[place];
    if (waiting) {
      const rest = restBeyond(waiting, options.sizer.size);
      if (rest) slots.splice(place + 1, 0, rest);
      return waiting;
    }
    if (planned > range.to || slots.length >= flights() * SLOTS_PER_REQUEST) return undefined;
    const slot: Slot<T> = { range: plan(planned, range.to, options), state: 'waiting' };
    planned = slot.range.to + 1n;
    slots.push(slot);
    return slot;
  };

  const fill = (): void => {
    while (slots.filter((slot) => slot.state === 'flying').length < flights()) {
      const next = nextSlot();
      // The slot whose turn it is must always start; otherwise a full buffer behind it would wait for ever.
      if (!next || (buffered >= options.maxBufferedBytes && next !== slots[0])) return;
      launch(next);
    }
  };

  const onAbort = (): void => {
    wake();
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      const first = slots[0];
      if (first?.state === 'done') {
        const answer = takeReady(slots, options);
        buffered -= answer.bytes;
        fill();
        yield answer;
        continue;
      }
      if (first?.state === 'failed') throw first.error;
      if (!first && planned > range.to) return;
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      fill();
      await woken;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    stop.abort();
  }
}

/**
 * Takes the answer of the first slot, joined with the answers of the following slots that have arrived. While the
 * database is slower than the node its transactions grow, which makes it faster. From half of the buffer on they grow
 * no more, because the rows that are made of an answer take more memory than the answer.
 */
function takeReady<T extends { readonly bytes: number }>(
  slots: Slot<T>[],
  { join, maxBufferedBytes }: RangeStreamOptions<T>,
): T {
  let answer = slots.shift()?.answer as T;
  for (let next = slots[0]; next?.state === 'done'; next = slots[0]) {
    if (answer.bytes >= maxBufferedBytes / 2) break;
    const joined = join?.(answer, next.answer as T);
    if (joined === undefined) break;
    answer = joined;
    slots.shift();
  }
  return answer;
}

/** Cuts a slot that was too large to its first part, and returns the rest; undefined where the error is final. */
function narrowed<T>(slot: Slot<T>, error: unknown, sizer: RangeSizer): Slot<T> | undefined {
  const blocks = blocksIn(slot.range);
  if (!(error instanceof RangeTooLargeError) || blocks === 1) {
    slot.state = 'failed';
    slot.error = error;
    return undefined;
  }
  slot.state = 'waiting';
  return restBeyond(slot, sizer.refused(blocks, error.proposedBlocks(slot.range.from)));
}

/** Cuts a slot to its first `blocks` blocks. @returns a slot of the rest, where there is one */
function restBeyond<T>(slot: Slot<T>, blocks: number): Slot<T> | undefined {
  const { from, to } = slot.range;
  const cut = from + BigInt(blocks) - 1n;
  if (cut >= to) return undefined;
  slot.range = { from, to: cut };
  return { range: { from: cut + 1n, to }, state: 'waiting' };
}

function plan<T>(from: bigint, last: bigint, options: RangeStreamOptions<T>): BlockRange {
  const wanted = from + BigInt(options.sizer.next()) - 1n;
  const range = { from, to: wanted < last ? wanted : last };
  return options.cut?.(range) ?? range;
}

export function blocksIn(range: BlockRange): number {
  return Number(range.to - range.from) + 1;
}
