import { parseUuidV7, PermanentError, type UuidV7 } from '#libs/domain';

/** The id of a redemption in the vault: `0x`, the 32 lower-case hex digits of its UUIDv7, and 32 zeros. */
export type VaultId = `0x${string}` & { readonly __brand: 'VaultId' };

const PARTS = /^0x([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})0{32}$/;

/**
 * The 16 bytes of the UUID left-aligned, as Solidity's `bytes32(bytes16)` has it. Letters of either case give the same id.
 * @throws PermanentError where the text is not a UUID of version 7 (RFC 9562)
 */
export function vaultIdOf(redemptionId: string): VaultId {
  const uuid = parseUuidV7(redemptionId);
  if (!uuid) {
    throw new PermanentError('REDEMPTION_ID_INVALID', 'A redemption id must be a UUIDv7.');
  }
  return `0x${uuid.replaceAll('-', '').padEnd(64, '0')}` as VaultId;
}

/** The UUID in lower case, or undefined where the bytes were not made by `vaultIdOf`: a claim that is none of ours. */
export function redemptionIdOf(vaultId: string): UuidV7 | undefined {
  const parts = PARTS.exec(vaultId);
  return parts ? parseUuidV7(parts.slice(1).join('-')) : undefined;
}
