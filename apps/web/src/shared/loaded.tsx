import { type UseQueryResult } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { Alert, Button, Skeleton, Stack, Text, VisuallyHidden } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { ApiProblem } from '../api/api-problem';

interface LoadedProps<T> {
  readonly query: UseQueryResult<T>;
  readonly children: (data: T) => ReactNode;
  /** What is shown while it loads. Default: three lines. */
  readonly skeleton?: ReactNode;
}

/** What a request brought; while it is under way its skeleton, and where it failed the problem. What was there before stays. */
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

/** Where there is nothing: what would be here. */
export function Empty({ children }: { readonly children: ReactNode }) {
  return (
    <Text c="dimmed" py="md">
      {children}
    </Text>
  );
}

/** While something loads: as many lines as there will be. */
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
  /** One sentence, or the error that a request ended with. */
  readonly problem: unknown;
  /** What to do about it, where the server does not say. */
  readonly advice?: string | undefined;
  readonly onRetry?: (() => void) | undefined;
}

/** What did not work, in one sentence, and what to do. */
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

/** Whether the same request may be answered otherwise: not where it is malformed or forbidden, or a setting is missing. */
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
