import { InvalidArgumentError } from 'commander';
import { parseUuidV7, type UuidV7 } from '#libs/domain';

/** The argument ID. */
export function redemptionId(text: string): UuidV7 {
  const id = parseUuidV7(text);
  if (id === undefined) {
    throw new InvalidArgumentError('Expected the id of a redemption, a UUID of version 7.');
  }
  return id;
}
