import { LowmarkError } from '#libs/domain';

/** The label under which an error is counted. */
export function outcomeOf(error: unknown): string {
  if (error instanceof LowmarkError) return error.code.replace(/^RPC_/, '').toLowerCase();
  return 'aborted';
}
