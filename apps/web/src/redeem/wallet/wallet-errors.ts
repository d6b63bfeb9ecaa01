/** What wallets say when the person says no: 4001 of EIP-1193, and what some say in its place. */
export function isRejection(error: unknown): boolean {
  for (let one = error; typeof one === 'object' && one !== null; one = (one as Error).cause) {
    const { code, name } = one as { readonly code?: unknown; readonly name?: unknown };
    if (code === 4001 || code === 'ACTION_REJECTED' || name === 'UserRejectedRequestError')
      return true;
  }
  return false;
}
