import { PermanentError } from '#libs/domain';

/** Which block is final: by a tag of the node, or so many blocks below its newest. */
export type Finality =
  | { readonly kind: 'tag'; readonly tag: 'finalized' | 'safe' }
  | { readonly kind: 'depth'; readonly blocks: bigint };

/** The setting FINALITY: `finalized`, `safe` or `depth:<blocks>`. @throws PermanentError */
export function parseFinality(text: string): Finality {
  if (text === 'finalized' || text === 'safe') return { kind: 'tag', tag: text };
  const depth = /^depth:(\d{1,7})$/.exec(text)?.[1];
  if (depth !== undefined) return { kind: 'depth', blocks: BigInt(depth) };
  throw new PermanentError(
    'FINALITY_INVALID',
    'FINALITY must be finalized, safe or depth:<number of blocks>.',
  );
}
