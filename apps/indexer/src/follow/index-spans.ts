import { type BlockRef } from '#libs/domain';
import { type SpanStart } from '#libs/platform';

/** Blocks that are read from the chain, or written to the index; both ends belong to them. */
export function rangeSpan(
  what: 'read' | 'write',
  { from, to }: { readonly from: bigint; readonly to: bigint },
): SpanStart {
  return {
    name: `${what} range`,
    attributes: { 'lowmark.from_block': Number(from), 'lowmark.to_block': Number(to) },
  };
}

export function rollbackSpan(
  { number }: BlockRef,
  { why, depth }: { readonly why: string; readonly depth: bigint },
): SpanStart {
  return {
    name: 'rollback',
    attributes: {
      'lowmark.reason': why,
      'lowmark.to_block': Number(number),
      'lowmark.depth': Number(depth),
    },
  };
}

export const checkSpan: SpanStart = { name: 'wallet check' };
