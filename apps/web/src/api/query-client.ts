import { QueryClient } from '@tanstack/react-query';
import { ApiProblem } from './api-problem';

/** Number of retries after a temporary failure; a refusal is shown at once. */
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

/** Refreshes all queries whose key begins with these parts. */
export function refresh(...queryKey: readonly string[]): Promise<void> {
  return queryClient.invalidateQueries({ queryKey });
}
