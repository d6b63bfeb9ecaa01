export interface SignIn {
  /** Of the service, with its port. */
  readonly host: string;
  /** With its checksum. */
  readonly wallet: string;
  readonly chainId: number;
  readonly nonce: string;
  readonly issuedAtMs: number;
}

/** The text that a wallet signs: https://eips.ethereum.org/EIPS/eip-4361 */
export function signInMessage({ host, wallet, chainId, nonce, issuedAtMs }: SignIn): string {
  return [
    `${host} wants you to sign in with your Ethereum account:`,
    wallet,
    '',
    'Redeem points.',
    '',
    `URI: http://${host}`,
    'Version: 1',
    `Chain ID: ${chainId}`,
    `Nonce: ${nonce}`,
    `Issued At: ${new Date(issuedAtMs).toISOString()}`,
  ].join('\n');
}
