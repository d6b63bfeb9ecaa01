import {
  redemptionVaultV2Bytecode,
  redemptionVaultV2Runtime,
} from '../abi/redemption-vault-v2.generated.js';

const WORD_DIGITS = 64;

/**
 * Whether this is the code of the vault that is deployed now, version 2, as it was compiled. The words that its constructor fills in
 * (immutables) may hold anything: the vault's own address is among them.
 * @param code `0x` and hex digits
 */
export function isVaultCode(code: string): boolean {
  const digits = redemptionVaultV2Runtime.bytes * 2;
  const compiled = redemptionVaultV2Bytecode.slice(-digits);
  return withoutImmutables(code.toLowerCase().slice(2)) === withoutImmutables(compiled);
}

function withoutImmutables(code: string): string {
  let at = 0;
  const kept = redemptionVaultV2Runtime.immutables.map((offset) => {
    const part = code.slice(at, offset * 2);
    at = offset * 2 + WORD_DIGITS;
    return part;
  });
  return [...kept, code.slice(at)].join(' ');
}
