import { quantityOf } from './rpc-question.js';

/** What the doctor looks at in a header. */
export interface SeenBlock {
  readonly number: bigint;
  readonly timestampSeconds: number;
}

/** @returns undefined where it is no header */
export function seenBlock(value: unknown): SeenBlock | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { number: itsNumber, timestamp } = value as Readonly<Record<string, unknown>>;
  const [number, seconds] = [quantityOf(itsNumber), quantityOf(timestamp)];
  if (number === undefined || seconds === undefined) return undefined;
  return { number, timestampSeconds: Number(seconds) };
}
