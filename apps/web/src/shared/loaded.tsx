import { type UseQueryResult } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { Alert, Button, Skeleton, Stack, Text, VisuallyHidden } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { ApiProblem } from '../api/api-problem';

interface LoadedProps<T> {
  readonly query: UseQueryResult<T>;
  readonly children: (data: T) => ReactNode;
  /** Shown while the data loads. Default: three lines. */
  readonly skeleton?: ReactNode;
}

/**
 * The data of a query, its skeleton while it loads, or its problem where it failed. Earlier data stays visible after a
 * failure.
 */
export function Loaded<T>({ query, children, skeleton = <Skeletons /> }: LoadedProps<T>) {
  const { data, error, refetch } = query;
  if (data !== undefined) {
    return (
      <>
        {error !== null && <Problem problem={error} onRetry={() => void refetch()} />}
        {children(data)}
      </>
    );
  }
  if (error !== null) return <Problem problem={error} onRetry={() => void refetch()} />;
  return skeleton;
}

export function Empty({ children }: { readonly children: ReactNode }) {
  return (
    <Text c="dimmed" py="md">
      {children}
    </Text>
  );
}

export function Skeletons({ lines = 3, height = 18 }: { lines?: number; height?: number }) {
  return (
    <Stack gap="xs" aria-busy>
      <VisuallyHidden role="status">Loading</VisuallyHidden>
      {Array.from({ length: lines }, (_, line) => (
        <Skeleton key={line} height={height} width={line === lines - 1 ? '60%' : '100%'} />
      ))}
    </Stack>
  );
}

interface ProblemProps {
  /** One sentence, or the error of a request. */
  readonly problem: unknown;
  /** Advice, where the server gives none. */
  readonly advice?: string | undefined;
  readonly onRetry?: (() => void) | undefined;
}

export function Problem({ problem, advice, onRetry }: ProblemProps) {
  return (
    <Alert
      color="orange"
      variant="outline"
      icon={<IconAlertTriangle aria-hidden />}
      role="alert"
      title={sentenceOf(problem)}
    >
      {advice !== undefined && <Text size="sm">{advice}</Text>}
      {onRetry !== undefined && mayHelp(problem) && (
        <Button mt={advice === undefined ? 0 : 'xs'} size="xs" variant="default" onClick={onRetry}>
          Try again
        </Button>
      )}
    </Alert>
  );
}

const WITHOUT_HOPE = ['SETTING_MISSING', 'SECRETS_OFF', 'PARTNER_UNKNOWN', 'REDEMPTION_MISSING'];

/** Whether a retry may succeed: not where the request is malformed or forbidden, or a setting is missing. */
function mayHelp(problem: unknown): boolean {
  if (!(problem instanceof ApiProblem)) return true;
  const { status, code } = problem;
  return status !== 400 && status !== 403 && !WITHOUT_HOPE.includes(code);
}

function sentenceOf(problem: unknown): string {
  if (typeof problem === 'string') return problem;
  if (problem instanceof ApiProblem) return problem.message;
  return 'The console did not answer: check the connection.';
}
