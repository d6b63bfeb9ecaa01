import { type GasRefusedError } from '#libs/chain';
import { type Address, type UuidV7 } from '#libs/domain';
import { type Alert } from '../observe/alerts.js';

/** The message of the error names both figures: what was asked for and what is allowed. */
export function gasAlert(
  { figure, message }: GasRefusedError,
  of: { readonly what: string; readonly account: Address; readonly redemptionId?: UuidV7 },
): Alert {
  const { what, account, redemptionId } = of;
  return {
    severity: 'warning',
    code: `vault-${figure}-refused`,
    detail: `${what} by ${account} was not signed: ${message}`,
    ...(redemptionId !== undefined && { redemptionId }),
  };
}
