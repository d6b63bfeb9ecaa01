import { type BlockHeader } from '#libs/domain';
import { MalformedAnswerError } from '../errors/rpc.errors.js';
import { type FullHeader } from '../shape/header.js';

/**
 * Checks that headers are of one chain: neighbours are linked by their hashes, and time never runs backwards.
 * @param headers ascending, gaps allowed
 * @throws MalformedAnswerError; also after a reorganisation between two requests, when asking again helps
 */
export function requireChain(headers: readonly FullHeader[], endpoint: string): void {
  let previous: FullHeader | undefined;
  for (const header of headers) {
    if (previous) {
      const adjacent = header.number === previous.number + 1n;
      if (adjacent && header.parentHash !== previous.hash) {
        throw new MalformedAnswerError(
          `block ${header.number.toString()} does not follow the block before it`,
          { endpoint },
        );
      }
      if (header.timestampSeconds < previous.timestampSeconds) {
        throw new MalformedAnswerError(
          `block ${header.number.toString()} is older than block ${previous.number.toString()}`,
          { endpoint },
        );
      }
    }
    previous = header;
  }
}

/**
 * Refuses a block that is dated later than it can be: nothing else shows that a chain's newest block is not new.
 * @param latestSeconds Unix seconds; undefined where the caller does not say
 * @throws MalformedAnswerError
 */
export function requireNotAhead(
  header: BlockHeader,
  latestSeconds: number | undefined,
  endpoint: string,
): void {
  if (latestSeconds === undefined || header.timestampSeconds <= latestSeconds) return;
  const ahead = header.timestampSeconds - latestSeconds;
  throw new MalformedAnswerError(
    `block ${header.number.toString()} is dated ${header.timestampSeconds} (Unix seconds), ${ahead} seconds later than this machine's clock allows`,
    { endpoint },
  );
}
