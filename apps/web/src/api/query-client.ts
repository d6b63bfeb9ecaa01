import { QueryClient } from '@tanstack/react-query';
import { ApiProblem } from './api-problem';

/** Two more tries for what may pass; a refusal is shown at once. */
const TRIES = 2;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      retry: (failed, error) =>
        failed < TRIES && !(error instanceof ApiProblem && error.status < 500),
    },
  },
});

/** Asks anew for all whose key begins so. */
export function refresh(...queryKey: readonly string[]): Promise<void> {
  return queryClient.invalidateQueries({ queryKey });
}
