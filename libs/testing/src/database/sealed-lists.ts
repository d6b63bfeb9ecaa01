import { type SealedLists } from '#libs/db';
import { type DayTree } from '#libs/domain';

/** What is stored of a tree in memory. */
export function listsOf({ leaves, nodes, indices }: DayTree): SealedLists {
  return {
    *leaves(size) {
      for (let start = 0; start < leaves.length; start += size) {
        const end = Math.min(start + size, leaves.length);
        const entries = Array.from({ length: end - start }, (_, at) => [
          leaves.wallet(start + at),
          leaves.low(start + at),
        ]);
        yield { leaves: Buffer.concat(entries.flat()), indices: indices.subarray(start, end) };
      }
    },
    *nodes(size) {
      for (let start = 0; start < nodes.length; start += size * 32) {
        yield Buffer.from(nodes.subarray(start, start + size * 32));
      }
    },
  };
}
