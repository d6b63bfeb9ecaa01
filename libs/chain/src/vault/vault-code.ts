import {
  redemptionVaultBytecode,
  redemptionVaultRuntime,
} from '../abi/redemption-vault.generated.js';

const WORD_DIGITS = 64;

/**
 * Whether this is the code of the vault as it was compiled. The words that its constructor fills in (immutables) may hold anything:
 * the vault's own address is among them.
 * @param code `0x` and hex digits
 */
export function isVaultCode(code: string): boolean {
  const digits = redemptionVaultRuntime.bytes * 2;
  const compiled = redemptionVaultBytecode.slice(-digits);
  return withoutImmutables(code.toLowerCase().slice(2)) === withoutImmutables(compiled);
}

function withoutImmutables(code: string): string {
  let at = 0;
  const kept = redemptionVaultRuntime.immutables.map((offset) => {
    const part = code.slice(at, offset * 2);
    at = offset * 2 + WORD_DIGITS;
    return part;
  });
  return [...kept, code.slice(at)].join(' ');
}
