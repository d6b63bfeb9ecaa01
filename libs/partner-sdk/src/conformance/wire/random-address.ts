import { randomBytes } from 'node:crypto';

/** A wallet that nobody has. */
export function randomAddress(): string {
  return `0x${randomBytes(20).toString('hex')}`;
}
