import { Alert, Button, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { ApiProblem } from '../api/api-problem';

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
